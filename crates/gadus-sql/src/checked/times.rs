//! Points in time without seconds, `2025-03-01 12:00`, as PostgreSQL reads them: Arrow asks for the seconds.
//!
//! - Constants that are cast, and texts that come to columns; texts of columns that are cast are Arrow's business.

use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Cast, TryCast};
use gadus_engine::Result;
use std::sync::Arc;

/// Where the seconds are missing in `YYYY-MM-DD HH:MM`, or what follows it.
const BEHIND_MINUTES: usize = 16;

/// The text with seconds; none where it has them, or is nothing of the kind.
fn with_seconds(text: &str) -> Option<String> {
    let text = text.trim_start();
    let (minutes, rest) = text.split_at_checked(BEHIND_MINUTES)?;
    let shape = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        10 => matches!(byte, b' ' | b'T'),
        13 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let is_short = minutes.bytes().enumerate().all(shape);
    let has_seconds = rest.starts_with([':', '.']);
    (is_short && !has_seconds).then(|| format!("{minutes}:00{rest}"))
}

/// A cast of a constant to a point in time, with its seconds.
pub(super) fn of_constants(mut expr: Expr) -> Transformed<Expr> {
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Transformed::no(expr);
    };
    let (DataType::Timestamp(..), Expr::Literal(value, metadata)) =
        (field.data_type(), &mut **inner)
    else {
        return Transformed::no(expr);
    };
    let Some(text) = value.try_as_str().flatten().and_then(with_seconds) else {
        return Transformed::no(expr);
    };
    **inner = Expr::Literal(ScalarValue::Utf8(Some(text)), metadata.take());
    Transformed::yes(expr)
}

/// Texts that become points in time, with their seconds; none where all have them.
pub(crate) fn seconds_for(array: &ArrayRef, to: &DataType) -> Result<Option<ArrayRef>> {
    if !matches!(to, DataType::Timestamp(..)) || !is_text(array.data_type()) {
        return Ok(None);
    }
    let texts = arrow::compute::cast(array, &DataType::Utf8View)?;
    let texts = texts.as_string_view();
    if !texts.iter().flatten().any(|text| with_seconds(text).is_some()) {
        return Ok(None);
    }
    let mut whole = StringViewBuilder::with_capacity(texts.len());
    for text in texts {
        match text.and_then(with_seconds) {
            Some(whole_text) => whole.append_value(whole_text),
            None => whole.append_option(text),
        }
    }
    Ok(Some(Arc::new(whole.finish())))
}
