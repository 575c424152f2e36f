//! Background work of an open database: one thread, asleep while nothing waits for it.
//!
//! - Commits leave wishes: a full segment, a large overlay, many recent keys, a long log, sparse or
//!   small segments, a relaxed commit to be synced. The thread fulfils them in order of urgency.
//! - A wish that fails is dropped with its error noted; the next commit of its kind asks again.
//! - Compaction that loses to writers waits before it tries again: it never spins on a busy segment.

use super::Inner;
use super::compaction::{self, Compacted};
use super::fold::RUNS_MAX;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::{SEGMENT_ROWS_MAX, SegmentVersion};
use crate::version::{Change, DatabaseVersion, TableVersion};
use gadus_base::{Instant, SegmentId, TableId, clock, spawn};
use gadus_storage::Durability;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// Patches of a segment's overlay before it is folded: a scan then still finds few of them in a
/// chunk, and a rewrite of the segment's changed columns is paid by thousands of changes.
const PATCHES_MAX: usize = 8_192;

/// Recent keys before they become a run: about 4 MiB of map.
const RECENT_KEYS_MAX: usize = 65_536;

/// A relaxed commit is synced within this time.
const RELAXED_SYNC: Duration = Duration::from_millis(200);

/// Rest after a compaction that lost to a writer. The longest measured took 64 ms: a segment that is
/// changed without a pause costs at most six per cent of a core.
const COMPACTION_REST: Duration = Duration::from_secs(1);

/// Moves of a table in a row that lose before one is made although transactions are open: a minute
/// in which there was always one.
const PATIENT_MOVES: u32 = 60;

/// What waits for the maintenance thread.
#[derive(Debug, Default)]
pub(super) struct Maintenance {
    wishes: Mutex<Wishes>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wishes {
    stop: bool,
    sync_by: Option<Instant>,
    segments: BTreeSet<(TableId, SegmentId)>,
    keys: BTreeSet<TableId>,
    /// Tables with something to compact, and the time before which they rest.
    compactions: BTreeMap<TableId, Instant>,
    /// Moves that a table's compaction has lost in a row.
    lost: BTreeMap<TableId, u32>,
    checkpoint: bool,
    last_error: Option<String>,
}

/// One thing to do.
enum Task {
    Sync,
    Segment(TableId, SegmentId),
    Keys(TableId),
    Checkpoint,
    Compaction(TableId),
}

impl Maintenance {
    /// Looks at what a commit made; called under the commit lock, so it only notes.
    pub(super) fn note(&self, version: &DatabaseVersion, changes: &[Change]) {
        for change in changes {
            let (table, segment) = match change {
                Change::AppendRows { table, first, .. } => (*table, first.segment),
                Change::PatchRows { table, segment, .. }
                | Change::DeleteRows { table, segment, .. } => (*table, *segment),
                Change::AddSegments { table, segments, .. } => {
                    if segments.iter().any(|(_, base)| compaction::is_small(base.rows())) {
                        self.compact(*table);
                    }
                    self.note_runs(version, *table);
                    continue;
                }
                Change::MoveRows { table, .. } => {
                    self.note_runs(version, *table);
                    continue;
                }
                _ => continue,
            };
            let Some(state) = version.table(table) else { continue };
            let Some(changed) = state.segment(segment) else { continue };
            if is_to_fold(changed) {
                self.wish(|wishes| {
                    wishes.segments.insert((table, segment));
                });
            }
            // A segment becomes sparse by deletes, or was so already when its last row came.
            let is_patched = matches!(change, Change::PatchRows { .. });
            if !is_patched && state.open != Some(segment) && compaction::is_sparse(changed) {
                self.compact(table);
            }
            if state.keys.iter().any(|key| key.entries.recent_len() > RECENT_KEYS_MAX) {
                self.merge_keys(table);
            }
        }
    }

    /// Asks for a merge where a commit brought one key run too many.
    fn note_runs(&self, version: &DatabaseVersion, table: TableId) {
        if version.table(table).is_some_and(|state| has_many_runs(state)) {
            self.merge_keys(table);
        }
    }

    /// Asks for a sync or a checkpoint where a commit made one due.
    pub(super) fn after_commit(&self, inner: &Inner, durability: Durability) {
        if durability == Durability::Relaxed {
            let by = clock().now().plus(RELAXED_SYNC);
            self.wish(|wishes| {
                wishes.sync_by.get_or_insert(by);
            });
        }
        if inner.blobs.store().log_bytes_since_checkpoint() > inner.options.checkpoint_log.0 {
            self.wish(|wishes| wishes.checkpoint = true);
        }
    }

