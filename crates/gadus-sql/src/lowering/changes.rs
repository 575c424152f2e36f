//! Parts of changes: the rows that they are about, with new values, and expressions over rows in hand.
//!
//! - A change is carried out by the session; only what it reads and computes are plans.
//! - Its parts share their columns: RETURNING names those of the rows that were found.

use super::casts::{converted, typed_output};
use super::json::{read_stored, shown_value};
use super::scalars::field_name;
use super::types::{arrow_type, is_numeric};
use super::{
    KnownTables, Lowering, Result, Tables, Typed, column, column_name, missing, relations, shown,
};
use crate::common_rows::CommonTables;
use crate::json::JSONB;
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState as PlannerState;
use datafusion::functions::core::expr_fn::named_struct;
use datafusion::logical_expr::{Case, Expr, LogicalPlan, LogicalPlanBuilder, Subquery, lit};
use gadus_binder::bound::{
    ColumnId, ColumnValue, CommonTable, Join, JoinKind, MergeChange, Relational, RowColumns,
    Scalar, ScalarKind,
};
use gadus_binder::types::SqlType;
use std::sync::Arc;

/// Name of the column with the numbers of rows; others are called by theirs.
pub(crate) const ROW_COLUMN: &str = "row";

/// Name of the column with the numbers of the clauses of MERGE.
pub(crate) const CLAUSE_COLUMN: &str = "clause";

/// Lowers the parts of one change.
pub(crate) struct ChangeLowering<'a>(Lowering<'a>);

impl<'a> ChangeLowering<'a> {
    pub(crate) fn new(
        planner: &'a PlannerState,
        tables: &'a Tables,
        parameters: &'a [SqlType],
    ) -> Self {
        Self(Lowering::new(planner, tables, parameters))
    }

    /// Adds common tables whose rows are there.
    pub(crate) fn provide(&mut self, known: &KnownTables) -> Result<()> {
        self.0.provide(known)
    }

    /// Lowers the common tables that the change reads.
    pub(crate) fn common_tables(&mut self, tables: &[CommonTable]) -> Result<()> {
        self.0.common_tables(tables)
    }

    /// Returns the plan of rows to be inserted: the values in their order, each of the type of its column.
    pub(crate) fn new_rows(
        &mut self,
        input: &Relational,
        values: &[ColumnValue],
    ) -> Result<LogicalPlan> {
        let input = self.0.relational(input)?;
        let items = self.values(&input, values, &[])?;
        match items.is_empty() {
            true => missing("a row without values"),
            false => self.with_tables(LogicalPlanBuilder::from(input).project(items)?.build()?),
        }
    }

