//! Operators over rows.

use super::arrays::{is_set_of_arrays, sort_keys, with_order_columns};
use super::casts::converted;
use super::changes::ROW_COLUMN;
use super::json::read_stored;
use super::table_functions::is_series;
use super::types::{common_type, lowered_type};
use super::{Lowering, Result, Typed, column_name, missing, no_columns};
use crate::arrays::{is_array, leaf_of};
use crate::characters::{Change, changed};
use crate::executor::check_cancelled;
use crate::json::is_jsonb_text;
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Projection, SortExpr, lit,
};
use gadus_binder::Relation;
use gadus_binder::bound::{
    ColumnId, Constant, Limit, Relational, Scalar, ScalarKind, SetCall, SortKey, TableCall,
};
use gadus_binder::types::{SqlType, constants};
use gadus_engine::{Characters, ROW_ID_COLUMN, is_numeric_text};
use std::sync::Arc;

impl Lowering<'_> {
    /// Lowers an operator.
    pub(super) fn relational(&mut self, relational: &Relational) -> Result<LogicalPlan> {
        check_cancelled()?;
        match relational {
            Relational::OneRow => Ok(LogicalPlanBuilder::empty(true).build()?),
            Relational::Scan { relation, columns } => self.scan(relation, columns),
            Relational::Values { rows, columns } => self.values(rows, columns),
            Relational::Project { input, items } => {
                let input = self.relational(input)?;
                self.project(input, items)
            }
            Relational::Filter { input, predicate } => {
                let input = self.relational(input)?;
                let predicate = self.condition(predicate, input.schema())?;
                filtered(input, predicate)
            }
            Relational::Join(join) => self.join(join),
            Relational::Aggregate { input, groups, sets, aggregates, set_number } => {
                let rows = with_order_columns(input);
                let order = sort_keys(&rows).unwrap_or_default();
                let input = self.relational(&rows)?;
                let is_there = |key: &SortKey| {
                    input.schema().has_column_with_unqualified_name(&column_name(key.column))
                };
                if order.iter().all(is_there) {
                    self.input_order = self.sort_exprs(order);
                }
                let sets = (sets.as_deref(), *set_number);
                let groups = self.aggregate(input, groups, sets, aggregates);
                self.input_order.clear();
                groups
            }
            Relational::Window { input, calls } => {
                let input = self.relational(input)?;
                self.windows(input, calls)
            }
            Relational::Distinct { input, on: None, columns } => {
                let input = self.relational(input)?;
                self.distinct(input, columns)
            }
            Relational::Distinct { input, on: Some(on), .. } => self.distinct_on(input, on),
            Relational::SetOperation(operation) => self.set_operation(operation),
            Relational::Sort { input, keys } => {
                let input = self.relational(input)?;
                let keys = self.sort_exprs(keys);
                Ok(LogicalPlanBuilder::from(input).sort(keys)?.build()?)
            }
            Relational::Limit(limit) => self.limit(limit),
            Relational::With { tables, input } => self.with(tables, input),
            Relational::CommonTableScan { table, columns } => {
                self.common_table_scan(*table, columns)
            }
            Relational::TableFunctions { calls, ordinality } => {
                self.table_functions(calls, *ordinality)
            }
            Relational::ProjectSets { input, calls } => self.project_sets(input, calls),
            Relational::Lock { .. } => missing("FOR UPDATE"),
            Relational::Change(_) => missing("a change of rows"),
        }
    }

    /// Lowers functions that return sets in a select list.
    fn project_sets(&mut self, input: &Relational, calls: &[SetCall]) -> Result<LogicalPlan> {
        if let (Relational::OneRow, [SetCall { id, call }]) = (input, calls)
            && is_series(call)
        {
            // Alone, the set is a table.
            let columns = vec![(*id, call.data_type)];
            let call = TableCall { call: call.clone(), columns, names: Vec::new() };
            return self.table_functions(&[call], None);
        }
        let input = self.relational(input)?;
        match calls.iter().all(|call| is_set_of_arrays(&call.call)) {
            true => self.project_arrays(input, calls),
            false => self.project_documents(input, calls),
        }
    }

    /// Reads a table, with the numbers of its columns as names.
    fn scan(&mut self, relation: &Relation, columns: &[(usize, ColumnId)]) -> Result<LogicalPlan> {
        let is_changed = columns.first().is_some_and(|(_, id)| self.changed == Some(*id));
        let source = match is_changed {
            true => self.tables.changed()?,
            false => self.tables.get(relation)?,
        };
        let schema = source.schema();
        if columns.is_empty() {
            return missing("a table without columns");
        }
        let alias = TableReference::bare(format!("t{}", columns[0].1.0));
        let mut items = Vec::with_capacity(columns.len());
        for (place, id) in columns {
            let (Some(field), Some(known)) =
                (schema.fields().get(*place), relation.columns.get(*place))
            else {
                return missing("a column that the table does not have");
            };
            let from = Expr::Column(Column::new(Some(alias.clone()), field.name()));
            let value = match read_stored(field, from.clone()) {
                Some(value) => value,
                None => Typed::new(from, column_type(known.data_type, field.data_type())?),
            };
            let is_stored = is_numeric_text(field) || is_jsonb_text(field);
            if !is_stored && *field.data_type() != value.data_type {
                return missing(format!("column {} of type {}", field.name(), known.data_type));
            }
            items.push(value.expr.alias(column_name(*id)));
            self.make(*id, value.data_type);
        }
        if is_changed {
            let row = Column::new(Some(alias.clone()), ROW_ID_COLUMN);
            items.push(Expr::Column(row).alias(ROW_COLUMN));
        }
        let scan = LogicalPlanBuilder::scan(alias, source, None)?;
        Ok(scan.project(items)?.build()?)
    }

    /// Rows of expressions.
    fn values(
        &mut self,
        rows: &[Vec<Scalar>],
        columns: &[(ColumnId, SqlType)],
    ) -> Result<LogicalPlan> {
        let schema = no_columns();
        let mut lowered = Vec::with_capacity(rows.len());
        for row in rows {
            let row = row.iter().map(|value| plain(self.scalar(value, &schema)?));
            lowered.push(row.collect::<Result<Vec<_>>>()?);
        }
        let mut items = Vec::with_capacity(columns.len());
        for (place, (id, _)) in columns.iter().enumerate() {
            let data_type = unify(lowered.iter_mut().filter_map(|row| row.get_mut(place)))?;
            // As DataFusion calls columns of VALUES.
            let from = Column::new_unqualified(format!("column{}", place + 1));
            items.push(Expr::Column(from).alias(column_name(*id)));
            self.make(*id, data_type);
        }
        let rows = lowered.into_iter().map(|row| row.into_iter().map(|value| value.expr).collect());
        Ok(LogicalPlanBuilder::values(rows.collect())?.project(items)?.build()?)
    }

    /// Columns of expressions.
    fn project(&mut self, input: LogicalPlan, items: &[(ColumnId, Scalar)]) -> Result<LogicalPlan> {
        if items.is_empty() {
            return missing("a query without columns");
        }
        let lowered = self.items(&input, items)?;
        Ok(LogicalPlan::Projection(Projection::try_new(lowered, Arc::new(input))?))
    }

    /// Lowers expressions to columns with their numbers as names.
    pub(super) fn items(
        &mut self,
        input: &LogicalPlan,
        items: &[(ColumnId, Scalar)],
    ) -> Result<Vec<Expr>> {
        let mut lowered = Vec::with_capacity(items.len());
        for (id, item) in items {
            let Typed { expr, data_type } = self.scalar(item, input.schema())?;
            let is_itself = item.as_column() == Some(*id) && matches!(expr, Expr::Column(_));
            let Typed { expr, data_type } = with_type(Typed::new(expr, data_type))?;
            lowered.push(if is_itself { expr } else { expr.alias(column_name(*id)) });
            self.make(*id, data_type);
        }
        Ok(lowered)
    }

    fn limit(&mut self, limit: &Limit) -> Result<LogicalPlan> {
        if limit.with_ties {
            return missing("WITH TIES");
        }
        let input = self.relational(&limit.input)?;
        let (skip, fetch) = (self.row_count(&limit.offset)?, self.row_count(&limit.limit)?);
        Ok(LogicalPlanBuilder::from(input).limit_by_expr(skip, fetch)?.build()?)
    }

    /// Lowers the number of rows of a LIMIT or OFFSET; `None` for NULL, which is no limit.
    fn row_count(&mut self, count: &Option<Scalar>) -> Result<Option<Expr>> {
        let Some(count) = count else { return Ok(None) };
        if matches!(without_casts(count).kind, ScalarKind::Constant(Constant::Null)) {
            return Ok(None);
        }
        if let Some(written) = written_integer(count) {
            return match written {
                0.. => Ok(Some(lit(written))),
                _ => missing("a negative LIMIT"),
            };
        }
        let count = converted(self.scalar(count, &no_columns())?, DataType::Int64, false)?;
        match count.expr.any_column_refs() || has_subquery(&count.expr) {
            true => missing("a LIMIT that is computed"),
            false => Ok(Some(count.expr)),
        }
    }
}

