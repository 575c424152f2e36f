//! `value < ANY (SELECT …)` and `value < ALL (SELECT …)`.
//!
//! - DataFusion says them by EXISTS with a comparison in it, too, and takes columns within for those around of the same name.
//! - ANY is true where there is a row for which the comparison is; ALL, where there is none for which it is not. Where that does
//!   not decide, it is unknown if the comparison is so for any row.

use super::apart::Around;
use super::as_values::exists;
use super::membership::exists_where;
use super::{has_subquery, is_volatile};
use datafusion::common::{Result, ScalarValue, plan_datafusion_err};
use datafusion::logical_expr::expr::{SetComparison, SetQuantifier};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Subquery, lit, when};

/// A comparison, or its negation, of which only matters whether it is true; none where it is made anew each time.
pub(super) fn in_filter(
    compared: &SetComparison,
    is_negated: bool,
    around: Around<'_>,
) -> Result<Option<Expr>> {
    let Some((among, comparison)) = with_own(compared, around)? else { return Ok(None) };
    let said = match (&compared.quantifier, is_negated) {
        (SetQuantifier::Any, false) => exists_where(&among, Some(comparison), false),
        (SetQuantifier::Any, true) => exists_where(&among, Some(comparison.is_not_false()), true),
        (SetQuantifier::All, false) => exists_where(&among, Some(comparison.is_not_true()), true),
        (SetQuantifier::All, true) => exists_where(&among, Some(comparison.is_false()), false),
    };
    said.map(Some)
}

/// A comparison as a value of three; none where it is made anew each time.
pub(super) fn as_value(compared: &SetComparison, around: Around<'_>) -> Result<Option<Expr>> {
    let Some((among, comparison)) = with_own(compared, around)? else { return Ok(None) };
    let exists = |condition| exists(&among, LogicalPlan::clone(&among.subquery), Some(condition));
    let is_any = compared.quantifier == SetQuantifier::Any;
    let decides = if is_any { comparison.clone().is_true() } else { comparison.clone().is_false() };
    let unknown = lit(ScalarValue::Boolean(None));
    when(exists(decides)?, lit(is_any))
        .when(exists(comparison.is_null())?, unknown)
        .otherwise(lit(!is_any))
        .map(Some)
}

/// The rows within, and the comparison with theirs.
fn with_own(compared: &SetComparison, around: Around<'_>) -> Result<Option<(Subquery, Expr)>> {
    let SetComparison { expr: value, subquery, op, .. } = compared;
    let has_query = has_subquery(value)?;
    if has_query
        || value.contains_outer()
        || value.is_volatile()
        || is_volatile(&subquery.subquery)?
    {
        return Ok(None);
    }
    let among = around.named_apart(subquery)?.unwrap_or_else(|| subquery.clone());
    let own = among.subquery.schema().columns().into_iter().next();
    let own = own.ok_or_else(|| plan_datafusion_err!("a subquery without columns"))?;
    let seen = around.seen(value)?;
    let comparison = BinaryExpr::new(Box::new(seen), *op, Box::new(Expr::Column(own)));
    Ok(Some((among, Expr::BinaryExpr(comparison))))
}
