//! Forked children: what a process has open stays its own.
//!
//! - A child that was forked, and has executed nothing since, has no part in what its parent shares with
//!   other processes: descriptors that were registered here lead nowhere in it, and mappings become its
//!   own copies. So it neither keeps its parent's locks nor writes where its parent writes.
//! - Whoever keeps state of a process with a [`ProcessMark`] can tell that it is another's.
//! - The handler runs between the fork and the child's first own step, with one thread and with locks
//!   in any state: it uses atomics and system calls alone.
//! - What exceeds the fixed room of the register is not taken from children.

#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const DESCRIPTORS_MAX: usize = 4096;
const MAPPINGS_MAX: usize = 1024;
const NONE: RawFd = -1;

/// How many forks lie between this process and the first one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Leads nowhere.
static NOWHERE: AtomicI32 = AtomicI32::new(NONE);
static DESCRIPTORS: [AtomicI32; DESCRIPTORS_MAX] =
    [const { AtomicI32::new(NONE) }; DESCRIPTORS_MAX];
static MAPPINGS: [Mapping; MAPPINGS_MAX] = [const { Mapping::free() }; MAPPINGS_MAX];

/// A process, as something remembers it that was made in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessMark(u32);

/// A descriptor that leads nowhere in children; until it is dropped.
#[derive(Debug)]
pub struct OwnDescriptor(Option<usize>);

/// A shared mapping that children have a copy of; until it is dropped.
#[derive(Debug)]
pub struct OwnMapping(Option<usize>);

struct Mapping {
    descriptor: AtomicI32,
    base: AtomicPtr<u8>,
    bytes: AtomicUsize,
}

impl ProcessMark {
    /// This process.
    #[must_use]
    pub fn here() -> Self {
        watch();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this is still the process of the mark, not a child of it.
    #[must_use]
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }

    /// How many forks lie between the process and the first one.
    #[must_use]
    pub fn forks(self) -> u32 {
        self.0
    }
}

impl OwnDescriptor {
    /// Registers a descriptor, which stays open at least as long as this is there.
    #[must_use]
    pub fn register(descriptor: BorrowedFd<'_>) -> Self {
        watch();
        let descriptor = descriptor.as_raw_fd();
        Self(DESCRIPTORS.iter().position(|place| {
            place.compare_exchange(NONE, descriptor, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        }))
    }
}

impl Drop for OwnDescriptor {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            DESCRIPTORS[place].store(NONE, Ordering::Release);
        }
    }
}

impl OwnMapping {
    /// Registers a range of addresses of which nothing is mapped yet, from a file that stays open.
    ///
    /// # Safety
    /// The range and the descriptor are the caller's for as long as this is there. Whatever is mapped in
    /// the first bytes of the range is the file's first bytes, and `grow` has been told of it.
    #[must_use]
    pub unsafe fn register(base: NonNull<u8>, descriptor: BorrowedFd<'_>) -> Self {
        watch();
        let descriptor = descriptor.as_raw_fd();
        let taken = MAPPINGS.iter().position(|mapping| {
            let place = &mapping.descriptor;
            place.compare_exchange(NONE, descriptor, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        if let Some(place) = taken {
            MAPPINGS[place].base.store(base.as_ptr(), Ordering::Release);
        }
        Self(taken)
    }

    /// Says how much of the range is mapped.
    pub fn grow(&self, bytes: usize) {
        if let Some(place) = self.0 {
            MAPPINGS[place].bytes.store(bytes, Ordering::Release);
        }
    }
}

impl Drop for OwnMapping {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            let mapping = &MAPPINGS[place];
            mapping.bytes.store(0, Ordering::Release);
            mapping.descriptor.store(NONE, Ordering::Release);
        }
    }
}

impl Mapping {
    const fn free() -> Self {
        Self {
            descriptor: AtomicI32::new(NONE),
            base: AtomicPtr::new(std::ptr::null_mut()),
            bytes: AtomicUsize::new(0),
        }
    }
}

/// Has the handler called in every child from now on.
fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the path ends with a zero byte.
        let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        NOWHERE.store(nowhere, Ordering::Release);
        // SAFETY: the handler lives as long as the program, and does nothing that a child must not do.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Runs in a child before anything else of it does.
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    for mapping in &MAPPINGS {
        let bytes = mapping.bytes.swap(0, Ordering::Relaxed);
        if bytes > 0 {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_FIXED;
            let base = mapping.base.load(Ordering::Relaxed).cast();
            let descriptor = mapping.descriptor.load(Ordering::Relaxed);
            // SAFETY: the range is the registrant's, and what is in it shows the file's first bytes:
            // it goes on doing so, until this process writes there.
            unsafe { libc::mmap(base, bytes, access, flags, descriptor, 0) };
        }
    }
    let nowhere = NOWHERE.load(Ordering::Relaxed);
    for place in &DESCRIPTORS {
        let descriptor = place.swap(NONE, Ordering::Relaxed);
        if descriptor != NONE {
            // SAFETY: both descriptors are open; this child's alone is replaced, and its number stays
            // in use, so that whoever closes it later closes nothing else.
            unsafe { libc::dup3(nowhere, descriptor, libc::O_CLOEXEC) };
        }
    }
}
