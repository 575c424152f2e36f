//! Character types beside TEXT: VARCHAR(n), CHAR(n), `name` and `"char"`.
//!
//! - A value is a text for DataFusion; the field of what gives it names the type ([`Characters::of_field`]).
//! - CHAR(n) is computed with as it is stored, without blanks at its end: so it is compared, and so it becomes a text. The
//!   blanks are there again when rows leave ([`shown`]), and before patterns are matched.

mod functions;
mod spelling;

pub(crate) use functions::{Change, changed, character_functions};
pub(crate) use spelling::respell;

use crate::error::{coded, input};
use crate::uuids::with_columns;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringViewBuilder};
use arrow::datatypes::{DataType, Schema};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::sql::sqlparser::ast::{CharacterLength, DataType as SqlType};
use gadus_engine::{CHARACTERS_MAX, Characters, Error, Reason, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the character type that a name of a type means; `None` for other types.
///
/// # Errors
/// `22023` for a length that is not possible.
pub(crate) fn characters_of(data_type: &SqlType) -> Result<Option<Characters>> {
    let length = |name: &str, length: u64| match u32::try_from(length) {
        Ok(length @ 1..=CHARACTERS_MAX) => Ok(length),
        _ => {
            let bound = match length {
                0 => "at least 1".to_owned(),
                _ => format!("at most {CHARACTERS_MAX}"),
            };
            let message = format!("length for type {name} must be {bound}");
            Err(input(message).because(Reason::InvalidParameter))
        }
    };
    Ok(Some(match data_type {
        SqlType::Varchar(Some(CharacterLength::IntegerLength { length: most, .. }))
        | SqlType::CharVarying(Some(CharacterLength::IntegerLength { length: most, .. }))
        | SqlType::CharacterVarying(Some(CharacterLength::IntegerLength {
            length: most, ..
        }))
        | SqlType::Nvarchar(Some(CharacterLength::IntegerLength { length: most, .. })) => {
            Characters::Varchar(length("varchar", *most)?)
        }
        SqlType::Char(Some(CharacterLength::IntegerLength { length: most, .. }))
        | SqlType::Character(Some(CharacterLength::IntegerLength { length: most, .. })) => {
            Characters::Char(length("char", *most)?)
        }
        SqlType::Char(None) | SqlType::Character(None) => Characters::Char(1),
        SqlType::Custom(name, modifiers) => {
            let text = name.to_string();
            let text = text.strip_prefix("pg_catalog.").unwrap_or(&text);
            match (text, modifiers.as_slice()) {
                ("\"char\"", []) => Characters::Byte,
                ("\"name\"", []) => Characters::Name,
                (text, []) if text.eq_ignore_ascii_case("name") => Characters::Name,
                (text, [most]) if text.eq_ignore_ascii_case("bpchar") => match most.parse() {
                    Ok(most) => Characters::Char(length("char", most)?),
                    Err(_) => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    }))
}

/// Returns texts as an assignment stores them.
///
/// # Errors
/// `22001` for a text that is too long.
pub(crate) fn assigned(texts: &ArrayRef, of: Characters) -> Result<ArrayRef> {
    each(texts, |text| of.assigned(text).ok_or_else(|| too_long(of)))
}

/// Returns texts as an explicit cast makes them: cut if they are too long.
pub(crate) fn cut(texts: &ArrayRef, of: Characters) -> Result<ArrayRef> {
    each(texts, |text| Ok(of.cut(text)))
}

/// Returns stored values as they are shown.
pub(crate) fn shown(stored: &ArrayRef, of: Characters) -> Result<ArrayRef> {
    match of.is_shown_otherwise() {
        true => each(stored, |text| Ok(of.shown(text))),
        false => Ok(stored.clone()),
    }
}

fn each(texts: &ArrayRef, convert: impl Fn(&str) -> Result<Cow<'_, str>>) -> Result<ArrayRef> {
    let texts = arrow::compute::cast(texts, &DataType::Utf8View)?;
    let values = texts.as_string_view();
    let mut first = None;
    for (row, text) in values.iter().enumerate() {
        if let Some(text) = text
            && !matches!(convert(text)?, Cow::Borrowed(same) if same.len() == text.len())
        {
            first = Some(row);
            break;
        }
    }
    // Most values stay as they are.
    let Some(first) = first else { return Ok(texts) };
    let mut builder = StringViewBuilder::with_capacity(values.len());
    for (row, text) in values.iter().enumerate() {
        match text {
            Some(text) if row < first => builder.append_value(text),
            Some(text) => builder.append_value(convert(text)?),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Returns the error of a value that is too long, as PostgreSQL gives it.
fn too_long(of: Characters) -> Error {
    let name = match of {
        Characters::Varchar(length) => format!("character varying({length})"),
        Characters::Char(length) => format!("character({length})"),
        Characters::Name => "name".to_owned(),
        Characters::Byte => "\"char\"".to_owned(),
    };
    coded("22001", format!("value too long for type {name}"))
}

/// Returns true if rows of a schema have values that are shown otherwise than they are stored.
pub(crate) fn are_shown_otherwise(schema: &Schema) -> bool {
    let mut types = schema.fields().iter().filter_map(|field| Characters::of_field(field));
    types.any(Characters::is_shown_otherwise)
}

/// Returns rows as they leave.
pub(crate) fn shown_rows(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = batch.schema();
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        match Characters::of_field(field).filter(|of| of.is_shown_otherwise()) {
            Some(of) => Ok(arrow::compute::cast(&shown(column, of)?, field.data_type())?),
            None => Ok(column.clone()),
        }
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// Returns a plan whose columns are as they are shown.
pub(crate) fn shown_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    with_columns(plan, |field, value| {
        let of = Characters::of_field(field).filter(|of| of.is_shown_otherwise())?;
        Some(changed(value(), Change::Shown(of)))
    })
}

/// A cast to a character type as the function that it is, and patterns that are matched with blanks at the end. It is
/// for after type coercion.
pub(crate) fn called(
    mut expr: Expr,
    schema: &DFSchema,
) -> datafusion::common::Result<Transformed<Expr>> {
    if let Some(matched) = matched(&mut expr)
        && let Ok((_, field)) = matched.to_field(schema)
        && let Some(of) = Characters::of_field(&field).filter(|of| of.is_shown_otherwise())
    {
        *matched = changed(std::mem::take(matched), Change::Shown(of));
        return Ok(Transformed::yes(expr));
    }
    let Expr::Cast(Cast { expr: inner, field }) = &mut expr else {
        return Ok(Transformed::no(expr));
    };
    let Some(of) = Characters::of_field(field) else { return Ok(Transformed::no(expr)) };
    // The cast to a text stays within.
    let text = Cast::new(Box::new(std::mem::take(&mut **inner)), DataType::Utf8View);
    Ok(Transformed::yes(changed(Expr::Cast(text), Change::Cut(of))))
}

/// Returns the value that is matched with a pattern.
fn matched(expr: &mut Expr) -> Option<&mut Expr> {
    use Operator::{
        ILikeMatch, LikeMatch, NotILikeMatch, NotLikeMatch, RegexIMatch, RegexMatch,
        RegexNotIMatch, RegexNotMatch,
    };
    match expr {
        Expr::Like(like) | Expr::SimilarTo(like) => Some(&mut like.expr),
        Expr::BinaryExpr(BinaryExpr { left, op, .. }) => matches!(
            op,
            LikeMatch
                | NotLikeMatch
                | ILikeMatch
                | NotILikeMatch
                | RegexMatch
                | RegexIMatch
                | RegexNotMatch
                | RegexNotIMatch
        )
        .then_some(left),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
