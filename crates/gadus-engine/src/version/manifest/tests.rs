//! Manifests of this version and of the one before.

use super::*;
use crate::{
    ColumnDefinition, ColumnType, SequencePosition, SequenceShape, UsedColumn, UsedRelation,
    ViewColumn,
};

const PART: PartImage = PartImage { extent: extent(8), blob: BLOB };
const BLOB: BlobRef = BlobRef { id: 9, offset: 8 << 12, bytes: 100, checksum: 7 };

const fn extent(unit: u64) -> ExtentRef {
    ExtentRef { offset: unit << 12, bytes: 1 << 12, id: unit }
}

fn base(id: u32) -> SegmentImage {
    let extents = vec![extent(3), extent(4)];
    SegmentImage { id: SegmentId(id), rows: 7, footer: BLOB, extents, layout: None }
}

fn table() -> ManifestTable {
    let column =
        ColumnDefinition { nullable: false, ..ColumnDefinition::new("x", ColumnType::Int64) };
    let schema = Arc::new(TableSchema::new("t", vec![column], Vec::new()).unwrap());
    let segment = |id, base, overlay, open_rows| SavedSegment {
        id: SegmentId(id),
        last_changed: CommitNumber(5),
        base,
        overlay,
        open_rows,
    };
    ManifestTable {
        schema,
        next_segment: 4,
        open: 3,
        last_changed: CommitNumber(6),
        segments: vec![
            segment(1, Some(base(1)), None, None),
            segment(2, Some(base(2)), Some(PART), Some(PART)),
            segment(3, None, None, Some(PART)),
        ],
        keys: vec![SavedKeys { index: PRIMARY, runs: Vec::new(), recent: Some(PART) }],
    }
}

fn view() -> Arc<ViewSchema> {
    let columns = vec![UsedColumn { id: 0, name: "x".to_owned(), is_used: true }];
    let uses = vec![UsedRelation { id: TableId(1), name: "t".to_owned(), columns }];
    let column = ViewColumn { name: "x".to_owned(), column_type: Some(ColumnType::Int64) };
    let view = ViewSchema::new("v", "SELECT x FROM t".to_owned(), vec![column], uses);
    Arc::new(view.unwrap())
}

fn sequence() -> Arc<Sequence> {
    let shape = SequenceShape::new(ColumnType::Int32, 1).unwrap();
    let position = SequencePosition { last: 7, is_given: true };
    let sequence = Sequence::new("s", shape).unwrap();
    Arc::new(Sequence { owner: Some((TableId(1), 0)), position, ..sequence })
}

fn definitions() -> Vec<(DefinitionKey, Arc<str>)> {
    let keys = [
        DefinitionKey::Function("f".to_owned()),
        DefinitionKey::CommentOnRelation(TableId(1)),
        DefinitionKey::CommentOnColumn(TableId(1), 0),
        DefinitionKey::CommentOnIndex(TableId(1), 1),
        DefinitionKey::CommentOnFunction("f".to_owned()),
        DefinitionKey::CommentOnDatabase,
        DefinitionKey::Schema("s".to_owned()),
        DefinitionKey::CommentOnSchema("main".to_owned()),
        DefinitionKey::Type("mood".to_owned()),
        DefinitionKey::CommentOnType("mood".to_owned()),
    ];
    keys.into_iter().map(|key| (key, Arc::from("text"))).collect()
}

const HEAD: ManifestHead =
    ManifestHead { commit: CommitNumber(6), next_table: TableId(2), schema_version: 1 };

#[test]
fn what_is_written_is_read() {
    let written = Manifest {
        head: HEAD,
        tables: vec![table()],
        views: vec![view()],
        sequences: vec![sequence()],
        definitions: definitions(),
    };
    let bytes = encode_manifest(&written);
    assert_eq!(format!("{:?}", decode_manifest(&bytes).unwrap()), format!("{written:?}"));
    for length in 0..bytes.len() {
        assert!(decode_manifest(&bytes[..length]).is_err(), "cut after {length} bytes");
    }
}

#[test]
fn a_manifest_without_definitions_is_read() {
    let written = Manifest {
        head: HEAD,
        tables: vec![table()],
        views: vec![view()],
        sequences: vec![sequence()],
        definitions: Vec::new(),
    };
    let mut bytes = encode_manifest(&written);
    bytes[0] = 6;
    bytes.truncate(bytes.len() - 4);
    assert_eq!(format!("{:?}", decode_manifest(&bytes).unwrap()), format!("{written:?}"));
}

/// Columns of version 1 have no numbers.
fn encode_schema_1(schema: &TableSchema, to: &mut ByteWriter) {
    to.u32(schema.id.0);
    to.u32(schema.version);
    to.text(&schema.name);
    to.u32(1);
    to.text(&schema.columns[0].name);
    let (code, precision, scale) = schema.columns[0].column_type.to_code();
    [code, precision, scale, 0, 0].into_iter().for_each(|byte| to.u8(byte));
    to.u32(0);
}

#[test]
fn a_manifest_of_version_1_is_read() {
    let mut to = ByteWriter::new();
    to.u8(1);
    to.u64(HEAD.commit.0);
    to.u32(HEAD.next_table.0);
    to.u64(HEAD.schema_version);
    to.u32(1);
    let wanted = ManifestTable {
        segments: table().segments.drain(..1).collect(),
        keys: vec![SavedKeys { index: PRIMARY, runs: Vec::new(), recent: None }],
        last_changed: CommitNumber(0),
        ..table()
    };
    encode_schema_1(&wanted.schema, &mut to);
    to.u32(wanted.next_segment);
    to.u32(wanted.open);
    to.u32(1);
    base(1).encode(&mut to);
    to.u64(5);
    to.u8(0);
    to.u32(0);
    let Manifest { tables, .. } = decode_manifest(&to.finish()).unwrap();
    assert_eq!(format!("{tables:?}"), format!("{:?}", [wanted]));
}
