//! Universally unique identifiers between their bytes, their texts, and how they are kept.
//!
//! - They are kept as 128-bit integers, in the order of their bytes, which is that of their texts.

use arrow::array::{Array, FixedSizeBinaryArray, StringViewArray, StringViewBuilder};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::DataType;
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
