//! Expressions of one row, as tables keep them: conditions of CHECK and generated columns.

use super::json::{read_stored, shown_value};
use super::types::lowered_type;
use super::{Lowering, Result, Tables, Typed, column_name, missing, no_columns};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::Expr;
use gadus_binder::bound::{BoundQuery, Relational};
use std::collections::HashMap;

/// Returns the expression that a query computes of each row of its one relation, over the columns of a shape by their
/// names.
pub(crate) fn lower_row(
    query: &BoundQuery,
    planner: &PlannerState,
    shape: &Schema,
) -> Result<Expr> {
    let tables = Tables::default();
    let mut lowering = Lowering::new(planner, &tables, &[]);
    let Relational::Project { input, items } = &query.root else {
        return missing("an expression of several rows");
    };
    let (Relational::Scan { relation, columns }, [(_, item)]) = (&**input, items.as_slice()) else {
        return missing("an expression of several rows");
    };
    let mut named = HashMap::new();
    for (place, id) in columns {
        let (Some(field), Some(known)) = (shape.fields().get(*place), relation.columns.get(*place))
        else {
            return missing("a column that the row does not have");
        };
        let value = Expr::Column(Column::new_unqualified(field.name()));
        let value = match (read_stored(field, value.clone()), lowered_type(known.data_type)) {
            (Some(value), _) => value,
            (None, Ok(lowered)) if lowered == *field.data_type() => Typed::new(value, lowered),
            // It may not be read at all.
            _ => continue,
        };
        named.insert(column_name(*id), value.expr);
        lowering.make(*id, value.data_type);
    }
    let value = lowering.scalar(item, &no_columns())?;
    let shown = shown_value(value.expr.clone(), &value.data_type);
    let expr = shown.unwrap_or(value.expr);
    let substituted = expr.transform_up(|expr| match &expr {
        Expr::Column(column) => Ok(match named.get(&column.name) {
            Some(value) => Transformed::yes(value.clone()),
            None => Transformed::no(expr),
        }),
        _ => Ok(Transformed::no(expr)),
    });
    Ok(substituted.data()?)
}
