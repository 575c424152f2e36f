//! Dimensions, and arrays that are made of elements of others.

use super::column::{ArrayColumn, Dimensions};
use super::writer::ArrayWriter;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{DataType, Int32Type};
use std::sync::Arc;

fn numbers() -> ArrayRef {
    Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6]))
}

#[test]
fn elements_are_written_in_rows_of_their_dimensions() {
    let numbers = numbers();
    let mut writer = ArrayWriter::new(&DataType::Int32, 2, &[&numbers]);
    writer.push(&Dimensions::of(&[2, 3]), (0..6).map(|at| (1, at))).unwrap();
    writer.push_null();
    writer.push(&Dimensions::NONE, []).unwrap();
    writer.push(&Dimensions::of(&[1, 2]), [(0, 0), (1, 5)]).unwrap();
    let arrays = ArrayColumn::of(&writer.finish().unwrap()).unwrap();
    assert_eq!(arrays.dimensions(0).unwrap().lengths(), [2, 3]);
    assert!(arrays.is_null(1));
    assert!(arrays.dimensions(2).unwrap().is_empty());
    assert_eq!(arrays.range(3), 6..8);
    let leaves = arrays.leaves().as_primitive::<Int32Type>();
    assert!(leaves.is_null(6));
    assert_eq!(leaves.value(7), 6);
}

#[test]
fn other_dimensions_than_those_of_the_type_are_refused() {
    let numbers = numbers();
    let mut writer = ArrayWriter::new(&DataType::Int32, 2, &[&numbers]);
    assert!(writer.push(&Dimensions::one(1), [(1, 0)]).is_err());
}
