//! How long a thread that sleeps takes to run once another wakes it.
//!
//! - Two threads wake each other in turn: half of a round is one of them. It holds for processors that sleep as
//!   well, and for what the host of a virtual machine takes to run one again.

use crate::error::{ErrorKind, MachineError};
use gadus_base::{clock, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Thread, park, park_timeout};
use std::time::Duration;

/// Whoever is not answered for so long looks again: nobody sleeps for ever.
const PATIENCE: Duration = Duration::from_millis(100);

/// The other thread ends at this word.
const END: u64 = u64::MAX;

/// The median time from waking a thread to its running, of rounds for some time.
///
/// # Errors
/// `Unknown` where there is no thread to be had, or it does not answer.
pub fn measure_wake(time: Duration) -> Result<Duration, MachineError> {
    let unknown = |what: String| MachineError::new(ErrorKind::Unknown, what);
    let (asked, answered) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let me = std::thread::current();
    let (questions, answers) = (asked.clone(), answered.clone());
    let other = spawn("gadus-wake", move || answer(&questions, &answers, &me))
        .map_err(|error| unknown(format!("no thread to wake: {error}")))?;
    let end = clock().now().plus(time);
    let (mut rounds, mut number) = (Vec::new(), 0);
    while rounds.is_empty() || !end.since(clock().now()).is_zero() {
        number += 1;
        let began = clock().now();
        asked.store(number, Ordering::Release);
        other.thread().unpark();
        while answered.load(Ordering::Acquire) != number {
            park_timeout(PATIENCE);
            if other.is_finished() {
                return Err(unknown("the thread that is woken has ended".to_owned()));
            }
        }
        rounds.push(began.elapsed());
    }
    asked.store(END, Ordering::Release);
    other.thread().unpark();
    other.join().map_err(|_| unknown("the thread that was woken broke off".to_owned()))?;
    rounds.sort_unstable();
    Ok(rounds[rounds.len() / 2] / 2)
}

fn answer(asked: &AtomicU64, answered: &AtomicU64, asker: &Thread) {
    let mut last = 0;
    loop {
        let number = asked.load(Ordering::Acquire);
        if number == END {
            return;
        }
        if number == last {
            park();
            continue;
        }
        last = number;
        answered.store(number, Ordering::Release);
        asker.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_wake_somebody_takes_some_time() {
        let wake = measure_wake(Duration::from_millis(2)).unwrap();
        assert!(wake > Duration::ZERO, "{wake:?}");
    }
}
