//! A size that gives way where memory is short, and comes back when it is not.
//!
//! - It halves at once, for whoever is short of memory waits; it comes back slowly, after some looks in a row that
//!   found plenty, so that it does not go to and fro.

use crate::observed::Room;
use gadus_base::ByteCount;

/// Less than this part of what is given is left: memory is short;
const SHORT_DIVISOR: u64 = 16;

/// and so it is where somebody waits for memory for more than this part of the time.
const SHORT_PRESSURE: f64 = 0.1;

/// More than this part is left: there is plenty;
const PLENTY_DIVISOR: u64 = 8;

/// where nobody waits for longer than this,
const PLENTY_PRESSURE: f64 = 0.01;

/// as so many looks in a row have found.
const PLENTY_LOOKS: u32 = 5;

/// The part of its most that it grows by at once.
const STEP_DIVISOR: u64 = 8;

/// The part of its most that it keeps.
const LEAST_DIVISOR: u64 = 16;

/// A size between a sixteenth of its most and its most.
#[derive(Debug)]
pub struct Elastic {
    most: ByteCount,
    size: ByteCount,
    plenty: u32,
}

impl Elastic {
    /// At its most.
    #[must_use]
    pub fn new(most: ByteCount) -> Self {
        Self { most, size: most, plenty: 0 }
    }

    /// What it is now.
    #[must_use]
    pub fn size(&self) -> ByteCount {
        self.size
    }

    /// What it is where memory is not short.
    #[must_use]
    pub fn most(&self) -> ByteCount {
        self.most
    }

    /// What it keeps where memory is short.
    #[must_use]
    pub fn least(&self) -> ByteCount {
        ByteCount(self.most.0 / LEAST_DIVISOR)
    }

    /// Takes in what is left, and says whether it has another size now.
    pub fn look(&mut self, room: &Room) -> bool {
        let before = self.size;
        if is_short(room) {
            self.plenty = 0;
            self.size = self.least().max(ByteCount(self.size.0 / 2));
        } else if self.size < self.most && is_plenty(room, self.step()) {
            self.plenty += 1;
            if self.plenty >= PLENTY_LOOKS {
                self.size = self.most.min(ByteCount(self.size.0.saturating_add(self.step().0)));
            }
        } else {
            self.plenty = 0;
        }
        self.size != before
    }

    fn step(&self) -> ByteCount {
        ByteCount(self.most.0 / STEP_DIVISOR)
    }
}

/// What nobody tells is not short.
fn is_short(room: &Room) -> bool {
    let (Some(given), Some(left)) = (room.given, room.left) else { return false };
    left.0 < given.0 / SHORT_DIVISOR || room.pressure.is_some_and(|part| part > SHORT_PRESSURE)
}

/// Also once it has grown by a step.
fn is_plenty(room: &Room, step: ByteCount) -> bool {
    let (Some(given), Some(left)) = (room.given, room.left) else { return true };
    let after = left.0.saturating_sub(step.0);
    after > given.0 / PLENTY_DIVISOR && room.pressure.is_none_or(|part| part < PLENTY_PRESSURE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(left: u64, pressure: f64) -> Room {
        let bytes = |mib: u64| Some(ByteCount::mib(mib));
        Room { given: bytes(1_000), left: bytes(left), pressure: Some(pressure) }
    }

    fn sizes(elastic: &mut Elastic, room: &Room, looks: usize) -> Vec<u64> {
        let look = |_| {
            let before = elastic.size();
            assert_eq!(elastic.look(room), elastic.size() != before);
            elastic.size().0 >> 20
        };
        (0..looks).map(look).collect()
    }

    #[test]
    fn it_gives_way_at_once_and_comes_back_slowly() {
        let mut elastic = Elastic::new(ByteCount::mib(160));
        assert_eq!(sizes(&mut elastic, &room(500, 0.0), 2), [160, 160]);
        assert_eq!(sizes(&mut elastic, &room(50, 0.0), 5), [80, 40, 20, 10, 10]);
        assert_eq!(sizes(&mut elastic, &room(500, 0.0), 7), [10, 10, 10, 10, 30, 50, 70]);
        assert_eq!(sizes(&mut elastic, &room(500, 0.2), 1), [35], "somebody waits");
        assert_eq!(sizes(&mut elastic, &room(500, 0.05), 9), [35; 9], "neither short nor plenty");
        let looks = sizes(&mut elastic, &room(500, 0.0), 20);
        assert_eq!((looks[3], looks[4], looks[19]), (35, 55, 160));
    }

    #[test]
    fn it_does_not_grow_into_want() {
        let mut elastic = Elastic::new(ByteCount::mib(800));
        sizes(&mut elastic, &room(50, 0.0), 9);
        // A step of a hundred would leave no eighth.
        assert_eq!(sizes(&mut elastic, &room(220, 0.0), 9), [50; 9]);
        assert_eq!(sizes(&mut elastic, &room(230, 0.0), 5), [50, 50, 50, 50, 150]);
    }

    #[test]
    fn what_nobody_tells_is_not_short() {
        let mut elastic = Elastic::new(ByteCount::mib(160));
        let unknown = Room { pressure: Some(0.9), ..Room::default() };
        assert_eq!(sizes(&mut elastic, &unknown, 3), [160; 3]);
    }
}