    /// Asks for a table's compaction, now unless it rests.
    fn compact(&self, table: TableId) {
        let now = clock().now();
        self.wish(|wishes| {
            wishes.compactions.entry(table).or_insert(now);
        });
    }

    /// Asks for a table's compaction after a rest.
    pub(super) fn compact_later(&self, table: TableId) {
        let rested = clock().now().plus(COMPACTION_REST);
        self.wish(|wishes| {
            wishes.compactions.insert(table, rested);
        });
    }

    fn merge_keys(&self, table: TableId) {
        self.wish(|wishes| {
            wishes.keys.insert(table);
        });
    }

    pub(super) fn stop(&self) {
        self.wish(|wishes| wishes.stop = true);
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.wishes.lock().last_error.clone()
    }

    fn wish(&self, note: impl FnOnce(&mut Wishes)) {
        note(&mut self.wishes.lock());
        self.changed.notify_one();
    }

    /// Sleeps until there is something to do; none when the database closes.
    fn next(&self) -> Option<Task> {
        let mut wishes = self.wishes.lock();
        loop {
            if wishes.stop {
                return None;
            }
            let now = clock().now();
            if wishes.sync_by.is_some_and(|by| by <= now) {
                wishes.sync_by = None;
                return Some(Task::Sync);
            }
            if let Some((table, segment)) = wishes.segments.pop_first() {
                return Some(Task::Segment(table, segment));
            }
            if let Some(table) = wishes.keys.pop_first() {
                return Some(Task::Keys(table));
            }
            if wishes.checkpoint {
                wishes.checkpoint = false;
                return Some(Task::Checkpoint);
            }
            let rested = wishes.compactions.iter().min_by_key(|(_, by)| **by);
            let rested = rested.map(|(&table, &by)| (table, by));
            if let Some((table, _)) = rested.filter(|(_, by)| *by <= now) {
                wishes.compactions.remove(&table);
                return Some(Task::Compaction(table));
            }
            let next = wishes.sync_by.into_iter().chain(rested.map(|(_, by)| by)).min();
            match next {
                Some(by) => drop(self.changed.wait_for(&mut wishes, by.since(now))),
                None => self.changed.wait(&mut wishes),
            }
        }
    }
}

/// Whether a segment's changes are to be written into a new base.
fn is_to_fold(segment: &SegmentVersion) -> bool {
    let is_full = segment.rows == SEGMENT_ROWS_MAX && segment.open.is_some();
    is_full || segment.overlay.patch_count() > PATCHES_MAX
}

/// Whether an index has so many runs that they are to be merged.
fn has_many_runs(state: &TableVersion) -> bool {
    state.keys.iter().any(|key| key.entries.runs().len() > RUNS_MAX)
}

/// Starts the thread of an open database; it ends when it is stopped or the database is gone.
pub(super) fn start(inner: &Arc<Inner>) -> Result<JoinHandle<()>> {
    for (&table, state) in &inner.coordinator.visible().tables {
        if has_many_runs(state) {
            inner.maintenance.merge_keys(table);
        }
        // What closing or a kill left undone.
        if compaction::qualifies(state) {
            inner.maintenance.compact(table);
        }
    }
    let weak = Arc::downgrade(inner);
    spawn("gadus-maintain", move || run(&weak)).map_err(|error| {
        Error::new(ErrorKind::Limit, "the system has no thread for background work")
            .caused_by(error)
    })
}

fn run(weak: &Weak<Inner>) {
    while let Some(inner) = weak.upgrade() {
        let Some(task) = inner.maintenance.next() else { return };
        let done = match task {
            Task::Sync => {
                let store = inner.blobs.store();
                store.wait_durable(store.appended()).map_err(Error::from)
            }
            Task::Segment(table, segment) => inner.fold_segment(table, segment, is_to_fold),
            Task::Keys(table) => inner.fold_keys(table),
            Task::Checkpoint => inner.checkpoint_if_due(),
            Task::Compaction(table) => compact(&inner, table),
        };
        inner.maintenance.wishes.lock().last_error = done.err().map(|error| error.to_string());
    }
}

/// Makes one move in a table, and asks for the next.
fn compact(inner: &Inner, table: TableId) -> Result<()> {
    let lost = inner.maintenance.wishes.lock().lost.remove(&table).unwrap_or(0);
    match inner.compact_some(table, lost < PATIENT_MOVES)? {
        Compacted::Moved => inner.maintenance.compact(table),
        Compacted::Lost => {
            inner.maintenance.wish(|wishes| {
                wishes.lost.insert(table, lost + 1);
            });
            inner.maintenance.compact_later(table);
        }
        Compacted::Nothing if inner.has_stale_keys(table) => inner.maintenance.merge_keys(table),
        Compacted::Nothing => {}
    }
    Ok(())
}
