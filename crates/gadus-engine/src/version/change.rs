//! The changes that commits are made of; what they are in the log is in [`super::change_bytes`].
//!
//! - A change names places and values, never how they came about: replaying needs no query.
//! - Bulk changes name extents that were written and synced before.
//! - No patch changes a key: an UPDATE of key columns is a delete and an append.

use crate::keys::{KeyRun, NamedRun};
use crate::segment::{EncodedSegment, Patches, Row, Source};
use crate::types::{Datum, DefinitionKey, Sequence, SequencePosition, TableSchema, ViewSchema};
use gadus_base::{CommitNumber, RowId, SegmentId, TableId};
use gadus_storage::{ExtentRef, Remaining};
use std::sync::Arc;

/// One change of the database.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    CreateTable(Arc<TableSchema>),
    DropTable(TableId),
    /// A view that is new, or has changed.
    SetView(Arc<ViewSchema>),
    DropView(TableId),
    /// A sequence that is new, or has changed; else it stays where it has come to.
    SetSequence {
        sequence: Arc<Sequence>,
        begins_anew: bool,
    },
    DropSequence(TableId),
    /// A text of the catalog that is new or has changed; none where it is dropped.
    SetDefinition {
        key: DefinitionKey,
        text: Option<Arc<str>>,
    },
    /// Numbers that were given.
    PlaceSequence {
        sequence: TableId,
        position: SequencePosition,
    },
    /// Another schema for the rows that are there.
    AlterTable {
        table: TableId,
        schema: Arc<TableSchema>,
        sources: Vec<Source>,
        /// What indexes that are new have of these rows.
        runs: Vec<NamedRun>,
    },
    /// All rows go, and their keys.
    EmptyTable(TableId),
    /// Rows that carry on at the end of a segment, or begin a new one.
    AppendRows {
        table: TableId,
        first: RowId,
        rows: Vec<Row>,
    },
    PatchRows {
        table: TableId,
        segment: SegmentId,
        column: u32,
        patches: Arc<Patches>,
    },
    DeleteRows {
        table: TableId,
        segment: SegmentId,
        positions: Vec<u32>,
    },
    AddSegments {
        table: TableId,
        segments: Vec<(SegmentId, Arc<EncodedSegment>)>,
        runs: Vec<NamedRun>,
    },
    /// A new base that holds all changes up to `folded`.
    ReplaceSegment {
        table: TableId,
        segment: SegmentId,
        base: Arc<EncodedSegment>,
        folded: CommitNumber,
        /// Not durable: at recovery there are no older snapshots.
        oldest_snapshot: CommitNumber,
    },
    /// All runs of one of a table's indexes; they hold what was added up to `written`.
    ReplaceKeyRuns {
        table: TableId,
        index: u32,
        runs: Vec<Arc<KeyRun>>,
        written: CommitNumber,
    },
    /// All live rows of some segments, in new ones, with what indexes have of their new places.
    MoveRows {
        table: TableId,
        removed: Vec<SegmentId>,
        added: Vec<(SegmentId, Arc<EncodedSegment>)>,
        runs: Vec<NamedRun>,
    },
}

impl Change {
    /// Returns what must remain of the space that is kept for full disks: a change that gives space
    /// back, at once or by what maintenance does after it, may use some of it.
    pub(crate) fn remaining(&self) -> Remaining {
        match self {
            Self::DropTable(_)
            | Self::DropView(_)
            | Self::DropSequence(_)
            | Self::EmptyTable(_)
            | Self::DeleteRows { .. }
            | Self::SetDefinition { text: None, .. } => Remaining::Nothing,
            Self::MoveRows { added, .. } if added.is_empty() => Remaining::Nothing,
            Self::ReplaceSegment { .. } | Self::ReplaceKeyRuns { .. } | Self::MoveRows { .. } => {
                Remaining::ForCheckpoint
            }
            _ => Remaining::Whole,
        }
    }

    /// Returns the memory that values take which the change has, and its slots for them.
    pub(crate) fn value_bytes(&self) -> u64 {
        let of = |value: &Datum| (size_of::<Datum>() + value.heap_bytes()) as u64;
        match self {
            Self::AppendRows { rows, .. } => rows.iter().flat_map(|row| row.iter()).map(of).sum(),
            Self::PatchRows { patches, .. } => {
                patches.rows().iter().map(|(_, value)| of(value)).sum()
            }
            _ => 0,
        }
    }

    /// The extents that the change names.
    pub(crate) fn extents(&self) -> Vec<ExtentRef> {
        let named = |runs: &'_ [NamedRun]| runs.iter().map(|(_, run)| run.clone()).collect();
        let (bases, runs): (Vec<&Arc<EncodedSegment>>, Vec<Arc<KeyRun>>) = match self {
            Self::AddSegments { segments: added, runs, .. }
            | Self::MoveRows { added, runs, .. } => {
                (added.iter().map(|(_, base)| base).collect(), named(runs))
            }
            Self::AlterTable { runs, .. } => (Vec::new(), named(runs)),
            Self::ReplaceSegment { base, .. } => (vec![base], Vec::new()),
            Self::ReplaceKeyRuns { runs, .. } => (Vec::new(), runs.clone()),
            _ => return Vec::new(),
        };
        let bases = bases.into_iter().flat_map(|base| base.extents());
        let bases = bases.map(|extent| extent.reference());
        bases.chain(runs.into_iter().flat_map(|run| run.extents())).collect()
    }
}
