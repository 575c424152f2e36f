//! Rows in PostgreSQL's binary format, whole, in parts, and malformed.

use super::{BinaryRows, Intake, SIGNATURE};
use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, Int32Type, Schema};

fn rows() -> BinaryRows {
    let id = Field::new("id", DataType::Int32, true);
    let name = Field::new("name", DataType::Utf8, true);
    BinaryRows::new(&Schema::new(vec![id, name]), 1_000)
}

fn header() -> Vec<u8> {
    [&SIGNATURE[..], &[0, 0, 0, 1], &[0, 0, 0, 3], b"ext"].concat()
}

const ROW: &[u8] = b"\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02ab";
const NULLS: &[u8] = b"\0\x02\xff\xff\xff\xff\xff\xff\xff\xff";
const END: &[u8] = b"\xff\xff";

#[test]
fn rows_are_taken_wherever_the_parts_end() {
    let data = [&header(), ROW, NULLS, END].concat();
    for part in [1, 2, 5, 19, data.len()] {
        let mut rows = rows();
        for bytes in data.chunks(part) {
            rows.push(bytes);
            rows.take(false).expect("well formed");
        }
        rows.take(true).expect("whole");
        let batch = rows.batch().expect("a batch");
        let ids = batch.column(0).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
        assert_eq!(ids, [Some(7), None], "{part}");
        let names = batch.column(1).as_string::<i32>().iter().collect::<Vec<_>>();
        assert_eq!(names, [Some("ab"), None], "{part}");
    }
}

#[test]
fn what_is_malformed_is_refused() {
    let header = header();
    for (name, data) in [
        ("no header", b"id,name\n1,2\nxxxxxxxxxxx".to_vec()),
        ("flags", [&SIGNATURE[..], &[0, 1, 0, 0, 0, 0, 0, 0]].concat()),
        ("an extension that does not come", [&SIGNATURE[..], &[0; 4], &[0xff; 4]].concat()),
        ("few", [&header[..], b"\0\x01\0\0\0\x04\0\0\0\x07"].concat()),
        ("a length", [&header[..], b"\0\x02\xff\xff\xff\xfe"].concat()),
        ("a long length", [&header[..], b"\0\x02\x7f\xff\xff\xff"].concat()),
        ("another size", [&header[..], b"\0\x02\0\0\0\x01\x07\xff\xff\xff\xff"].concat()),
        ("behind the end", [&header[..], END, ROW].concat()),
        ("half a row", [&header[..], &ROW[..9]].concat()),
        ("half a header", header[..7].to_vec()),
        ("nothing", Vec::new()),
    ] {
        let mut rows = rows();
        rows.push(&data);
        let failure = rows.take(false).and_then(|()| rows.take(true)).expect_err(name);
        assert!(matches!(failure.code.text(), "22P04" | "22P03"), "{name}: {failure:?}");
    }
}
