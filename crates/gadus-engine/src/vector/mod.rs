//! A run of values of one column, decoded: what scans patch and hand out, and folds encode again.
//!
//! - Byte strings are views into the blobs they came from: decoding copies none longer than twelve
//!   bytes.
//! - A vector knows nothing of snapshots; `segment` applies patches to it.

mod views;

use crate::encoding::{Body, Column, OwnedValues, Values, code_index, run_of};
use crate::error::Result;
use crate::types::{
    ColumnType, Datum, StorageClass, array_from_floats, array_from_integers, array_from_wides,
    bytes_from_nested, floats_from_array, integers_from_array, wides_from_array, write_bytes_key,
};
use arrow::array::{Array, ArrayRef, BooleanBufferBuilder};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use std::cmp::Ordering;
use views::Views;

/// Decoded values of one column.
#[derive(Debug)]
pub(crate) struct Vector {
    values: VectorValues,
    validity: Option<BooleanBufferBuilder>,
}

#[derive(Debug)]
enum VectorValues {
    Integer(Vec<i64>),
    Wide(Vec<i128>),
    Float(Vec<f64>),
    Bytes(Views),
}

/// Rows of one segment, in rising order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// All rows from `first` on.
    Range { first: usize, count: usize },
    /// Single rows.
    Positions(&'a [u32]),
}

impl Rows<'_> {
    /// The position of one of the rows, which is below their count.
    pub(crate) fn position(self, index: usize) -> usize {
        match self {
            Self::Range { first, .. } => first + index,
            Self::Positions(positions) => positions[index] as usize,
        }
    }

    pub(crate) fn count(self) -> usize {
        match self {
            Self::Range { count, .. } => count,
            Self::Positions(positions) => positions.len(),
        }
    }
}

impl Vector {
    pub(crate) fn empty(class: StorageClass) -> Self {
        let values = match class {
            StorageClass::Integer => VectorValues::Integer(Vec::new()),
            StorageClass::Wide => VectorValues::Wide(Vec::new()),
            StorageClass::Float => VectorValues::Float(Vec::new()),
            StorageClass::Bytes => VectorValues::Bytes(Views::default()),
        };
        Self { values, validity: None }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.values {
            VectorValues::Integer(values) => values.len(),
            VectorValues::Wide(values) => values.len(),
            VectorValues::Float(values) => values.len(),
            VectorValues::Bytes(views) => views.len(),
        }
    }

    /// Returns true if the values are texts or binary.
    pub(crate) fn is_of_bytes(&self) -> bool {
        matches!(self.values, VectorValues::Bytes(_))
    }

    /// Bytes of the values of variable width: what repeats counts each time.
    pub(crate) fn value_bytes(&self) -> u64 {
        match &self.values {
            VectorValues::Bytes(views) => views.value_bytes(),
            _ => 0,
        }
    }

    /// Decodes rows of an encoded column behind those that are here.
    pub(crate) fn append_column(&mut self, column: &Column, rows: Rows<'_>) {
        let before = self.len();
        match &mut self.values {
            VectorValues::Integer(values) => append_integers(values, &column.body, rows),
            VectorValues::Wide(values) => {
                append_each(&column.body, rows, |from, index| values.push(from.wide(index)));
            }
            VectorValues::Float(values) => append_each(&column.body, rows, |from, index| {
                if let Values::Float(floats) = from {
                    values.push(floats[index]);
                }
            }),
            VectorValues::Bytes(views) => views.append_column(column, rows),
        }
        match &column.validity {
            Some(valid) => {
                let builder = self.validity.get_or_insert_with(|| all_valid(before));
                match rows {
                    Rows::Range { first, count } => {
                        builder.append_buffer(&valid.slice(first, count));
                    }
                    Rows::Positions(positions) => {
                        for &position in positions {
                            builder.append(valid.value(position as usize));
                        }
                    }
                }
            }
            None => {
                if let Some(builder) = &mut self.validity {
                    builder.append_n(rows.count(), true);
                }
            }
        }
    }

    /// Adds one value.
    pub(crate) fn push(&mut self, datum: &Datum) {
        let before = self.len();
        match (&mut self.values, datum) {
            (VectorValues::Integer(values), Datum::Integer(value)) => values.push(*value),
            (VectorValues::Wide(values), Datum::Wide(value)) => values.push(**value),
            (VectorValues::Float(values), Datum::Float(value)) => values.push(*value),
            (VectorValues::Bytes(views), Datum::Bytes(bytes)) => views.push(bytes),
            (VectorValues::Integer(values), _) => values.push(0),
            (VectorValues::Wide(values), _) => values.push(0),
            (VectorValues::Float(values), _) => values.push(0.0),
            (VectorValues::Bytes(views), _) => views.push(&[]),
        }
        if datum.is_null() && self.validity.is_none() {
            self.validity = Some(all_valid(before));
        }
        if let Some(builder) = &mut self.validity {
            builder.append(!datum.is_null());
        }
    }

