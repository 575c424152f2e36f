//! Operators of regular expressions, SIMILAR TO and SUBSTRING with a pattern, as calls of functions.
//!
//! - DataFusion reads patterns by another grammar than PostgreSQL. Where both mean the same, its operators stay: it
//!   makes LIKE of them, which scans evaluate.

use super::named;
use super::patterns::{MATCHES, SIMILAR, SUBSTRING, SUBSTRING_SIMILAR};
use crate::memory::Memory;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, LogicalPlan, ScalarUDF, lit};
use datafusion::optimizer::AnalyzerRule;
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

/// Plans `~`, `~*`, `!~`, `!~*`, and SUBSTRING with a pattern.
#[derive(Debug)]
pub(crate) struct PatternOperators {
    matches: Arc<ScalarUDF>,
    substring: Arc<ScalarUDF>,
    substring_similar: Arc<ScalarUDF>,
}

/// Makes SIMILAR TO a call.
#[derive(Debug)]
pub(crate) struct SimilarTo {
    similar: Arc<ScalarUDF>,
}

impl PatternOperators {
    pub(crate) fn new(memory: &Memory) -> Self {
        let named = |name| named(name, memory);
        Self {
            matches: named(MATCHES),
            substring: named(SUBSTRING),
            substring_similar: named(SUBSTRING_SIMILAR),
        }
    }
}

impl ExprPlanner for PatternOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        _: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let (is_negated, flags) = match expr.op {
            BinaryOperator::PGRegexMatch => (false, ""),
            BinaryOperator::PGRegexIMatch => (false, "i"),
            BinaryOperator::PGRegexNotMatch => (true, ""),
            BinaryOperator::PGRegexNotIMatch => (true, "i"),
            _ => return Ok(PlannerResult::Original(expr)),
        };
        if literal(&expr.right).is_some_and(is_same_in_both_grammars) {
            return Ok(PlannerResult::Original(expr));
        }
        let call = called(&self.matches, vec![expr.left, expr.right, lit(flags)]);
        Ok(PlannerResult::Planned(if is_negated { !call } else { call }))
    }

    fn plan_substring(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        // A position is no text.
        let has_pattern = args.get(1).and_then(literal).is_some();
        let function = match args.len() {
            2 if has_pattern => &self.substring,
            3 if has_pattern => &self.substring_similar,
            _ => return Ok(PlannerResult::Original(args)),
        };
        Ok(PlannerResult::Planned(called(function, args)))
    }
}

impl SimilarTo {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { similar: named(SIMILAR, memory) }
    }

    fn replaced(&self, expr: Expr) -> Transformed<Expr> {
        let Expr::SimilarTo(like) = expr else { return Transformed::no(expr) };
        let escape = like.escape_char.unwrap_or('\\').to_string();
        let call = called(&self.similar, vec![*like.expr, *like.pattern, lit(escape)]);
        Transformed::yes(if like.negated { !call } else { call })
    }
}

impl AnalyzerRule for SimilarTo {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let replaced = plan.transform_down_with_subqueries(|plan| {
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let replaced = expr.transform_up(|expr| Ok(self.replaced(expr)))?;
                Ok(replaced.update_data(|expr| name.restore(expr)))
            })
        });
        replaced.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_similar_to"
    }
}

fn called(function: &Arc<ScalarUDF>, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(function.clone(), args))
}

fn literal(expr: &Expr) -> Option<&str> {
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::Utf8(Some(text))
        | ScalarValue::LargeUtf8(Some(text))
        | ScalarValue::Utf8View(Some(text)) => Some(text),
        _ => None,
    }
}

/// True of words and blanks, perhaps anchored: no character of them means anything else anywhere.
fn is_same_in_both_grammars(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _,:;/@%&=<>!~'\"-".contains(&byte);
    !inner.is_empty() && inner.bytes().all(is_plain)
}
