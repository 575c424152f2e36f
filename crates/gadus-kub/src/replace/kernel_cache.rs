//! The kernel's cache on a trace: a process in a control group with little memory reads its pages.
//!
//! - A page is missing if it cannot be had without waiting, which each read asks first. Nothing is read ahead.
//! - The group has memory for the frames beyond what the process needs itself; the kernel keeps account in batches, so
//!   that a percent is not exact.

use crate::bind::files::{Cached, make, prepare};
use crate::error::{ErrorKind, KubError, Refused};
use crate::memory_group::MemoryGroup;
use crate::run::Place;
use crate::system::{Child, Mapping};
use rustix::fs::{Advice, Mode, OFlags, fadvise, open};
use rustix::io::{ReadWriteFlags, pread, preadv2};
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// Of several of the kernel's pages, so that its batches matter less.
const PAGE_BYTES: usize = 16 << 10;

/// Words of the memory that both share.
const STATE: usize = 0;
const MISSES: usize = 16;
const TRACE: usize = 32;

const WAITING: u32 = 0;
const READING: u32 = 1;
const DONE: u32 = 2;
const FAILED: u32 = 3;

/// Accesses of a trace that the kernel misses, of a pool with so many frames.
pub(super) fn misses(place: &Place, trace: &[u64], frames: u64) -> Result<u64, KubError> {
    let group = MemoryGroup::create()?;
    let pages = trace.iter().max().map_or(0, |last| last + 1);
    let path = place.folder.join("traced");
    let bytes = pages * PAGE_BYTES as u64;
    make(&path, bytes)?;
    prepare(&path, Cached::Cold, bytes)?;
    let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).or_refused("a file")?;
    fadvise(&file, 0, None, Advice::Random).or_refused("fadvise")?;
    let memory = Mapping::shared((TRACE + trace.len()) * 4)?;
    for (turn, page) in trace.iter().enumerate() {
        let page = u32::try_from(*page).map_err(|_| KubError::input("a page beyond 2^32"))?;
        memory.word(TRACE + turn).store(page, Ordering::Relaxed);
    }
    let (state, missed) = (memory.word(STATE), memory.word(MISSES));
    let mut buffer = vec![1; PAGE_BYTES];
    let child = Child::start(None, || {
        wait_for_change(&memory, WAITING);
        let counted = read_all(&memory, &file, trace.len(), &mut buffer);
        missed.store(counted.unwrap_or(0), Ordering::Relaxed);
        state.store(if counted.is_some() { DONE } else { FAILED }, Ordering::Release);
        gadus_locks::wake(state, 1);
        wait_for_change(&memory, DONE);
    })?;
    let started = group.admit(child.pid()).and_then(|()| group.allow(frames * PAGE_BYTES as u64));
    if started.is_ok() {
        state.store(READING, Ordering::Release);
        gadus_locks::wake(state, 1);
        wait_for_change(&memory, READING);
    }
    // The group is removed when nobody is in it.
    child.kill();
    started?;
    match state.load(Ordering::Acquire) {
        DONE => Ok(u64::from(missed.load(Ordering::Relaxed))),
        _ => Err(KubError::new(
            ErrorKind::Unavailable,
            "a page could not be asked for without waiting",
        )),
    }
}

fn wait_for_change(memory: &Mapping, from: u32) {
    let state = memory.word(STATE);
    while state.load(Ordering::Acquire) == from {
        gadus_locks::wait_on(state, from, None);
    }
}

fn read_all(memory: &Mapping, file: &OwnedFd, count: usize, buffer: &mut [u8]) -> Option<u32> {
    let mut misses = 0;
    for turn in 0..count {
        let page = memory.word(TRACE + turn).load(Ordering::Relaxed);
        let at = u64::from(page) * PAGE_BYTES as u64;
        let asked = preadv2(file, &mut [IoSliceMut::new(buffer)], at, ReadWriteFlags::NOWAIT);
        match asked {
            Ok(read) if read == PAGE_BYTES => {}
            Ok(_) | Err(rustix::io::Errno::AGAIN) => {
                misses += 1;
                if pread(file, &mut *buffer, at) != Ok(PAGE_BYTES) {
                    return None;
                }
            }
            Err(_) => return None,
        }
    }
    Some(misses)
}
