//! How many threads a scan that runs alone is worth: those that come after its work is done have helped nobody.
//!
//! - By the work from which on others help, as it was decided when the database was opened, and by what scans of each
//!   table were seen to take for a row. Without facts of the kernel nothing is counted, and all help with every scan.
//! - What scans are seen to take counts at once where it is more, and little by little where it is less: a scan that
//!   might be worth help has it.
//! - Who begins alone, and has worked for as long as others take to come, calls them after all.

use crate::scan::may_hold;
use crate::shared::{PassWork, Question};
use crate::snapshot::Table;
use gadus_base::TableId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

/// Whether any of more segments may answer is not looked at first: that would take as long as others take to come.
const SEGMENTS_MAX: usize = 64;

/// Nobody scans more tables by turns; what was seen of them is forgotten then, and seen again.
const TABLES_MAX: usize = 4_096;

/// What a faster scan counts among those before it.
const WEIGHT: f64 = 0.1;

/// From which work on others help, and what that is in rows of each table.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    from: Option<Duration>,
    /// Nanoseconds that one thread takes for a row.
    seen: Mutex<HashMap<TableId, f64>>,
}

impl Helpers {
    /// Others help from so much work of one thread on; with all of it, where that is none.
    pub(crate) fn new(from: Option<Duration>) -> Self {
        Self { from, seen: Mutex::default() }
    }

    /// See [`Self::new`].
    pub(crate) fn from(&self) -> Option<Duration> {
        self.from
    }

    /// A scan of a table is over, in which threads did so much.
    #[allow(clippy::cast_precision_loss)] // a rate
    pub(crate) fn note(&self, table: TableId, done: impl Iterator<Item = PassWork>) {
        if self.from.is_none() {
            return;
        }
        let (mut rows, mut time) = (0, Duration::ZERO);
        done.for_each(|done| (rows, time) = (rows + done.read_rows, time + done.time()));
        if rows == 0 {
            return;
        }
        let each = time.as_nanos() as f64 / rows as f64;
        let mut seen = self.seen.lock();
        if seen.len() >= TABLES_MAX && !seen.contains_key(&table) {
            seen.clear();
        }
        let known = seen.entry(table).or_insert(each);
        *known = each.max(*known + WEIGHT * (each - *known));
    }

    /// About how long one thread takes for so many rows of a table; none before a scan was seen.
    #[allow(clippy::cast_precision_loss)] // a time
    fn expected(&self, table: TableId, rows: u64) -> Option<Duration> {
        let each = self.seen.lock().get(&table).copied()?;
        Duration::try_from_secs_f64(each * rows as f64 / 1e9).ok()
    }
}

/// What a scan is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worth {
    /// Threads, with the one that begins.
    pub(crate) threads: usize,
    /// Others would come too late: they are called when that proves wrong.
    pub(crate) begins_alone: bool,
}

impl Table {
    /// How many of some threads begin a scan for a question, by what is expected of it.
    #[must_use]
    pub fn scan_threads(&self, question: &Question, threads: usize) -> usize {
        let worth = self.worth(question, threads);
        if worth.begins_alone { 1 } else { worth.threads }
    }

    pub(crate) fn worth(&self, question: &Question, threads: usize) -> Worth {
        let segments = &self.version().segments;
        let threads = threads.clamp(1, segments.len().max(1));
        let all = Worth { threads, begins_alone: false };
        let helpers = self.blobs().helpers();
        let Some(from) = helpers.from().filter(|_| threads > 1) else { return all };
        if segments.len() > SEGMENTS_MAX {
            return all;
        }
        let (mut asked, mut rows) = (0, 0);
        for segment in segments.values().filter(|segment| segment.live_rows() > 0) {
            // What cannot be told fails the question where it is read.
            if may_hold(self, segment, &question.predicates).unwrap_or(true) {
                (asked, rows) = (asked + 1, rows + u64::from(segment.rows));
            }
        }
        let threads = threads.min(asked.max(1));
        let expected = helpers.expected(self.id(), rows);
        let is_short = expected.is_some_and(|expected| expected <= from);
        Worth { threads, begins_alone: is_short && threads > 1 }
    }
}

#[cfg(test)]
mod tests;
