//! DISTINCT, and DISTINCT ON.

use super::keys::{bits, is_grouped_by_key, representative};
use super::windows::row_number;
use super::{Lowering, Result, Typed, column};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use gadus_binder::bound::{ColumnId, Relational};

/// Name of the column that numbers the rows of each group.
const PLACE: &str = "place";

impl Lowering<'_> {
    /// Different rows, compared by columns.
    pub(super) fn distinct(
        &mut self,
        input: LogicalPlan,
        columns: &[ColumnId],
    ) -> Result<LogicalPlan> {
        let items = columns.iter().map(|id| column(*id)).collect::<Vec<_>>();
        let are_all = input.schema().fields().len() == columns.len();
        let builder = LogicalPlanBuilder::from(input);
        let plan = if are_all { builder } else { builder.project(items)? }.build()?;
        by_keys(plan)
    }

    /// First row of each group of rows that are equal in some columns, by the order of the input, which stays.
    pub(super) fn distinct_on(
        &mut self,
        input: &Relational,
        on: &[ColumnId],
    ) -> Result<LogicalPlan> {
        let (input, keys) = match input {
            Relational::Sort { input, keys } => {
                let input = self.relational(input)?;
                (input, self.sort_exprs(keys))
            }
            input => (self.relational(input)?, Vec::new()),
        };
        let columns = input.schema().columns();
        let groups = on.iter().map(|id| self.bits_of_column(*id)).collect();
        let number = row_number(groups, keys.clone())?;
        let name = number.schema_name().to_string();
        let place = Expr::Column(Column::new_unqualified(PLACE));
        let numbered = LogicalPlanBuilder::from(input).window([number])?;
        let items = columns.iter().cloned().map(Expr::Column);
        let number = Expr::Column(Column::new_unqualified(name)).alias(PLACE);
        let first = numbered.project(items.chain([number]))?.filter(place.eq(lit(1_u64)))?;
        let first = first.project(columns.into_iter().map(Expr::Column))?;
        let first = if keys.is_empty() { first } else { first.sort(keys)? };
        Ok(first.build()?)
    }
}

/// Returns the different rows of a plan: of rows that are equal, the values with the fewest digits.
pub(super) fn by_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let types = plan.schema().fields().iter().map(|field| field.data_type().clone());
    let types = types.collect::<Vec<_>>();
    let builder = LogicalPlanBuilder::from(plan);
    if !types.iter().any(is_grouped_by_key) {
        return Ok(builder.distinct()?.build()?);
    }
    let (mut keys, mut values, mut items) = (Vec::new(), Vec::new(), Vec::new());
    for (column, data_type) in columns.into_iter().zip(types) {
        let name = column.name.clone();
        let value = Expr::Column(column);
        if is_grouped_by_key(&data_type) {
            values.push(representative(value.clone(), &data_type).alias(&name));
            keys.push(bits(Typed::new(value, data_type)).alias(format!("{name}_key")));
        } else {
            keys.push(value);
        }
        items.push(Expr::Column(Column::new_unqualified(name)));
    }
    Ok(builder.aggregate(keys, values)?.project(items)?.build()?)
}
