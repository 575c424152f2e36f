//! Functions in FROM.

use super::arrays::{is_listed_set, is_set_of_arrays};
use super::casts::converted;
use super::relations::written_integer;
use super::times::refused;
use super::types::lowered_type;
use super::windows::row_number;
use super::{Lowering, Result, Typed, column_name, missing, no_columns};
use crate::error::to_datafusion;
use crate::times;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableFunctionArgs;
use datafusion::common::{Column, NullHandling};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use gadus_binder::bound::{ColumnId, Scalar, ScalarKind, TableCall};
use gadus_binder::types::{SqlType, constants};
use gadus_syntax::Span;
use std::sync::Arc;

/// Returns true for `generate_series`.
pub(super) fn is_series(call: &Scalar) -> bool {
    matches!(&call.kind, ScalarKind::Function { function, .. } if function.name == "generate_series")
}

impl Lowering<'_> {
    /// Lowers sets of arrays, functions of documents, and `generate_series` of values that are written out.
    pub(super) fn table_functions(
        &mut self,
        calls: &[TableCall],
        ordinality: Option<ColumnId>,
    ) -> Result<LogicalPlan> {
        let row = LogicalPlanBuilder::empty(true).build()?;
        if calls.iter().all(|call| is_set_of_arrays(&call.call)) {
            return self.unnested_tables(row, (calls, ordinality), NullHandling::Drop);
        }
        if let Some(rows) = self.document_rows(row.clone(), (calls, ordinality), false)? {
            return Ok(rows);
        }
        if calls.len() > 1 && calls.iter().all(|call| is_listed_set(&call.call)) {
            return self.unnested_tables(row, (calls, ordinality), NullHandling::Drop);
        }
        let [TableCall { call, columns, .. }] = calls else {
            return missing("several functions in FROM");
        };
        let (ScalarKind::Function { function, arguments }, [(id, data_type)]) =
            (&call.kind, columns.as_slice())
        else {
            return missing("a function in FROM with several columns");
        };
        if function.name == "generate_series"
            && let Some(plan) = self.series_of_times(arguments, *data_type, (*id, call.span))?
        {
            return match ordinality {
                Some(ordinality) => self.numbered(plan, *id, ordinality),
                None => Ok(plan),
            };
        }
        if !function.returns_set {
            return self.row_of_call(call, *id, ordinality);
        }
        let is_of_integers = [constants::INT4, constants::INT8].contains(&function.result);
        let bounds = arguments.iter().map(written_integer).collect::<Option<Vec<_>>>();
        let is_stepping = bounds.as_ref().is_some_and(|bounds| bounds.get(2) != Some(&0));
        let Some(bounds) = bounds.filter(|_| is_series(call) && is_of_integers && is_stepping)
        else {
            return match is_listed_set(call) {
                true => self.unnested_tables(row, (calls, ordinality), NullHandling::Drop),
                false => missing(format!("the function {} in FROM", function.name)),
            };
        };
        let Some(series) = self.planner.table_functions().get(function.name) else {
            return missing(format!("the function {} in FROM", function.name));
        };
        let bounds = bounds.into_iter().map(lit).collect::<Vec<_>>();
        let given = TableFunctionArgs::new(&bounds, self.planner);
        let rows = series.create_table_provider_with_args(given)?;
        let name = format!("f{}", id.0);
        let plan = LogicalPlanBuilder::scan(name, provider_as_source(rows), None)?;
        let Some(from) = plan.schema().columns().into_iter().next() else {
            return missing("a function in FROM without columns");
        };
        let wanted = lowered_type(*data_type)?;
        let value =
            converted(Typed::new(Expr::Column(from), DataType::Int64), wanted.clone(), false)?;
        let plan = plan.project([value.expr.alias(column_name(*id))])?;
        self.make(*id, wanted);
        match ordinality {
            Some(ordinality) => self.numbered(plan.build()?, *id, ordinality),
            None => Ok(plan.build()?),
        }
    }

    /// Lowers a function that gives one value.
    fn row_of_call(
        &mut self,
        call: &Scalar,
        id: ColumnId,
        ordinality: Option<ColumnId>,
    ) -> Result<LogicalPlan> {
        let value = self.scalar(call, &no_columns())?;
        if value.data_type == DataType::Null {
            return missing("NULL in FROM");
        }
        let mut items = vec![value.expr.alias(column_name(id))];
        self.make(id, value.data_type);
        if let Some(ordinality) = ordinality {
            items.push(lit(1_i64).alias(column_name(ordinality)));
            self.make(ordinality, DataType::Int64);
        }
        Ok(LogicalPlanBuilder::empty(true).project(items)?.build()?)
    }

    /// Lowers `generate_series` of timestamps that are written out; `None` for others.
    fn series_of_times(
        &mut self,
        arguments: &[Scalar],
        data_type: SqlType,
        (id, span): (ColumnId, Span),
    ) -> Result<Option<LogicalPlan>> {
        let is_of_times = [constants::TIMESTAMP, constants::TIMESTAMPTZ].contains(&data_type.id);
        let [first, last, step] = arguments else { return Ok(None) };
        if !is_of_times {
            return Ok(None);
        }
        let mut bounds = Vec::with_capacity(3);
        for bound in [first, last, step] {
            let Expr::Literal(value, _) = self.scalar(bound, &no_columns())?.expr else {
                return Ok(None);
            };
            bounds.push(value.to_array()?);
        }
        let [first, last, step] = bounds.as_slice() else { return Ok(None) };
        let rows = times::series(first, last, step).map_err(|error| refused(&error, span))?;
        let Some(rows) = rows else {
            return Ok(None);
        };
        let wanted = lowered_type(data_type)?;
        let field = Field::new(column_name(id), wanted.clone(), false);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema.clone(), vec![rows])
            .map_err(|error| to_datafusion(error.into()))?;
        let table = Arc::new(MemTable::try_new(schema, vec![vec![batch]])?);
        let plan = LogicalPlanBuilder::scan(format!("f{}", id.0), provider_as_source(table), None)?;
        self.make(id, wanted);
        let column = plan.schema().columns().into_iter().next();
        let Some(column) = column else { return Ok(None) };
        Ok(Some(plan.project([Expr::Column(column).alias(column_name(id))])?.build()?))
    }

    /// Adds the number of each row.
    fn numbered(
        &mut self,
        plan: LogicalPlan,
        value: ColumnId,
        ordinality: ColumnId,
    ) -> Result<LogicalPlan> {
        let number = row_number(Vec::new(), Vec::new())?;
        let name = Column::new_unqualified(number.schema_name().to_string());
        let number_column = Typed::new(Expr::Column(name), DataType::UInt64);
        let number_column = converted(number_column, DataType::Int64, false)?;
        self.make(ordinality, DataType::Int64);
        let items = [super::column(value), number_column.expr.alias(column_name(ordinality))];
        Ok(LogicalPlanBuilder::from(plan).window([number])?.project(items)?.build()?)
    }
}
