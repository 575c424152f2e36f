//! The harness, checked with services that take a known time.

use super::contest::{Contest, Noise};
use super::instruments::{Instruments, SystemInstruments};
use super::{Budget, Harness, Stopwatch};
use crate::error::KubError;
use crate::numbers::nanoseconds;
use crate::report::{Benchmark, Origin};
use gadus_base::Random;
use gadus_machine::rise_above_others;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Delays that are put into a service.
const DELAYS: [Duration; 3] =
    [Duration::from_micros(5), Duration::from_micros(50), Duration::from_micros(500)];

/// By these the clock's own part in a delay is found.
const SINGLE_TURNS: usize = 1_001;

/// The harness is right when it is this near.
const TOLERANCE: f64 = 0.05;

/// A service with a known delay, and what was measured of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownDelay {
    /// What it takes, in nanoseconds.
    pub asked_ns: f64,
    /// What the harness says.
    pub measured_ns: f64,
}

impl KnownDelay {
    /// How far apart they are, as a share.
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.measured_ns - self.asked_ns) / self.asked_ns
    }

    /// Whether that is near enough.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.error().abs() <= TOLERANCE
    }
}

/// Measures services that take 5, 50 and 500 µs by this machine's clock, among others that take twice that.
///
/// # Errors
/// When there is no clock.
pub fn check_known_delays() -> Result<Vec<KnownDelay>, KubError> {
    let measure = || {
        rise_above_others();
        let instruments = SystemInstruments::new();
        let surplus = surplus_of_spin(&instruments);
        let pass = |delay: Duration| spin(&instruments, delay.saturating_sub(surplus));
        measure_known_delays(&instruments, Random::from_system(), pass)
    };
    let measured = std::thread::scope(|scope| scope.spawn(measure).join());
    measured.map_err(|_| KubError::broken("a measurement broke off"))?
}

/// Waits until so much time has passed by the clock.
fn spin(instruments: &SystemInstruments, delay: Duration) {
    let end = instruments.now() + delay;
    while instruments.now() < end {
        std::hint::spin_loop();
    }
}

/// By how much that takes longer than it is told, as it also looks at the clock: the service is to take its delay.
/// Found of single turns, of which half are not interrupted.
fn surplus_of_spin(instruments: &SystemInstruments) -> Duration {
    let looked = single_turn(instruments, || ());
    let spun = single_turn(instruments, || spin(instruments, DELAYS[0]));
    // Of which the look that ends it is none of the service's.
    spun.saturating_sub(DELAYS[0] + looked)
}

/// What a turn takes, and a look at the clock: the median.
fn single_turn(instruments: &SystemInstruments, turn: impl Fn()) -> Duration {
    let mut before = instruments.now();
    let mut took = Vec::with_capacity(SINGLE_TURNS);
    for _ in 0..SINGLE_TURNS {
        turn();
        let now = instruments.now();
        took.push(now.saturating_sub(before));
        before = now;
    }
    took.sort_unstable();
    took[SINGLE_TURNS / 2]
}

pub(super) fn measure_known_delays(
    instruments: &dyn Instruments,
    random: Random,
    pass: impl Fn(Duration),
) -> Result<Vec<KnownDelay>, KubError> {
    let cancelled = AtomicBool::new(false);
    let mut harness = Harness::new(instruments, Budget::Quick, random, &cancelled);
    let mut found = Vec::new();
    for delay in DELAYS {
        let service = |delay: Duration| {
            let pass = &pass;
            move |times: u64, _: &mut Stopwatch<'_>| {
                (0..times).for_each(|_| pass(delay));
                Ok(())
            }
        };
        let contest = Contest::new(Benchmark::Null, Origin::Modern, "known delay")
            .noise(Noise::Processor)
            .user("delayed", service(delay))
            .kernel("delayed twice", service(delay * 2));
        harness.measure(contest)?;
        let cell = harness.cells.pop();
        let median = cell.map_or(f64::NAN, |cell| cell.measured[0].summary.median);
        found.push(KnownDelay { asked_ns: nanoseconds(delay), measured_ns: median });
    }
    Ok(found)
}
