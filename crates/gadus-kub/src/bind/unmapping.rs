//! A part of a file used and given up again, while other threads of the process run: to unmap it, every processor
//! that has one of them must be told.

use super::files::{Cached, make, open_with, prepare, read_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Stopwatch};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task, stay_on};
use crate::system::{MapHow, Mapping};
use gadus_base::spawn;
use rustix::fs::OFlags;
use std::hint::{black_box, spin_loop};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const BYTES: u64 = 256 << 10;

/// A thread on another processor that runs until this is dropped.
struct Running {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub(super) fn tasks() -> Vec<Task> {
    let task = |beside: bool| {
        let name = if beside { "unmapping beside a running thread" } else { "unmapping alone" };
        Task::new(Benchmark::Bind, name, move |harness, place| measure(harness, place, beside))
    };
    [false, true].map(task).into_iter().collect()
}

fn measure(harness: &mut Harness<'_>, place: &Place, beside: bool) -> Result<(), KubError> {
    place.stay_here()?;
    let _running = if beside { Some(Running::start(place.other()?)?) } else { None };
    let path = place.folder.join("unmapped");
    make(&path, BYTES)?;
    prepare(&path, Cached::Warm, BYTES)?;
    let file = open_with(&path, OFlags::empty())?;
    let mut buffer = vec![0; size(BYTES)];
    let contest =
        Contest::new(Benchmark::Bind, Origin::Modern, "use a part of a file and give it up")
            .with("bytes", BYTES)
            .with("other_threads", u32::from(beside))
            .user("read into a buffer", |times, _: &mut Stopwatch<'_>| {
                (0..times).try_for_each(|_| {
                    read_whole(&file, &mut buffer, 0)?;
                    black_box(sum_of(&buffer));
                    Ok(())
                })
            })
            .kernel("mapped and unmapped", |times, watch| {
                (0..times).try_for_each(|_| {
                    let map = || Mapping::of_file(file.as_fd(), size(BYTES), MapHow::Plain);
                    let mapping = watch.step("map", map)?;
                    watch.step("touch", || black_box(mapping.sum(0, size(BYTES))));
                    watch.step("unmap", || drop(mapping));
                    Ok(())
                })
            });
    harness.measure(contest)
}

impl Running {
    fn start(cpu: u32) -> Result<Self, KubError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let its = is_over.clone();
        let run = move || {
            // Wherever it runs, it is not where the measured one is.
            let _ = stay_on(cpu);
            while !its.load(Ordering::Relaxed) {
                spin_loop();
            }
        };
        let thread = Some(spawn("kub running", run).or_refused("a thread")?);
        Ok(Self { is_over, thread })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It does nothing that can fail.
            let _ = thread.join();
        }
    }
}
