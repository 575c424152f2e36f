//! Numerics in JSON: numbers with all their digits, though a batch has them as texts.

use arrow::array::{Array, AsArray, StringViewArray};
use arrow::datatypes::{DataType, FieldRef};
use arrow::error::ArrowError;
use arrow::json::writer::NullableEncoder;
use arrow::json::{Encoder, EncoderFactory, EncoderOptions};
use gadus::is_numeric_text;

/// Encodes columns of numerics.
#[derive(Debug)]
pub(super) struct Numbers;

impl EncoderFactory for Numbers {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        if !is_numeric_text(field) || *array.data_type() != DataType::Utf8View {
            return Ok(None);
        }
        let digits = Digits(array.as_string_view());
        Ok(Some(NullableEncoder::new(Box::new(digits), array.nulls().cloned())))
    }
}

/// Digits of a column.
struct Digits<'a>(&'a StringViewArray);

impl Encoder for Digits<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let digits = self.0.value(row);
        // JSON has no other numbers.
        let is_finite = digits.ends_with(|last: char| last.is_ascii_digit());
        let quote = if is_finite { "" } else { "\"" };
        out.extend_from_slice(quote.as_bytes());
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(quote.as_bytes());
    }
}
