//! Switches, by everything that switches.

use super::bells::Bell;
use super::bells::{ConditionBell, EventBell, FutexBell, PipeBell, SpinBell, YieldBell};
use super::partner::{Class, Partner, PartnerProcess};
use super::tasks::{PolledTasks, TokioTasks};
use crate::error::KubError;
use crate::harness::{Budget, Contest, Harness, Noise, Repetitions, Stopwatch, Work};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Fiber, SharedCall, become_real_time, become_usual, call_by_library};
use gadus_base::clock;
use std::hint::black_box;

type Switching = Work<'static>;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let counts: &[u64] = match budget {
        Budget::Quick => &[10_000],
        Budget::Usual => &[100, 10_000],
        Budget::Thorough => &[100, 1_000, 10_000, 100_000],
    };
    let mut tasks = Vec::new();
    for count in counts.iter().copied() {
        let name = format!("{count} switches (Vasil 2003)");
        tasks.push(Task::new(Benchmark::Schedule, name, move |harness, place| {
            papers(harness, place, count)
        }));
    }
    tasks.push(Task::new(Benchmark::Schedule, "switches on one processor", same));
    tasks.push(Task::new(Benchmark::Schedule, "switches between processors", other));
    tasks.push(Task::new(Benchmark::Schedule, "calls", calls));
    for touched in [0, 4 << 10, 64 << 10] {
        let name = format!("switches with {touched} bytes of stack");
        tasks.push(Task::new(Benchmark::Schedule, name, move |harness, place| {
            stacks(harness, place, touched)
        }));
    }
    tasks
}

/// The paper's four, as often as the paper had them switch.
fn papers(harness: &mut Harness<'_>, place: &Place, count: u64) -> Result<(), KubError> {
    place.stay_here()?;
    let here = place.here;
    let contest = Contest::new(Benchmark::Schedule, Origin::Vasil2003, "switch")
        .with("switches", count)
        .paper_found(
            "a thread's switch takes about ten fiber's, a fiber's about ten calls, and a call of a shared object as long as a plain one",
        )
        .repetitions(Repetitions::Exactly(count))
        .user("fiber", fiber(0))
        .kernel("threads, futex", partner(here, Class::Usual, || Ok(FutexBell::default())))
        .user("call of a shared object", shared_call())
        .user("plain call", plain_call());
    harness.measure(contest)
}

fn same(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let here = place.here;
    let contest = Contest::new(Benchmark::Schedule, Origin::Modern, "switch")
        .with("processor", "same")
        .user("fiber", fiber(0))
        .user("polled tasks", {
            let mut tasks = PolledTasks::create();
            move |times, _| tasks.switch(times)
        })
        .user("tokio", tokio())
        .kernel("threads, futex", partner(here, Class::Usual, || Ok(FutexBell::default())))
        .kernel(
            "threads, condition variable",
            partner(here, Class::Usual, || Ok(ConditionBell::default())),
        )
        .kernel("threads, pipe", by_pipe(here))
        .kernel("threads, eventfd", partner(here, Class::Usual, EventBell::create))
        .kernel("threads, sched_yield", partner(here, Class::Usual, || Ok(YieldBell::default())))
        .kernel(
            "threads, futex, real-time",
            partner(here, Class::RealTime, || Ok(FutexBell::default())),
        )
        .kernel("processes, futex", processes(here))
        .equivalent("taskset -c 0 perf bench sched pipe -T, whose operation is two switches");
    harness.measure(contest)
}

/// Threads that stay on a processor and wake each other by a pipe.
pub(crate) fn by_pipe(cpu: u32) -> Switching {
    partner(cpu, Class::Usual, PipeBell::create)
}

fn other(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.other()?;
    let contest = Contest::new(Benchmark::Schedule, Origin::Modern, "switch")
        .with("processor", "other")
        .user("threads, spinning", partner(cpu, Class::Usual, || Ok(SpinBell::default())))
        .kernel("threads, futex", partner(cpu, Class::Usual, || Ok(FutexBell::default())))
        .kernel("threads, pipe", partner(cpu, Class::Usual, PipeBell::create))
        .kernel("threads, eventfd", partner(cpu, Class::Usual, EventBell::create))
        .kernel("processes, futex", processes(cpu));
    harness.measure(contest)
}

