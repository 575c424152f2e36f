//! Values that are made of others, as the byte strings that they are kept as.
//!
//! - A list is its count and its elements; a structure is the values of its fields; a map is its count, its keys and
//!   its values. What stands beside each other is one run: whether it has NULLs, which they are, and its values.
//! - Numbers of a run are little-endian and close together, so that a list of a thousand of them is copied at once.
//! - Equal values have equal bytes, but for zeros of different signs and for NaN.

use super::datum::VALUE_BYTES_MAX;
use super::{ColumnType, Nested};
use arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray,
    BooleanBufferBuilder, ByteView, ListArray, MapArray, NullBufferBuilder, StringViewBuilder,
    StructArray, make_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use gadus_base::{ByteReader, DecodeError};
use std::ops::Range;
use std::sync::Arc;

/// Values of the shape's canonical Arrow type, as they are kept.
pub(crate) fn bytes_from_nested(nested: &Nested, array: &dyn Array) -> BinaryViewArray {
    let mut all = BinaryViewBuilder::with_capacity(array.len());
    let mut bytes = Vec::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            all.append_null();
            continue;
        }
        bytes.clear();
        put_value(nested, array, row, &mut bytes);
        all.append_value(&bytes);
    }
    all.finish()
}

/// The inverse of [`bytes_from_nested`].
pub(crate) fn nested_from_bytes<'a>(
    nested: &'static Nested,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef, DecodeError> {
    let mut gathered = Gathered::new(ColumnType::Nested(nested));
    for value in values {
        match value {
            None => gathered.push_null(),
            Some(bytes) => gathered.read_whole(bytes)?,
        }
    }
    gathered.finish().map_err(|_| DecodeError { offset: 0, expected: "values of their type" })
}

/// Whether bytes are a value of the shape.
pub(super) fn is_nested(nested: &'static Nested, bytes: &[u8]) -> bool {
    Gathered::new(ColumnType::Nested(nested)).read_whole(bytes).is_ok()
}

/// About what values of any canonical Arrow type take as they are kept, beside what each of them takes in any case.
pub(crate) fn bytes_of(array: &dyn Array) -> usize {
    let of_views = |views: &[u128]| views.iter().map(|view| length_of(*view)).sum::<usize>();
    let within = |values: &ArrayRef, offsets: &OffsetBuffer<i32>| {
        let place =
            |offset: Option<&i32>| offset.map_or(0, |offset| offset.unsigned_abs() as usize);
        let (first, end) = (place(offsets.first()), place(offsets.last()));
        bytes_of(&values.slice(first, end - first))
    };
    match array.data_type() {
        DataType::Utf8View => of_views(array.as_string_view().views()),
        DataType::BinaryView => of_views(array.as_binary_view().views()),
        DataType::List(_) => within(array.as_list::<i32>().values(), array.as_list().offsets()),
        DataType::Map(..) => {
            let map = array.as_map();
            within(map.keys(), map.offsets()) + within(map.values(), map.offsets())
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|column| bytes_of(column)).sum()
        }
        number => array.len() * width(number),
    }
}

/// Bytes of a view's text or byte string.
pub(crate) fn length_of(view: u128) -> usize {
    ByteView::from(view).length as usize
}

fn put_count(count: usize, to: &mut Vec<u8>) {
    let count = u32::try_from(count).expect("Arrow's own offsets are below 2^31");
    to.extend(count.to_le_bytes());
}

fn put_value(nested: &Nested, array: &dyn Array, row: usize, to: &mut Vec<u8>) {
    let range = |offsets: &[i32]| {
        let at = |row: usize| usize::try_from(offsets[row]).expect("Arrow's offsets are positive");
        at(row)..at(row + 1)
    };
    match nested {
        Nested::List(element) => {
            let list = array.as_list::<i32>();
            let elements = range(list.value_offsets());
            put_count(elements.len(), to);
            put_run(*element, list.values(), elements, to);
        }
        Nested::Struct(fields) => {
            for ((_, part), column) in fields.iter().zip(array.as_struct().columns()) {
                put_run(*part, column, row..row + 1, to);
            }
        }
        Nested::Map(key, value) => {
            let map = array.as_map();
            let entries = range(map.value_offsets());
            put_count(entries.len(), to);
            put_run(*key, map.keys(), entries.clone(), to);
            put_run(*value, map.values(), entries, to);
        }
    }
}

