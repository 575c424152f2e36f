//! Layouts are composed, and are read as they were written.

use super::*;

fn layout(sources: &[Source]) -> Layout {
    Layout::new(sources.to_vec())
}

#[test]
fn a_layout_names_what_was_written_however_often_the_shape_changes() {
    let added = Source::Added(Datum::Integer(7));
    // A column is added behind two, the first is dropped, and the order turned round.
    let once = layout(&[Source::Kept(0), Source::Kept(1), added.clone()]);
    let twice = once.followed_by(&[Source::Kept(1), Source::Kept(2)]);
    let thrice = twice.followed_by(&[Source::Kept(1), Source::Added(Datum::Null), Source::Kept(0)]);
    assert_eq!(thrice, layout(&[added, Source::Added(Datum::Null), Source::Kept(1)]));
}

#[test]
fn what_is_written_is_read() {
    let written = layout(&[Source::Kept(3), Source::Added(Datum::text("x"))]);
    let mut to = ByteWriter::new();
    written.encode(&mut to);
    let bytes = to.finish();
    assert_eq!(Layout::decode(&mut ByteReader::new(&bytes)).unwrap(), written);
    for length in 0..bytes.len() {
        assert!(Layout::decode(&mut ByteReader::new(&bytes[..length])).is_err());
    }
}

#[test]
fn all_rows_of_a_constant_have_its_value() {
    for value in [Datum::Null, Datum::Integer(-5)] {
        let entry = Constant::entry(&value, ColumnType::Int64, 1_000);
        let ColumnPlace::Constant(constant) = &entry.place else { panic!("no constant") };
        let column = constant.column().unwrap();
        assert_eq!(column.rows, 1_000);
        assert!((0..1_000).all(|row| column.datum(row) == value));
        assert_eq!(entry.sketch.nulls as usize, column.null_count());
    }
}
