//! Compaction: the live rows of sparse and small segments move into fuller ones; empty segments go.
//!
//! - Rows are written from an immutable version; under the commit lock the move is given up when a
//!   source has changed since. A transaction that changed a moved row gets a conflict, since the
//!   segment it names is gone; so a change is moved, refused or first, never lost.
//! - A move keeps off segments of which a transaction has locked rows: whoever has locked a row
//!   commits what it does to it.
//! - In the background a move waits, for a while, until no transaction is open: nobody who is alone
//!   gets a conflict.
//! - Like a fold, a move holds the checkpoint lock from the version it reads to its record: folds of
//!   its sources, merges of key runs and other moves would otherwise undo its work or be undone.
//!   What one move reads and writes is bounded, also decoded, so that checkpoints wait for one of them
//!   only, and memory does not go to it.
//! - Segments move in the order of their ids, so rows of one segment keep their order; new ids are
//!   larger than all before, hence moved rows stand behind those that stayed.
//! - It ends: a move makes sparse segments dense or several small ones one, and nothing else moves.
//!   Moved for being small, a row lands in a segment that is small no more, or sixteen become one.
//! - Losing its record in a crash loses nothing: it changes the form, not the content.

use super::Inner;
use super::checkpoint::Alone;
use crate::blobs::Blobs;
use crate::error::{ErrorKind, Result};
use crate::keys::{KeyEntry, KeyShape, NamedRun, row_code, write_run};
use crate::locks;
use crate::segment::{
    EncodedSegment, SEGMENT_BYTES_MAX, SEGMENT_ROWS_MAX, SegmentVersion, build_segment,
};
use crate::vector::{Rows, Vector};
use crate::version::{Change, TableVersion};
use gadus_base::{RowId, SegmentId, TableId};
use gadus_locks::{Mode, Resource};
use gadus_storage::Durability;
use std::sync::Arc;

/// A segment with fewer live rows than this is small: any two of them fit in one, and a table
/// without small ones has at most twice the segments that it needs.
const SMALL_ROWS: u32 = SEGMENT_ROWS_MAX / 2;

/// Segments with rows that one move reads; what it writes is one segment at most. Measured on two
/// cores with five cached columns and a full result: one source takes 7 ms, sixteen take 64 ms, for
/// which a checkpoint may wait.
const SOURCES_MAX: usize = 16;

/// Limit of the decoded bytes of all sources of a move, which are in memory while they are encoded
/// again: a long value that all rows of a segment have takes little in the file.
const DECODED_TOGETHER_MAX: u64 = 64 << 20;

/// A single source may take more: as many rows as a segment can have, none of them large.
const DECODED_BYTES_MAX: u64 = 256 << 20;

/// Segments without rows that one move drops: their ids take 4 KiB of a record.
const EMPTY_MAX: usize = 1_024;

/// Moves of one table in a row that others may make vain before it is left to the background.
const LOST_MAX: usize = 8;

/// What became of one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compacted {
    /// No segment qualifies.
    Nothing,
    /// Rows were moved or segments dropped; there may be more of them.
    Moved,
    /// Somebody changed a source first, or has a transaction open.
    Lost,
}

/// Which segments a move may take rows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sources {
    /// Segments that take no more rows.
    Closed,
    /// Also the segment that takes rows, if it is sparse.
    All,
    /// Of the segments with many deleted rows the one whose move writes least: for a disk that is nearly full.
    Smallest,
}

/// Rows written to their new places, while the old ones still stand.
pub(super) struct Move {
    table: TableId,
    sources: Vec<Arc<SegmentVersion>>,
    added: Option<(SegmentId, Arc<EncodedSegment>)>,
    runs: Vec<NamedRun>,
    /// The version of the table's shape that this is written for.
    shape: u32,
}