/// Values that stand beside each other.
fn put_run(part: ColumnType, array: &ArrayRef, range: Range<usize>, to: &mut Vec<u8>) {
    let array = array.slice(range.start, range.len());
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    to.push(u8::from(nulls.is_some()));
    if let Some(nulls) = nulls {
        let bits = nulls.iter().collect::<Vec<_>>();
        let byte = |bits: &[bool]| {
            bits.iter().enumerate().fold(0, |byte, (bit, valid)| byte | (u8::from(*valid) << bit))
        };
        to.extend(bits.chunks(8).map(byte));
    }
    let valid = || (0..array.len()).filter(|row| array.is_valid(*row));
    match part {
        ColumnType::Nested(nested) => valid().for_each(|row| put_value(nested, &array, row, to)),
        ColumnType::Boolean => {
            let flags = array.as_boolean();
            to.extend(
                (0..array.len()).map(|row| u8::from(flags.is_valid(row) && flags.value(row))),
            );
        }
        ColumnType::Text | ColumnType::Json => valid().for_each(|row| {
            let text = array.as_string_view().value(row);
            put_count(text.len(), to);
            to.extend(text.as_bytes());
        }),
        ColumnType::Binary => valid().for_each(|row| {
            let bytes = array.as_binary_view().value(row);
            put_count(bytes.len(), to);
            to.extend(bytes);
        }),
        _ => put_numbers(&array, nulls, to),
    }
}

fn put_numbers(array: &ArrayRef, nulls: Option<&NullBuffer>, to: &mut Vec<u8>) {
    let (data, width) = (array.to_data(), width(array.data_type()));
    let start = data.offset() * width;
    let bytes = &data.buffers()[0].as_slice()[start..start + array.len() * width];
    let first = to.len();
    to.extend(bytes);
    // What stands where NULLs are is chance.
    for (row, place) in to[first..].chunks_mut(width).enumerate() {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            place.fill(0);
        }
    }
}

/// Bytes of a number.
fn width(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(width) => width.unsigned_abs() as usize,
        number => number.primitive_width().unwrap_or(1),
    }
}

/// Values of a type that are read one after the other.
struct Gathered {
    column_type: ColumnType,
    nulls: NullBufferBuilder,
    values: Values,
}

enum Values {
    Numbers(Vec<u8>, usize),
    Flags(BooleanBufferBuilder),
    Texts(StringViewBuilder),
    Bytes(BinaryViewBuilder),
    /// The values of fields.
    Parts(Vec<Gathered>),
    /// Where elements or entries end, and these.
    Many(Vec<i32>, Vec<Gathered>),
}

impl Gathered {
    fn new(column_type: ColumnType) -> Self {
        let values = match column_type {
            ColumnType::Nested(Nested::List(element)) => {
                Values::Many(vec![0], vec![Self::new(*element)])
            }
            ColumnType::Nested(Nested::Map(key, value)) => {
                Values::Many(vec![0], vec![Self::new(*key), Self::new(*value)])
            }
            ColumnType::Nested(Nested::Struct(fields)) => {
                Values::Parts(fields.iter().map(|(_, part)| Self::new(*part)).collect())
            }
            ColumnType::Boolean => Values::Flags(BooleanBufferBuilder::new(0)),
            ColumnType::Text | ColumnType::Json => Values::Texts(StringViewBuilder::new()),
            ColumnType::Binary => Values::Bytes(BinaryViewBuilder::new()),
            number => Values::Numbers(Vec::new(), width(&number.arrow())),
        };
        Self { column_type, nulls: NullBufferBuilder::new(0), values }
    }

    fn push_null(&mut self) {
        self.nulls.append_null();
        match &mut self.values {
            Values::Numbers(bytes, width) => bytes.resize(bytes.len() + *width, 0),
            Values::Flags(flags) => flags.append(false),
            Values::Texts(texts) => texts.append_null(),
            Values::Bytes(bytes) => bytes.append_null(),
            Values::Parts(parts) => parts.iter_mut().for_each(Self::push_null),
            Values::Many(ends, _) => ends.push(ends.last().copied().unwrap_or(0)),
        }
    }

