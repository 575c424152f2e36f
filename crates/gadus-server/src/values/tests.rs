//! Values there and back, against what PostgreSQL writes.

use super::{Rows, fields, parameter as parameter_in};
use crate::error::Failure;
use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, i256};
use bytes::BytesMut;
use gadus::TextSettings;
use gadus::{POSTGRES_TYPE, Value};
use std::sync::Arc;

/// Settings of a session that has set nothing.
fn times() -> Arc<TextSettings> {
    let database = gadus::Database::open_in_memory(gadus::Options::default()).expect("a database");
    database.connect().times()
}

fn parameter(oid: u32, format: i16, bytes: &[u8]) -> Result<Value, Failure> {
    parameter_in(oid, format, bytes, &times())
}

/// The values of a column in a format, as they are sent.
fn sent(column: ArrayRef, format: i16) -> Vec<Option<Vec<u8>>> {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", column, true)]).expect("a batch");
    let rows = Rows::new(&batch, std::iter::once((0, format)), &times()).expect("writers");
    let one = |row| {
        let mut body = BytesMut::new();
        rows.put(row, &mut body);
        let length = i32::from_be_bytes(body[2..6].try_into().expect("a length"));
        (length >= 0).then(|| body[6..].to_vec())
    };
    (0..batch.num_rows()).map(one).collect()
}

fn texts(column: impl arrow::array::Array + 'static) -> Vec<String> {
    let text = |value: Option<Vec<u8>>| {
        value.map_or("NULL".to_owned(), |bytes| String::from_utf8(bytes).expect("text"))
    };
    sent(Arc::new(column), 0).into_iter().map(text).collect()
}

#[test]
fn lists_are_read_in_both_forms() {
    let list = |oid, format, bytes: &[u8]| parameter(oid, format, bytes);
    let expected = Value::list(&DataType::Int32, [Value::Integer(1), Value::Null]).expect("a list");
    assert_eq!(list(1007, 0, b"{1,NULL}").expect("text"), expected);
    let mut bytes = [1, 1, 23, 2, 1, 4, 1].map(i32::to_be_bytes).concat();
    bytes.extend((-1_i32).to_be_bytes());
    assert_eq!(list(1007, 1, &bytes).expect("binary"), expected);
    let none = [0, 0, 23].map(i32::to_be_bytes).concat();
    assert_eq!(
        list(1007, 1, &none).expect("binary"),
        Value::list(&DataType::Int32, []).expect("empty")
    );
    let decimals = [Value::Decimal(15, 1), Value::Decimal(225, 2)];
    let expected = Value::list(&DataType::Decimal128(38, 2), decimals).expect("a list");
    assert_eq!(list(1231, 0, b"{1.5, 2.25}").expect("text"), expected);
    for end in 0..bytes.len() {
        let failure = list(1007, 1, &bytes[..end]).expect_err("too short");
        assert_eq!(failure.code.text(), "22P03", "{end}");
    }
    for (numbers, code) in [
        (vec![1, 0, 23, i32::MAX, 1], "22P03"),
        (vec![1, 0, 23, -1, 1], "22P03"),
        (vec![1, 0, 23, 1, 1, i32::MAX], "22P03"),
        (vec![1, 0, 20, 0, 1], "22P03"),
        (vec![0, 0, 23, 7], "22P03"),
        (vec![2, 0, 23, 1, 1, 1, 1], "0A000"),
        (vec![i32::MAX, 0, 23], "0A000"),
    ] {
        let bytes = numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>();
        let failure = list(1007, 1, &bytes).expect_err("no list");
        assert_eq!(failure.code.text(), code, "{numbers:?}");
    }
    for (text, code) in
        [("1", "22P02"), ("{x}", "22P02"), ("{{1}}", "22P02"), ("{99999999999}", "22003")]
    {
        assert_eq!(
            list(1007, 0, text.as_bytes()).expect_err("no list").code.text(),
            code,
            "{text}"
        );
    }
}