/// What a call costs, by who is called.
fn calls(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let contest = Contest::new(Benchmark::Schedule, Origin::Modern, "call")
        .noise(Noise::Processor)
        .user("plain call", plain_call())
        .user("call of a shared object", shared_call())
        .kernel("vDSO, the clock", |times, _| {
            (0..times).for_each(|_| {
                black_box(clock().now());
            });
            Ok(())
        })
        .kernel("system call", |times, _| {
            (0..times).for_each(|_| {
                black_box(rustix::process::getppid());
            });
            Ok(())
        })
        .kernel("system call by the C library", library_call)
        .equivalent("perf bench syscall basic");
    harness.measure(contest)
}

pub(crate) fn library_call(times: u64, _: &mut Stopwatch<'_>) -> Result<(), KubError> {
    (0..times).for_each(|_| {
        black_box(call_by_library());
    });
    Ok(())
}

/// What of a stack is touched has to come back into the cache.
fn stacks(harness: &mut Harness<'_>, place: &Place, touched: usize) -> Result<(), KubError> {
    place.stay_here()?;
    let contest = Contest::new(Benchmark::Schedule, Origin::Modern, "switch of one fiber")
        .with("stack_bytes", touched)
        .noise(Noise::Processor)
        .user("fiber", fiber(touched));
    harness.measure(contest)
}

pub(super) fn fiber(touched: usize) -> Switching {
    let mut fiber = None;
    Box::new(move |times, watch| {
        let fiber: &mut Fiber = match &mut fiber {
            Some(fiber) => fiber,
            none => none.insert(watch.untimed(|| Fiber::create(touched))?),
        };
        let before = fiber.passes();
        let round_trips = times.div_ceil(2);
        (0..round_trips).for_each(|_| fiber.switch_to_and_back());
        match fiber.passes() - before == round_trips {
            true => Ok(()),
            false => Err(KubError::broken("a fiber did not run as often as it should")),
        }
    })
}

/// Switches to a thread and back.
pub(super) fn partner<B: Bell>(
    cpu: u32,
    class: Class,
    make: impl Fn() -> Result<B, KubError> + 'static,
) -> Switching {
    let mut partner: Option<Partner<B>> = None;
    Box::new(move |times, watch| {
        if class == Class::RealTime {
            watch.untimed(become_real_time)?;
        }
        let partner = match &mut partner {
            Some(partner) => partner,
            none => none.insert(watch.untimed(|| Partner::start(make()?, make()?, cpu, class))?),
        };
        (0..times.div_ceil(2)).for_each(|_| partner.round_trip());
        match class {
            Class::RealTime => watch.untimed(become_usual),
            Class::Usual => Ok(()),
        }
    })
}

fn processes(cpu: u32) -> Switching {
    let mut partner = None;
    Box::new(move |times, watch| {
        let partner: &mut PartnerProcess = match &mut partner {
            Some(partner) => partner,
            none => none.insert(watch.untimed(|| PartnerProcess::start(cpu))?),
        };
        (0..times.div_ceil(2)).for_each(|_| partner.round_trip());
        Ok(())
    })
}

fn tokio() -> Switching {
    let mut tasks = None;
    Box::new(move |times, watch| {
        let tasks: &mut TokioTasks = match &mut tasks {
            Some(tasks) => tasks,
            none => none.insert(watch.untimed(TokioTasks::create)?),
        };
        tasks.switch(times)
    })
}

fn plain_call() -> Switching {
    #[inline(never)]
    fn callee(number: i32) -> i32 {
        black_box(number)
    }
    Box::new(|times, _| {
        (0..times).for_each(|_| {
            black_box(callee(black_box(-1)));
        });
        Ok(())
    })
}

fn shared_call() -> Switching {
    let found = SharedCall::find();
    Box::new(move |times, _| {
        let call = found.clone()?;
        (0..times).for_each(|_| {
            black_box(call.call(black_box(-1)));
        });
        Ok(())
    })
}
