//! Bounds of the bytes that commits add to the next checkpoint: on a full disk that much space is kept.
//!
//! - Pieces are whole blocks of the file. Their rests are counted where a piece is new; a piece that
//!   grows was counted before.

use super::{Change, DatabaseVersion};
use gadus_base::RowId;
use gadus_storage::{EXTENT_UNIT_BYTES, Unsaved};

/// An entry of an index, as a checkpoint writes recent ones: order, hash and row.
const KEY_ENTRY_BYTES: u64 = 24;

/// Deleted rows of 64 positions, as an overlay has them: word index and bits.
const DELETED_WORD_BYTES: u64 = 12;
const WORD_ROWS: u64 = 64;

impl Change {
    /// Returns what the change, so many bytes in the log, adds to a checkpoint of the version that it
    /// leads to.
    pub(crate) fn unsaved(&self, encoded: usize, version: &DatabaseVersion) -> Unsaved {
        let encoded = encoded as u64;
        // The catalog is written again with each checkpoint, and the one before it stays meanwhile.
        let of_catalog = 2 * encoded;
        match self {
            Self::AppendRows { table, first, rows } => {
                let indexes = version.table(*table).map_or(0, |table| table.keys.iter().count());
                let entries = (indexes * rows.len()) as u64 * KEY_ENTRY_BYTES;
                let bytes = encoded + entries + rests_of_new(*first, indexes);
                // Rows are rows, also where their bytes are counted elsewhere.
                Unsaved { bytes, of_rows: bytes.max(1) }
            }
            Self::PatchRows { .. } => Unsaved { bytes: encoded, of_rows: 0 },
            Self::DeleteRows { positions, .. } => {
                let span = positions.iter().max().zip(positions.iter().min());
                let words = span.map_or(0, |(last, first)| u64::from(last - first) / WORD_ROWS + 2);
                let words = words.min(positions.len() as u64);
                Unsaved { bytes: words * DELETED_WORD_BYTES, of_rows: 0 }
            }
            Self::AddSegments { segments, .. } => {
                let overlays = segments.len() as u64 * EXTENT_UNIT_BYTES;
                Unsaved { bytes: of_catalog + overlays, of_rows: 0 }
            }
            Self::MoveRows { added, .. } => {
                let overlays = added.len() as u64 * EXTENT_UNIT_BYTES;
                Unsaved { bytes: of_catalog + overlays, of_rows: 0 }
            }
            _ => Unsaved { bytes: of_catalog, of_rows: 0 },
        }
    }
}

/// Rests of the pieces that a new segment of rows in memory has: the rows, what is changed of them,
/// and recent entries of each index.
fn rests_of_new(first: RowId, indexes: usize) -> u64 {
    match first.position {
        0 => (2 + indexes as u64) * EXTENT_UNIT_BYTES,
        _ => 0,
    }
}
