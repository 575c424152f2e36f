//! The checkpoint catalog: what a header's root blob says of the whole database.
//!
//! - It names every segment's base and every key run, so that opening reads one blob, not one table;
//!   and what lies in memory beside them, which opening reads: overlays, rows behind bases, recent
//!   keys.
//! - It names no base and no key run that a record of the log has not named: then versions of one
//!   commit name the same ones, whether made by following the log or by opening.
//!
//! Byte table (version 7): version u8 | commit u64 | next table id u32 | schema version u64 | table
//! count u32 | tables | view count u32 | views | sequence count u32 | sequences | definition count u32, then for each: its key, its text. A table: schema | next segment id u32 | open segment id u32 (0 none) | last
//! changed commit u64 | segment count u32, segments | index count u32, then for each: its number u32 | key run
//! count u32, key run images | recent keys, a part. A segment: id u32 | last changed commit u64 | 1 and its base's image, or 0 | overlay, a
//! part | rows behind the base, a part. A part: 1, extent and blob references, or 0.
//!
//! Version ladder: in version 1 a table has neither a last changed commit nor recent keys, and a
//! segment is: image | last changed commit u64 | overlay, a part. In versions 1 and 2 schemas are of
//! version 1, and there are no views. In
//! versions 1 to 3 there is the primary key's index alone, without number and count, and schemas are of version 2 at
//! most. In versions 1 to 4 there are no sequences, and schemas are of version 3 at most. In versions 1 to 5
//! schemas are of version 4 at most. In versions 1 to 6 there are no definitions. All are read.

use crate::keys::{KeyRunImage, PRIMARY};
use crate::segment::SegmentImage;
use crate::types::{
    DEFINITION_BYTES_MAX, DefinitionKey, SchemaForm, Sequence, TableSchema, ViewSchema,
};
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError, SegmentId, TableId};
use gadus_storage::{BlobRef, ExtentRef};
use std::sync::Arc;

const VERSION: u8 = 7;
const VERSION_WITHOUT_DEFINITIONS: u8 = 6;
const VERSION_WITHOUT_FOREIGN_KEYS: u8 = 5;
const VERSION_WITHOUT_SEQUENCES: u8 = 4;
const VERSION_WITHOUT_INDEXES: u8 = 3;
const VERSION_WITHOUT_VIEWS: u8 = 2;
const VERSION_OF_IMAGES: u8 = 1;

/// A table in the manifest.
#[derive(Debug)]
pub(crate) struct ManifestTable {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) next_segment: u32,
    /// The id of the segment that takes rows; 0 when none does.
    pub(crate) open: u32,
    pub(crate) last_changed: CommitNumber,
    pub(crate) segments: Vec<SavedSegment>,
    pub(crate) keys: Vec<SavedKeys>,
}

/// The entries of an index in the manifest.
#[derive(Debug, Clone)]
pub(crate) struct SavedKeys {
    /// The index's number.
    pub(crate) index: u32,
    pub(crate) runs: Vec<KeyRunImage>,
    pub(crate) recent: Option<PartImage>,
}

/// A segment in the manifest.
#[derive(Debug, Clone)]
pub(crate) struct SavedSegment {
    pub(crate) id: SegmentId,
    pub(crate) last_changed: CommitNumber,
    pub(crate) base: Option<SegmentImage>,
    pub(crate) overlay: Option<PartImage>,
    pub(crate) open_rows: Option<PartImage>,
}

/// A blob that holds what lies in memory while the database is open, in an extent of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartImage {
    pub(crate) extent: ExtentRef,
    pub(crate) blob: BlobRef,
}

/// What stands before the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ManifestHead {
    pub(crate) commit: CommitNumber,
    pub(crate) next_table: TableId,
    pub(crate) schema_version: u64,
}

/// What a manifest says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) head: ManifestHead,
    pub(crate) tables: Vec<ManifestTable>,
    pub(crate) views: Vec<Arc<ViewSchema>>,
    pub(crate) sequences: Vec<Arc<Sequence>>,
    pub(crate) definitions: Vec<(DefinitionKey, Arc<str>)>,
}

pub(crate) fn encode_manifest(manifest: &Manifest) -> Vec<u8> {
    let Manifest { head, tables, views, sequences, definitions } = manifest;
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
        to.u64(table.last_changed.0);
        to.u32(count(table.segments.len()));
        for segment in &table.segments {
            to.u32(segment.id.0);
            to.u64(segment.last_changed.0);
            to.u8(u8::from(segment.base.is_some()));
            if let Some(base) = &segment.base {
                base.encode(&mut to);
            }
            encode_part(segment.overlay, &mut to);
            encode_part(segment.open_rows, &mut to);
        }
        to.u32(count(table.keys.len()));
        for keys in &table.keys {
            to.u32(keys.index);
            to.u32(count(keys.runs.len()));
            keys.runs.iter().for_each(|run| run.encode(&mut to));
            encode_part(keys.recent, &mut to);
        }
    }
    to.u32(count(views.len()));
    views.iter().for_each(|view| view.encode(&mut to));
    to.u32(count(sequences.len()));
    sequences.iter().for_each(|sequence| sequence.encode(&mut to));
    to.u32(count(definitions.len()));
    for (key, text) in definitions {
        key.encode(&mut to);
        to.text(text);
    }
    to.finish()
}

