//! How many threads a process scans with, while other processes scan the same file.
//!
//! - Those that scan divide the processors evenly. Each says so in the memory that they share, for as long
//!   as its pass is expected to take and a moment more; nobody is asked, and a dead one is soon forgotten.

use gadus_base::{Instant, clock};
use gadus_storage::Store;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Between two passes those who were answered ask again.
const PAUSE: Duration = Duration::from_millis(100);

/// A pass takes this long where nobody knows.
const PASS: Duration = Duration::from_secs(1);

/// Others are looked at so often.
const LOOK: Duration = Duration::from_millis(20);

/// The processors that this process scans with.
#[derive(Debug)]
pub(super) struct Cores {
    store: Arc<Store>,
    threads_max: usize,
    share: AtomicUsize,
    looked: Mutex<Option<Instant>>,
}

impl Cores {
    pub(super) fn new(store: Arc<Store>, threads_max: usize) -> Self {
        let threads_max = threads_max.max(1);
        Self { store, threads_max, share: AtomicUsize::new(threads_max), looked: Mutex::new(None) }
    }

    pub(super) fn threads_max(&self) -> usize {
        self.threads_max
    }

    /// Threads that scan now, at least one.
    pub(super) fn share(&self) -> usize {
        let now = clock().now();
        let mut looked = self.looked.lock();
        if looked.is_none_or(|looked| now.since(looked) >= LOOK) {
            *looked = Some(now);
            let scanning = 1 + self.store.busy_others();
            self.share.store((self.threads_max / scanning).max(1), Ordering::Relaxed);
        }
        self.share.load(Ordering::Relaxed)
    }

    /// A pass begins that takes about so long.
    pub(super) fn pass_begins(&self, expected: Option<Duration>) {
        self.store.busy_for(expected.unwrap_or(PASS) + PAUSE);
    }

    pub(super) fn pass_ends(&self) {
        self.store.busy_for(PAUSE);
    }
}
