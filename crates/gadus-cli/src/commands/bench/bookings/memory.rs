//! The memory that this process takes beside what it had.
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
        let before = anonymous_bytes()?;
        let (peak, over) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
        let (seen, stop) = (peak.clone(), over.clone());
        let thread = gadus_base::spawn("memory watch", move || {
            while !stop.load(Ordering::Acquire) {
                // It could be told at the beginning, so it can be told now.
                let now = anonymous_bytes().unwrap_or_default();
                seen.fetch_max(now, Ordering::Relaxed);
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
        Ok(self.peak.load(Ordering::Relaxed).max(anonymous_bytes()?) - self.before)
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
        let watch = Watch::begin().unwrap();
        let before = watch.peak.load(Ordering::Relaxed);
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        while watch.peak.load(Ordering::Relaxed) < before + (60 << 20) {
            std::thread::yield_now();
        }
        drop(taken);
        assert!(watch.bytes().unwrap() >= 60 << 20);
    }
}