#[test]
fn text_is_as_postgresql_writes_it() {
    assert_eq!(texts(BooleanArray::from(vec![Some(true), Some(false), None])), ["t", "f", "NULL"]);
    let floats = [0.0, -0.0, 1.0, 1e14, 1e15, 1e-4, 1e-5, 0.1, 1.5e300, f64::NAN, f64::INFINITY];
    assert_eq!(
        texts(Float64Array::from(floats.to_vec())),
        [
            "0",
            "-0",
            "1",
            "100000000000000",
            "1e+15",
            "0.0001",
            "1e-05",
            "0.1",
            "1.5e+300",
            "NaN",
            "Infinity"
        ]
    );
    assert_eq!(texts(Float32Array::from(vec![123_456.0, 1e6, 0.1])), ["123456", "1e+06", "0.1"]);
    let dates = Date32Array::from(vec![0, 19_783, -719_528, -719_162]);
    assert_eq!(texts(dates), ["1970-01-01", "2024-03-01", "0001-01-01 BC", "0001-01-01"]);
    let times = TimestampMicrosecondArray::from(vec![0, 1, 1_700_000_000_120_000, -1]);
    assert_eq!(
        texts(times.clone().with_timezone("UTC"))[2..],
        ["2023-11-14 22:13:20.12+00", "1969-12-31 23:59:59.999999+00"]
    );
    assert_eq!(texts(times)[..2], ["1970-01-01 00:00:00", "1970-01-01 00:00:00.000001"]);
    assert_eq!(texts(BinaryArray::from(vec![&b"\x00\xffa"[..], b""])), ["\\x00ff61", "\\x"]);
    let decimals = Decimal128Array::from(vec![0, 5, -12_345]);
    let decimals = decimals.with_precision_and_scale(10, 3).expect("fits");
    assert_eq!(texts(decimals), ["0.000", "0.005", "-12.345"]);
    assert_eq!(texts(UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
    assert_eq!(texts(Int8Array::from(vec![Some(-7), None])), ["-7", "NULL"]);
    let lists = vec![Some(vec![Some(1), None]), Some(vec![]), None];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    assert_eq!(texts(lists), ["{1,NULL}", "{}", "NULL"]);
}

/// Sent and received again, in both forms, values are the same.
#[test]
fn values_come_back() {
    let decimal = |values: &[i128], scale| {
        let array = Decimal128Array::from(values.to_vec());
        Arc::new(array.with_precision_and_scale(38, scale).expect("fits")) as ArrayRef
    };
    let big = 10_i128.pow(38) - 1;
    let numbers = [0, 1, -1, 9_999, 10_000, 10_001, 123_456_789, -40_000_000, big, -big];
    let mut columns: Vec<(ArrayRef, Vec<Value>)> = vec![
        (
            Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX])),
            vec![Value::Integer(i64::MIN), Value::Integer(0), Value::Integer(i64::MAX)],
        ),
        (
            Arc::new(StringArray::from(vec!["", "é\n'\\"])),
            vec![Value::Text(String::new()), Value::Text("é\n'\\".into())],
        ),
        (Arc::new(BinaryArray::from(vec![&b"\0\\x"[..]])), vec![Value::Binary(b"\0\\x".to_vec())]),
        (Arc::new(Date32Array::from(vec![-1, 20_000])), vec![Value::Date(-1), Value::Date(20_000)]),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![-1, 1_700_000_000_000_001])),
            vec![Value::Timestamp(-1), Value::Timestamp(1_700_000_000_000_001)],
        ),
    ];
    for scale in [0, 1, 2, 3, 4, 5, 8, 37, 38] {
        let values = numbers.iter().map(|number| Value::Decimal(*number, scale)).collect();
        columns.push((decimal(&numbers, scale), values));
    }
    for (column, values) in columns {
        let schema = arrow::datatypes::Schema::new(vec![arrow::datatypes::Field::new(
            "c",
            column.data_type().clone(),
            true,
        )]);
        for format in [0, 1] {
            let oid = fields(&schema, &[], &[format]).expect("fields")[0].oid;
            for (bytes, value) in sent(column.clone(), format).into_iter().zip(&values) {
                let bytes = bytes.expect("no NULL");
                let received = parameter(oid, format, &bytes).expect("a value");
                assert_eq!(received, *value, "format {format}, {bytes:?}");
            }
        }
    }
}

