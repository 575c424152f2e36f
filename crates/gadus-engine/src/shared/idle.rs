//! Which threads of the clock wait for something to do, and who lets whom go first.
//!
//! - What one thread does for all, making a pass and handing out its answers, keeps everybody waiting. Where
//!   a thread has much of its processor taken by others, and one that has more of its own waits, that one is
//!   called and does it. It also goes first when it is at such work already, and has so much more of its processor
//!   that it does two things before the other does one.
//! - Who is best placed never gives way, so that it is done.

/// What each thread, by its number, is at.
#[derive(Debug, Default)]
pub(super) struct Idle(Vec<At>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Work,
    /// It does what one does for all.
    Serve,
    Rest,
    /// It waits no longer than until it runs.
    Called,
}

impl Idle {
    /// A thread begins to wait.
    pub(super) fn begin(&mut self, number: usize) {
        self.set(number, At::Rest);
    }

    /// A thread begins to do what one does for all.
    pub(super) fn serve(&mut self, number: usize) {
        self.set(number, At::Serve);
    }

    /// It waits no longer, or has done it.
    pub(super) fn end(&mut self, number: usize) {
        self.set(number, At::Work);
    }

    fn set(&mut self, number: usize, at: At) {
        if self.0.len() <= number {
            self.0.resize(number + 1, At::Work);
        }
        self.0[number] = at;
    }

    /// Whether a thread gives way to another, by how that one is placed; calls those that wait.
    pub(super) fn gives_way(
        &mut self,
        number: usize,
        placed: impl Fn(usize) -> Placed,
    ) -> GivesWay {
        let mut gives_way = GivesWay::No;
        for (other, at) in self.0.iter_mut().enumerate().filter(|(other, _)| *other != number) {
            let to_him = match (*at, placed(other)) {
                (At::Work, _) | (_, Placed::NoBetter) | (At::Serve, Placed::Better) => GivesWay::No,
                (At::Rest, _) => GivesWay::Calling,
                (At::Serve | At::Called, _) => GivesWay::Yes,
            };
            if to_him == GivesWay::Calling {
                *at = At::Called;
            }
            gives_way = gives_way.max(to_him);
        }
        gives_way
    }
}

/// How another thread is placed, beside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    NoBetter,
    /// It has clearly more of its processor.
    Better,
    /// So much more that it does two things before.
    FarBetter,
}

/// Whether somebody better placed is to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GivesWay {
    No,
    /// He knows it.
    Yes,
    /// He is to be woken.
    Calling,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_better_placed_and_waits_is_called_once() {
        let mut idle = Idle::default();
        let first_is =
            |placed: Placed| move |other: usize| if other == 0 { placed } else { Placed::NoBetter };
        let better = first_is(Placed::Better);
        assert_eq!(idle.gives_way(1, better), GivesWay::No);
        idle.begin(0);
        idle.begin(2);
        assert_eq!(idle.gives_way(1, better), GivesWay::Calling);
        assert_eq!(idle.gives_way(2, better), GivesWay::Yes);
        assert_eq!(idle.gives_way(0, |_| Placed::NoBetter), GivesWay::No, "the best does it");
        idle.end(0);
        assert_eq!(idle.gives_way(1, better), GivesWay::No);
        idle.begin(0);
        assert_eq!(idle.gives_way(1, better), GivesWay::Calling);
        idle.serve(0);
        assert_eq!(idle.gives_way(1, better), GivesWay::No);
        assert_eq!(idle.gives_way(1, first_is(Placed::FarBetter)), GivesWay::Yes);
    }
}
