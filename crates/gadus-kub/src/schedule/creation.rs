//! What it costs to have somebody who can be switched to: made, run once, and gone.

use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Child, Fiber};
use gadus_base::spawn;

pub(super) fn tasks(_: Budget) -> Vec<Task> {
    vec![Task::new(Benchmark::Schedule, "creation", measure)]
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let here = place.here;
    let contest = Contest::new(Benchmark::Schedule, Origin::Modern, "make, run once, end")
        .with("processor", "same")
        .user("fiber", |times, _| {
            (0..times).try_for_each(|_| {
                let mut fiber = Fiber::create(0)?;
                fiber.switch_to_and_back();
                match fiber.passes() {
                    1 => Ok(()),
                    _ => Err(KubError::broken("a new fiber did not run")),
                }
            })
        })
        .kernel("thread", |times, _| {
            (0..times).try_for_each(|_| {
                let thread = spawn("kub made", || 1).or_refused("a thread")?;
                match thread.join() {
                    Ok(1) => Ok(()),
                    _ => Err(KubError::broken("a new thread did not run")),
                }
            })
        })
        .kernel("process", move |times, _| {
            (0..times).try_for_each(|_| {
                Child::start(Some(here), || {})?.join();
                Ok(())
            })
        });
    harness.measure(contest)
}
