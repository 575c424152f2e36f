//! UNION, INTERSECT and EXCEPT.
//!
//! - With ALL, equal rows of each input are numbered: a row then has as many partners as the other input has rows that
//!   equal it.

use super::casts::converted;
use super::distinct::by_keys;
use super::json::refuse_compared;
use super::keys::bits;
use super::types::common_type;
use super::windows::row_number;
use super::{Lowering, NotLowered, Result, Typed, column_name, missing};
use datafusion::common::{Column, ExprSchema, NullEquality};
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder};
use gadus_binder::bound::{ColumnId, SetOperation};
use gadus_binder::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::SetOperator;

/// Name of the column that numbers equal rows.
const COPY: &str = "copy";

impl Lowering<'_> {
    pub(super) fn set_operation(&mut self, operation: &SetOperation) -> Result<LogicalPlan> {
        if !(operation.all && operation.operator == SetOperator::Union) {
            refuse_compared(operation.columns.iter().map(|(_, of)| (*of, Span::default())))?;
        }
        let left = self.query(&operation.left)?;
        let right = self.query(&operation.right)?;
        let (left, right) = self.of_one_type(left, right, &operation.columns)?;
        match (operation.operator, operation.all) {
            (SetOperator::Union, true) => {
                Ok(LogicalPlanBuilder::from(left).union(right)?.build()?)
            }
            (SetOperator::Union, false) => {
                by_keys(LogicalPlanBuilder::from(left).union(right)?.build()?)
            }
            (SetOperator::Intersect, all) => self.matched(left, right, JoinType::LeftSemi, all),
            (SetOperator::Except, all) => self.matched(left, right, JoinType::LeftAnti, all),
        }
    }

    /// Gives both inputs the names and types of the result.
    fn of_one_type(
        &mut self,
        left: LogicalPlan,
        right: LogicalPlan,
        columns: &[(ColumnId, SqlType)],
    ) -> Result<(LogicalPlan, LogicalPlan)> {
        let mut types = Vec::with_capacity(columns.len());
        for (place, (id, data_type)) in columns.iter().enumerate() {
            let field = |plan: &LogicalPlan| plan.schema().field(place).data_type().clone();
            let Some(common) = common_type(&field(&left), &field(&right)) else {
                return missing(format!("a set operation over {data_type}"));
            };
            self.make(*id, common.clone());
            types.push(common);
        }
        let renamed = |plan: LogicalPlan| {
            let mut items = Vec::with_capacity(columns.len());
            for ((from, (id, _)), to) in
                plan.schema().columns().into_iter().zip(columns).zip(&types)
            {
                let is_same = plan.schema().field_from_column(&from)?.data_type() == to;
                let value = Expr::Column(from);
                let from = plan.schema().field(items.len()).data_type().clone();
                let value = match is_same {
                    true => value,
                    false => converted(Typed::new(value, from), to.clone(), false)?.expr,
                };
                items.push(value.alias(column_name(*id)));
            }
            Ok::<_, NotLowered>(LogicalPlanBuilder::from(plan).project(items)?.build()?)
        };
        Ok((renamed(left)?, renamed(right)?))
    }

    /// Rows of the left input that have a partner in the right one, or that have none.
    fn matched(
        &mut self,
        left: LogicalPlan,
        right: LogicalPlan,
        kind: JoinType,
        all: bool,
    ) -> Result<LogicalPlan> {
        let columns = left.schema().columns();
        let left = if all { left } else { by_keys(left)? };
        let (left, keys) = with_keys(left, "left", all)?;
        let (right, partners) = with_keys(right, "right", all)?;
        let equality = NullEquality::NullEqualsNull;
        let joined = LogicalPlanBuilder::from(left);
        let joined = joined.join_detailed(right, kind, (keys, partners), None, equality)?;
        Ok(joined.project(columns.into_iter().map(Expr::Column))?.build()?)
    }
}

/// Adds what rows are compared by, and the numbers of equal rows if all of them count; returns these columns, too.
fn with_keys(plan: LogicalPlan, side: &str, all: bool) -> Result<(LogicalPlan, Vec<Column>)> {
    let columns = plan.schema().columns();
    let fields = plan.schema().fields().iter().map(|field| field.data_type().clone());
    let mut items = columns.iter().cloned().map(Expr::Column).collect::<Vec<_>>();
    let mut keys = Vec::with_capacity(columns.len());
    for (column, data_type) in columns.iter().zip(fields.collect::<Vec<_>>()) {
        let name = format!("{}_{side}", column.name);
        let key = bits(Typed::new(Expr::Column(column.clone()), data_type));
        items.push(key.alias(&name));
        keys.push(Column::new_unqualified(name));
    }
    let keyed = LogicalPlanBuilder::from(plan).project(items)?.build()?;
    if !all {
        return Ok((keyed, keys));
    }
    let number = row_number(keys.iter().cloned().map(Expr::Column).collect(), Vec::new())?;
    let name = number.schema_name().to_string();
    let mut items = keyed.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
    let numbered = LogicalPlanBuilder::from(keyed).window([number])?;
    let copy = format!("{COPY}_{side}");
    items.push(Expr::Column(Column::new_unqualified(name)).alias(&copy));
    keys.push(Column::new_unqualified(copy));
    Ok((numbered.project(items)?.build()?, keys))
}
