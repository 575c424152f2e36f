//! Guards: parts of AND and OR that are not evaluated for rows for which earlier parts decide.
//!
//! - PostgreSQL evaluates them from left to right: `y = 0 OR x / y > 2` divides by no zero.
//! - DataFusion evaluates all parts for all rows of a batch, in an order of its own. A part that may fail becomes a CASE,
//!   which it evaluates for the rows that are left.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, Operator, cast, is_false, is_true, lit};
use gadus_binder::bound::{Scalar, ScalarKind};
use gadus_binder::catalog::{CastMethod, CastPath};

/// Operators that fail for some values that conditions keep out.
const OPERATORS: [&str; 5] = ["/", "%", "^", "|/", "||/"];

/// Functions that fail for some values that conditions keep out.
const FUNCTIONS: [&str; 14] = [
    "acos",
    "asin",
    "chr",
    "div",
    "factorial",
    "ln",
    "log",
    "log10",
    "mod",
    "power",
    "sqrt",
    "to_date",
    "to_number",
    "to_timestamp",
];

/// Parts of an AND or OR that are guarded: guards name all parts before.
pub(super) const GUARDED_MAX: usize = 32;

/// Returns true for a condition that fails for some values: divisions, roots, conversions of texts.
pub(super) fn may_fail(scalar: &Scalar) -> bool {
    match &scalar.kind {
        ScalarKind::Operator { operator, operands } => {
            OPERATORS.contains(&operator.name) || operands.iter().any(may_fail)
        }
        ScalarKind::Function { function, arguments } => {
            FUNCTIONS.contains(&function.name) || arguments.iter().any(may_fail)
        }
        ScalarKind::Cast { operand, path, is_try, .. } => {
            let is_of_text = matches!(path, CastPath::Value(CastMethod::Text));
            let to_text = scalar.data_type.id == gadus_binder::types::constants::TEXT;
            (is_of_text && !to_text && !is_try && !matches!(operand.kind, ScalarKind::Constant(_)))
                || may_fail(operand)
        }
        ScalarKind::And(parts)
        | ScalarKind::Or(parts)
        | ScalarKind::Coalesce(parts)
        | ScalarKind::Greatest(parts)
        | ScalarKind::Least(parts) => parts.iter().any(may_fail),
        ScalarKind::ApplyModifier { operand, .. }
        | ScalarKind::Not(operand)
        | ScalarKind::Is { operand, .. } => may_fail(operand),
        ScalarKind::IsDistinct { operands, .. } | ScalarKind::NullIf { operands, .. } => {
            operands.iter().any(may_fail)
        }
        ScalarKind::Case { operand, branches, otherwise } => {
            operand.iter().chain(otherwise).any(|part| may_fail(part))
                || branches.iter().any(|(when, then)| may_fail(when) || may_fail(then))
        }
        _ => false,
    }
}

/// Returns a condition that is evaluated only for rows for which the one before it does not decide.
pub(super) fn guard(before: Option<Expr>, condition: Expr, by: Operator) -> Expr {
    let Some(before) = before else { return condition };
    let (decides, decided) = match by {
        Operator::Or => (is_true(before), 1_i8),
        _ => (is_false(before), 0_i8),
    };
    // Of numbers, as DataFusion makes AND and OR of a CASE that gives truth values.
    let condition = Box::new(cast(condition, DataType::Int8));
    let branches = vec![(Box::new(decides), Box::new(lit(decided)))];
    Expr::Case(Case::new(None, branches, Some(condition))).eq(lit(1_i8))
}