impl Inner {
    /// Compacts every segment that qualifies now.
    pub(super) fn compact_all(&self) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        for (&table, state) in &version.tables {
            let mut lost = 0;
            // Each move leaves fewer candidates; writers may make more of them meanwhile.
            for _ in 0..state.segments.len() + LOST_MAX {
                match self.compact_some(table, false)? {
                    Compacted::Nothing => break,
                    Compacted::Moved => lost = 0,
                    Compacted::Lost => lost += 1,
                }
                if lost == LOST_MAX {
                    self.maintenance.compact_later(table);
                    break;
                }
            }
            if self.has_stale_keys(table) {
                self.fold_keys(table)?;
            }
        }
        Ok(())
    }

    /// Makes one move in a table, if one is worth it; a patient one loses to open transactions.
    pub(super) fn compact_some(&self, table: TableId, patient: bool) -> Result<Compacted> {
        self.move_some(table, patient, Sources::Closed)
    }

    /// Makes one move from the segments that `from` names.
    pub(super) fn move_some(
        &self,
        table: TableId,
        patient: bool,
        from: Sources,
    ) -> Result<Compacted> {
        if patient && !self.transactions.none() {
            return Ok(Compacted::Lost);
        }
        let _alone = self.alone()?;
        let Some(written) = self.write_move(table, from)? else { return Ok(Compacted::Nothing) };
        let installed = self.transactions.try_move(patient, || self.install_move(&written));
        installed.unwrap_or(Ok(Compacted::Lost))
    }

    /// Drops segments without live rows, which a checkpoint would write again; in its turn.
    ///
    /// Nobody who has a transaction open gets a conflict for it: each of these rows was deleted by
    /// a commit. A full disk is no reason not to go on with the checkpoint.
    pub(super) fn drop_empty_segments(&self, _: &Alone<'_>) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        for (&table, state) in &version.tables {
            let segments = state.segments.values();
            let empty = segments.filter(|segment| segment.rows > 0 && segment.live_rows() == 0);
            let empty = empty.cloned().collect::<Vec<_>>();
            for sources in empty.chunks(EMPTY_MAX) {
                let (sources, shape) = (sources.to_vec(), state.schema.version);
                let dropped = Move { table, sources, added: None, runs: Vec::new(), shape };
                match self.transactions.try_move(false, || self.install_move(&dropped)) {
                    Some(Err(error)) if error.kind() == ErrorKind::NoSpace => return Ok(()),
                    Some(installed) => drop(installed?),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Whether merging the runs of a table's keys is due.
    pub(super) fn has_stale_keys(&self, table: TableId) -> bool {
        let head = self.coordinator.visible();
        head.table(table)
            .is_some_and(|state| state.keys.iter().any(|key| state.has_stale_keys(&key.entries)))
    }

    /// Writes the rows of the next move.
    pub(super) fn write_move(&self, table: TableId, from: Sources) -> Result<Option<Move>> {
        let version = self.coordinator.newest()?.0;
        let Some(state) = version.table(table) else { return Ok(None) };
        let sources = self.known_sources(state, from)?;
        if sources.is_empty() {
            return Ok(None);
        }
        let mut written =
            Move { table, sources, added: None, runs: Vec::new(), shape: state.schema.version };
        let columns = live_values(state, &written.sources, &self.blobs)?;
        let rows = columns.first().map_or(0, Vector::len);
        if rows > 0 {
            let id = state.reserve_segment()?;
            for key in state.keys.iter() {
                let entries = key_entries(&key.shape, id, &columns, rows);
                let run = Arc::new(write_run(&entries, &self.blobs)?);
                written.runs.push((key.shape.id, run));
            }
            let rows = u32::try_from(rows).expect("at most SEGMENT_ROWS_MAX");
            written.added = Some((id, Arc::new(build_segment(rows, columns, &self.blobs)?)));
            self.blobs.store().sync_data()?;
        }
        Ok(Some(written))
    }

    /// Chooses sources of which it is known what they take decoded: an encoded base may be short and
    /// have the same long value in each row.
    fn known_sources(
        &self,
        state: &TableVersion,
        from: Sources,
    ) -> Result<Vec<Arc<SegmentVersion>>> {
        loop {
            let sources = choose_sources(state, from);
            let read = sources.iter().filter(|source| source.live_rows() > 0);
            let bases = read.filter_map(|source| source.encoded.as_ref());
            let mut unknown = bases.filter(|base| base.value_bytes().is_none()).peekable();
            if unknown.peek().is_none() {
                return Ok(sources);
            }
            for base in unknown {
                base.learn_value_bytes(&state.schema, &self.blobs)?;
            }
        }
    }

    /// Commits a move unless a source has changed.
    pub(super) fn install_move(&self, written: &Move) -> Result<Compacted> {
        let committed = self.commit(Durability::Off, |head| {
            let unchanged = head.table(written.table).is_some_and(|state| {
                // An index that has come since has nothing of the new places.
                let is_same = state.schema.version == written.shape;
                is_same
                    && written.sources.iter().all(|source| {
                        let now = state.segment(source.id);
                        now.is_some_and(|now| now.last_changed == source.last_changed)
                    })
            });
            if !unchanged || self.is_kept(written)? {
                return Ok(Vec::new());
            }
            Ok(vec![Change::MoveRows {
                table: written.table,
                removed: written.sources.iter().map(|source| source.id).collect(),
                added: written.added.iter().cloned().collect(),
                runs: written.runs.clone(),
            }])
        })?;
        Ok(if committed.is_some() { Compacted::Moved } else { Compacted::Lost })
    }

    /// Whether a transaction has locked rows that a move would give other places.
    fn is_kept(&self, written: &Move) -> Result<bool> {
        let sources =
            written.sources.iter().map(|source| Resource::segment(written.table, source.id));
        let table = (Resource::table(written.table), Mode::IntentExclusive);
        for (resource, mode) in sources.map(|segment| (segment, Mode::Exclusive)).chain([table]) {
            if self.locks().is_excluded(resource, mode, None).map_err(locks::failed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether fewer than half of a segment's positions hold live rows.
pub(super) fn is_sparse(segment: &SegmentVersion) -> bool {
    2 * segment.live_rows() < segment.rows
}

/// Whether a base has so few rows that it may be merged with others.
pub(super) fn is_small(rows: u32) -> bool {
    rows < SMALL_ROWS
}

/// Whether a table has something to compact.
pub(super) fn qualifies(state: &TableVersion) -> bool {
    !choose_sources(state, Sources::Closed).is_empty()
}

/// True if at least a quarter of a segment's positions hold no live rows.
fn has_holes(segment: &SegmentVersion) -> bool {
    4 * (u64::from(segment.rows) - u64::from(segment.live_rows())) >= u64::from(segment.rows.max(1))
}

/// About what the live rows of a segment take, which is what a move writes.
fn live_bytes(segment: &&Arc<SegmentVersion>) -> u64 {
    let live = segment.bytes().saturating_mul(u64::from(segment.live_rows()));
    live / u64::from(segment.rows.max(1))
}

/// The first segments, by their ids, that are worth moving together; their rows fit in one.
fn choose_sources(state: &TableVersion, from: Sources) -> Vec<Arc<SegmentVersion>> {
    let fits_memory = |segment: &&Arc<SegmentVersion>| {
        segment.live_rows() == 0 || segment.decoded_bytes() <= DECODED_BYTES_MAX
    };
    if from == Sources::Smallest {
        return state
            .segments
            .values()
            .filter(|segment| has_holes(segment) && fits_memory(segment))
            .min_by_key(live_bytes)
            .cloned()
            .into_iter()
            .collect();
    }
    let candidates = state.segments.values().filter(|segment| {
        // A sparse segment is small as well: it has at most SEGMENT_ROWS_MAX positions.
        let is_open = state.open == Some(segment.id);
        (!is_open || from != Sources::Closed && is_sparse(segment))
            && is_small(segment.live_rows())
            && fits_memory(segment)
            && (is_sparse(segment) || segment.bytes() <= SEGMENT_BYTES_MAX / 2)
    });
    let mut together = Together::default();
    for segment in candidates {
        if together.is_full(segment) {
            break;
        }
        if together.is_too_much(segment) {
            if together.is_worth() {
                break;
            }
            // Segments of long values, of which few fit in one, keep none behind them from moving.
            together = Together::default();
        }
        together.add(segment);
    }
    if together.is_worth() { together.sources } else { Vec::new() }
}

/// Segments that one move may merge.
#[derive(Default)]
struct Together {
    sources: Vec<Arc<SegmentVersion>>,
    empty: usize,
    live: u32,
    bytes: u64,
    decoded: u64,
    has_sparse: bool,
}

impl Together {
    /// True if no more may be read, or the rows of another one do not fit. It is not skipped for one
    /// that fits: rows keep their order. What does not fit, itself small, leaves more than half a
    /// segment behind, which is worth moving.
    fn is_full(&self, more: &SegmentVersion) -> bool {
        self.sources.len() - self.empty == SOURCES_MAX
            || self.empty == EMPTY_MAX
            || self.live + more.live_rows() > SEGMENT_ROWS_MAX
    }

    fn is_too_much(&self, more: &SegmentVersion) -> bool {
        let is_more = self.bytes + more.bytes() > SEGMENT_BYTES_MAX
            || self.decoded + more.decoded_bytes() > DECODED_TOGETHER_MAX;
        is_more && !self.sources.is_empty()
    }

    fn add(&mut self, segment: &Arc<SegmentVersion>) {
        self.bytes += segment.bytes();
        self.decoded += segment.decoded_bytes();
        self.live += segment.live_rows();
        self.empty += usize::from(segment.live_rows() == 0);
        self.has_sparse |= is_sparse(segment);
        self.sources.push(segment.clone());
    }

    fn is_worth(&self) -> bool {
        self.has_sparse
            || self.empty > 0
            || !is_small(self.live)
            || self.sources.len() == SOURCES_MAX
    }
}

/// The values of all live rows, one vector a column.
fn live_values(
    state: &TableVersion,
    sources: &[Arc<SegmentVersion>],
    blobs: &Blobs,
) -> Result<Vec<Vector>> {
    let schema = &state.schema;
    let live = sources
        .iter()
        .map(|segment| {
            let positions = (0..segment.rows).filter(|&position| segment.is_live(position));
            (segment, positions.collect::<Vec<_>>())
        })
        .filter(|(_, positions)| !positions.is_empty())
        .collect::<Vec<_>>();
    let values = |column: usize| {
        let mut all = Vector::empty(schema.columns[column].column_type.storage());
        for (segment, positions) in &live {
            all.append(segment.vector(schema, blobs, column, Rows::Positions(positions))?);
        }
        Ok(all)
    };
    (0..schema.columns.len()).map(values).collect()
}

/// Entries, in order, of rows in their new segment.
fn key_entries(shape: &KeyShape, id: SegmentId, columns: &[Vector], rows: usize) -> Vec<KeyEntry> {
    let entry = |(row, position): (usize, u32)| {
        let values = shape.columns.iter().map(|&column| columns[column].datum(row));
        let values = values.collect::<Vec<_>>();
        let row = row_code(RowId { segment: id, position });
        KeyEntry { code: shape.code(values.iter()), row }
    };
    let mut entries = (0..rows).zip(0..).map(entry).collect::<Vec<_>>();
    entries.sort_unstable();
    entries
}

#[cfg(test)]
mod tests;
