//! Write-out that nobody asked for: a mapped page is changed and never synced, and the kernel writes it all the same.
//!
//! - A database that maps its file cannot keep a page from the disk until its log record is there. A pool of its own
//!   can: nobody but it writes those pages.
//! - Watched from the first contest of the run to the last, since an idle kernel waits half a minute.

use super::methods::{Room, file_with};
use crate::bind::files::on_a_device;
use crate::error::KubError;
use crate::harness::{Budget, Harness};
use crate::report::{Benchmark, Skipped};
use crate::run::{Deadline, Place, Task};
use crate::system::{MapHow, Mapping, unwritten_pages};
use gadus_base::{Instant, clock, spawn};
use parking_lot::{Condvar, Mutex};
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

const FILE_BYTES: usize = 1 << 20;

/// Twice what an idle kernel waits by its defaults, of 30 s and one look in 5 s.
const WATCHED_MAX: Duration = Duration::from_secs(75);

/// Between two looks: rare enough that nobody who is measured meets more than a few.
const LOOK: Duration = Duration::from_millis(500);

/// Who is watched, and since when.
struct Watched {
    how: &'static str,
    file: OwnedFd,
    _mapping: Mapping,
    since: Instant,
    written_after: Option<Duration>,
}

/// Both tasks have it.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    watched: Vec<Watched>,
    refused: Vec<Skipped>,
    is_over: bool,
}

/// What begins to watch, and what tells at the end.
pub(super) fn tasks(budget: Budget) -> (Task, Task) {
    let shared = Arc::<Shared>::default();
    let other = shared.clone();
    let begin =
        Task::new(Benchmark::Sync, "a page changed and not synced", move |harness, place| {
            match budget {
                // An idle kernel takes longer than the whole run.
                Budget::Quick => harness.skip(Skipped {
                    benchmark: Benchmark::Sync,
                    what: "write-out that nobody asked for, idle".to_owned(),
                    why: "an idle kernel waits half a minute, and a quick run does not".to_owned(),
                }),
                _ => begin(&shared, place)?,
            }
            Ok(())
        });
    let end = Task::new(Benchmark::Sync, "write-out that nobody asked for", move |harness, _| {
        if budget != Budget::Quick {
            end(&other, harness);
        }
        Ok(())
    });
    (begin.once(), end.at_the_end())
}

fn begin(shared: &Arc<Shared>, place: &Place) -> Result<(), KubError> {
    for (how, is_locked) in [("idle", false), ("idle, with mlock", true)] {
        match change(place, how, is_locked) {
            Ok(watched) => shared.state.lock().watched.push(watched),
            Err(error) => shared.state.lock().refused.push(Skipped {
                benchmark: Benchmark::Sync,
                what: format!("write-out that nobody asked for, {how}"),
                why: error.to_string(),
            }),
        }
    }
    let its = shared.clone();
    let watch = move || {
        let deadline = Deadline::after(WATCHED_MAX);
        let mut state = its.state.lock();
        while !state.is_over && !deadline.is_over() && state.look() {
            its.changed.wait_for(&mut state, LOOK);
        }
        state.is_over = true;
        its.changed.notify_all();
    };
    let started = spawn("kub write-out", watch);
    started.map(drop).map_err(|error| KubError::unavailable(format!("a thread: {error}")))
}

/// Changes a page of a mapped file.
fn change(place: &Place, how: &'static str, is_locked: bool) -> Result<Watched, KubError> {
    on_a_device(&place.kept)?;
    let path = place.kept.join(format!("uninvited-{is_locked}"));
    let file = file_with(&path, OFlags::empty(), FILE_BYTES as u64, Room::Overwritten)?;
    let mut mapping = Mapping::of_file(file.as_fd(), FILE_BYTES, MapHow::Plain)?;
    if is_locked {
        mapping.keep_in_memory()?;
    }
    if unwritten_pages(file.as_fd())? != 0 {
        return Err(KubError::unavailable("what was synced is not seen to be on the device"));
    }
    mapping.increment(0, 4096);
    let since = clock().now();
    Ok(Watched { how, file, _mapping: mapping, since, written_after: None })
}

impl State {
    /// Looks what is written; says whether anybody is left to watch. The kernel counts a page that was changed by
    /// its mapping as such before it writes it, so none that are unwritten means that it was written.
    fn look(&mut self) -> bool {
        for watched in self.watched.iter_mut().filter(|watched| watched.written_after.is_none()) {
            if unwritten_pages(watched.file.as_fd()) == Ok(0) {
                watched.written_after = Some(watched.since.elapsed());
            }
        }
        self.watched.iter().any(|watched| watched.written_after.is_none())
    }
}

fn end(shared: &Shared, harness: &mut Harness<'_>) {
    let mut state = shared.state.lock();
    while !state.is_over && !state.watched.is_empty() {
        if harness.is_cancelled() {
            state.is_over = true;
        }
        shared.changed.wait_for(&mut state, LOOK);
    }
    for watched in state.watched.drain(..) {
        let what = format!("a changed page, never synced, {}", watched.how);
        let found = match watched.written_after {
            Some(after) => format!("on the device after {:.0} s", after.as_secs_f64()),
            None => format!("not on the device within {} s", watched.since.elapsed().as_secs()),
        };
        harness.find(Benchmark::Sync, &what, found);
    }
    harness.find(
        Benchmark::Sync,
        "a changed page of an own pool, never synced",
        "not on the device: nobody but the pool's owner can write it",
    );
    for refused in state.refused.drain(..) {
        harness.skip(refused);
    }
}
