//! Types by the names that statements give them.

use super::{BaseType, IntervalPrecision, Modifier, SqlType, TypeId, constants};
use crate::error::{BindError, Result};
use crate::provider::Provider;
use gadus_syntax::Span;
use gadus_syntax::ast::{Expr, ExprKind, Literal, OperatorName, TypeName};

/// Most digits of `numeric`.
const PRECISION_MAX: i64 = 1000;
/// Longest `varchar` and `char`, in characters.
const LENGTH_MAX: i64 = 10_485_760;
/// Most digits of fractional seconds.
const SECONDS_MAX: i64 = 6;

/// DuckDB's and other databases' names for PostgreSQL's types.
const ALIASES: &[(&str, TypeId)] = &[
    ("string", constants::TEXT),
    ("double", constants::FLOAT8),
    ("datetime", constants::TIMESTAMP),
    ("blob", constants::BYTEA),
    ("serial2", constants::INT2),
    ("serial4", constants::INT4),
    ("serial8", constants::INT8),
];

/// Returns the type of a name without schema and modifiers, if PostgreSQL or DuckDB has it.
#[must_use]
pub fn type_of_plain_name(name: &str) -> Option<TypeId> {
    let (name, is_array) = match name.strip_prefix('_') {
        Some(element) => (element, true),
        None => (name, false),
    };
    let base = BaseType::BUILT_IN.iter().find(|base| base.name() == name).copied();
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, id)| id.base);
    Some(TypeId { base: base.or_else(alias)?, is_array })
}

/// Resolves a type's name.
///
/// # Errors
/// 42704 if there is no such type, and errors of its modifiers.
pub fn resolve_type(provider: &dyn Provider, name: &TypeName) -> Result<SqlType> {
    let span = name.name.span();
    if name.is_column_type {
        return Err(BindError::unsupported("%TYPE", name.span));
    }
    let (schema, plain) = match name.name.parts.as_slice() {
        [plain] => (None, plain.text.as_str()),
        [schema, plain] => (Some(schema.text.as_str()), plain.text.as_str()),
        _ => return Err(BindError::unsupported("a type in another database", span)),
    };
    let built_in = match schema {
        None | Some("pg_catalog") => type_of_plain_name(plain),
        Some(_) => None,
    };
    let found = match built_in {
        Some(id) => Some(id),
        None => provider.type_named(schema, plain)?,
    };
    let Some(mut id) = found else {
        let shown = schema.map_or_else(|| plain.to_owned(), |schema| format!("{schema}.{plain}"));
        return Err(BindError::new("42704", format!("type \"{shown}\" does not exist"), span));
    };
    let modifier = modifier(id, name)?;
    if !name.array_bounds.is_empty() {
        let array = id.array_of();
        id = array.ok_or_else(|| {
            BindError::new("42704", format!("could not find array type for data type {id}"), span)
        })?;
    }
    Ok(SqlType { id, modifier })
}

fn modifier(id: TypeId, name: &TypeName) -> Result<Modifier> {
    let numbers = name.modifiers.iter().map(number).collect::<Result<Vec<_>>>()?;
    let span = name.span;
    match (id.base, numbers.as_slice()) {
        (BaseType::Interval, digits) => {
            let fields = name.interval_fields.map(Into::into);
            let precision = digits.first().map(|digits| seconds(*digits, "INTERVAL"));
            Ok(match (fields, precision) {
                (None, None) => Modifier::None,
                (fields, precision) => Modifier::Interval(IntervalPrecision { fields, precision }),
            })
        }
        (_, []) => Ok(Modifier::None),
        (BaseType::Numeric, [precision]) => numeric(*precision, 0, span),
        (BaseType::Numeric, [precision, scale]) => numeric(*precision, *scale, span),
        (BaseType::Numeric, _) => {
            Err(BindError::new("22023", "invalid NUMERIC type modifier", span))
        }
        (BaseType::Varchar | BaseType::Bpchar | BaseType::Bit | BaseType::Varbit, [length]) => {
            self::length(id.base, *length, span)
        }
        (
            BaseType::Time | BaseType::Timetz | BaseType::Timestamp | BaseType::Timestamptz,
            [digits],
        ) => Ok(Modifier::Precision(seconds(*digits, "TIMESTAMP"))),
        (BaseType::Varchar | BaseType::Bpchar | BaseType::Bit | BaseType::Varbit, _)
        | (BaseType::Time | BaseType::Timetz | BaseType::Timestamp | BaseType::Timestamptz, _) => {
            Err(BindError::new("22023", "invalid type modifier", span))
        }
        _ => {
            let shown = id.base.name();
            let message = format!("type modifier is not allowed for type \"{shown}\"");
            Err(BindError::new("42601", message, span))
        }
    }
}

fn length(base: BaseType, length: i64, span: Span) -> Result<Modifier> {
    let name = match base {
        BaseType::Bpchar => "char".into(),
        base => base.name(),
    };
    if length < 1 {
        return Err(BindError::new(
            "22023",
            format!("length for type {name} must be at least 1"),
            span,
        ));
    }
    if length > LENGTH_MAX {
        let message = format!("length for type {name} cannot exceed {LENGTH_MAX}");
        return Err(BindError::new("22023", message, span));
    }
    Ok(Modifier::Length(u32::try_from(length).unwrap_or(u32::MAX)))
}

fn numeric(precision: i64, scale: i64, span: Span) -> Result<Modifier> {
    if !(1..=PRECISION_MAX).contains(&precision) {
        let message =
            format!("NUMERIC precision {precision} must be between 1 and {PRECISION_MAX}");
        return Err(BindError::new("22023", message, span));
    }
    if !(-PRECISION_MAX..=PRECISION_MAX).contains(&scale) {
        let message =
            format!("NUMERIC scale {scale} must be between -{PRECISION_MAX} and {PRECISION_MAX}");
        return Err(BindError::new("22023", message, span));
    }
    let precision = u16::try_from(precision).unwrap_or(u16::MAX);
    Ok(Modifier::Numeric { precision, scale: i16::try_from(scale).unwrap_or(0) })
}

/// Returns a precision of seconds, reduced to the most there is, as PostgreSQL does with a warning.
fn seconds(digits: i64, _of: &str) -> u8 {
    u8::try_from(digits.clamp(0, SECONDS_MAX)).unwrap_or(0)
}

/// Reads an integer constant, possibly with a sign.
fn number(expr: &Expr) -> Result<i64> {
    let value = match &expr.kind {
        ExprKind::Literal(Literal::Integer(digits)) => digits.parse().ok(),
        ExprKind::Unary { operator: OperatorName { operator, .. }, operand } => {
            match operator.text() {
                "-" => number(operand)?.checked_neg(),
                _ => None,
            }
        }
        _ => None,
    };
    value.ok_or_else(|| {
        BindError::new("42601", "type modifiers must be simple constants or identifiers", expr.span)
    })
}
