//! Write-out that nobody asked for, by a process that has less memory than it changes pages.
//!
//! - The process is in a control group of its own: its pressure is nobody else's. Where none can be made, it is named
//!   as not tested.
//! - It changes the page that is watched first, and then page after page of another mapped file, and syncs none.

use super::methods::{Room, file_with};
use crate::bind::files::{Cached, make, on_a_device, open_with, prepare};
use crate::error::KubError;
use crate::harness::Harness;
use crate::memory_group::MemoryGroup;
use crate::numbers::size;
use crate::report::Benchmark;
use crate::run::{Deadline, Place, Task};
use crate::system::{Child, MapHow, Mapping, unwritten_pages};
use gadus_base::clock;
use rustix::fs::OFlags;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Of the file that is watched, of which the first page is changed.
const WATCHED_BYTES: u64 = 64 << 10;

/// What is changed besides: four times the memory that the process has.
const CHANGED_BYTES: u64 = 64 << 20;
const MEMORY_BYTES: u64 = 16 << 20;

const PAGE_BYTES: usize = 4 << 10;

/// A slow device takes some seconds to write what is changed.
const WATCHED_MAX: Duration = Duration::from_secs(20);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

const WAITING: u32 = 0;
const STARTED: u32 = 1;
const CHANGED: u32 = 2;

pub(super) fn task() -> Task {
    let name = "write-out that nobody asked for, under memory pressure";
    Task::new(Benchmark::Sync, name, measure).once()
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let group = MemoryGroup::create()?;
    let (path, other) = (place.folder.join("watched"), place.folder.join("changed"));
    let watched = file_with(&path, OFlags::empty(), WATCHED_BYTES, Room::Overwritten)?;
    make(&other, CHANGED_BYTES)?;
    // Whoever brings a page into memory pays for it: that is to be the process in the group.
    prepare(&path, Cached::Cold, WATCHED_BYTES)?;
    prepare(&other, Cached::Cold, CHANGED_BYTES)?;
    if unwritten_pages(watched.as_fd())? != 0 {
        return Err(KubError::unavailable("what was synced is not seen to be on the device"));
    }
    let changed = open_with(&other, OFlags::empty())?;
    let mut page = Mapping::of_file(watched.as_fd(), size(WATCHED_BYTES), MapHow::Plain)?;
    let mut pages = Mapping::of_file(changed.as_fd(), size(CHANGED_BYTES), MapHow::Plain)?;
    let memory = Mapping::shared(4096)?;
    let state = memory.word(0);
    let child = Child::start(None, || {
        while state.load(Ordering::Acquire) == WAITING {
            gadus_locks::wait_on(state, WAITING, None);
        }
        page.increment(0, PAGE_BYTES);
        change(state, CHANGED);
        for at in (0..size(CHANGED_BYTES)).step_by(PAGE_BYTES) {
            pages.increment(at, at + 1);
        }
        // Until it is killed: what it has changed stays mapped.
        loop {
            rustix::event::pause();
        }
    })?;
    group.admit(child.pid())?;
    group.allow(MEMORY_BYTES)?;
    change(state, STARTED);
    let deadline = Deadline::after(WATCHED_MAX);
    while state.load(Ordering::Acquire) != CHANGED {
        if deadline.is_over() || harness.is_cancelled() {
            return Err(KubError::unavailable("the process did not come to change a page"));
        }
        gadus_locks::wait_on(state, STARTED, Some(LOOK));
    }
    let since = clock().now();
    let mut written = false;
    while !written && !deadline.is_over() && !harness.is_cancelled() {
        // Nobody changes the state any more: this is a pause.
        gadus_locks::wait_on(state, CHANGED, Some(LOOK));
        written = unwritten_pages(watched.as_fd())? == 0;
    }
    let after = since.elapsed().as_secs_f64();
    // The group is removed when nobody is in it.
    child.kill();
    let found = match written {
        true => format!("on the device after {after:.2} s"),
        false => format!("not on the device within {after:.0} s"),
    };
    harness.find(Benchmark::Sync, "a changed page, never synced, under memory pressure", found);
    Ok(())
}

fn change(state: &AtomicU32, to: u32) {
    state.store(to, Ordering::Release);
    gadus_locks::wake(state, 1);
}
