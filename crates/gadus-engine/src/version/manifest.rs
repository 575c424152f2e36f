//! The checkpoint catalog: what a header's root blob says of the whole database.
//!
//! - It names every segment's base and overlay and every key run, so that opening reads one blob,
//!   not one table.
//!
//! Byte table (version 1): version u8 | commit u64 | next table id u32 | schema version u64 | table
//! count u32 | tables. A table: schema | next segment id u32 | open segment id u32 (0 none) | segment
//! count u32, segments | key run count u32, key run images. A segment: image | last changed commit
//! u64 | 1, overlay extent and blob references, or 0.

use crate::keys::KeyRunImage;
use crate::segment::SegmentImage;
use crate::types::TableSchema;
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError, TableId};
use gadus_storage::{BlobRef, ExtentRef};
use std::sync::Arc;

const VERSION: u8 = 1;

/// A table in the manifest.
#[derive(Debug)]
pub(crate) struct ManifestTable {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) next_segment: u32,
    /// The id of the segment that takes rows; 0 when none does.
    pub(crate) open: u32,
    pub(crate) segments: Vec<SavedSegment>,
    pub(crate) runs: Vec<KeyRunImage>,
}

/// A segment in the manifest.
#[derive(Debug, Clone)]
pub(crate) struct SavedSegment {
    pub(crate) image: SegmentImage,
    pub(crate) last_changed: CommitNumber,
    pub(crate) overlay: Option<(ExtentRef, BlobRef)>,
}

/// What stands before the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ManifestHead {
    pub(crate) commit: CommitNumber,
    pub(crate) next_table: TableId,
    pub(crate) schema_version: u64,
}

pub(crate) fn encode_manifest(head: &ManifestHead, tables: &[ManifestTable]) -> Vec<u8> {
    let count = |length: usize| u32::try_from(length).expect("counts of a manifest fit 32 bits");
    let mut to = ByteWriter::new();
    to.u8(VERSION);
    to.u64(head.commit.0);
    to.u32(head.next_table.0);
    to.u64(head.schema_version);
    to.u32(count(tables.len()));
    for table in tables {
        table.schema.encode(&mut to);
        to.u32(table.next_segment);
        to.u32(table.open);
        to.u32(count(table.segments.len()));
        for segment in &table.segments {
            segment.image.encode(&mut to);
            to.u64(segment.last_changed.0);
            to.u8(u8::from(segment.overlay.is_some()));
            if let Some((extent, blob)) = &segment.overlay {
                extent.encode(&mut to);
                blob.encode(&mut to);
            }
        }
        to.u32(count(table.runs.len()));
        table.runs.iter().for_each(|run| run.encode(&mut to));
    }
    to.finish()
}

pub(crate) fn decode_manifest(
    bytes: &[u8],
) -> Result<(ManifestHead, Vec<ManifestTable>), DecodeError> {
    let mut from = ByteReader::new(bytes);
    if from.u8()? != VERSION {
        return Err(DecodeError { offset: 0, expected: "a manifest of version 1" });
    }
    let head = ManifestHead {
        commit: CommitNumber(from.u64()?),
        next_table: TableId(from.u32()?),
        schema_version: from.u64()?,
    };
    let count = from.count(16)?;
    let tables = (0..count).map(|_| decode_table(&mut from)).collect::<Result<_, _>>()?;
    from.end()?;
    Ok((head, tables))
}

fn decode_table(from: &mut ByteReader<'_>) -> Result<ManifestTable, DecodeError> {
    let schema = Arc::new(TableSchema::decode(from)?);
    let (next_segment, open) = (from.u32()?, from.u32()?);
    let count = from.count(16)?;
    let mut segments = Vec::with_capacity(count);
    for _ in 0..count {
        let image = SegmentImage::decode(from)?;
        let last_changed = CommitNumber(from.u64()?);
        let overlay = match from.u8()? {
            0 => None,
            _ => Some((ExtentRef::decode(from)?, BlobRef::decode(from)?)),
        };
        segments.push(SavedSegment { image, last_changed, overlay });
    }
    let count = from.count(16)?;
    let runs = (0..count).map(|_| KeyRunImage::decode(from)).collect::<Result<_, _>>()?;
    Ok(ManifestTable { schema, next_segment, open, segments, runs })
}
