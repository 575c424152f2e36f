//! What is rewritten before and behind type coercion, each in one walk through a plan.

use super::rewrite::rewritten;
use super::{bytes, doubles, rounding};
use crate::{intervals, json, lists, uuids};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;

/// Gives values that stand beside others a type that these have, where DataFusion would choose another or none: decimals
/// beside doubles, texts beside identifiers, intervals and lists, keys of maps, texts that come to documents.
#[derive(Debug)]
pub(crate) struct BesideOthers;

impl AnalyzerRule for BesideOthers {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = rewritten(plan, &|expr, schema| {
            doubles::beside(expr, schema)?
                .transform_data(|expr| uuids::beside(expr, schema))?
                .transform_data(|expr| intervals::beside(expr, schema))?
                .transform_data(|expr| intervals::dates_compared(expr, schema))?
                .transform_data(|expr| intervals::parts_asked(expr, schema))?
                .transform_data(|expr| lists::beside(expr, schema))?
                .transform_data(|expr| lists::keys(expr, schema))
        })?;
        Ok(plan.transform_up_with_subqueries(json::of_documents)?.data)
    }

    fn name(&self) -> &'static str {
        "beside_others"
    }
}

/// Makes casts what they are in PostgreSQL: of bytes as they are written, of identifiers and intervals, of texts that are lists, and those that round. It runs
/// behind type coercion, which says from what to what is cast.
#[derive(Debug)]
pub(crate) struct Casts;

impl AnalyzerRule for Casts {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &|expr, schema| {
            bytes::written(expr)?
                .transform_data(|expr| uuids::called(expr, schema))?
                .transform_data(|expr| intervals::called(expr, schema))?
                .transform_data(|expr| intervals::checked(expr, schema))?
                .transform_data(|expr| lists::called(expr, schema))?
                .transform_data(|expr| rounding::rounding(expr, schema))
        })
    }

    fn name(&self) -> &'static str {
        "casts"
    }
}
