//! What one instance observes for all.
//!
//! - Whoever finds that the last look is too old looks, and publishes what it has seen; the others read that.
//!   Whoever dies is followed by the next who finds it too old.
//! - It is a hint: one who was stopped in the middle may write beside the next, and what is read then is mixed.

use crate::shared_struct;
use gadus_base::clock;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

/// The most that one look may have seen: four words for each of 1024 processors.
const WORDS: usize = 4096;

shared_struct! {
    /// The last look. Zeros are one that was long ago.
    pub struct Board {
        /// When somebody began it, in milliseconds of the wall clock.
        looked: AtomicU64,
        /// Of the look that is there; 0 while it is written.
        noted: AtomicU64,
        count: AtomicU64,
        words: [AtomicU64; WORDS],
    }
}

/// What somebody has observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Which look it was: another number for each.
    pub look: u64,
    /// What was seen, in the observer's words.
    pub words: Vec<u64>,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").finish_non_exhaustive()
    }
}

impl Board {
    /// The newest look, unless that is the one that was `seen`; none as well while another instance looks. Looks where
    /// the last one is older than `every`; `look` gives nothing where there is nothing to be seen.
    pub fn observed(
        &self,
        seen: u64,
        every: Duration,
        look: impl FnOnce() -> Option<Vec<u64>>,
    ) -> Option<Observed> {
        let now = milliseconds(clock().wall_time().0);
        let looked = self.looked.load(Ordering::Acquire);
        // A clock that was put back makes the last look one of the future.
        let is_old = now.abs_diff(looked) >= milliseconds(every).max(1);
        let claim = || {
            self.looked.compare_exchange(looked, now, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        match is_old && claim() {
            true => {
                let words = look()?;
                self.write(now, &words);
                Some(Observed { look: now, words })
            }
            false => self.read(seen),
        }
    }

    fn write(&self, look: u64, words: &[u64]) {
        self.noted.store(0, Ordering::Relaxed);
        // Nobody sees a word of this look beside the number of the last.
        fence(Ordering::Release);
        // What is too much for all is the observer's alone.
        if words.len() > WORDS {
            return;
        }
        self.count.store(words.len() as u64, Ordering::Relaxed);
        for (place, word) in self.words.iter().zip(words) {
            place.store(*word, Ordering::Relaxed);
        }
        self.noted.store(look, Ordering::Release);
    }

    fn read(&self, seen: u64) -> Option<Observed> {
        let look = self.noted.load(Ordering::Acquire);
        if look == 0 || look == seen {
            return None;
        }
        let count =
            usize::try_from(self.count.load(Ordering::Relaxed)).map_or(WORDS, |c| c.min(WORDS));
        let words = self.words[..count].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        fence(Ordering::Acquire);
        (self.noted.load(Ordering::Relaxed) == look).then_some(Observed { look, words })
    }
}

#[allow(clippy::cast_possible_truncation)] // they last for ages
fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, Offset};

    const BOARD: Offset<Board> = Offset::new(0);

    /// One looks for all; and when it is too long ago, whoever comes.
    #[test]
    fn one_looks_and_the_others_read_that() {
        let memory = Memory::private(1 << 20).unwrap();
        let board = memory.at(BOARD).unwrap();
        let hour = Duration::from_hours(1);
        let first = board.observed(0, hour, || Some(vec![3, 1, 2])).unwrap();
        assert_eq!(first.words, [3, 1, 2]);
        let nobody = || -> Option<Vec<u64>> { panic!("it was looked at just now") };
        assert_eq!(board.observed(0, hour, nobody), Some(first.clone()));
        assert_eq!(board.observed(first.look, hour, nobody), None, "it is known");
        // Long ago; the wall clock may have been put back as well.
        for away in [milliseconds(hour), u64::MAX / 2] {
            board.looked.store(first.look.wrapping_sub(away), Ordering::Relaxed);
            let next = board.observed(first.look, hour, || Some(vec![4])).unwrap();
            assert_eq!(next.words, [4]);
        }
    }

    /// Whoever begins to look and dies is followed by another once its look is too old.
    #[test]
    fn who_dies_looking_is_followed() {
        let memory = Memory::private(1 << 20).unwrap();
        let board = memory.at(BOARD).unwrap();
        assert_eq!(board.observed(0, Duration::from_hours(1), || None), None);
        let nobody = || -> Option<Vec<u64>> { panic!("somebody looks") };
        assert_eq!(board.observed(0, Duration::from_hours(1), nobody), None);
        board.looked.store(0, Ordering::Relaxed);
        assert!(board.observed(0, Duration::from_hours(1), || Some(vec![7])).is_some());
        let much = vec![1; WORDS + 1];
        board.looked.store(0, Ordering::Relaxed);
        let alone = board.observed(0, Duration::from_hours(1), || Some(much.clone())).unwrap();
        assert_eq!((alone.words, board.read(0)), (much, None));
    }
}
