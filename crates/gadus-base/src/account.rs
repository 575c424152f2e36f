//! On whose account a thread works: bytes that it reads and writes, and memory that it holds.
//!
//! - Who works for somebody does so within that account: what is read and written on this thread then is
//!   added to it, whoever does it further below.
//! - Who works for many at once has an account of his own, and divides it among them afterwards.
//! - What is done later for all, as checkpoints are, is on nobody's account.

use std::cell::RefCell;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Account>>> = const { RefCell::new(None) };
}

/// What was done on somebody's behalf, by whichever threads.
#[derive(Debug, Default)]
pub struct Account {
    read: AtomicU64,
    written: AtomicU64,
    reads: AtomicU64,
    hits: AtomicU64,
    held: AtomicU64,
    held_max: AtomicU64,
}

/// So many bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoBytes {
    /// Read from files: what a cache has is not read.
    pub read: u64,
    /// Written to files.
    pub written: u64,
}

/// How often a cache was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// It had what was asked for.
    pub hits: u64,
    /// It was read.
    pub reads: u64,
}

/// Puts back whose account it was before.
struct Before(Option<Arc<Account>>);

impl Drop for Before {
    fn drop(&mut self) {
        let before = self.0.take();
        let _ = CURRENT.try_with(|current| *current.borrow_mut() = before);
    }
}

impl Account {
    /// Does something on this account.
    pub fn charge<T>(self: &Arc<Self>, what: impl FnOnce() -> T) -> T {
        let before = CURRENT.try_with(|current| current.replace(Some(self.clone())));
        let _before = Before(before.unwrap_or_default());
        what()
    }

    /// Whose account this thread works on; none where nobody asked for one.
    #[must_use]
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// Adds what others have done for this account.
    pub fn add(&self, bytes: IoBytes) {
        self.read.fetch_add(bytes.read, Ordering::Relaxed);
        self.written.fetch_add(bytes.written, Ordering::Relaxed);
    }

    /// What stands on the account.
    #[must_use]
    pub fn bytes(&self) -> IoBytes {
        IoBytes {
            read: self.read.load(Ordering::Relaxed),
            written: self.written.load(Ordering::Relaxed),
        }
    }

    /// Adds to the account of this thread, where it has one.
    pub fn note(bytes: IoBytes) {
        Self::of_thread(|account| account.add(bytes));
    }

    fn of_thread(note: impl FnOnce(&Self)) {
        let _ = CURRENT.try_with(|current| {
            if let Some(account) = &*current.borrow() {
                note(account);
            }
        });
    }

    /// The same for what was read at once.
    pub fn note_read(bytes: u64) {
        Self::of_thread(|account| {
            account.add(IoBytes { read: bytes, written: 0 });
            account.reads.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// The same for what a cache had.
    pub fn note_hit() {
        Self::of_thread(|account| _ = account.hits.fetch_add(1, Ordering::Relaxed));
    }

    /// How often a cache was asked on this account.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        CacheUse {
            hits: self.hits.load(Ordering::Relaxed),
            reads: self.reads.load(Ordering::Relaxed),
        }
    }

    /// Adds what stands on another account.
    pub fn add_all(&self, other: &Self) {
        self.add(other.bytes());
        let CacheUse { hits, reads } = other.cache_use();
        self.hits.fetch_add(hits, Ordering::Relaxed);
        self.reads.fetch_add(reads, Ordering::Relaxed);
    }

    /// The same for bytes that were written.
    pub fn note_written(bytes: u64) {
        Self::note(IoBytes { read: 0, written: bytes });
    }

    /// Memory is held for it from now on.
    pub fn hold(&self, bytes: u64) {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.held_max.fetch_max(held, Ordering::Relaxed);
    }

    /// So much of what was held is no longer.
    pub fn release(&self, bytes: u64) {
        // What was held for another account may be given up after a plan has changed hands.
        let less = |held: u64| Some(held.saturating_sub(bytes));
        let _ = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// The most that was held at a time.
    #[must_use]
    pub fn held_bytes_max(&self) -> u64 {
        self.held_max.load(Ordering::Relaxed)
    }
}

impl IoBytes {
    /// The part of each of so many.
    #[must_use]
    pub fn divided(self, by: usize) -> Self {
        let by = (by as u64).max(1);
        Self { read: self.read / by, written: self.written / by }
    }
}

impl AddAssign for IoBytes {
    fn add_assign(&mut self, more: Self) {
        self.read += more.read;
        self.written += more.written;
    }
}

#[cfg(test)]
mod tests;
