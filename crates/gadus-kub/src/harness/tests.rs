//! The harness on a clock that only services move: what they take is known exactly.

use super::known_delay::measure_known_delays;
use super::*;
use crate::report::{Benchmark, Origin, Stopped};
use std::cell::{Cell, RefCell};

/// A clock that stands still by itself.
#[derive(Default)]
struct Simulated {
    now: Cell<Duration>,
}

impl Simulated {
    fn pass(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}

impl Instruments for Simulated {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

const MICROSECOND: Duration = Duration::from_micros(1);

fn repeat(times: u64, mut body: impl FnMut()) -> Result<(), KubError> {
    (0..times).for_each(|_| body());
    Ok(())
}

fn contest<'a>(name: &str) -> Contest<'a> {
    Contest::new(Benchmark::Null, Origin::Modern, name).noise(Noise::Processor)
}

fn measured(budget: Budget, clock: &Simulated, contest: Contest<'_>) -> crate::report::Cell {
    let cancelled = AtomicBool::new(false);
    let mut harness = Harness::new(clock, budget, Random::seeded(3), &cancelled);
    harness.measure(contest).unwrap();
    harness.cells.pop().unwrap()
}

#[test]
fn known_delays_are_measured_within_five_percent() {
    let clock = Simulated::default();
    let random = RefCell::new(Random::seeded(11));
    // Up to four percent of noise, and now and then somebody else's turn of 4 ms.
    let pass = |delay: Duration| {
        let mut random = random.borrow_mut();
        clock.pass(delay.mul_f64(1.0 + 0.04 * random.unit()));
        if random.chance(1.0 / 20_000.0) {
            clock.pass(Duration::from_millis(4));
        }
    };
    let found = measure_known_delays(&clock, Random::seeded(5), pass).unwrap();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(KnownDelay::is_right), "{found:?}");
}

#[test]
fn a_contest_ends_as_soon_as_it_is_certain() {
    let clock = Simulated::default();
    let certain = contest("certain")
        .user("one", |times, _| repeat(times, || clock.pass(MICROSECOND)))
        .kernel("three", |times, _| repeat(times, || clock.pass(3 * MICROSECOND)));
    let cell = measured(Budget::Usual, &clock, certain);
    assert_eq!(cell.stopped, Stopped::Narrow);
    let ratio = cell.measured[1].ratio.unwrap();
    assert_eq!((ratio.value, ratio.low, ratio.high), (3.0, 3.0, 3.0));
    assert_eq!(cell.measured[0].ratio, None);
    assert!(clock.now() < Budget::Usual.of_contest());
}

#[test]
fn a_contest_that_stays_uncertain_ends_with_its_time_and_says_so() {
    let clock = Simulated::default();
    let random = RefCell::new(Random::seeded(1));
    let wild = || Duration::from_micros(random.borrow_mut().below(100_000));
    let uncertain = contest("wild")
        .user("one", |times, _| repeat(times, || clock.pass(wild())))
        .kernel("other", |times, _| repeat(times, || clock.pass(50_000 * MICROSECOND)));
    let cell = measured(Budget::Quick, &clock, uncertain);
    assert_eq!(cell.stopped, Stopped::Time);
    assert!(clock.now() < 2 * Budget::Quick.of_contest(), "{:?}", clock.now());
    assert!(cell.measured[1].ratio.unwrap().uncertainty() > 0.05);
}

#[test]
fn what_rises_steadily_meets_all_alike() {
    let clock = Simulated::default();
    let slower = Cell::new(1.0);
    let slowly = |times: u64| {
        slower.set(slower.get() * 1.01);
        clock.pass((20 * MICROSECOND).mul_f64(slower.get()) * u32::try_from(times).unwrap());
        Ok(())
    };
    let drift = contest("drift")
        .repetitions(Repetitions::Exactly(100))
        .user("one", |times, _| slowly(times))
        .kernel("the same", |times, _| slowly(times));
    let cell = measured(Budget::Thorough, &clock, drift);
    let ratio = cell.measured[1].ratio.unwrap();
    assert!((ratio.value - 1.0).abs() < 0.01, "{ratio:?}");
}

#[test]
fn what_is_said_not_to_count_does_not_and_steps_are_told_apart() {
    let clock = Simulated::default();
    let steps =
        contest("steps").repetitions(Repetitions::Exactly(10)).user("one", |times, watch| {
            repeat(times, || {
                watch.untimed(|| clock.pass(900 * MICROSECOND));
                watch.step("open", || clock.pass(2 * MICROSECOND));
                watch.step("close", || clock.pass(MICROSECOND));
            })
        });
    let cell = measured(Budget::Quick, &clock, steps);
    let one = &cell.measured[0];
    assert_eq!(one.summary.median, 3_000.0);
    let steps = one.steps.iter().map(|(name, summary)| (name.as_str(), summary.median));
    assert_eq!(steps.collect::<Vec<_>>(), [("open", 2_000.0), ("close", 1_000.0)]);
}

#[test]
fn who_cannot_take_part_is_named_and_the_others_go_on() {
    let clock = Simulated::default();
    let cancelled = AtomicBool::new(false);
    let mut harness = Harness::new(&clock, Budget::Quick, Random::seeded(3), &cancelled);
    let taking_part = contest("some")
        .user("one", |_, _| repeat(1, || clock.pass(MICROSECOND)))
        .kernel("refused", |_, _| Err(KubError::unavailable("not permitted")))
        .kernel("other", |_, _| repeat(1, || clock.pass(MICROSECOND)));
    harness.measure(taking_part).unwrap();
    assert_eq!(harness.cells[0].measured.len(), 2);
    assert_eq!(harness.skipped[0].what, "some: refused");
    assert_eq!(harness.skipped[0].why, "not permitted");
    let broken = contest("broken").user("one", |_, _| Err(KubError::broken("a wrong sum")));
    let error = harness.measure(broken).unwrap_err();
    assert_eq!(error.to_string(), "broken: one: a wrong sum");
}

#[test]
fn somebody_may_end_it() {
    let clock = Simulated::default();
    let cancelled = AtomicBool::new(true);
    let mut harness = Harness::new(&clock, Budget::Quick, Random::seeded(3), &cancelled);
    let ended =
        harness.measure(contest("ended").user("one", |_, _| repeat(1, || clock.pass(MICROSECOND))));
    assert_eq!(ended.unwrap_err().kind(), crate::ErrorKind::Interrupted);
}
