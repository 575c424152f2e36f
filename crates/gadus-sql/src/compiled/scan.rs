//! Columns of the rows that a simple filter lets pass, found by the engine's own scan.

use super::Target;
use super::filter::Filter;
use crate::rows::RowStream;
use crate::session::{Cancel, Outcome};
use crate::value::Value;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use futures::{StreamExt, stream};
use gadus_engine::{Answer, Error, Question, Result, Wanted};
use std::sync::Arc;

/// SELECT columns FROM table WHERE conjunction.
#[derive(Debug)]
pub(crate) struct ScanQuery {
    pub(super) target: Target,
    columns: Vec<usize>,
    filter: Filter,
    schema: SchemaRef,
}

impl ScanQuery {
    pub(super) fn new(target: Target, columns: Vec<(usize, String)>, filter: Filter) -> Self {
        let field = |(index, name): &(usize, String)| {
            let column = &target.schema.columns[*index];
            Field::new(name, column.column_type.arrow(), column.nullable)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(index, _)| index).collect();
        Self { target, columns, filter, schema }
    }

    pub(super) fn question(&self, parameters: &[Value]) -> Result<Option<Question>> {
        let predicates = self.filter.predicates(&self.target, parameters)?;
        Ok(predicates.map(|predicates| Question { predicates, wanted: Wanted::Rows }))
    }

    /// The rows that answer the question, read as they leave.
    pub(super) fn outcome(&self, answer: Arc<Answer>, cancel: &Arc<Cancel>) -> Result<Outcome> {
        let Answer::Rows(found) = &*answer else {
            return Err(Error::internal("rows were asked for"));
        };
        let (count, schema, columns) = (found.batches(), self.schema.clone(), self.columns.clone());
        let batches = stream::iter(0..count).map(move |index| {
            let Answer::Rows(found) = &*answer else {
                return Err(Error::internal("rows were asked for"));
            };
            renamed(&found.batch(index, &columns)?, &schema)
        });
        Ok(Outcome::Rows(RowStream::new(self.schema.clone(), batches, cancel)))
    }

    pub(super) fn explain(&self) -> String {
        format!(
            "Compiled: scan {} for {} with {} pushed-down conjuncts",
            self.target.schema.name,
            self.schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect::<Vec<_>>()
                .join(", "),
            self.filter.conjuncts.len()
        )
    }
}

fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
