//! Which threads of the clock wait for something to do, and who lets whom go first.
//!
//! - What one thread does for all, making a pass and handing out its answers, keeps everybody waiting. Where
//!   a thread has much of its processor taken by others, and one that has more of its own waits, that one is
//!   called and does it.
//! - Who is best placed never gives way, so that it is done.

/// What each thread, by its number, is at.
#[derive(Debug, Default)]
pub(super) struct Idle(Vec<At>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Work,
    Rest,
    /// It waits no longer than until it runs.
    Called,
}

impl Idle {
    /// A thread begins to wait.
    pub(super) fn begin(&mut self, number: usize) {
        if self.0.len() <= number {
            self.0.resize(number + 1, At::Work);
        }
        self.0[number] = At::Rest;
    }

    /// It waits no longer.
    pub(super) fn end(&mut self, number: usize) {
        self.0[number] = At::Work;
    }

    /// Whether a thread gives way to one that waits and is better placed; calls those, and says whether any was
    /// not called before.
    pub(super) fn gives_way(
        &mut self,
        number: usize,
        is_better: impl Fn(usize) -> bool,
    ) -> Option<Called> {
        let mut called = None;
        for (other, at) in self.0.iter_mut().enumerate() {
            if other == number || *at == At::Work || !is_better(other) {
                continue;
            }
            let newly = std::mem::replace(at, At::Called) == At::Rest;
            let before = called.is_some_and(|Called { newly }| newly);
            called = Some(Called { newly: before || newly });
        }
        called
    }
}

/// Somebody better placed is to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Called {
    /// Whether he does not know it yet.
    pub(super) newly: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_better_placed_and_waits_is_called_once() {
        let mut idle = Idle::default();
        let is_better = |other: usize| other == 0;
        assert_eq!(idle.gives_way(1, is_better), None);
        idle.begin(0);
        idle.begin(2);
        assert_eq!(idle.gives_way(1, is_better), Some(Called { newly: true }));
        assert_eq!(idle.gives_way(2, is_better), Some(Called { newly: false }));
        assert_eq!(idle.gives_way(0, |_| false), None, "the best does it");
        idle.end(0);
        assert_eq!(idle.gives_way(1, is_better), None);
        idle.begin(0);
        assert_eq!(idle.gives_way(1, is_better), Some(Called { newly: true }));
    }
}
