//! Values that are made of others come back as they were; bytes that are none do not.

use super::*;
use crate::types::{Datum, UUID, array_from_datums, datum_from_array};
use arrow::array::{
    FixedSizeBinaryArray, Float32Array, Int32Array, StringViewArray, UInt64Array, new_null_array,
};
use arrow::compute::concat;
use arrow::datatypes::{Field, Int32Type};

fn nested(nested: Nested) -> (&'static Nested, ColumnType) {
    match ColumnType::nested(nested) {
        Some(of @ ColumnType::Nested(kept)) => (kept, of),
        _ => panic!("it is possible"),
    }
}

fn list_of(part: ColumnType) -> ColumnType {
    nested(Nested::List(part)).1
}

fn assert_comes_back(column_type: ColumnType, array: &ArrayRef) {
    let ColumnType::Nested(kept) = column_type else { panic!("{column_type}") };
    assert_eq!(*array.data_type(), column_type.arrow());
    let bytes = bytes_from_nested(kept, array);
    let again = nested_from_bytes(kept, bytes.iter()).unwrap();
    assert_eq!(*again, **array, "{column_type}");
    let datums = (0..array.len()).map(|row| datum_from_array(column_type, array, row).unwrap());
    let datums = datums.collect::<Vec<_>>();
    assert!(datums.iter().all(|datum| column_type.admits(datum)), "{column_type}");
    assert_eq!(*array_from_datums(column_type, datums.iter()).unwrap(), **array, "{column_type}");
    // A part of the rows, as they are in the middle of others.
    let part = array.slice(1, array.len() - 1);
    let again = nested_from_bytes(kept, bytes_from_nested(kept, &part).iter()).unwrap();
    assert_eq!(*again, *part, "{column_type}");
}

fn numbers() -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None, Some(i32::MIN)]),
        None,
        Some(vec![]),
        Some((0..100).map(Some).collect()),
        Some(vec![None; 9]),
    ]))
}

fn list(values: ArrayRef, lengths: &[usize], valid: &[bool]) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(field, offsets, values, Some(valid.into())))
}

#[test]
fn lists_come_back_as_they_were() {
    assert_comes_back(list_of(ColumnType::Int32), &numbers());
    let texts = ["", "longer than what a view holds itself", "ü"].map(Some);
    let texts = texts.into_iter().chain([None]).collect::<StringViewArray>();
    let uuids = FixedSizeBinaryArray::new(16, Buffer::from_vec(vec![7; 64]), None);
    let flags = BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]);
    let wides = UInt64Array::from(vec![0, u64::MAX, 1, 2]);
    let singles = Float32Array::from(vec![1.5, -0.0, f32::INFINITY, 3.0]);
    assert_eq!(uuids.data_type(), &UUID);
    for (part, values) in [
        (ColumnType::Text, Arc::new(texts) as ArrayRef),
        (ColumnType::Uuid, Arc::new(uuids)),
        (ColumnType::Boolean, Arc::new(flags)),
        (ColumnType::UInt64, Arc::new(wides)),
        (ColumnType::Float32, Arc::new(singles)),
        (list_of(ColumnType::Int32), numbers().slice(0, 4)),
    ] {
        let array = list(values, &[2, 0, 1, 0, 1], &[true, false, true, true, true]);
        assert_comes_back(list_of(part), &array);
    }
}

#[test]
fn structures_and_maps_come_back_as_they_were() {
    let fields = vec![
        ("n".to_owned(), ColumnType::Int32),
        ("of many".to_owned(), list_of(ColumnType::Int32)),
    ];
    let (_, structure) = nested(Nested::Struct(fields));
    let DataType::Struct(fields) = structure.arrow() else { panic!("{structure}") };
    let numbers_once = Int32Array::from(vec![Some(1), Some(2), None, None, Some(5)]);
    let parts: Vec<ArrayRef> = vec![Arc::new(numbers_once), numbers()];
    let valid = NullBuffer::from(vec![true, true, false, true, true]);
    let structures: ArrayRef = Arc::new(StructArray::new(fields, parts, Some(valid)));
    // What a structure holds where it is NULL is not kept.
    let ColumnType::Nested(kept) = structure else { panic!("{structure}") };
    let bytes = bytes_from_nested(kept, &structures);
    let again = nested_from_bytes(kept, bytes.iter()).unwrap();
    assert_eq!(*again, *structures);
    assert_comes_back(structure, &again);
    let (_, map) = nested(Nested::Map(ColumnType::Text, structure));
    let DataType::Map(field, _) = map.arrow() else { panic!("{map}") };
    let DataType::Struct(entries) = field.data_type() else { panic!("{map}") };
    let keys = Arc::new(StringViewArray::from(vec!["a", "b", "a", "", "c"]));
    let entries = StructArray::new(entries.clone(), vec![keys, again], None);
    let offsets = OffsetBuffer::from_lengths([2, 0, 0, 3]);
    let valid = NullBuffer::from(vec![true, false, true, true]);
    let maps: ArrayRef = Arc::new(MapArray::new(field, offsets, entries, Some(valid), false));
    assert_comes_back(map, &maps);
    let nothing = new_null_array(&map.arrow(), 3);
    assert_comes_back(map, &concat(&[&maps, &nothing]).unwrap());
}

