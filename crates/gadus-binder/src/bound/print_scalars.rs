//! Expressions of bound queries as text.

use super::print::{List, write_query};
use super::{Constant, QuantifiedArray, Scalar, ScalarKind, Subquery, SubqueryKind, SubscriptItem};
use crate::catalog::CastPath;
use gadus_syntax::ast::{BooleanTest, Quantifier};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

/// Writes an expression; conversions and literals with their types.
impl Display for Scalar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ScalarKind::Constant(constant @ Constant::Text(_) | constant @ Constant::Null) => {
                write!(f, "{constant}::{}", self.data_type)
            }
            ScalarKind::Constant(constant) => write!(f, "{constant}"),
            ScalarKind::Parameter(number) => write!(f, "${number}"),
            ScalarKind::Column(id) => write!(f, "{id}"),
            ScalarKind::Operator { operator, operands } => match operands.as_slice() {
                [left, right] => write!(f, "({left} {} {right})", operator.name),
                operands => write!(f, "({} {})", operator.name, List(operands)),
            },
            ScalarKind::Function { function, arguments } => {
                write!(f, "{}({})", function.name, List(arguments))
            }
            ScalarKind::Cast { operand, path, is_try, .. } => {
                let name = if *is_try { "try_cast" } else { "cast" };
                let each = if matches!(path, CastPath::Elements(_)) { "each of " } else { "" };
                write!(f, "{name}({each}{operand} as {})", self.data_type)
            }
            ScalarKind::ApplyModifier { operand, .. } => {
                write!(f, "limit({operand} as {})", self.data_type)
            }
            ScalarKind::And(parts) => write!(f, "and({})", List(parts)),
            ScalarKind::Or(parts) => write!(f, "or({})", List(parts)),
            ScalarKind::Not(operand) => write!(f, "not({operand})"),
            ScalarKind::Is { .. } | ScalarKind::IsDistinct { .. } => write_test(&self.kind, f),
            ScalarKind::Coalesce(_)
            | ScalarKind::Greatest(_)
            | ScalarKind::Least(_)
            | ScalarKind::NullIf { .. }
            | ScalarKind::Case { .. } => write_choice(&self.kind, f),
            ScalarKind::CaseOperand => f.write_char('_'),
            ScalarKind::Quantified(parts) => write_quantified(parts, f),
            ScalarKind::Array(elements) => write!(f, "array[{}]", List(elements)),
            ScalarKind::Row(fields) => write!(f, "row({})", List(fields)),
            ScalarKind::RowComparison { operators, fields } => {
                let name = operators.first().map_or("?", |operator| operator.name);
                let side = |index: usize| {
                    let values = fields.iter().map(|pair| pair[index].to_string());
                    values.collect::<Vec<_>>().join(", ")
                };
                write!(f, "(row({}) {name} row({}))", side(0), side(1))
            }
            ScalarKind::Subquery(subquery) => write_subquery(subquery, f),
            ScalarKind::OnlyRow { value, rows } => write!(f, "only({value} of {rows})"),
            ScalarKind::Subscript { operand, items } => {
                write!(f, "{operand}")?;
                items.iter().try_for_each(|item| match item {
                    SubscriptItem::Index(index) => write!(f, "[{index}]"),
                    SubscriptItem::Slice(low, high) => {
                        let shown = |bound: &Option<Scalar>| {
                            bound.as_ref().map(ToString::to_string).unwrap_or_default()
                        };
                        write!(f, "[{}:{}]", shown(low), shown(high))
                    }
                })
            }
            ScalarKind::Field { operand, index } => write!(f, "{operand}.{}", index + 1),
            ScalarKind::Value(function) => write!(f, "{function:?}"),
            ScalarKind::Collate { operand, collation } => {
                write!(f, "({operand} collate {collation})")
            }
            ScalarKind::Grouping(places) => write!(f, "grouping({places:?})"),
            ScalarKind::Default => f.write_str("default"),
        }
    }
}

fn write_quantified(parts: &QuantifiedArray, f: &mut Formatter<'_>) -> fmt::Result {
    let quantifier = match parts.quantifier {
        Quantifier::Any => "any",
        Quantifier::All => "all",
    };
    write!(f, "({} {} {quantifier} {})", parts.left, parts.operator.name, parts.array)
}

/// Writes a query within an expression on lines of its own.
fn write_subquery(subquery: &Subquery, f: &mut Formatter<'_>) -> fmt::Result {
    match &subquery.kind {
        SubqueryKind::Scalar => f.write_str("query")?,
        SubqueryKind::Exists => f.write_str("exists")?,
        SubqueryKind::Array => f.write_str("array")?,
        SubqueryKind::Any(condition) => write!(f, "any {condition} of")?,
        SubqueryKind::All(condition) => write!(f, "all {condition} of")?,
    }
    f.write_str(" {\n")?;
    write_query(&subquery.query, 3, f)?;
    f.write_str("    }")
}

/// Writes COALESCE, CASE and their kind.
fn write_choice(kind: &ScalarKind, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        ScalarKind::Coalesce(parts) => write!(f, "coalesce({})", List(parts)),
        ScalarKind::Greatest(parts) => write!(f, "greatest({})", List(parts)),
        ScalarKind::Least(parts) => write!(f, "least({})", List(parts)),
        ScalarKind::NullIf { operands, .. } => {
            write!(f, "nullif({}, {})", operands[0], operands[1])
        }
        ScalarKind::Case { operand, branches, otherwise } => {
            f.write_str("case")?;
            operand.iter().try_for_each(|operand| write!(f, " {operand}"))?;
            for (when, then) in branches {
                write!(f, " when {when} then {then}")?;
            }
            otherwise.iter().try_for_each(|otherwise| write!(f, " else {otherwise}"))?;
            f.write_str(" end")
        }
        _ => Ok(()),
    }
}

/// Writes IS and IS DISTINCT FROM.
fn write_test(kind: &ScalarKind, f: &mut Formatter<'_>) -> fmt::Result {
    let negation = |negated: &bool| if *negated { "not " } else { "" };
    match kind {
        ScalarKind::Is { operand, test, negated } => {
            let test = match test {
                BooleanTest::Null => "null",
                BooleanTest::True => "true",
                BooleanTest::False => "false",
                BooleanTest::Unknown => "unknown",
                BooleanTest::Document => "document",
                BooleanTest::Normalized => "normalized",
            };
            write!(f, "({operand} is {}{test})", negation(negated))
        }
        ScalarKind::IsDistinct { operands, negated, .. } => {
            write!(f, "({} is {}distinct from {})", operands[0], negation(negated), operands[1])
        }
        _ => Ok(()),
    }
}