    /// Replaces the value at `index`.
    pub(crate) fn set(&mut self, index: usize, datum: &Datum) {
        match (&mut self.values, datum) {
            (VectorValues::Integer(values), Datum::Integer(value)) => values[index] = *value,
            (VectorValues::Wide(values), Datum::Wide(value)) => values[index] = **value,
            (VectorValues::Float(values), Datum::Float(value)) => values[index] = *value,
            (VectorValues::Bytes(views), Datum::Bytes(bytes)) => views.set(index, bytes),
            _ => {}
        }
        if datum.is_null() && self.validity.is_none() {
            self.validity = Some(all_valid(self.len()));
        }
        if let Some(builder) = &mut self.validity {
            builder.set_bit(index, !datum.is_null());
        }
    }

    /// The vector of an array of the column's canonical Arrow type.
    pub(crate) fn from_array(column_type: ColumnType, array: &dyn Array) -> Self {
        let values = match column_type.storage() {
            StorageClass::Integer => VectorValues::Integer(integers_from_array(array)),
            StorageClass::Wide => VectorValues::Wide(wides_from_array(array)),
            StorageClass::Float => VectorValues::Float(floats_from_array(array)),
            StorageClass::Bytes => VectorValues::Bytes(match column_type {
                ColumnType::Nested(nested) => Views::from_array(&bytes_from_nested(nested, array)),
                _ => Views::from_array(array),
            }),
        };
        let validity = array.nulls().filter(|nulls| nulls.null_count() > 0).map(|nulls| {
            let mut builder = BooleanBufferBuilder::new(array.len());
            builder.append_buffer(nulls.inner());
            builder
        });
        Self { values, validity }
    }

    /// Adds the values of another vector of the same class.
    pub(crate) fn append(&mut self, other: Self) {
        let (before, added) = (self.len(), other.len());
        match (&mut self.values, other.values) {
            (VectorValues::Integer(to), VectorValues::Integer(mut from)) => to.append(&mut from),
            (VectorValues::Wide(to), VectorValues::Wide(mut from)) => to.append(&mut from),
            (VectorValues::Float(to), VectorValues::Float(mut from)) => to.append(&mut from),
            (VectorValues::Bytes(to), VectorValues::Bytes(from)) => to.append(from),
            _ => unreachable!("vectors of one column have one class"),
        }
        if let Some(mut validity) = other.validity {
            let bits = validity.finish();
            self.validity.get_or_insert_with(|| all_valid(before)).append_buffer(&bits);
        } else if let Some(builder) = &mut self.validity {
            builder.append_n(added, true);
        }
    }

    pub(crate) fn datum(&self, index: usize) -> Datum {
        if self.validity.as_ref().is_some_and(|valid| !valid.get_bit(index)) {
            return Datum::Null;
        }
        match &self.values {
            VectorValues::Integer(values) => Datum::Integer(values[index]),
            VectorValues::Wide(values) => Datum::Wide(Box::new(values[index])),
            VectorValues::Float(values) => Datum::Float(values[index]),
            VectorValues::Bytes(views) => Datum::Bytes(views.get(index).into()),
        }
    }

    /// See [`Datum::write_key`].
    pub(crate) fn write_key(&self, index: usize, to: &mut Vec<u8>) {
        match &self.values {
            VectorValues::Bytes(views) if self.is_valid(index) => {
                write_bytes_key(views.get(index), to);
            }
            _ => self.datum(index).write_key(to),
        }
    }

    /// How a value that is not NULL compares with another of its column.
    pub(crate) fn compare(&self, index: usize, other: &Datum) -> Ordering {
        match (&self.values, other) {
            (VectorValues::Integer(values), Datum::Integer(other)) => values[index].cmp(other),
            (VectorValues::Bytes(views), Datum::Bytes(other)) => views.get(index).cmp(other),
            _ => self.datum(index).cmp(other),
        }
    }

    /// The values of an `Integer` column, for which alone this is `Some`.
    pub(crate) fn as_integers(&self) -> Option<&[i64]> {
        match &self.values {
            VectorValues::Integer(values) => Some(values),
            _ => None,
        }
    }

    pub(crate) fn is_valid(&self, index: usize) -> bool {
        self.validity.as_ref().is_none_or(|valid| valid.get_bit(index))
    }

    pub(crate) fn has_nulls(&self) -> bool {
        self.validity.is_some()
    }

