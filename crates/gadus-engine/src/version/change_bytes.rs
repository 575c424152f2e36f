//! Changes as a log holds them.
//!
//! Byte table of a commit's payload (version 5): version u8 | 1 when the commit waits to be durable,
//! else 0 | change count u32 | changes.
//! A change: kind u8, table id u32 (but in kinds 1, 10, 11, 15 and 18), then by kind:
//!
//! | kind | content |
//! |---|---|
//! | 1 create table | schema of version 1; it is read, 10 is written |
//! | 2 drop table | |
//! | 3 append rows | segment u32, position u32, rows |
//! | 4 patch rows | segment u32, column u32, count u32, then position u32 and value each |
//! | 5 delete rows | segment u32, count u32, positions u32 |
//! | 6 add segments | count u32, segment images; key runs |
//! | 7 replace segment | folded commit u64, segment image |
//! | 8 replace key runs | index u32, written commit u64, count u32, key run images |
//! | 9 move rows | count u32, ids u32 of the segments removed; then as kind 6 those added |
//! | 10 create table | schema of version 5 |
//! | 11 set view | view |
//! | 12 drop view | |
//! | 13 alter table | schema of version 5, count u32, the source of each column; key runs, of indexes that are new |
//! | 14 empty table | |
//! | 15 set sequence | sequence, begins anew u8 |
//! | 16 drop sequence | |
//! | 17 place sequence | last number i64, is given u8 |
//! | 18 set definition | key of a definition, 1 and its text, or 0 where it is dropped |
//! | 19 delete rows | segment u32, first position u32, length u32, bitmap |
//!
//! Key runs: count u32, then the number of an index u32 and a key run image each.
//!
//! Version ladder: 1 had no durability, and is read as one that waits; 1 and 2 knew no index but that of the primary
//! key: key runs were 1 and one image, or 0, in kind 8 there was no index, in kind 13 there were no key runs, and
//! schemas are of version 2; 1 to 3 knew no sequences, and schemas are of version 3 at most; 1 to 4 knew no
//! foreign keys, and schemas are of version 4 at most. All are read, 5 is written. Kind 9 joined version 1, kinds 10 to 14 version 2, kinds 18 and 19
//! version 5, which needs no step: an unknown version or kind refuses the database.

use super::DatabaseVersion;
use super::change::Change;
use super::positions::{self, Bitmap};
use crate::blobs::Blobs;
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::InterruptCheck;
use crate::keys::{KeyRun, KeyRunImage, NamedRun, PRIMARY};
use crate::segment::{
    EncodedSegment, Patches, SegmentImage, Source, decode_rows, encode_rows_interruptibly,
};
use crate::types::{
    DEFINITION_BYTES_MAX, Datum, DefinitionKey, SchemaForm, Sequence, SequencePosition,
    TableSchema, ViewSchema,
};
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError, RowId, SegmentId, TableId};
use gadus_storage::Unsaved;
use std::sync::Arc;

const VERSION: u8 = 5;
const VERSION_WITHOUT_FOREIGN_KEYS: u8 = 4;
const VERSION_WITHOUT_SEQUENCES: u8 = 3;
const VERSION_WITHOUT_INDEXES: u8 = 2;
const VERSION_WITHOUT_DURABILITY: u8 = 1;

/// Returns the payload of a commit that leads to a version, and what it adds to the next checkpoint, unless the
/// statement that this thread works for is to end.
pub(crate) fn encode_commit(
    changes: &[Change],
    is_sync: bool,
    version: &DatabaseVersion,
) -> Result<(Vec<u8>, Unsaved)> {
    let mut to = ByteWriter::new();
    to.u8(VERSION);
    to.u8(u8::from(is_sync));
    to.u32(count_u32(changes.len()));
    let mut unsaved = Unsaved::default();
    for change in changes {
        let start = to.len();
        encode_change(change, &mut to)?;
        unsaved += change.unsaved(to.len() - start, version);
    }
    Ok((to.finish(), unsaved))
}

