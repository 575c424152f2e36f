//! Columns of a UNION that have values of a kind from some of its inputs and texts from others: the texts are read as such
//! values there, as what the column is told to hold.

use crate::{enums, json};
use arrow::datatypes::FieldRef;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};
use std::sync::Arc;

/// How a column is read in the inputs that have no such values.
pub(crate) type ReadAs = Box<dyn Fn(Expr) -> Expr>;

/// A UNION of whose columns each holds one kind of values.
pub(super) fn of_one_kind(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Union(Union { inputs, .. }) = &plan else { return Ok(Transformed::no(plan)) };
    let mut mixed = Vec::new();
    for place in 0..plan.schema().fields().len() {
        let fields = inputs.iter().filter_map(|input| input.schema().fields().get(place));
        let fields = fields.collect::<Vec<_>>();
        mixed.push(read_as(&fields)?);
    }
    if mixed.iter().all(Option::is_none) {
        return Ok(Transformed::no(plan));
    }
    let read = |(number, input): (usize, &Arc<LogicalPlan>)| {
        let column =
            |(column, mixed): (datafusion::common::Column, &Option<(Vec<bool>, ReadAs)>)| {
                let name = column.name.clone();
                match mixed {
                    Some((are_read, read_as)) if are_read.get(number) == Some(&true) => {
                        read_as(Expr::Column(column)).alias(name)
                    }
                    _ => Expr::Column(column),
                }
            };
        let columns = input.schema().columns().into_iter().zip(&mixed).map(column);
        let read = LogicalPlanBuilder::new_from_arc(input.clone());
        read.project(columns.collect::<Vec<_>>())?.build().map(Arc::new)
    };
    let inputs = inputs.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?)))
}

/// In which inputs a column is read otherwise, and how; none where it is as it is in all.
fn read_as(fields: &[&FieldRef]) -> Result<Option<(Vec<bool>, ReadAs)>> {
    let (are_read, read_as): (Vec<bool>, ReadAs) = match enums::in_union(fields)? {
        Some(read) => read,
        None => (fields.iter().map(|field| !json::is_document(field)).collect(), json::document()),
    };
    let some = are_read.contains(&true) && are_read.contains(&false);
    Ok(some.then_some((are_read, read_as)))
}