    /// A value that has the bytes to itself.
    fn read_whole(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut from = ByteReader::new(bytes);
        self.read_value(&mut from)?;
        from.end()
    }

    /// A value that is not NULL.
    fn read_value(&mut self, from: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        match &mut self.values {
            Values::Texts(texts) => texts.append_value(from.text(VALUE_BYTES_MAX)?),
            Values::Bytes(all) => all.append_value(from.bytes(VALUE_BYTES_MAX)?),
            Values::Flags(flags) => flags.append(from.u8()? != 0),
            Values::Numbers(bytes, width) => bytes.extend(from.raw(*width)?),
            Values::Parts(parts) => {
                for part in parts {
                    part.read_run(1, from)?;
                }
            }
            Values::Many(ends, parts) => {
                let offset = from.offset();
                let wrong = || DecodeError { offset, expected: "a count that fits the bytes" };
                let count = from.u32()? as usize;
                // Each takes a bit, if not more.
                if count > 8 * from.remaining() {
                    return Err(wrong());
                }
                let before = ends.last().copied().unwrap_or(0);
                let end = i32::try_from(count).ok().and_then(|count| before.checked_add(count));
                ends.push(end.ok_or_else(wrong)?);
                for part in parts {
                    part.read_run(count, from)?;
                }
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    fn read_run(&mut self, count: usize, from: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        let offset = from.offset();
        let bits = match from.u8()? {
            0 => None,
            1 => Some(from.raw(count.div_ceil(8))?),
            _ => return Err(DecodeError { offset, expected: "whether there are NULLs" }),
        };
        let is_valid = |row: usize| bits.is_none_or(|bits| bits[row / 8] & (1 << (row % 8)) != 0);
        if let Values::Numbers(bytes, width) = &mut self.values {
            bytes.extend(from.raw(count.saturating_mul(*width))?);
            (0..count).for_each(|row| self.nulls.append(is_valid(row)));
            return Ok(());
        }
        for row in 0..count {
            if is_valid(row) {
                self.read_value(from)?;
            } else {
                self.push_null();
                if matches!(self.values, Values::Flags(_)) {
                    from.u8()?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let (data_type, nulls) = (self.column_type.arrow(), self.nulls.finish());
        Ok(match self.values {
            Values::Numbers(bytes, width) => {
                let data = ArrayData::builder(data_type)
                    .len(bytes.len() / width)
                    .add_buffer(Buffer::from_vec(bytes))
                    .nulls(nulls)
                    .align_buffers(true);
                make_array(data.build()?)
            }
            Values::Flags(mut flags) => Arc::new(BooleanArray::new(flags.finish(), nulls)),
            Values::Texts(mut texts) => Arc::new(texts.finish()),
            Values::Bytes(mut bytes) => Arc::new(bytes.finish()),
            Values::Parts(parts) => {
                let DataType::Struct(fields) = data_type else { return Err(wrong()) };
                let parts = parts.into_iter().map(Self::finish).collect::<Result<_, _>>()?;
                Arc::new(StructArray::try_new(fields, parts, nulls)?)
            }
            Values::Many(ends, parts) => {
                let ends = OffsetBuffer::new(ends.into());
                let mut parts =
                    parts.into_iter().map(Self::finish).collect::<Result<Vec<_>, _>>()?;
                match data_type {
                    DataType::List(field) => {
                        let elements = parts.pop().ok_or_else(wrong)?;
                        Arc::new(ListArray::try_new(field, ends, elements, nulls)?)
                    }
                    DataType::Map(field, ordered) => {
                        let DataType::Struct(fields) = field.data_type() else {
                            return Err(wrong());
                        };
                        let entries = StructArray::try_new(fields.clone(), parts, None)?;
                        Arc::new(MapArray::try_new(field, ends, entries, nulls, ordered)?)
                    }
                    _ => return Err(wrong()),
                }
            }
        })
    }
}

fn wrong() -> ArrowError {
    ArrowError::InvalidArgumentError("a value of another type".to_owned())
}

#[cfg(test)]
mod tests;