/// Reads a commit's payload; extents that it names are taken into use. Says, too, whether the commit
/// waits to be durable.
pub(crate) fn decode_changes(payload: &[u8], blobs: &Blobs) -> Result<(bool, Vec<Change>)> {
    let mut from = ByteReader::new(payload);
    let damaged = |error: DecodeError| {
        Error::new(
            ErrorKind::Corrupt,
            format!("{}: a commit in the log cannot be read: {error}", blobs.store().describe()),
        )
        .caused_by(error)
    };
    let wrong = |offset, expected| damaged(DecodeError { offset, expected });
    let version = from.u8().map_err(damaged)?;
    let is_sync = match version {
        VERSION_WITHOUT_INDEXES..=VERSION => from.u8().map_err(damaged)? != 0,
        VERSION_WITHOUT_DURABILITY => true,
        _ => return Err(wrong(0, "a commit of version 1 to 5; a newer Gadus wrote it")),
    };
    let count = from.count(1).map_err(damaged)?;
    let mut changes = Vec::with_capacity(count);
    for _ in 0..count {
        changes.push(match decode_change(&mut from, version).map_err(damaged)? {
            Decoded::Whole(change) => change,
            Decoded::AlterTable { table, schema, sources, runs } => {
                Change::AlterTable { table, schema, sources, runs: adopt_runs(&runs, blobs)? }
            }
            Decoded::AddSegments { table, added } => {
                let (segments, runs) = added.adopt(blobs)?;
                Change::AddSegments { table, segments, runs }
            }
            Decoded::MoveRows { table, removed, added } => {
                let (added, runs) = added.adopt(blobs)?;
                Change::MoveRows { table, removed, added, runs }
            }
            Decoded::ReplaceSegment { table, folded, image } => Change::ReplaceSegment {
                table,
                segment: image.id,
                base: Arc::new(EncodedSegment::adopt(&image, blobs)?),
                folded,
                oldest_snapshot: CommitNumber(u64::MAX),
            },
            Decoded::ReplaceKeyRuns { table, index, written, images } => {
                let runs = images.iter().map(|run| KeyRun::adopt(run, blobs).map(Arc::new));
                let runs = runs.collect::<Result<_>>()?;
                Change::ReplaceKeyRuns { table, index, runs, written }
            }
        });
    }
    from.end().map_err(damaged)?;
    Ok((is_sync, changes))
}

/// A change as the bytes say, extents not yet in use.
enum Decoded {
    Whole(Change),
    AlterTable {
        table: TableId,
        schema: Arc<TableSchema>,
        sources: Vec<Source>,
        runs: Vec<NamedImage>,
    },
    AddSegments {
        table: TableId,
        added: AddedImages,
    },
    MoveRows {
        table: TableId,
        removed: Vec<SegmentId>,
        added: AddedImages,
    },
    ReplaceSegment {
        table: TableId,
        folded: CommitNumber,
        image: SegmentImage,
    },
    ReplaceKeyRuns {
        table: TableId,
        index: u32,
        written: CommitNumber,
        images: Vec<KeyRunImage>,
    },
}

/// The image of a run of the index with this number.
type NamedImage = (u32, KeyRunImage);

/// Segments and key runs that a change adds.
struct AddedImages {
    segments: Vec<SegmentImage>,
    runs: Vec<NamedImage>,
}

/// The same with their extents in use.
type Added = (Vec<(SegmentId, Arc<EncodedSegment>)>, Vec<NamedRun>);

impl AddedImages {
    fn decode(from: &mut ByteReader<'_>, version: u8) -> Result<Self, DecodeError> {
        let count = from.count(16)?;
        let segments = (0..count).map(|_| SegmentImage::decode(from)).collect::<Result<_, _>>()?;
        let runs = match version {
            VERSION_WITHOUT_SEQUENCES..=VERSION => decode_runs(from)?,
            _ => match from.u8()? {
                0 => Vec::new(),
                _ => vec![(PRIMARY, KeyRunImage::decode(from)?)],
            },
        };
        Ok(Self { segments, runs })
    }

    fn adopt(self, blobs: &Blobs) -> Result<Added> {
        let mut segments = Vec::with_capacity(self.segments.len());
        for image in self.segments {
            segments.push((image.id, Arc::new(EncodedSegment::adopt(&image, blobs)?)));
        }
        Ok((segments, adopt_runs(&self.runs, blobs)?))
    }
}

fn adopt_runs(images: &[NamedImage], blobs: &Blobs) -> Result<Vec<NamedRun>> {
    let adopt = |(index, image): &NamedImage| Ok((*index, Arc::new(KeyRun::adopt(image, blobs)?)));
    images.iter().map(adopt).collect()
}

fn encode_added(
    segments: &[(SegmentId, Arc<EncodedSegment>)],
    runs: &[NamedRun],
    to: &mut ByteWriter,
) {
    to.u32(count_u32(segments.len()));
    segments.iter().for_each(|(id, base)| base.image(*id).encode(to));
    encode_runs(runs, to);
}

fn encode_runs(runs: &[NamedRun], to: &mut ByteWriter) {
    to.u32(count_u32(runs.len()));
    for (index, run) in runs {
        to.u32(*index);
        run.image().encode(to);
    }
}