#[test]
fn identifiers_are_texts_and_bytes() {
    let bytes = (0..16).map(|byte| byte * 17).collect::<Vec<u8>>();
    let column = FixedSizeBinaryArray::try_from_iter([bytes.clone()].into_iter()).expect("one");
    let text = "00112233-4455-6677-8899-aabbccddeeff";
    assert_eq!(texts(column.clone()), [text]);
    assert_eq!(sent(Arc::new(column), 1), [Some(bytes.clone())]);
    assert_eq!(parameter(2950, 1, &bytes).expect("binary"), Value::from(text));
    let upper = text.to_uppercase();
    assert_eq!(parameter(2950, 0, upper.as_bytes()).expect("text"), Value::from(upper));
    for (format, wrong, code) in [(0, &b"0011"[..], "22P02"), (1, b"0011", "22P03")] {
        assert_eq!(parameter(2950, format, wrong).expect_err("none").code.text(), code);
    }
}

#[test]
fn documents_have_a_version_before_them_in_binary() {
    let document = Value::from("[1]");
    assert_eq!(parameter(114, 1, b"[1]").expect("json"), document);
    assert_eq!(parameter(3802, 0, b"[1]").expect("text"), document);
    assert_eq!(parameter(3802, 1, b"\x01[1]").expect("jsonb"), document);
    for wrong in [&b""[..], b"[1]", b"\x02[1]"] {
        assert_eq!(parameter(3802, 1, wrong).expect_err("none").code.text(), "22P03");
    }
}

#[test]
fn numerics_have_the_bytes_that_postgresql_sends() {
    let column = |value, scale| {
        let array = Decimal128Array::from(vec![value]);
        sent(Arc::new(array.with_precision_and_scale(38, scale).expect("fits")), 1)
    };
    let words = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let expected: Vec<u8> = words(&[2, 0, 0x4000, 3, 12, 3450]);
    assert_eq!(column(-12_345, 3), [Some(expected)]);
    let expected: Vec<u8> = words(&[1, 0xfffe, 0, 8, 5]);
    assert_eq!(column(5, 8), [Some(expected)]);
    let expected: Vec<u8> = words(&[1, 1, 0, 0, 7]);
    assert_eq!(column(70_000, 0), [Some(expected)]);
    let expected: Vec<u8> = words(&[0, 0, 0, 2]);
    assert_eq!(column(0, 2), [Some(expected)]);
}

#[test]
fn what_is_no_value_is_refused() {
    for (oid, format, bytes, code) in [
        (23, 0, &b"abc"[..], "22P02"),
        (23, 0, b"3000000000", "22003"),
        (21, 0, b"40000", "22003"),
        (23, 1, b"\0\0", "22P03"),
        (25, 0, b"a\0b", "22021"),
        (25, 1, b"\xff", "22021"),
        (1700, 0, b"1e100000", "22003"),
        (1700, 0, b"NaN", "22003"),
        (1700, 0, b"1..2", "22P02"),
        (1700, 1, b"\0\x01\0\0", "22P03"),
        (1082, 0, b"2024-13-01", "22008"),
        (1082, 0, b"no date", "22007"),
        (17, 0, b"\\xzz", "22023"),
        (17, 0, b"\\1", "22P02"),
        (16, 0, b"maybe", "22P02"),
        (600, 0, b"(1,2)", "0A000"),
    ] {
        let failure = parameter(oid, format, bytes).expect_err("refused");
        assert_eq!(failure.code.text(), code, "{oid} {bytes:?}");
    }
    let digits = "9".repeat(1_000_000);
    let failure = parameter(1700, 0, digits.as_bytes()).expect_err("refused");
    assert_eq!(failure.code.text(), "22003");
}