    /// Returns the plan of rows to be changed: new values, then all columns of the input if they are wanted, then the
    /// numbers of the rows of the table whose columns `old` are.
    pub(crate) fn changed_rows(
        &mut self,
        (input, old): (&Relational, &RowColumns),
        set: Set<'_>,
        carries_all: bool,
    ) -> Result<LogicalPlan> {
        self.0.changed = old.first().map(|(_, id)| *id);
        let input = self.0.relational(input)?;
        let carried = if carries_all { carried(&input) } else { Vec::new() };
        let input = self.with_rows_of_queries(input, set.queries)?;
        let mut items = self.values(&input, set.values, old)?;
        items.extend(carried);
        items.push(row_number());
        self.with_tables(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Returns the plan of the rows of a MERGE that have a clause: all columns of both tables, the number of the clause,
    /// and the number of the row of the changed table, NULL if there is none.
    pub(crate) fn merged_rows(&mut self, merge: &MergeChange) -> Result<LogicalPlan> {
        self.0.changed = merge.old.first().map(|(_, id)| *id);
        let inserts = merge.clauses.iter().any(|clause| !clause.is_matched);
        let join = Join {
            kind: if inserts { JoinKind::Left } else { JoinKind::Inner },
            left: merge.source.clone(),
            right: merge.target.clone(),
            condition: Some(merge.condition.clone()),
            is_lateral: false,
        };
        let input = self.0.relational(&Relational::Join(Box::new(join)))?;
        let (mut when_then, mut number) = (Vec::with_capacity(merge.clauses.len()), 0_i64);
        for clause in &merge.clauses {
            let is_kind = match clause.is_matched {
                true => row_number().is_not_null(),
                false => row_number().is_null(),
            };
            let condition = match &clause.condition {
                Some(condition) => is_kind.and(self.0.condition(condition, input.schema())?),
                None => is_kind,
            };
            when_then.push((Box::new(condition), Box::new(lit(number))));
            number += 1;
        }
        let mut items = carried(&input);
        items.push(Expr::Case(Case::new(None, when_then, None)).alias(CLAUSE_COLUMN));
        items.push(row_number());
        let clause = Expr::Column(Column::new_unqualified(CLAUSE_COLUMN));
        let rows = LogicalPlanBuilder::from(input).project(items)?;
        self.with_tables(rows.filter(clause.is_not_null())?.build()?)
    }

    /// Adds the rows of queries whose fields are assigned; each is evaluated once for a row of the input.
    fn with_rows_of_queries(
        &mut self,
        input: LogicalPlan,
        queries: &[(ColumnId, Scalar)],
    ) -> Result<LogicalPlan> {
        if queries.is_empty() {
            return Ok(input);
        }
        let fields = input.schema().fields().iter();
        let columns = fields.map(|field| Expr::Column(Column::new_unqualified(field.name())));
        let mut items = columns.collect::<Vec<_>>();
        for (id, query) in queries {
            let Typed { expr, data_type } = self.row_of_query(query)?;
            items.push(expr.alias(column_name(*id)));
            self.0.make(*id, data_type);
        }
        Ok(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Lowers a query of one row to a struct of its columns.
    fn row_of_query(&mut self, query: &Scalar) -> Result<Typed> {
        let unknown = || missing("this assignment of a row");
        let ScalarKind::Subquery(subquery) = &query.kind else { return unknown() };
        let Relational::Project { input, items } = &subquery.query.root else { return unknown() };
        let [(id, Scalar { kind: ScalarKind::Row(fields), .. })] = items.as_slice() else {
            return unknown();
        };
        let plan = self.0.nested(|lowering| {
            let input = lowering.relational(input)?;
            let mut arguments = Vec::with_capacity(2 * fields.len());
            for (index, field) in fields.iter().enumerate() {
                arguments.push(lit(field_name(index)));
                arguments.push(lowering.scalar(field, input.schema())?.expr);
            }
            let row = named_struct(arguments).alias(column_name(*id));
            Ok(LogicalPlanBuilder::from(input).project([row])?.build()?)
        })?;
        let data_type = plan.schema().field(0).data_type().clone();
        let outer_ref_columns = plan.all_out_ref_exprs();
        let spans = Default::default();
        let subquery = Subquery { subquery: Arc::new(plan), outer_ref_columns, spans };
        Ok(Typed::new(Expr::ScalarSubquery(subquery), data_type))
    }

    /// Returns a part with the common tables that it may read.
    fn with_tables(&self, part: LogicalPlan) -> Result<LogicalPlan> {
        Ok(CommonTables::around(part, self.0.shared.clone()))
    }

    /// Returns the plan of expressions over rows in hand, whose columns are called by their numbers: those of the rows
    /// for which a condition holds, in their order.
    pub(crate) fn over(
        &mut self,
        rows: Arc<dyn TableProvider>,
        columns: &[ColumnId],
        predicate: Option<&Scalar>,
        items: Items<'_>,
    ) -> Result<LogicalPlan> {
        let schema = rows.schema();
        for (id, field) in columns.iter().zip(schema.fields()) {
            let stored = read_stored(field, column(*id));
            self.0.make(*id, stored.map_or_else(|| field.data_type().clone(), |of| of.data_type));
        }
        let scan = LogicalPlanBuilder::scan("rows", provider_as_source(rows), None)?;
        let named = schema.fields().iter().map(|field| {
            let from = Expr::Column(Column::new(Some("rows"), field.name()));
            let value = read_stored(field, from.clone()).map_or(from, |stored| stored.expr);
            value.alias(field.name())
        });
        let mut input = scan.project(named)?.build()?;
        if let Some(predicate) = predicate {
            let predicate = self.0.condition(predicate, input.schema())?;
            input = relations::filtered(input, predicate)?;
        }
        let (mut lowered, outputs) = match items {
            Items::Values(set, old) => {
                input = self.with_rows_of_queries(input, set.queries)?;
                (self.values(&input, set.values, old)?, None)
            }
            Items::Columns(items) => (self.0.items(&input, items)?, Some(items)),
        };
        lowered.push(row_number());
        let rows = LogicalPlanBuilder::from(input).project(lowered)?;
        let Some(outputs) = outputs else { return self.with_tables(rows.build()?) };
        let rows = rows.sort([row_number().sort(true, false)])?.build()?;
        let mut shown_items = Vec::with_capacity(outputs.len());
        for (id, output) in outputs {
            let field = rows.schema().field_with_unqualified_name(&column_name(*id))?;
            let other = typed_output(column(*id), field, output.data_type)?;
            shown_items.push(other.unwrap_or_else(|| column(*id)));
        }
        self.with_tables(shown(LogicalPlanBuilder::from(rows).project(shown_items)?.build()?)?)
    }

    /// Lowers values to the types of their columns, one for each column; elements are put in the array that the row had.
    fn values(
        &mut self,
        input: &LogicalPlan,
        values: &[ColumnValue],
        old: &[(usize, ColumnId)],
    ) -> Result<Vec<Expr>> {
        let mut lowered = Vec::<(usize, Typed, SqlType)>::new();
        for value in values {
            if matches!(value.value.kind, ScalarKind::Default) {
                return missing("DEFAULT");
            }
            let given = self.0.scalar(&value.value, input.schema())?;
            let known = lowered.iter().position(|(column, ..)| *column == value.column);
            let whole = match (value.subscripts.is_empty(), known) {
                (true, _) => (given, value.value.data_type),
                (false, known) => {
                    let before = match known {
                        Some(place) => lowered.swap_remove(place).1,
                        None => self.array_before(value.column, old)?,
                    };
                    let assigned = (value.subscripts.as_slice(), given);
                    let span = value.value.span;
                    let array = self.0.assigned_elements(before, assigned, span, input.schema())?;
                    let whole = match array.data_type == JSONB {
                        true => value.value.data_type,
                        false => array_type(value.value.data_type),
                    };
                    (array, whole)
                }
            };
            lowered.push((value.column, whole.0, whole.1));
        }
        let columns = assigned_columns(values);
        lowered.sort_by_key(|(column, ..)| columns.iter().position(|known| known == column));
        let items = lowered.into_iter().enumerate();
        let items = items.map(|(place, (column, value, data_type))| {
            Ok(self.stored(column, value, data_type)?.alias(format!("v{place}")))
        });
        items.collect()
    }

    /// Returns a value as its column takes it.
    fn stored(&self, column: usize, value: Typed, data_type: SqlType) -> Result<Expr> {
        if data_type.id.is_array {
            return Ok(converted(value, self.type_of_column(column)?, false)?.expr);
        }
        match arrow_type(data_type) {
            Some(wanted) => {
                let value = converted(value, wanted, false)?;
                Ok(shown_value(value.expr.clone(), &value.data_type).unwrap_or(value.expr))
            }
            None if is_numeric(data_type) => {
                Ok(numerics::shown(converted(value, NUMERIC, false)?.expr))
            }
            None => missing(format!("type {data_type}")),
        }
    }

    /// Returns the array whose elements are assigned: that of the row before, NULL of a new row.
    fn array_before(&self, column: usize, old: &[(usize, ColumnId)]) -> Result<Typed> {
        match old.iter().find(|(place, _)| *place == column) {
            Some((_, id)) => self.0.column(*id),
            None => {
                let data_type = self.type_of_column(column)?;
                Ok(Typed::new(lit(ScalarValue::try_from(&data_type)?), data_type))
            }
        }
    }

    fn type_of_column(&self, column: usize) -> Result<DataType> {
        let schema = self.0.tables.changed()?.schema();
        match schema.fields().get(column) {
            Some(field) => Ok(field.data_type().clone()),
            None => missing("a column that the table does not have"),
        }
    }
}

/// Returns the type of the array whose element has a type.
fn array_type(data_type: SqlType) -> SqlType {
    SqlType { id: data_type.id.array_of().unwrap_or(data_type.id), ..data_type }
}

/// Returns the columns that get values, each once, in the order of their first value.
pub(crate) fn assigned_columns(values: &[ColumnValue]) -> Vec<usize> {
    let mut columns = Vec::with_capacity(values.len());
    for value in values {
        if !columns.contains(&value.column) {
            columns.push(value.column);
        }
    }
    columns
}

/// Values of columns, and queries whose rows they name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Set<'a> {
    pub(crate) queries: &'a [(ColumnId, Scalar)],
    pub(crate) values: &'a [ColumnValue],
}

/// Returns the column with the numbers of rows.
fn row_number() -> Expr {
    Expr::Column(Column::new_unqualified(ROW_COLUMN))
}

/// Returns all columns of a plan as they leave, without the numbers of rows.
fn carried(input: &LogicalPlan) -> Vec<Expr> {
    let fields = input.schema().fields().iter();
    let columns = fields.filter(|field| field.name() != ROW_COLUMN);
    let column = |field: &Arc<Field>| {
        let column = Expr::Column(Column::new_unqualified(field.name()));
        match shown_value(column.clone(), field.data_type()) {
            Some(shown) => shown.alias(field.name()),
            None => column,
        }
    };
    columns.map(column).collect()
}

/// Expressions over rows in hand.
pub(crate) enum Items<'a> {
    /// Values of columns, with the columns of the row before, then the numbers of the rows.
    Values(Set<'a>, &'a RowColumns),
    /// Columns as they leave.
    Columns(&'a [(ColumnId, Scalar)]),
}

/// Returns the schema of rows in hand: their columns by their numbers, then the numbers of the rows.
pub(crate) fn schema_in_hand<'a>(
    columns: impl IntoIterator<Item = (ColumnId, &'a Field)>,
) -> SchemaRef {
    let field = |(id, field): (ColumnId, &Field)| {
        field.clone().with_name(column_name(id)).with_nullable(true)
    };
    let columns = columns.into_iter().map(field);
    let row = Field::new(ROW_COLUMN, DataType::UInt64, false);
    Arc::new(Schema::new(columns.chain([row]).collect::<Vec<_>>()))
}

/// Returns the number of the column that a plan calls by it.
pub(crate) fn column_of_name(name: &str) -> Option<ColumnId> {
    Some(ColumnId(name.strip_prefix('c')?.parse().ok()?))
}