    /// An array of the column's canonical Arrow type.
    pub(crate) fn into_array(mut self, column_type: ColumnType) -> Result<ArrayRef> {
        let nulls = self.validity.as_mut().map(|builder| NullBuffer::new(builder.finish()));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Ok(match self.values {
            VectorValues::Integer(values) => array_from_integers(column_type, values, nulls),
            VectorValues::Wide(values) => array_from_wides(column_type, values, nulls),
            VectorValues::Float(values) => array_from_floats(column_type, values, nulls),
            VectorValues::Bytes(views) => views.into_array(column_type, nulls)?,
        })
    }

    /// The values as they are encoded, with a bit for each row where some are NULL.
    pub(crate) fn into_owned(mut self) -> (OwnedValues, Option<BooleanBuffer>) {
        let validity = self.validity.as_mut().map(BooleanBufferBuilder::finish);
        let values = match self.values {
            VectorValues::Integer(values) => OwnedValues::Integer(values),
            VectorValues::Wide(values) => OwnedValues::Wide(values),
            VectorValues::Float(values) => OwnedValues::Float(values),
            VectorValues::Bytes(views) => views.into_owned(validity.as_ref()),
        };
        (values, validity)
    }
}

fn all_valid(count: usize) -> BooleanBufferBuilder {
    let mut builder = BooleanBufferBuilder::new(count);
    builder.append_n(count, true);
    builder
}

fn append_integers(to: &mut Vec<i64>, body: &Body, rows: Rows<'_>) {
    to.reserve(rows.count());
    match (body, rows) {
        (Body::Plain(Values::Integer(packed)), Rows::Positions(positions)) => {
            to.extend(packed.values_at(positions));
        }
        (Body::Plain(Values::Integer(packed)), rows) => {
            each_packed(packed, rows, |value| to.push(value));
        }
        (Body::Dictionary { values: Values::Integer(entries), codes }, rows) => {
            let entries = entries.reader();
            let entry = |code| entries.value(code_index(code));
            match rows {
                Rows::Positions(positions) => to.extend(codes.values_at(positions).map(entry)),
                rows => each_packed(codes, rows, |code| to.push(entry(code))),
            }
        }
        _ => append_each(body, rows, |from, index| {
            if let Values::Integer(packed) = from {
                to.push(packed.get(index));
            }
        }),
    }
}

/// Hands, for each row, the values it is taken from and its index there.
fn append_each(body: &Body, rows: Rows<'_>, mut push: impl FnMut(&Values, usize)) {
    match body {
        Body::Plain(values) => match rows {
            Rows::Range { first, count } => {
                (first..first + count).for_each(|index| push(values, index));
            }
            Rows::Positions(positions) => {
                positions.iter().for_each(|&position| push(values, position as usize));
            }
        },
        Body::Dictionary { values, codes } => {
            each_packed(codes, rows, |code| push(values, code_index(code)));
        }
        Body::Runs { ends, values } => each_run_index(ends, rows, |run| push(values, run)),
    }
}

/// Adds a code for each row: only equal values of the column have the same.
pub(crate) fn append_codes(column: &Column, rows: Rows<'_>, to: &mut Vec<u64>) {
    match &column.body {
        Body::Plain(Values::Integer(packed)) | Body::Dictionary { codes: packed, .. } => match rows
        {
            Rows::Range { first, count } => {
                let before = to.len();
                to.resize(before + count, 0);
                packed.distances(first, &mut to[before..]);
            }
            Rows::Positions(positions) => {
                to.extend(packed.distances_at(positions));
            }
        },
        Body::Runs { ends, .. } => each_run_index(ends, rows, |run| to.push(run as u64)),
        Body::Plain(_) => unreachable!("asked of columns that have codes"),
    }
}

/// Hands the packed value of each row.
fn each_packed(packed: &crate::encoding::Packed, rows: Rows<'_>, each: impl FnMut(i64)) {
    match rows {
        Rows::Range { first, count } => packed.for_each(first, count, each),
        Rows::Positions(positions) => packed.values_at(positions).for_each(each),
    }
}

/// Hands the index of the run of each row.
fn each_run_index(ends: &crate::encoding::Packed, rows: Rows<'_>, mut each: impl FnMut(usize)) {
    let first = match rows {
        Rows::Range { first, count } if count > 0 => first,
        Rows::Positions([first, ..]) => *first as usize,
        _ => return,
    };
    let mut run = run_of(ends, first);
    let mut end = code_index(ends.get(run));
    let mut step = |row: usize| {
        while row >= end {
            run += 1;
            end = code_index(ends.get(run));
        }
        each(run);
    };
    match rows {
        Rows::Range { first, count } => (first..first + count).for_each(&mut step),
        Rows::Positions(positions) => {
            positions.iter().for_each(|&position| step(position as usize));
        }
    }
}
