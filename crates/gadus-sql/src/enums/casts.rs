//! What stands beside labels, and casts to and from them.
//!
//! - A literal beside a label is looked at when the statement is planned, everything else when it runs.
//! - Values of two enumerations have nothing to do with each other, whatever their labels are.

use super::functions::{label, text_of};
use super::no_label;
use crate::checked::{ReadAs, peers};
use crate::error::{input, to_datafusion};
use crate::value::is_text;
use arrow::datatypes::FieldRef;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use gadus_engine::{ColumnType, Enum, Reason};
use std::sync::Arc;

/// Functions whose arguments come to one type, which is also that of what they give.
const GIVE_AN_ARGUMENT: [&str; 4] = ["coalesce", "nvl", "ifnull", "nullif"];
/// The same where who gives them an order says what they give.
const GIVE_BY_ORDER: [&str; 2] = ["greatest", "least"];

/// An expression in which texts beside labels are labels, and which tells that it gives some where it does.
pub(crate) fn beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (changed, given) = match &mut expr {
        Expr::ScalarFunction(ScalarFunction { func, args })
            if GIVE_AN_ARGUMENT.contains(&func.name()) || GIVE_BY_ORDER.contains(&func.name()) =>
        {
            let gives = GIVE_AN_ARGUMENT.contains(&func.name());
            let of = group(args.iter_mut().collect(), schema, None)?;
            (of.is_some(), of.filter(|_| gives))
        }
        expr => in_groups(expr, schema)?,
    };
    if let Some(of) = given {
        let field = Arc::new(ColumnType::Enum(of).field("", true));
        expr = Expr::Cast(Cast::new_from_field(Box::new(expr), field));
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// The same of what is compared, and of a CASE: whether any are labels, and of which enumeration what it gives is.
fn in_groups(expr: &mut Expr, schema: &DFSchema) -> Result<(bool, Option<&'static Enum>)> {
    let operator = match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => Some(*op),
        _ => None,
    };
    let is_case = matches!(expr, Expr::Case(_));
    let groups = peers(expr).into_iter().map(|values| group(values, schema, operator));
    let found = groups.collect::<Result<Vec<_>>>()?;
    // What a CASE gives comes behind what it compares.
    let given = found.last().copied().flatten().filter(|_| is_case);
    Ok((found.iter().any(Option::is_some), given))
}

/// Has values that come to one type be labels where one of them is; says of which enumeration.
fn group(
    values: Vec<&mut Expr>,
    schema: &DFSchema,
    operator: Option<Operator>,
) -> Result<Option<&'static Enum>> {
    let mut found: Option<&'static Enum> = None;
    for value in &values {
        let Some(of) = enum_of(value, schema) else { continue };
        if let Some(other) = found.filter(|other| other.name() != of.name()) {
            let operator = operator.unwrap_or(Operator::Eq);
            let message = format!("operator does not exist: {other} {operator} {of}");
            return Err(to_datafusion(input(message).because(Reason::UnknownFunction)));
        }
        found = Some(of);
    }
    let Some(of) = found else { return Ok(None) };
    for value in values {
        if enum_of(value, schema).is_none() {
            read_as(value, of, schema)?;
        }
    }
    Ok(Some(of))
}

/// The enumeration whose labels an expression gives. What a parameter gives is only known when it is there, whatever it
/// is taken for.
fn enum_of(value: &Expr, schema: &DFSchema) -> Option<&'static Enum> {
    match value {
        Expr::Placeholder(_) => None,
        // What has no type yet is somebody else's business.
        value => Enum::of_field(&value.to_field(schema).ok()?.1),
    }
}

/// Reads a text as a label.
fn read_as(value: &mut Expr, of: &'static Enum, schema: &DFSchema) -> Result<()> {
    if let Expr::Literal(scalar, _) = value {
        if let Some(text) = scalar.try_as_str() {
            *value = literal(text, of)?;
        }
        return Ok(());
    }
    let is_wanted = matches!(value, Expr::Placeholder(_))
        || value.get_type(schema).is_ok_and(|of| is_text(&of));
    if is_wanted {
        *value = label(of, false, std::mem::take(value));
    }
    Ok(())
}

/// A literal that tells its type.
fn literal(text: Option<&str>, of: &'static Enum) -> Result<Expr> {
    if let Some(text) = text.filter(|text| of.place(text).is_none()) {
        return Err(to_datafusion(no_label(of, text)));
    }
    let field = ColumnType::Enum(of).field("", true);
    let scalar = ScalarValue::Utf8View(text.map(str::to_owned));
    Ok(Expr::Literal(scalar, Some(FieldMetadata::new_from_field(&field))))
}

/// Which inputs of a UNION have texts for a column that has labels from others, and what reads them; none where none has
/// labels.
pub(crate) fn in_union(fields: &[&FieldRef]) -> Result<Option<(Vec<bool>, ReadAs)>> {
    let mut enums = fields.iter().filter_map(|field| Enum::of_field(field));
    let Some(of) = enums.next() else { return Ok(None) };
    if let Some(other) = enums.find(|other| other.name() != of.name()) {
        let message = format!("UNION types {of} and {other} cannot be matched");
        return Err(to_datafusion(input(message).because(Reason::TypeMismatch)));
    }
    let is_read = |field: &&FieldRef| {
        let may_be = is_text(field.data_type()) || field.data_type().is_null();
        may_be && Enum::of_field(field).is_none()
    };
    Ok(Some((fields.iter().map(is_read).collect(), Box::new(move |text| label(of, false, text)))))
}

/// A cast to or from an enumeration as what it does. It is for behind type coercion, which says what is cast.
pub(crate) fn called(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let or_null = matches!(expr, Expr::TryCast(_));
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let from = enum_of(inner, schema);
    let Some(of) = Enum::of_field(field) else {
        if from.is_none() || !is_text(field.data_type()) {
            return Ok(Transformed::no(expr));
        }
        // The cast stays, from one kind of texts to another.
        **inner = text_of(std::mem::take(&mut **inner));
        return Ok(Transformed::yes(expr));
    };
    if from == Some(of) {
        return Ok(Transformed::yes(std::mem::take(&mut **inner)));
    }
    let data_type = inner.get_type(schema)?;
    let is_told = from.is_none_or(|from| from.name() == of.name());
    if !is_told || !(is_text(&data_type) || data_type.is_null()) {
        let shown = from.map(ColumnType::Enum).or_else(|| ColumnType::from_arrow(&data_type));
        let shown = shown.map_or_else(|| data_type.to_string(), |of| of.to_string().to_lowercase());
        let message = format!("cannot cast type {shown} to {of}");
        return Err(to_datafusion(input(message).because(Reason::CannotCast)));
    }
    Ok(Transformed::yes(match &**inner {
        Expr::Literal(ScalarValue::Null, _) => literal(None, of)?,
        Expr::Literal(scalar, _) if !or_null => match scalar.try_as_str() {
            Some(text) => literal(text, of)?,
            None => label(of, or_null, std::mem::take(&mut **inner)),
        },
        _ => label(of, or_null, std::mem::take(&mut **inner)),
    }))
}
