//! Points in time and lists as texts, as PostgreSQL writes them: `2025-03-01 12:00:00.5+00`, `{1,NULL,"a b"}`.
//!
//! - Arrow would write a `T` between day and time, and NULLs in lists as nothing, which cannot be read again.

use crate::error::to_datafusion;
use crate::json::json_texts;
use crate::lists::write_element;
use crate::one_value::of_one_value;
use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewArray, StringViewBuilder};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{
    DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::error::ArrowError;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_base::civil;
use gadus_engine::with_texts;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// How files of text have points in time, and those with a zone.
pub(crate) const POINT_FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f";
pub(crate) const POINT_WITH_ZONE_FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f%:z";

const DAY: i64 = 86_400;

/// A cast of points in time, or of lists, to texts, as a function. It is for behind type coercion, which says what is
/// cast.
pub(crate) fn called(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let is_written = is_text(field.data_type())
        && matches!(inner.get_type(schema)?, DataType::Timestamp(..) | DataType::List(_));
    if !is_written {
        return Ok(Transformed::no(expr));
    }
    static WRITTEN: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        let signature = Signature::any(1, Volatility::Immutable);
        Arc::new(ScalarUDF::from(AsWritten { signature }))
    });
    let call = ScalarFunction::new_udf(WRITTEN.clone(), vec![std::mem::take(&mut **inner)]);
    // The cast stays, from one kind of texts to another.
    **inner = Expr::ScalarFunction(call);
    Ok(Transformed::yes(expr))
}

/// The function that such a cast is.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AsWritten {
    signature: Signature,
}

impl ScalarUDFImpl for AsWritten {
    fn name(&self) -> &'static str {
        "as_written"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let texts = |array: &ArrayRef| {
            let array = with_texts(array)?;
            Ok(Arc::new(texts(&array)?) as ArrayRef)
        };
        of_one_value(&args, |array| {
            texts(array).map_err(|error: ArrowError| to_datafusion(error.into()))
        })
    }
}

/// Values as texts; what is in lists as it stands there.
fn texts(array: &ArrayRef) -> Result<StringViewArray, ArrowError> {
    let texts = match array.data_type() {
        DataType::Timestamp(unit, zone) => return Ok(points(array, *unit, zone.is_some())),
        DataType::List(_) => return lists(array.as_list()),
        DataType::Struct(_) | DataType::Map(..) => json_texts(array)?,
        DataType::Boolean => {
            let texts = array.as_boolean().iter();
            let text = |value: Option<bool>| value.map(|value| if value { "t" } else { "f" });
            return Ok(texts.map(text).collect());
        }
        _ => cast_with_options(array, &DataType::Utf8View, &CastOptions::default())?,
    };
    Ok(cast(&texts, &DataType::Utf8View)?.as_string_view().clone())
}

fn lists(lists: &ListArray) -> Result<StringViewArray, ArrowError> {
    let elements = texts(lists.values())?;
    let is_nested = matches!(lists.values().data_type(), DataType::List(_));
    let mut builder = StringViewBuilder::with_capacity(lists.len());
    let mut text = String::new();
    for (row, bounds) in lists.offsets().windows(2).enumerate() {
        if lists.is_null(row) {
            builder.append_null();
            continue;
        }
        text.clear();
        text.push('{');
        // Offsets rise from zero.
        let (first, end) = (bounds[0].cast_unsigned() as usize, bounds[1].cast_unsigned() as usize);
        for index in first..end {
            if index > first {
                text.push(',');
            }
            match elements.is_valid(index).then(|| elements.value(index)) {
                Some(element) if is_nested => text.push_str(element),
                element => write_element(&mut text, element),
            }
        }
        text.push('}');
        builder.append_value(&text);
    }
    Ok(builder.finish())
}

fn points(array: &ArrayRef, unit: TimeUnit, has_zone: bool) -> StringViewArray {
    let (values, digits) = match unit {
        TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), 0),
        TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().values(), 3),
        TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().values(), 6),
        TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().values(), 9),
    };
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let mut text = String::new();
    for (row, value) in values.iter().enumerate() {
        if array.is_null(row) {
            builder.append_null();
            continue;
        }
        text.clear();
        // Arrow counts from 1970 in UTC whatever the zone.
        write_point(&mut text, *value, digits, if has_zone { "+00" } else { "" });
        builder.append_value(&text);
    }
    builder.finish()
}

/// Writes a point in time that is counted in units of so many digits behind the second.
fn write_point(text: &mut String, value: i64, digits: u32, offset: &str) {
    let scale = 10_i64.pow(digits);
    let (seconds, rest) = (value.div_euclid(scale), value.rem_euclid(scale));
    let (day, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(day);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    // Writing to a String does not fail.
    let _ = write!(text, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if rest > 0 {
        let width = digits as usize;
        let _ = write!(text, ".{rest:0width$}");
        text.truncate(text.trim_end_matches('0').len());
    }
    text.push_str(offset);
    text.push_str(era);
}

#[cfg(test)]
mod tests;
