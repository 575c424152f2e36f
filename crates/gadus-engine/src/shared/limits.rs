//! What passes keep to: how many statements they take, how soon these want their answers, and which threads
//! answer them.
//!
//! - A statement that comes waits for the pass under way, and for its own. So that both end within the
//!   latency target, a pass takes no more statements than are answered in half of it; those behind them
//!   wait longer, or are refused where they would come too late.

use super::pace::Pace;
use super::queue::Bounds;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Questions of one pass unless a setting says otherwise.
pub const BATCH_QUERIES: usize = 2_048;

/// Modifications of one pass unless a setting says otherwise.
pub const BATCH_UPDATES: usize = 256;

/// Limits of a database's shared scans in this process. They hold as of the next pass.
#[derive(Debug)]
pub struct ScanLimits {
    queries: AtomicUsize,
    updates: AtomicUsize,
    /// 0 for none.
    target_nanoseconds: AtomicU64,
    refuses_late: AtomicBool,
    pinning: AtomicU8,
    divides: AtomicBool,
}

/// Whether scan threads stay on processors that they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Pinning {
    /// Where it makes a difference: cores with memory, or caches, or a speed of their own.
    #[default]
    Auto,
    /// Always.
    On,
    /// The system moves them as it likes.
    Off,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            queries: AtomicUsize::new(BATCH_QUERIES),
            updates: AtomicUsize::new(BATCH_UPDATES),
            target_nanoseconds: AtomicU64::new(0),
            refuses_late: AtomicBool::new(false),
            pinning: AtomicU8::new(Pinning::Auto as u8),
            divides: AtomicBool::new(false),
        }
    }
}

impl ScanLimits {
    /// Questions that one pass answers at most.
    #[must_use]
    pub fn batch_queries(&self) -> usize {
        self.queries.load(Ordering::Relaxed)
    }

    /// See [`Self::batch_queries`].
    pub fn set_batch_queries(&self, count: usize) {
        self.queries.store(count.max(1), Ordering::Relaxed);
    }

    /// Modifications whose rows one pass finds at most.
    #[must_use]
    pub fn batch_updates(&self) -> usize {
        self.updates.load(Ordering::Relaxed)
    }

    /// See [`Self::batch_updates`].
    pub fn set_batch_updates(&self, count: usize) {
        self.updates.store(count.max(1), Ordering::Relaxed);
    }

    /// Within what time statements want their answers.
    #[must_use]
    pub fn latency_target(&self) -> Option<Duration> {
        let nanoseconds = self.target_nanoseconds.load(Ordering::Relaxed);
        (nanoseconds > 0).then_some(Duration::from_nanos(nanoseconds))
    }

    /// See [`Self::latency_target`].
    pub fn set_latency_target(&self, target: Option<Duration>) {
        let nanoseconds = target.map_or(0, |target| target.as_nanos());
        let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
        self.target_nanoseconds.store(nanoseconds, Ordering::Relaxed);
    }

    /// Whether a statement that is expected to be answered later than the target says is refused.
    #[must_use]
    pub fn refuses_late(&self) -> bool {
        self.refuses_late.load(Ordering::Relaxed)
    }

    /// See [`Self::refuses_late`].
    pub fn set_refuses_late(&self, refuses: bool) {
        self.refuses_late.store(refuses, Ordering::Relaxed);
    }

    /// Whether scan threads stay on processors that they are told.
    #[must_use]
    pub fn pinning(&self) -> Pinning {
        let pinning = self.pinning.load(Ordering::Relaxed);
        let all = [Pinning::Auto, Pinning::On, Pinning::Off];
        all.into_iter().find(|one| *one as u8 == pinning).unwrap_or_default()
    }

    /// See [`Self::pinning`].
    pub fn set_pinning(&self, pinning: Pinning) {
        self.pinning.store(pinning as u8, Ordering::Relaxed);
    }

    /// Whether each thread has an equal part of a table, which nobody else helps with.
    #[must_use]
    pub fn divides(&self) -> bool {
        self.divides.load(Ordering::Relaxed)
    }

    /// See [`Self::divides`].
    pub fn set_divides(&self, divides: bool) {
        self.divides.store(divides, Ordering::Relaxed);
    }

    /// What the next pass of a table with this pace takes.
    pub(super) fn bounds(&self, pace: Option<&Pace>) -> Bounds {
        let (questions, modifications) = (self.batch_queries(), self.batch_updates());
        let Some(target) = self.latency_target() else {
            return Bounds { questions, modifications, may_gather: true };
        };
        let within = pace.map_or(usize::MAX, |pace| pace.statements_within(target / 2).max(1));
        Bounds {
            questions: questions.min(within),
            modifications: modifications.min(within.div_ceil(8)),
            may_gather: false,
        }
    }
}

#[cfg(test)]
mod tests;