pub(crate) fn decode_manifest(bytes: &[u8]) -> Result<Manifest, DecodeError> {
    let mut from = ByteReader::new(bytes);
    let version = from.u8()?;
    if !(VERSION_OF_IMAGES..=VERSION).contains(&version) {
        let expected = match version > VERSION {
            true => "a manifest of version 1 to 7; a newer Gadus wrote this one",
            false => "a manifest of version 1 to 7",
        };
        return Err(DecodeError { offset: 0, expected });
    }
    let head = ManifestHead {
        commit: CommitNumber(from.u64()?),
        next_table: TableId(from.u32()?),
        schema_version: from.u64()?,
    };
    let count = from.count(16)?;
    let table = |_| decode_table(&mut from, version);
    let tables = (0..count).map(table).collect::<Result<_, _>>()?;
    let mut views = Vec::new();
    if version > VERSION_WITHOUT_VIEWS {
        for _ in 0..from.count(16)? {
            views.push(Arc::new(ViewSchema::decode(&mut from)?));
        }
    }
    let mut sequences = Vec::new();
    if version > VERSION_WITHOUT_SEQUENCES {
        for _ in 0..from.count(45)? {
            sequences.push(Arc::new(Sequence::decode(&mut from)?));
        }
    }
    let mut definitions = Vec::new();
    if version > VERSION_WITHOUT_DEFINITIONS {
        for _ in 0..from.count(5)? {
            let key = DefinitionKey::decode(&mut from)?;
            definitions.push((key, Arc::from(from.text(DEFINITION_BYTES_MAX)?)));
        }
    }
    from.end()?;
    Ok(Manifest { head, tables, views, sequences, definitions })
}

fn decode_table(from: &mut ByteReader<'_>, version: u8) -> Result<ManifestTable, DecodeError> {
    let form = match version {
        VERSION_OF_IMAGES | VERSION_WITHOUT_VIEWS => SchemaForm::WithoutNumbers,
        VERSION_WITHOUT_INDEXES => SchemaForm::WithoutIndexes,
        VERSION_WITHOUT_SEQUENCES => SchemaForm::WithoutIdentity,
        VERSION_WITHOUT_FOREIGN_KEYS => SchemaForm::WithoutForeignKeys,
        _ => SchemaForm::Newest,
    };
    let schema = Arc::new(TableSchema::decode(from, form)?);
    let (next_segment, open) = (from.u32()?, from.u32()?);
    let mut last_changed = CommitNumber(0);
    if version > VERSION_OF_IMAGES {
        last_changed = CommitNumber(from.u64()?);
    }
    let count = from.count(14)?;
    let segment = |_| match version {
        VERSION_OF_IMAGES => decode_image(from),
        _ => decode_segment(from),
    };
    let segments = (0..count).map(segment).collect::<Result<_, _>>()?;
    let keys = match version {
        VERSION_WITHOUT_SEQUENCES..=VERSION => {
            let count = from.count(9)?;
            let keys = (0..count).map(|_| {
                let index = from.u32()?;
                decode_keys(from, index, version)
            });
            keys.collect::<Result<_, _>>()?
        }
        _ => vec![decode_keys(from, PRIMARY, version)?],
    };
    Ok(ManifestTable { schema, next_segment, open, last_changed, segments, keys })
}

fn decode_keys(
    from: &mut ByteReader<'_>,
    index: u32,
    version: u8,
) -> Result<SavedKeys, DecodeError> {
    let count = from.count(16)?;
    let runs = (0..count).map(|_| KeyRunImage::decode(from)).collect::<Result<_, _>>()?;
    let recent = if version > VERSION_OF_IMAGES { decode_part(from)? } else { None };
    Ok(SavedKeys { index, runs, recent })
}

fn decode_segment(from: &mut ByteReader<'_>) -> Result<SavedSegment, DecodeError> {
    let (id, last_changed) = (SegmentId(from.u32()?), CommitNumber(from.u64()?));
    let offset = from.offset();
    let base = match from.u8()? {
        0 => None,
        _ => Some(SegmentImage::decode(from)?),
    };
    if base.as_ref().is_some_and(|base| base.id != id) {
        return Err(DecodeError { offset, expected: "the segment's own base" });
    }
    let (overlay, open_rows) = (decode_part(from)?, decode_part(from)?);
    Ok(SavedSegment { id, last_changed, base, overlay, open_rows })
}

/// A segment of version 1, which has a base always.
fn decode_image(from: &mut ByteReader<'_>) -> Result<SavedSegment, DecodeError> {
    let base = SegmentImage::decode(from)?;
    let (id, last_changed) = (base.id, CommitNumber(from.u64()?));
    let overlay = decode_part(from)?;
    Ok(SavedSegment { id, last_changed, base: Some(base), overlay, open_rows: None })
}

fn encode_part(part: Option<PartImage>, to: &mut ByteWriter) {
    to.u8(u8::from(part.is_some()));
    if let Some(PartImage { extent, blob }) = part {
        extent.encode(to);
        blob.encode(to);
    }
}

fn decode_part(from: &mut ByteReader<'_>) -> Result<Option<PartImage>, DecodeError> {
    Ok(match from.u8()? {
        0 => None,
        _ => Some(PartImage { extent: ExtentRef::decode(from)?, blob: BlobRef::decode(from)? }),
    })
}

#[cfg(test)]
mod tests;