/// Returns the Arrow type of a column; that of an array says its dimensions.
fn column_type(data_type: SqlType, stored: &DataType) -> Result<DataType> {
    let lowered = lowered_type(data_type)?;
    let is_of_elements = is_array(stored) && leaf_of(stored) == leaf_of(&lowered);
    Ok(if is_of_elements { stored.clone() } else { lowered })
}

/// Makes a value a plain text if it is of a character type: lists of rows have one type for each column.
fn plain(value: Typed) -> Result<Typed> {
    let (_, field) = value.expr.to_field(&no_columns())?;
    Ok(match Characters::of_field(&field) {
        Some(_) => Typed::new(changed(value.expr, Change::Typed(None)), value.data_type),
        None => value,
    })
}

/// Filters rows: by what needs no query first, so that queries are joined with the rows that are left.
pub(super) fn filtered(input: LogicalPlan, predicate: Expr) -> Result<LogicalPlan> {
    let parts = split_conjunction_owned(predicate);
    let (late, early) = parts.into_iter().partition::<Vec<_>, _>(has_subquery);
    let mut plan = input;
    for predicate in [conjunction(early), conjunction(late)].into_iter().flatten() {
        plan = LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(plan))?);
    }
    Ok(plan)
}

pub(super) fn has_subquery(expr: &Expr) -> bool {
    let is_subquery = |expr: &Expr| {
        Ok(matches!(
            expr,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
        ))
    };
    expr.exists(is_subquery).unwrap_or(true)
}