#[test]
fn arrays_of_several_dimensions_are_one_array() {
    let lists = vec![Some(vec![Some(1), Some(2)]), Some(vec![Some(3), None])];
    let inner = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let field = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([2, 0]);
    let arrays = ListArray::new(field, offsets, Arc::new(inner), None);
    let schema = Schema::new(vec![Field::new("a", arrays.data_type().clone(), true)]);
    assert_eq!(fields(&schema, &[], &[]).expect("fields")[0].oid, 1007);
    let numbers = |numbers: &[i32]| {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>()
    };
    let binary = sent(Arc::new(arrays.clone()), 1);
    let elements = numbers(&[2, 1, 23, 2, 1, 2, 1, 4, 1, 4, 2, 4, 3, -1]);
    assert_eq!(binary, [Some(elements), Some(numbers(&[0, 0, 23]))]);
    assert_eq!(texts(arrays), ["{{1,2},{3,NULL}}", "{}"]);
}

#[test]
fn vectors_of_the_catalog_are_no_lists() {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(vec![
        Some(vec![Some(2), Some(1)]),
        Some(vec![]),
        None,
    ]);
    let field = Field::new("indkey", lists.data_type().clone(), true);
    let field = field.with_metadata([(POSTGRES_TYPE.into(), "int2vector".into())].into());
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(lists)]).expect("a batch");
    let oid = fields(&schema, &[], &[]).expect("fields")[0].oid;
    assert_eq!(oid, 22);
    let cast = schema.field(0).clone().with_data_type(DataType::new_list(DataType::Int16, true));
    assert_eq!(fields(&Schema::new(vec![cast]), &[], &[]).expect("fields")[0].oid, 1005);
    let sent = |format, row| {
        let rows = Rows::new(&batch, std::iter::once((oid, format)), &times()).expect("writers");
        let mut body = BytesMut::new();
        rows.put(row, &mut body);
        body[2..].to_vec()
    };
    assert_eq!(sent(0, 0), b"\0\0\0\x032 1");
    assert_eq!(sent(0, 1), b"\0\0\0\0");
    assert_eq!(sent(0, 2), b"\xff\xff\xff\xff");
    let mut expected = [32, 1, 0, 21, 2, 0].map(i32::to_be_bytes).concat();
    expected.extend(b"\0\0\0\x02\0\x02\0\0\0\x02\0\x01");
    assert_eq!(sent(1, 0), expected);
}

#[test]
fn wide_numerics_are_as_the_others() {
    let numbers = [0, 1, -1, 9_999, 10_000, -12_345, 70_000, 10_i128.pow(38) - 1];
    for scale in [0, 1, 3, 4, 8, 37, 38] {
        let narrow = Decimal128Array::from(numbers.to_vec());
        let narrow = narrow.with_precision_and_scale(38, scale).expect("fits");
        let wide = numbers.map(i256::from_i128).to_vec();
        let wide = Decimal256Array::from(wide).with_precision_and_scale(76, scale).expect("fits");
        for format in [0, 1] {
            let narrow = sent(Arc::new(narrow.clone()), format);
            assert_eq!(sent(Arc::new(wide.clone()), format), narrow, "scale {scale}");
        }
    }
    let wide = i256::from_string(&format!("1{}", "0".repeat(60))).expect("fits");
    let wide = Decimal256Array::from(vec![wide]).with_precision_and_scale(76, 0).expect("fits");
    let expected = [1_u16, 15, 0, 0, 1].map(u16::to_be_bytes).concat();
    assert_eq!(sent(Arc::new(wide), 1), [Some(expected)]);
}
