//! What others take of each processor, steadily enough to move for.

use super::load::{Load, Loads};
use crate::state::share_beside;
use gadus_base::{Instant, clock};
use std::collections::BTreeMap;
use std::time::Duration;

/// A change that is no noise, as a part of a processor's time,
const CHANGE: f64 = 0.2;

/// once it has been seen so often in a row.
const LOOKS: u32 = 2;

/// What others take of each processor. A change counts once it lasts, so that nobody is moved to and fro.
#[derive(Debug, Default)]
pub struct Others {
    before: Option<(Instant, Loads)>,
    known: BTreeMap<u32, Known>,
}

/// Of one processor.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// What counts.
    taken: f64,
    /// Looks in a row that differ from it.
    differ: u32,
}

impl Others {
    /// Takes in what processors have done until now, wherever that was read. `own` is the processor time that
    /// the caller's threads have had on each since that was done last, and is taken. Says whether anything has
    /// changed that counts.
    pub fn note(&mut self, loads: Loads, own: &mut BTreeMap<u32, Duration>) -> bool {
        let (now, own) = (clock().now(), std::mem::take(own));
        let Some((then, before)) = self.before.replace((now, loads.clone())) else { return false };
        let own = own.into_iter().map(|(cpu, time)| (cpu, part(time, now.since(then)))).collect();
        self.change(&loads.since(&before), &own)
    }

    /// What is left of a processor for one more thread: 1 where it has nothing to do.
    #[must_use]
    pub fn left(&self, cpu: u32) -> f64 {
        self.known.get(&cpu).map_or(1.0, |known| share_beside(known.taken))
    }

    fn change(&mut self, loads: &BTreeMap<u32, Load>, own: &BTreeMap<u32, f64>) -> bool {
        let mut is_changed = false;
        for (&cpu, load) in loads {
            let own = own.get(&cpu).copied().unwrap_or(0.0);
            let taken = (load.busy + load.stolen - own).clamp(0.0, 1.0);
            let known = self.known.entry(cpu).or_default();
            match (taken - known.taken).abs() >= CHANGE {
                false => known.differ = 0,
                true if known.differ + 1 < LOOKS => known.differ += 1,
                true => {
                    *known = Known { taken, differ: 0 };
                    is_changed = true;
                }
            }
        }
        is_changed
    }
}

fn part(time: Duration, of: Duration) -> f64 {
    time.as_secs_f64() / of.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(others: &mut Others, busy: f64, own: f64) -> bool {
        let loads = [(0, Load { busy, stolen: 0.0 }), (1, Load::default())];
        others.change(&loads.into_iter().collect(), &[(0, own)].into_iter().collect())
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn what_lasts_counts_and_what_is_ones_own_does_not() {
        let mut others = Others::default();
        assert!(is_near(others.left(0), 1.0) && is_near(others.left(7), 1.0));
        assert!(!note(&mut others, 1.0, 1.0));
        assert!(!note(&mut others, 1.0, 0.5) && is_near(others.left(0), 1.0), "one look is none");
        assert!(note(&mut others, 1.0, 0.5));
        assert!(is_near(others.left(0), 0.5) && is_near(others.left(1), 1.0));
        // A little more or less moves nobody, and what comes and goes does not either.
        for (busy, own) in [(1.0, 0.4), (1.0, 0.65), (0.5, 0.5), (1.0, 0.5), (0.5, 0.5)] {
            assert!(!note(&mut others, busy, own), "{busy} {own}");
        }
        assert!(note(&mut others, 0.5, 0.5) && is_near(others.left(0), 1.0));
    }

    #[test]
    fn what_others_have_read_is_as_good() {
        let (mut others, mut own) = (Others::default(), BTreeMap::new());
        let here = Loads::read().unwrap();
        let words = here.to_words();
        assert_eq!(Loads::from_words(&words), here);
        assert_eq!(
            Loads::from_words(&words[..words.len() - 1]).to_words(),
            words[..words.len() - 4]
        );
        own.insert(0, Duration::from_millis(1));
        assert!(!others.note(Loads::from_words(&words), &mut own) && own.is_empty());
        assert!(!others.note(here, &mut own), "nothing was done between");
    }
}
