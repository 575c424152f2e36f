//! Documents and texts in one column of a UNION: the texts are read as documents there, as what the column is told to
//! hold.

use super::functions::document;
use super::is_document;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};
use std::sync::Arc;

/// A UNION in which no column has documents from some of its inputs and texts from others.
pub(crate) fn of_documents(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Union(Union { inputs, .. }) = &plan else { return Ok(Transformed::no(plan)) };
    let has = |input: &LogicalPlan, place: usize| {
        input.schema().fields().get(place).is_some_and(|field| is_document(field))
    };
    let columns = plan.schema().fields().len();
    let is_mixed = |place: &usize| {
        let count = inputs.iter().filter(|input| has(input, *place)).count();
        0 < count && count < inputs.len()
    };
    let mixed = (0..columns).filter(is_mixed).collect::<Vec<_>>();
    if mixed.is_empty() {
        return Ok(Transformed::no(plan));
    }
    let read = |input: &Arc<LogicalPlan>| {
        let column = |(place, column): (usize, datafusion::common::Column)| {
            let name = column.name.clone();
            match mixed.contains(&place) && !has(input, place) {
                true => document(Expr::Column(column)).alias(name),
                false => Expr::Column(column),
            }
        };
        let columns = input.schema().columns().into_iter().enumerate().map(column);
        let read = LogicalPlanBuilder::new_from_arc(input.clone());
        read.project(columns.collect::<Vec<_>>())?.build().map(Arc::new)
    };
    let inputs = inputs.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?)))
}