/// Returns an integer that is written out.
pub(super) fn written_integer(scalar: &Scalar) -> Option<i64> {
    match without_casts(scalar).kind {
        ScalarKind::Constant(Constant::Integer(number)) => Some(number),
        _ => None,
    }
}

fn without_casts(mut scalar: &Scalar) -> &Scalar {
    // To the widest integer: of others a value may change.
    while let ScalarKind::Cast { operand, .. } = &scalar.kind
        && scalar.data_type.id == constants::INT8
        && is_written(operand)
    {
        scalar = operand;
    }
    scalar
}

/// Returns true for integers, and NULL of any type.
fn is_written(scalar: &Scalar) -> bool {
    let integers = [constants::INT2, constants::INT4, constants::INT8];
    matches!(scalar.kind, ScalarKind::Constant(Constant::Null))
        || integers.contains(&scalar.data_type.id)
}

/// Gives values of one column one type, as their SQL type is.
pub(super) fn unify<'a>(values: impl Iterator<Item = &'a mut Typed>) -> Result<DataType> {
    let values = values.collect::<Vec<_>>();
    // NULL has no digits of its own.
    let mut typed = values.iter().filter(|value| value.data_type != DataType::Null);
    let first = typed.next();
    let mut common = first.map_or(NUMERIC, |first| first.data_type.clone());
    for value in typed {
        match common_type(&common, &value.data_type) {
            Some(wider) => common = wider,
            None => return missing(format!("{common} and {} in one column", value.data_type)),
        }
    }
    for value in values {
        if value.data_type != common {
            let other = Typed::new(std::mem::take(&mut value.expr), value.data_type.clone());
            *value = converted(other, common.clone(), false)?;
        }
    }
    Ok(common)
}

/// Gives NULL a type, which columns have.
fn with_type(value: Typed) -> Result<Typed> {
    match value.data_type {
        DataType::Null => converted(value, NUMERIC, false),
        _ => Ok(value),
    }
}

impl Lowering<'_> {
    /// Returns keys of an order as DataFusion has them.
    pub(super) fn sort_exprs(&self, keys: &[SortKey]) -> Vec<SortExpr> {
        let key = |key: &SortKey| {
            self.key_of_column(key.column).sort(!key.is_descending, key.nulls_first)
        };
        keys.iter().map(key).collect()
    }
}
