//! Universally unique identifiers between their bytes, their texts, and how they are kept.
//!
//! - They are kept as 128-bit integers, in the order of their bytes, which is that of their texts.

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeBinaryArray, ListArray, MapArray, StringViewArray,
    StringViewBuilder, StructArray,
};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use std::sync::Arc;
use uuid::Uuid;

const BYTES: i32 = 16;

/// The Arrow type of identifiers, and of nothing else.
pub const UUID: DataType = DataType::FixedSizeBinary(BYTES);

/// What turns the order of unsigned integers into that of signed ones.
const SIGN: u128 = 1 << 127;

/// The identifier that a text is: 32 hexadecimal digits, with the usual hyphens or without, also in braces or behind
/// `urn:uuid:`; none where it is none.
#[must_use]
pub fn uuid_of_text(text: &str) -> Option<[u8; 16]> {
    Uuid::try_parse(text).ok().map(Uuid::into_bytes)
}

/// The text of an identifier: lower case, with hyphens; none of other than 16 bytes.
#[must_use]
pub fn uuid_text(bytes: &[u8]) -> Option<String> {
    Uuid::from_slice(bytes).ok().map(|uuid| uuid.to_string())
}

/// The texts of identifiers: lower case, with hyphens. Values of other lengths than 16 bytes have none.
#[must_use]
pub fn uuid_texts(uuids: &FixedSizeBinaryArray) -> StringViewArray {
    let mut texts = StringViewBuilder::with_capacity(uuids.len());
    let mut buffer = Uuid::encode_buffer();
    for uuid in uuids {
        let uuid = uuid.and_then(|bytes| Uuid::from_slice(bytes).ok());
        texts.append_option(uuid.map(|uuid| &*uuid.hyphenated().encode_lower(&mut buffer)));
    }
    texts.finish()
}

/// The type of values in which identifiers, also deep within, are texts; none where there are none.
#[must_use]
pub fn type_with_uuid_texts(data_type: &DataType) -> Option<DataType> {
    let field = |field: &Arc<Field>| -> Option<Arc<Field>> {
        let texts = type_with_uuid_texts(field.data_type())?;
        Some(Arc::new(Field::new(field.name(), texts, field.is_nullable())))
    };
    Some(match data_type {
        uuid if *uuid == UUID => DataType::Utf8View,
        DataType::List(element) => DataType::List(field(element)?),
        DataType::Map(entries, ordered) => DataType::Map(field(entries)?, *ordered),
        DataType::Struct(fields) => {
            let texts = fields.iter().map(field).collect::<Vec<_>>();
            if texts.iter().all(Option::is_none) {
                return None;
            }
            let both = texts.into_iter().zip(fields);
            DataType::Struct(
                both.map(|(text, field)| text.unwrap_or_else(|| field.clone())).collect(),
            )
        }
        _ => return None,
    })
}

/// Values in which identifiers, also deep within, are texts.
///
/// # Errors
/// Arrow's, of values that are not what their types say.
pub fn with_uuid_texts(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let Some(texts) = type_with_uuid_texts(array.data_type()) else { return Ok(array.clone()) };
    Ok(match texts {
        DataType::List(field) => {
            let list = array.as_list::<i32>();
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(field, offsets, with_uuid_texts(list.values())?, nulls)?)
        }
        DataType::Struct(fields) => {
            let parts = array.as_struct().columns().iter().map(with_uuid_texts);
            let nulls = array.nulls().cloned();
            Arc::new(StructArray::try_new(fields, parts.collect::<Result<_, _>>()?, nulls)?)
        }
        DataType::Map(field, ordered) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = with_uuid_texts(&entries)?.as_struct().clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(field, offsets, entries, nulls, ordered)?)
        }
        _ => Arc::new(uuid_texts(array.as_fixed_size_binary())),
    })
}

/// Identifiers as they are kept.
pub(super) fn wides_from_uuids(uuids: &FixedSizeBinaryArray) -> Vec<i128> {
    let wide = |bytes: &[u8; 16]| (u128::from_be_bytes(*bytes) ^ SIGN).cast_signed();
    uuids.iter().map(|bytes| bytes.and_then(<[u8]>::first_chunk).map_or(0, wide)).collect()
}

/// The inverse of [`wides_from_uuids`].
pub(super) fn uuids_from_wides(wides: &[i128], nulls: Option<NullBuffer>) -> FixedSizeBinaryArray {
    let bytes = wides.iter().flat_map(|wide| (wide.cast_unsigned() ^ SIGN).to_be_bytes());
    FixedSizeBinaryArray::new(BYTES, Buffer::from_iter(bytes), nulls)
}
