//! How far the statement of a session has come.
//!
//! - Counted by those who do the work, read by anybody at any time; a hint, exact only at the end.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one session's statement; they begin again with each statement.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    morsels: AtomicU64,
    morsels_total: AtomicU64,
    rows_written: AtomicU64,
    /// Rows that will be written; 0 when nobody knows.
    rows_expected: AtomicU64,
}

/// How far a statement has come.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProgressReading {
    /// The part of its input that it has read, from 0 to 1; none when nobody knows.
    pub fraction: Option<f64>,
    /// Rows that it has written.
    pub rows_written: u64,
}

impl Progress {
    /// Begins a statement.
    pub(crate) fn begin(&self) {
        let all = [&self.morsels, &self.morsels_total, &self.rows_written, &self.rows_expected];
        all.into_iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    /// A scan of so many morsels begins.
    pub(crate) fn scan_begins(&self, morsels: usize) {
        self.morsels_total.fetch_add(morsels as u64, Ordering::Relaxed);
    }

    pub(crate) fn morsel_read(&self) {
        self.morsels.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rows_expected(&self, rows: usize) {
        self.rows_expected.store(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn rows_written(&self, rows: usize) {
        self.rows_written.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> ProgressReading {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let rows_written = read(&self.rows_written);
        let part = |done: u64, total: u64| {
            #[allow(clippy::cast_precision_loss)] // shown with two digits
            (total > 0).then(|| (done as f64 / total as f64).min(1.0))
        };
        let written = part(rows_written, read(&self.rows_expected)).filter(|_| rows_written > 0);
        let scanned = part(read(&self.morsels), read(&self.morsels_total));
        ProgressReading { fraction: written.or(scanned), rows_written }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_told_where_the_whole_is_known() {
        let progress = Progress::default();
        assert_eq!(progress.read(), ProgressReading::default());
        progress.scan_begins(4);
        progress.morsel_read();
        assert_eq!(progress.read().fraction, Some(0.25));
        progress.rows_expected(10);
        progress.rows_written(5);
        assert_eq!(progress.read(), ProgressReading { fraction: Some(0.5), rows_written: 5 });
        progress.begin();
        assert_eq!(progress.read(), ProgressReading::default());
    }
}
