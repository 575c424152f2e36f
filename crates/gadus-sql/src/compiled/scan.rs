//! Columns of the rows that a simple filter lets pass, found by the engine's own scan.
//!
//! - Rows leave as they are read, in the order of their table; where another is asked for they are
//!   sorted first, unless they are so many that this is left to DataFusion.

use super::Target;
use super::budget::Budget;
use super::filter::Filter;
use super::order::{Order, SortBy};
use crate::rows::RowStream;
use crate::session::{Cancel, Outcome};
use crate::value::Value;
use crate::value_limits::bytes_of_values;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use futures::{StreamExt, stream};
use gadus_engine::{FoundRows, OrderBy, Question, Result, Wanted};
use std::sync::Arc;

/// SELECT columns FROM table WHERE conjunction ORDER BY columns LIMIT rows.
#[derive(Debug)]
pub(crate) struct ScanQuery {
    pub(super) target: Target,
    columns: Vec<usize>,
    /// Those, and those by which rows are sorted.
    read: Vec<usize>,
    filter: Filter,
    /// By columns of the table.
    order: Order,
    schema: SchemaRef,
}

impl ScanQuery {
    pub(super) fn new(
        target: Target,
        columns: Vec<(usize, String)>,
        filter: Filter,
        order: Order,
    ) -> Self {
        let field = |(index, name): &(usize, String)| {
            let column = &target.schema.columns[*index];
            column.column_type.field(name, column.nullable)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(index, _)| index).collect::<Vec<_>>();
        let mut read = columns.clone();
        let further = order.by.iter().map(|by| by.column);
        read.extend(further.filter(|column| !columns.contains(column)));
        Self { target, columns, read, filter, order, schema }
    }

    /// The columns that it looks at of the rows that are found.
    pub(super) fn read(&self) -> &[usize] {
        &self.read
    }

    /// None where values need DataFusion's rules, or too many rows are to be sorted.
    pub(super) fn question(
        &self,
        parameters: &[Value],
        budget: Budget,
    ) -> Result<Option<Question>> {
        let Some(predicates) = self.filter.predicates(&self.target, parameters)? else {
            return Ok(None);
        };
        let Some(cut) = self.order.cut(parameters)? else { return Ok(None) };
        let wanted = if self.order.is_none() {
            Wanted::Rows { rows_max: budget.found_rows() }
        } else if let Some(count) = cut.rows().filter(|count| *count <= budget.kept_rows()) {
            let by = |by: &SortBy| OrderBy {
                column: by.column,
                descending: by.options.descending,
                nulls_first: by.options.nulls_first,
            };
            let order = self.order.by.iter().map(by).collect();
            Wanted::First { order, count, long_bytes_max: budget.long_bytes() }
        } else if cut.count.is_none() {
            Wanted::Rows { rows_max: budget.kept_rows() }
        } else {
            return Ok(None);
        };
        Ok(Some(Question { predicates, wanted }))
    }

    /// Returns the rows that answer the question; none if more are to be sorted than there is memory for.
    pub(super) fn outcome(
        &self,
        found: &Arc<FoundRows>,
        (parameters, budget): (&[Value], Budget),
        cancel: &Arc<Cancel>,
    ) -> Result<Option<Outcome>> {
        if !self.order.is_none() {
            let rows = self.sorted(found, (parameters, budget))?;
            let rows = rows.map(|rows| RowStream::ready(self.schema.clone(), vec![rows]));
            return Ok(rows.map(Outcome::Rows));
        }
        let schema = self.schema.clone();
        let batches = stream::iter(found.read(&self.columns));
        let batches = batches.map(move |batch| renamed(&batch?, &schema));
        Ok(Some(Outcome::Rows(RowStream::new(self.schema.clone(), batches, cancel))))
    }

    fn sorted(
        &self,
        found: &Arc<FoundRows>,
        (parameters, budget): (&[Value], Budget),
    ) -> Result<Option<RecordBatch>> {
        let read = &self.read;
        let (mut batches, mut bytes) = (Vec::new(), 0);
        for batch in found.read(read) {
            let batch = batch?;
            bytes += batch.columns().iter().map(bytes_of_values).sum::<usize>() as u64;
            if bytes > budget.0.0 {
                return Ok(None);
            }
            batches.push(batch);
        }
        let Some(first) = batches.first() else {
            return Ok(Some(RecordBatch::new_empty(self.schema.clone())));
        };
        let all = concat_batches(&first.schema(), &batches)?;
        let wanted = all.project(&(0..self.columns.len()).collect::<Vec<_>>())?;
        let place = |column: usize| read.iter().position(|known| *known == column).unwrap_or(0);
        let cut = self.order.cut(parameters)?.unwrap_or_default();
        let sorted = self.order.apply(&wanted, cut, |column| all.column(place(column)).clone())?;
        renamed(&sorted, &self.schema).map(Some)
    }

    pub(super) fn explain(&self) -> String {
        format!(
            "Compiled: scan {} for {} with {} pushed-down conjuncts{}",
            self.target.schema.name,
            self.schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect::<Vec<_>>()
                .join(", "),
            self.filter.conjuncts.len(),
            self.order.explained()
        )
    }
}

fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