fn decode_runs(from: &mut ByteReader<'_>) -> Result<Vec<NamedImage>, DecodeError> {
    let count = from.count(20)?;
    (0..count).map(|_| Ok((from.u32()?, KeyRunImage::decode(from)?))).collect()
}

fn count_u32(count: usize) -> u32 {
    u32::try_from(count).expect("a commit has fewer than 2^32 parts")
}

fn encode_head(kind: u8, id: TableId, to: &mut ByteWriter) {
    to.u8(kind);
    to.u32(id.0);
}

fn encode_change(change: &Change, to: &mut ByteWriter) -> Result<()> {
    let head = |kind: u8, table: &TableId, to: &mut ByteWriter| encode_head(kind, *table, to);
    match change {
        Change::AppendRows { table, first, rows } => {
            head(3, table, to);
            to.u32(first.segment.0);
            to.u32(first.position);
            encode_rows_interruptibly(rows, to)?;
        }
        Change::PatchRows { table, segment, column, patches } => {
            head(4, table, to);
            to.u32(segment.0);
            to.u32(*column);
            to.u32(count_u32(patches.rows().len()));
            let mut check = InterruptCheck::default();
            for (position, value) in patches.rows() {
                let before = to.len();
                to.u32(*position);
                value.encode(to);
                check.row_of(to.len() - before)?;
            }
        }
        Change::DeleteRows { table, segment, positions } => {
            let bitmap = Bitmap::shorter(positions);
            head(if bitmap.is_some() { 19 } else { 5 }, table, to);
            to.u32(segment.0);
            match bitmap {
                Some(bitmap) => bitmap.encode(to),
                None => positions::encode(positions, to),
            }
        }
        Change::AddSegments { table, segments, runs } => {
            head(6, table, to);
            encode_added(segments, runs, to);
        }
        Change::ReplaceSegment { table, segment, base, folded, .. } => {
            head(7, table, to);
            to.u64(folded.0);
            base.image(*segment).encode(to);
        }
        Change::ReplaceKeyRuns { table, index, runs, written } => {
            head(8, table, to);
            to.u32(*index);
            to.u64(written.0);
            to.u32(count_u32(runs.len()));
            runs.iter().for_each(|run| run.image().encode(to));
        }
        Change::MoveRows { table, removed, added, runs } => {
            head(9, table, to);
            to.u32(count_u32(removed.len()));
            removed.iter().for_each(|segment| to.u32(segment.0));
            encode_added(added, runs, to);
        }
        Change::CreateTable(_)
        | Change::DropTable(_)
        | Change::SetView(_)
        | Change::DropView(_)
        | Change::AlterTable { .. }
        | Change::EmptyTable(_)
        | Change::SetSequence { .. }
        | Change::DropSequence(_)
        | Change::SetDefinition { .. }
        | Change::PlaceSequence { .. } => encode_shape(change, to),
    }
    Ok(())
}

/// A change of the catalog.
fn encode_shape(change: &Change, to: &mut ByteWriter) {
    let head = |kind: u8, table: &TableId, to: &mut ByteWriter| encode_head(kind, *table, to);
    match change {
        Change::CreateTable(schema) => {
            to.u8(10);
            schema.encode(to);
        }
        Change::DropTable(table) => head(2, table, to),
        Change::SetView(view) => {
            to.u8(11);
            view.encode(to);
        }
        Change::DropView(view) => head(12, view, to),
        Change::SetSequence { sequence, begins_anew } => {
            to.u8(15);
            sequence.encode(to);
            to.u8(u8::from(*begins_anew));
        }
        Change::DropSequence(sequence) => head(16, sequence, to),
        Change::PlaceSequence { sequence, position } => {
            head(17, sequence, to);
            position.encode(to);
        }
        Change::AlterTable { table, schema, sources, runs } => {
            head(13, table, to);
            schema.encode(to);
            to.u32(count_u32(sources.len()));
            sources.iter().for_each(|source| source.encode(to));
            encode_runs(runs, to);
        }
        Change::EmptyTable(table) => head(14, table, to),
        Change::SetDefinition { key, text } => {
            to.u8(18);
            key.encode(to);
            to.u8(u8::from(text.is_some()));
            text.iter().for_each(|text| to.text(text));
        }
        // Those of rows and segments.
        _ => {}
    }
}

