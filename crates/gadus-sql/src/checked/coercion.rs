//! What is rewritten before and behind type coercion, each in one walk through a plan.

use super::rewrite::{rewritten, rewritten_with_nodes};
use super::unions::of_one_kind;
use super::{bytes, doubles, in_lists, rounding, times};
use crate::{characters, enums, intervals, lists, order_keys, uuids, written};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

/// Gives values that stand beside others a type that these have, where DataFusion would choose another or none: decimals
/// beside doubles, texts beside identifiers, labels, intervals and lists, keys of maps, texts that come to documents or
/// labels.
#[derive(Debug)]
pub(crate) struct BesideOthers;

impl AnalyzerRule for BesideOthers {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let beside = |expr: Expr, schema: &DFSchema| {
            doubles::beside(expr, schema)?
                .transform_data(|expr| uuids::beside(expr, schema))?
                .transform_data(|expr| enums::beside(expr, schema))?
                .transform_data(|expr| Ok(intervals::beside(expr, schema)))?
                .transform_data(|expr| intervals::dates_compared(expr, schema))?
                .transform_data(|expr| intervals::parts_asked(expr, schema))?
                .transform_data(|expr| lists::beside(expr, schema))?
                .transform_data(|expr| lists::keys(expr, schema))?
                .transform_data(|expr| order_keys::windows_by_keys(expr, schema))
        };
        let plan = rewritten_with_nodes(plan, &beside, &order_keys::given_by_keys)?;
        Ok(plan.transform_up_with_subqueries(of_one_kind)?.data)
    }

    fn name(&self) -> &'static str {
        "beside_others"
    }
}

/// Makes casts what they are in PostgreSQL: of bytes as they are written, of identifiers, labels and intervals, of texts
/// that are lists, of lists and points in time to texts, and those that round. It runs behind type coercion, which says
/// from what to what is cast.
#[derive(Debug)]
pub(crate) struct Casts;

impl AnalyzerRule for Casts {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &|expr, schema| {
            bytes::written(expr)?
                .transform_data(|expr| crate::times::cast_in_plan(expr, schema))?
                .transform_data(|expr| crate::times::zoned_in_plan(expr, schema))?
                .transform_data(|expr| uuids::called(expr, schema))?
                .transform_data(|expr| enums::called(expr, schema))?
                .transform_data(|expr| characters::called(expr, schema))?
                .transform_data(|expr| intervals::called(expr, schema))?
                .transform_data(|expr| intervals::checked(expr, schema))?
                .transform_data(|expr| lists::called(expr, schema))?
                .transform_data(|expr| written::called(expr, schema))?
                .transform_data(|expr| rounding::rounding(expr, schema))?
                .transform_data(|expr| Ok(in_lists::of_known_values(expr)))?
                .transform_data(|expr| Ok(times::of_constants(expr)))
        })
    }

    fn name(&self) -> &'static str {
        "casts"
    }
}