/// Of the values that an array shows, not of those that it shares with others.
#[test]
fn what_values_take_is_told_before_they_are_written() {
    assert_eq!(bytes_of(&numbers()), 4 * (3 + 100 + 9));
    assert_eq!(bytes_of(&numbers().slice(1, 2)), 0);
    let texts = StringViewArray::from(vec![Some("one"), None, Some("another of them, a long one")]);
    assert_eq!(bytes_of(&texts), 30);
    let array = list(Arc::new(texts), &[2, 1], &[true, true]);
    assert_eq!(bytes_of(&array.slice(1, 1)), 27);
    assert_eq!(bytes_of(&new_null_array(&array.data_type().clone(), 5)), 0);
}

#[test]
fn bytes_that_are_no_value_are_refused() {
    let (kept, column_type) = nested(Nested::List(list_of(ColumnType::Text)));
    let texts = StringViewArray::from(vec![Some("one"), None, Some("another")]);
    let inner = list(Arc::new(texts), &[2, 1], &[true, true]);
    let array = list(inner, &[2], &[true]);
    let bytes = bytes_from_nested(kept, &array).value(0).to_vec();
    assert!(is_nested(kept, &bytes));
    for end in 0..bytes.len() {
        assert!(!is_nested(kept, &bytes[..end]), "cut after {end} bytes");
    }
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut wrong = bytes.clone();
            wrong[place] ^= 1 << bit;
            // Another value it may be, as of other letters; nothing is read beyond the bytes.
            let _ = nested_from_bytes(kept, [Some(wrong.as_slice())].into_iter());
        }
    }
    let endless = [u32::MAX.to_le_bytes().as_slice(), &[0]].concat();
    assert!(!is_nested(kept, &endless));
    assert!(!column_type.admits(&Datum::Bytes(endless.into())));
    assert!(!column_type.admits(&Datum::Integer(1)));
}

#[test]
fn types_are_read_as_they_are_written_and_have_a_depth() {
    let fields =
        vec![("a".to_owned(), ColumnType::Int8), ("b".to_owned(), list_of(ColumnType::Uuid))];
    let (_, structure) = nested(Nested::Struct(fields));
    let (_, map) = nested(Nested::Map(ColumnType::Int64, structure));
    assert_eq!(map.to_string(), "MAP(BIGINT, STRUCT<\"a\" TINYINT, \"b\" UUID[]>)");
    assert_eq!(ColumnType::from_arrow(&map.arrow()), Some(map));
    let mut to = gadus_base::ByteWriter::new();
    map.encode(&mut to);
    let bytes = to.finish();
    assert_eq!(ColumnType::decode(&mut ByteReader::new(&bytes)), Ok(Some(map)));
    for end in 0..bytes.len() {
        assert!(ColumnType::decode(&mut ByteReader::new(&bytes[..end])).is_err(), "{end}");
    }
    let deeper = |of: ColumnType| ColumnType::nested(Nested::List(of));
    let deepest = (0..16).try_fold(ColumnType::Int32, |of, _| deeper(of)).unwrap();
    assert_eq!(deeper(deepest), None);
    let endless = [21, 0, 0].repeat(100_000);
    assert!(ColumnType::decode(&mut ByteReader::new(&endless)).is_err());
    assert_eq!(ColumnType::nested(Nested::List(ColumnType::Json)), None);
    for names in [&["a", "a"][..], &[""], &[]] {
        let fields = names.iter().map(|name| ((*name).to_owned(), ColumnType::Int8)).collect();
        assert_eq!(ColumnType::nested(Nested::Struct(fields)), None, "{names:?}");
    }
}
