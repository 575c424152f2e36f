//! Queries among VALUES: `VALUES ((SELECT 1), 2), (3, 4)`.
//!
//! - DataFusion makes a table of VALUES while it plans, when no query has run yet. As a union of rows they are
//!   evaluated when their turn comes.

use super::has_subquery;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{
    EmptyRelation, Expr, ExprSchemable, LogicalPlan, Projection, Union, Values,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// Makes a union of VALUES that have queries among them. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct QueriesInValues;

impl AnalyzerRule for QueriesInValues {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Values(values) if has_query(&values) => {
                union_of(values).map(Transformed::yes)
            }
            plan => Ok(Transformed::no(plan)),
        })?;
        Ok(rewritten.data)
    }

    fn name(&self) -> &'static str {
        "queries_in_values"
    }
}

fn has_query(values: &Values) -> bool {
    let mut exprs = values.values.iter().flatten();
    exprs.any(|expr| has_subquery(expr).unwrap_or(true))
}

fn union_of(Values { schema, values }: Values) -> Result<LogicalPlan> {
    let nothing = Arc::new(LogicalPlan::EmptyRelation(EmptyRelation {
        produce_one_row: true,
        schema: Arc::new(DFSchema::empty()),
    }));
    let row = |exprs: Vec<Expr>| {
        let named = exprs.into_iter().zip(schema.fields()).map(|(expr, field)| {
            let cast = expr.cast_to(field.data_type(), nothing.schema())?;
            Ok(cast.alias(field.name()))
        });
        let exprs = named.collect::<Result<Vec<_>>>()?;
        Projection::try_new_with_schema(exprs, nothing.clone(), schema.clone())
    };
    let mut rows = Vec::with_capacity(values.len());
    for exprs in values {
        rows.push(Arc::new(LogicalPlan::Projection(row(exprs)?)));
    }
    match <[_; 1]>::try_from(rows) {
        Ok([only]) => Ok(Arc::unwrap_or_clone(only)),
        Err(inputs) => Ok(LogicalPlan::Union(Union { inputs, schema })),
    }
}
