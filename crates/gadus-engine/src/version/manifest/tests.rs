//! Manifests of this version and of the one before.

use super::*;
use crate::{ColumnDefinition, ColumnType};

const PART: PartImage = PartImage { extent: extent(8), blob: BLOB };
const BLOB: BlobRef = BlobRef { id: 9, offset: 8 << 12, bytes: 100, checksum: 7 };

const fn extent(unit: u64) -> ExtentRef {
    ExtentRef { offset: unit << 12, bytes: 1 << 12, id: unit }
}

fn base(id: u32) -> SegmentImage {
    SegmentImage { id: SegmentId(id), rows: 7, footer: BLOB, extents: vec![extent(3), extent(4)] }
}

fn table() -> ManifestTable {
    let column = ColumnDefinition {
        name: "x".to_owned(),
        column_type: ColumnType::Int64,
        nullable: false,
        default: None,
    };
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
        runs: Vec::new(),
        recent: Some(PART),
    }
}

const HEAD: ManifestHead =
    ManifestHead { commit: CommitNumber(6), next_table: TableId(2), schema_version: 1 };

#[test]
fn what_is_written_is_read() {
    let bytes = encode_manifest(&HEAD, &[table()]);
    let (_, tables) = decode_manifest(&bytes).unwrap();
    assert_eq!(format!("{tables:?}"), format!("{:?}", [table()]));
    for length in 0..bytes.len() {
        assert!(decode_manifest(&bytes[..length]).is_err(), "cut after {length} bytes");
    }
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
        recent: None,
        last_changed: CommitNumber(0),
        ..table()
    };
    wanted.schema.encode(&mut to);
    to.u32(wanted.next_segment);
    to.u32(wanted.open);
    to.u32(1);
    base(1).encode(&mut to);
    to.u64(5);
    to.u8(0);
    to.u32(0);
    let (_, tables) = decode_manifest(&to.finish()).unwrap();
    assert_eq!(format!("{tables:?}"), format!("{:?}", [wanted]));
}
