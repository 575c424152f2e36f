//! COPY between tables and files as lines: PostgreSQL's text format, and CSV with PostgreSQL's options.

use super::super::Session;
use super::super::files::FileSource;
use super::super::insert::whole_batch;
use super::super::loading::load;
use super::super::locking::blocking;
use crate::copy_text::{CopyForm, CopyRows};
use crate::error::from_datafusion;
use crate::executor::check_cancelled;
use crate::text_files::{RECORD_BYTES_MAX, TextReader};
use crate::uuids::with_columns;
use crate::value::assign_array;
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, LogicalPlan, cast, lit, when};
use gadus_engine::{Error, ErrorKind, Result, TableSchema, Transaction};
use std::sync::Arc;

/// Rows, and bytes of their text, that are loaded together.
const ROWS_TOGETHER: usize = 16_384;
const BYTES_TOGETHER: usize = 8 << 20;

impl Session {
    /// Loads the rows of files of lines.
    pub(super) async fn copy_lines(
        &self,
        transaction: &mut Transaction,
        (schema, columns): (&Arc<TableSchema>, &[usize]),
        source: &FileSource,
        form: &CopyForm,
    ) -> Result<u64> {
        let name = |column: &usize| schema.columns[*column].name.clone();
        let names = columns.iter().map(name).collect::<Vec<_>>();
        let mut bulk = transaction.bulk(schema)?.within(self.shared.memory.limit());
        let defaults = self.defaults(|| transaction.snapshot(), schema, columns).await?;
        let rules = self.rules(schema)?;
        for file in source.files(&self.files, source.compression)? {
            let mut reader = TextReader::open(&file)?;
            let mut rows = CopyRows::new(names.clone(), form.clone(), RECORD_BYTES_MAX);
            let mut is_end = false;
            while !is_end {
                check_cancelled().map_err(from_datafusion)?;
                let data = blocking(|| reader.next())?;
                is_end = data.is_empty();
                rows.push(data);
                let taken = rows.take(is_end);
                taken.map_err(|error| error.about(reader.path()))?;
                let (count, bytes) = rows.size();
                if count == 0 || !(is_end || count >= ROWS_TOGETHER || bytes >= BYTES_TOGETHER) {
                    continue;
                }
                let lines = rows.line_numbers().to_vec();
                let batch = rows.batch()?;
                let filled = self.fill(schema, &defaults, batch.num_rows()).await?;
                let whole = whole_batch((schema, &rules), columns, filled, &batch);
                let whole = whole.map_err(|error| {
                    located(reader.path(), (schema, columns), (&batch, &lines), error)
                })?;
                load(&mut bulk, &whole)?;
                self.progress.rows_written(count);
            }
        }
        transaction.finish_bulk(bulk)
    }
}

/// Returns the error of rows with the line and the column of the first value that is wrong.
fn located(
    path: &str,
    (schema, columns): (&TableSchema, &[usize]),
    (batch, lines): (&RecordBatch, &[u64]),
    error: Error,
) -> Error {
    if !matches!(error.kind(), ErrorKind::Input | ErrorKind::OutOfRange) {
        return error.about(path);
    }
    let value = |row: usize| {
        let mut values = columns.iter().zip(batch.columns());
        values.find_map(|(column, array)| {
            let column = &schema.columns[*column];
            let error = assign_array(&array.slice(row, 1), column.column_type).err()?;
            Some((column, error))
        })
    };
    let wrong = (0..batch.num_rows()).find_map(|row| value(row).map(|found| (row, found)));
    match wrong {
        Some((row, (column, error))) => {
            let line = lines.get(row).copied().unwrap_or_default();
            error.about(&format!("{path}: line {line}, column \"{}\"", column.name))
        }
        None => error.about(path),
    }
}

/// Returns a plan whose columns are texts as COPY writes them.
pub(super) fn texts_of(plan: LogicalPlan) -> Result<LogicalPlan> {
    with_columns(plan, |field, value| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => None,
        DataType::Boolean => {
            let texts = when(value(), lit("t")).when(Expr::Not(Box::new(value())), lit("f"));
            texts.end().ok()
        }
        _ => Some(cast(value(), DataType::Utf8View)),
    })
}
