//! The most memory that there is meanwhile, beside what there was: of this process, or whatever is read.
//!
//! - Anonymous pages alone: neither files nor memory that processes share.
//! - Looked at again and again by a thread: a peak that is shorter than [`LOOK`] may be missed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::failure::Failure;

/// Between two looks: each takes some ten microseconds, one pass over a large table many looks.
const LOOK: Duration = Duration::from_millis(2);

/// Looks until it is asked.
#[derive(Debug)]
pub(super) struct Watch {
    before: u64,
    peak: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watch {
    pub(super) fn begin() -> Result<Self, Failure> {
        Self::of(anonymous_bytes)
    }

    /// By what this reads.
    pub(super) fn of(
        read: impl Fn() -> Result<u64, Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let before = read()?;
        let (peak, over) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
        let (seen, stop) = (peak.clone(), over.clone());
        let thread = gadus_base::spawn("memory watch", move || {
            loop {
                // What could be told at the beginning can be told now.
                seen.fetch_max(read().unwrap_or_default(), Ordering::Relaxed);
                if stop.load(Ordering::Acquire) {
                    return;
                }
                std::thread::park_timeout(LOOK);
            }
        })?;
        Ok(Self { before, peak, over, thread })
    }

    /// The most that there was meanwhile, beside what there was at the beginning.
    pub(super) fn bytes(self) -> Result<u64, Failure> {
        self.over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread.join().map_err(|_| Failure::message("a thread broke off"))?;
        Ok(self.peak.load(Ordering::Relaxed) - self.before)
    }
}

fn anonymous_bytes() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes * 1024).ok_or_else(|| {
        Failure::message("/proc/self/status does not tell the memory of this process")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_meanwhile_is_seen_even_when_it_is_given_back() {
        let taken = Arc::new(AtomicU64::new(100));
        let read = taken.clone();
        let watch = Watch::of(move || Ok(read.load(Ordering::Relaxed))).unwrap();
        taken.store(140, Ordering::Relaxed);
        while watch.peak.load(Ordering::Relaxed) < 140 {
            std::thread::yield_now();
        }
        taken.store(90, Ordering::Relaxed);
        assert_eq!(watch.bytes().unwrap(), 40);
    }

    #[test]
    fn the_system_tells_the_memory_of_a_process() {
        assert!(anonymous_bytes().unwrap() > 0);
    }
}
