//! What rows of a table are before they are written: their generated columns are computed, then its conditions hold.
//!
//! - Everything that writes whole rows asks [`Rules`]; statements that are compiled write no table with generated
//!   columns, and no column that one of them reads: see `compile_writes`.
//! - A generated column reads others of its row, by functions that give the same each time. It is stored, also where a
//!   statement calls it VIRTUAL: it has the same values then.

use super::Session;
use super::checks::{Checks, OfRows};
use crate::error::{from_datafusion, input, unsupported, with_code};
use crate::value::assign_array;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr as PlannerExpr, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::sql::sqlparser::ast::{ColumnDef, ColumnOption, Expr};
use gadus_engine::{ColumnDefinition, Error, ErrorKind, Generated, Reason, Result, TableSchema};
use std::sync::Arc;

/// What holds for the rows of a table.
pub(super) struct Rules {
    table: String,
    shape: SchemaRef,
    generated: Vec<Computed>,
    checks: Checks,
}

/// A generated column.
struct Computed {
    place: usize,
    column: ColumnDefinition,
    value: Arc<dyn PhysicalExpr>,
}

impl Rules {
    pub(super) fn is_empty(&self) -> bool {
        self.generated.is_empty() && self.checks.is_empty()
    }

    /// The columns that change where these are assigned.
    pub(super) fn changed(&self, schema: &TableSchema, assigned: &[usize]) -> Vec<usize> {
        let mut all = assigned.to_vec();
        let read = assigned.iter().map(|&place| schema.columns[place].id);
        for place in read.flat_map(|id| schema.generated_from(id)) {
            if !all.contains(&place) {
                all.push(place);
            }
        }
        all
    }

    /// Computes what is generated, and refuses rows that do not meet a condition. They have all columns of their table.
    pub(super) fn complete(&self, columns: &mut [ArrayRef]) -> Result<()> {
        if columns.first().is_none_or(|column| column.is_empty()) {
            return Ok(());
        }
        if self.generated.is_empty() {
            return self.checks.pass(columns);
        }
        // None of them reads another.
        let batch = RecordBatch::try_new(self.shape.clone(), columns.to_vec())?;
        for Computed { place, column, value } in &self.generated {
            let values = value.evaluate(&batch).map_err(from_datafusion)?;
            let values = values.into_array(batch.num_rows()).map_err(from_datafusion)?;
            let of_column = |error: Error| error.about(&format!("column \"{}\"", column.name));
            let values = assign_array(&values, column.column_type).map_err(of_column)?;
            if !column.nullable && values.null_count() > 0 {
                let (name, table) = (&column.name, &self.table);
                let message = format!("column \"{name}\" of table \"{table}\" must not be NULL");
                return Err(Error::new(ErrorKind::NotNullViolation, message));
            }
            columns[*place] = values;
        }
        self.checks.pass(columns)
    }
}

impl Session {
    /// What holds for the rows of a table.
    pub(super) fn rules(&self, schema: &TableSchema) -> Result<Rules> {
        let checks = self.checks(schema)?;
        let (table, shape) = (schema.name.clone(), checks.shape().clone());
        let mut generated = Vec::new();
        for (place, column) in schema.columns.iter().enumerate() {
            if let Some(Generated { expression, .. }) = &column.generated {
                let value = self.row_expression(&shape, expression, |_| Ok(()))?;
                generated.push(Computed { place, column: column.clone(), value });
            }
        }
        Ok(Rules { table, shape, generated, checks })
    }

    /// Says of columns of a table how they are generated, where their definitions do.
    pub(super) fn add_generated<'a>(
        &self,
        schema: &mut TableSchema,
        columns: impl IntoIterator<Item = &'a ColumnDef>,
    ) -> Result<()> {
        for column in columns {
            let Some(expression) = generation(column) else { continue };
            let name = super::modify::folded(&column.name);
            let place = schema.column_index(&name);
            let place = place.ok_or_else(|| Error::internal("a column that was defined"))?;
            schema.columns[place].generated = Some(self.generated(schema, place, expression)?);
        }
        for column in schema.columns.iter().filter(|column| column.generated.is_some()) {
            let reads = column.generated.iter().flat_map(|generated| &generated.columns);
            let mut read = reads.filter_map(|id| schema.column_with_id(*id));
            if let Some(other) = read.find(|place| schema.columns[*place].generated.is_some()) {
                let name = &schema.columns[other].name;
                let message = format!(
                    "cannot use generated column \"{name}\" in column generation expression"
                );
                let error = input(message).because(Reason::InvalidDefinition);
                return Err(with_code(error, "42P17"));
            }
        }
        Ok(())
    }

    fn generated(&self, schema: &TableSchema, place: usize, value: &Expr) -> Result<Generated> {
        let column = &schema.columns[place];
        let wrong = |message: String| Err(input(message).because(Reason::InvalidDefinition));
        if column.default.is_some() || column.identity.is_some() {
            let name = &column.name;
            let what = if column.identity.is_some() { "identity" } else { "default" };
            return wrong(format!(
                "both {what} and generation expression specified for column \"{name}\""
            ))
            .map_err(|error| with_code(error, "42601"));
        }
        let (value, columns) = OfRows::look(schema, value, "column generation expression")?;
        let expression = value.to_string();
        let shape =
            self.checks(&TableSchema { checks: Vec::new(), ..schema.clone() })?.shape().clone();
        let computed = self.row_expression(&shape, &expression, refuse_changing)?;
        // Whether it can be assigned at all is known of an empty array.
        let data_type = computed.data_type(&shape).map_err(from_datafusion)?;
        assign_array(&arrow::array::new_empty_array(&data_type), column.column_type)
            .map_err(|error| error.about(&format!("column \"{}\"", column.name)))?;
        Ok(Generated { expression, columns })
    }
}

/// Refuses what may have another value each time.
fn refuse_changing(expr: &PlannerExpr) -> Result<()> {
    let is_changing = |expr: &PlannerExpr| match expr {
        PlannerExpr::ScalarFunction(call) => {
            Ok(call.func.signature().volatility != Volatility::Immutable)
        }
        _ => Ok(false),
    };
    if expr.exists(is_changing).map_err(from_datafusion)? {
        let error =
            input("generation expression is not immutable").because(Reason::InvalidDefinition);
        return Err(with_code(error, "42P17"));
    }
    Ok(())
}

/// How a column is generated as a statement defines it.
pub(super) fn generation(column: &ColumnDef) -> Option<&Expr> {
    column.options.iter().find_map(|option| match &option.option {
        ColumnOption::Generated { generation_expr, .. } => generation_expr.as_ref(),
        _ => None,
    })
}

/// Refuses to change how a column is that is generated, or that generated ones read.
pub(super) fn refuse_generated(schema: &TableSchema, place: usize, what: &str) -> Result<()> {
    let column = &schema.columns[place];
    if column.generated.is_some() {
        return Err(unsupported(&format!("{what} of the generated column \"{}\"", column.name)));
    }
    match schema.generated_from(column.id).next() {
        None => Ok(()),
        Some(reader) => {
            let (name, reader) = (&column.name, &schema.columns[reader].name);
            let message =
                format!("{what} of column \"{name}\": generated column \"{reader}\" reads it");
            Err(input(message).because(Reason::Depended))
        }
    }
}