fn decode_change(from: &mut ByteReader<'_>, version: u8) -> Result<Decoded, DecodeError> {
    let offset = from.offset();
    let kind = from.u8()?;
    if let Some(decoded) = decode_shape(kind, from, version)? {
        return Ok(decoded);
    }
    let table = TableId(from.u32()?);
    Ok(match kind {
        3 => Decoded::Whole(decode_append(table, from)?),
        4 => {
            let (segment, column) = (SegmentId(from.u32()?), from.u32()?);
            let count = from.count(5)?;
            // Each process that shares the database reads each commit: of the right size at once.
            let mut patches = Vec::with_capacity(count);
            for _ in 0..count {
                patches.push((from.u32()?, Datum::decode(from)?));
            }
            let patches = Patches::new(patches);
            Decoded::Whole(Change::PatchRows { table, segment, column, patches })
        }
        5 | 19 => {
            let segment = SegmentId(from.u32()?);
            let positions = match kind {
                5 => positions::decode(from)?,
                _ => Bitmap::decode(from)?,
            };
            Decoded::Whole(Change::DeleteRows { table, segment, positions })
        }
        6 => Decoded::AddSegments { table, added: AddedImages::decode(from, version)? },
        7 => Decoded::ReplaceSegment {
            table,
            folded: CommitNumber(from.u64()?),
            image: SegmentImage::decode(from)?,
        },
        8 => {
            let index = if version >= VERSION_WITHOUT_SEQUENCES { from.u32()? } else { PRIMARY };
            let written = CommitNumber(from.u64()?);
            let count = from.count(16)?;
            let images = (0..count).map(|_| KeyRunImage::decode(from)).collect::<Result<_, _>>()?;
            Decoded::ReplaceKeyRuns { table, index, written, images }
        }
        9 => {
            let count = from.count(4)?;
            let removed =
                (0..count).map(|_| from.u32().map(SegmentId)).collect::<Result<_, _>>()?;
            Decoded::MoveRows { table, removed, added: AddedImages::decode(from, version)? }
        }
        _ => {
            return Err(DecodeError {
                offset,
                expected: "a kind of change; a newer Gadus wrote it",
            });
        }
    })
}

/// A change of the catalog; none where it is one of rows and segments.
fn decode_shape(
    kind: u8,
    from: &mut ByteReader<'_>,
    version: u8,
) -> Result<Option<Decoded>, DecodeError> {
    let newest = match version {
        VERSION => SchemaForm::Newest,
        VERSION_WITHOUT_FOREIGN_KEYS => SchemaForm::WithoutForeignKeys,
        VERSION_WITHOUT_SEQUENCES => SchemaForm::WithoutIdentity,
        _ => SchemaForm::WithoutIndexes,
    };
    let create = |from: &mut ByteReader<'_>, form| {
        TableSchema::decode(from, form).map(|schema| Change::CreateTable(Arc::new(schema)))
    };
    Ok(Some(Decoded::Whole(match kind {
        1 => create(from, SchemaForm::WithoutNumbers)?,
        10 => create(from, newest)?,
        2 => Change::DropTable(TableId(from.u32()?)),
        11 => Change::SetView(Arc::new(ViewSchema::decode(from)?)),
        12 => Change::DropView(TableId(from.u32()?)),
        13 => {
            let table = TableId(from.u32()?);
            let schema = Arc::new(TableSchema::decode(from, newest)?);
            let count = from.count(2)?;
            let sources = (0..count).map(|_| Source::decode(from)).collect::<Result<_, _>>()?;
            let runs = match version {
                VERSION_WITHOUT_SEQUENCES.. => decode_runs(from)?,
                _ => Vec::new(),
            };
            return Ok(Some(Decoded::AlterTable { table, schema, sources, runs }));
        }
        14 => Change::EmptyTable(TableId(from.u32()?)),
        15 => {
            let sequence = Arc::new(Sequence::decode(from)?);
            Change::SetSequence { sequence, begins_anew: from.u8()? != 0 }
        }
        16 => Change::DropSequence(TableId(from.u32()?)),
        17 => {
            let sequence = TableId(from.u32()?);
            Change::PlaceSequence { sequence, position: SequencePosition::decode(from)? }
        }
        18 => {
            let key = DefinitionKey::decode(from)?;
            let text = match from.u8()? {
                0 => None,
                _ => Some(Arc::from(from.text(DEFINITION_BYTES_MAX)?)),
            };
            Change::SetDefinition { key, text }
        }
        _ => return Ok(None),
    })))
}

fn decode_append(table: TableId, from: &mut ByteReader<'_>) -> Result<Change, DecodeError> {
    let first = RowId { segment: SegmentId(from.u32()?), position: from.u32()? };
    Ok(Change::AppendRows { table, first, rows: decode_rows(from)? })
}
