//! COPY between tables and files.

mod form;
mod lines;

use super::bound_queries::QueryText;
use super::copy_rejects::Recorder;
use super::files::{FileFormat, FileSource};
use super::insert::loaded_columns;
use super::locking::{Part, blocking};
use super::modify::target;
use super::query_parts::PlannedPart;
use super::reach::{not_written, unwritable};
use super::{Outcome, Prepared, Session, State};
use crate::error::{from_datafusion, input, unsupported};
use crate::executor::physical_plan;
use crate::file_writer::FileForm;
use crate::memory::{Replan, run_or_replan, task_of};
use crate::text_files::Compression;
use crate::value::Value;
use crate::written::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::config::{CsvOptions, JsonOptions};
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::sqlparser::ast::{CopySource, CopyTarget, Ident, ObjectName, Statement};
pub(super) use form::FileCopyForm;
use futures::TryStreamExt;
use gadus_block::{Destination, StagedFile};
use gadus_engine::{Isolation, Result, TableSchema, Transaction, type_with_texts};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

impl Session {
    pub(super) async fn copy(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let Statement::Copy { source, to, target, .. } = prepared.statement() else {
            return Err(gadus_engine::Error::internal("COPY was expected"));
        };
        let CopyTarget::File { filename } = target else {
            return Err(unsupported("COPY with anything but a file"));
        };
        self.files.check()?;
        let Some(words) = prepared.copy_words() else {
            return Err(gadus_engine::Error::internal("a COPY without its options"));
        };
        let form = FileCopyForm::of(filename, words, *to)?;
        if *to {
            return self.copy_to(state, source, filename, &form, parameters).await;
        }
        let CopySource::Table { table_name, columns } = source else {
            return Err(input("COPY … FROM a file goes to a table"));
        };
        let rows = match &mut state.transaction {
            Some(transaction) => {
                let part = Part::of(transaction);
                let rows =
                    self.copy_from(part.transaction, table_name, columns, filename, &form).await?;
                part.keep();
                rows
            }
            None => {
                let mut transaction = self.begin(state, Isolation::ReadCommitted)?;
                let rows =
                    self.copy_from(&mut transaction, table_name, columns, filename, &form).await?;
                transaction.commit()?;
                rows
            }
        };
        Ok(Outcome::Changed { verb: "COPY", rows })
    }

    async fn copy_from(
        &self,
        transaction: &mut Transaction,
        table: &ObjectName,
        columns: &[Ident],
        path: &str,
        form: &FileCopyForm,
    ) -> Result<u64> {
        let schema = target(&transaction.snapshot(), table)?;
        let names = columns.iter().map(|name| vec![name.clone()].into()).collect::<Vec<_>>();
        let columns = loaded_columns(&schema, &names)?;
        let mut source = FileSource::new(path, form.format);
        // Whoever copies says how the file is written, or means the usual.
        source.header = Some(form.header.unwrap_or(true));
        source.delimiter = form.delimiter.or(source.delimiter).or(Some(b','));
        source.compression = form.compression()?;
        if let Some(lines) = &form.lines {
            let rows = self.copy_lines(transaction, (&schema, &columns), &source, lines).await?;
            return self.settle(transaction).await.map(|()| rows);
        }
        if form.format != FileFormat::Parquet {
            source.schema = Some(Arc::new(text_schema(&schema, &columns, form.format)));
        }
        let types = columns.iter().map(|column| schema.columns[*column].column_type);
        let types = types.collect::<Vec<_>>();
        source.rejects = form.rejects.as_ref().map(|form| form.begin(types.clone()));
        let context = SessionContext::new_with_state(self.shared.planner.clone());
        let rows = async {
            let table = source.open(&context, &self.files).await?;
            let frame = context.read_table(table).map_err(from_datafusion)?;
            let stream = self.stream_plan_to_write(&context, frame.logical_plan()).await?;
            let rows = match (&form.rejects, &source.rejects) {
                (Some(form), Some(rejects)) => {
                    let recorder = Recorder::begin(transaction, form, rejects.clone(), path)?;
                    let to = (&schema, &*columns);
                    self.insert_sifted(transaction, to, stream, recorder).await?
                }
                _ => self.insert_stream(transaction, &schema, &columns, stream).await?,
            };
            self.settle(transaction).await.map(|()| rows)
        };
        match rows.await {
            Ok(rows) => Ok(rows),
            Err(error) => Err(self.located(&context, &source, types, error).await),
        }
    }

    async fn copy_to(
        &self,
        state: &State,
        source: &CopySource,
        path: &str,
        form: &FileCopyForm,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let text = match source {
            CopySource::Table { table_name, columns } if columns.is_empty() => {
                format!("SELECT * FROM {table_name}")
            }
            CopySource::Table { table_name, columns } => {
                let list = columns.iter().map(Ident::to_string).collect::<Vec<_>>().join(", ");
                format!("SELECT {list} FROM {table_name}")
            }
            CopySource::Query(query) => query.to_string(),
        };
        let mut statement = Statement::clone(&super::parse(&text)?.statement);
        let snapshot = state.snapshot(&self.engine)?;
        let query = QueryText {
            text: &text,
            statement: &statement,
            is_deep: true,
            snapshot: snapshot.clone(),
            names: self.names(state),
        };
        // The order within partitions is that of the outermost operator.
        let part = match form.partitions {
            Some(_) => None,
            None => self.plan_part(&query, parameters, false).await?,
        };
        let (context, plan) = match part {
            Some(PlannedPart { context, plan }) => (context, plan),
            None => {
                let context = self.planner(snapshot, &mut statement).await?;
                let plan = super::query::plan(&context, statement, parameters).await?;
                (context, plan)
            }
        };
        if let Some(by) = &form.partitions {
            return self.copy_to_partitions(&context, plan, path, form, by).await;
        }
        let named = Compression::of_path(path).0;
        let (plan, file_form) = form.file_form(&context, plan, named)?;
        let rows = match self.files.to_write(path)? {
            Destination::File(file) => {
                let rows = write_file(&context, plan, &file_form, (&file, path)).await?;
                file.replace().map_err(|error| unwritable(path, &error))?;
                rows
            }
            Destination::Stream(stream) => {
                let flag = self.cancel.current();
                let ended = flag.clone();
                let stream = stream.asking(move || match flag.is_set() {
                    true => Err(io::Error::other(flag.reason())),
                    false => Ok(()),
                });
                let written = write_stream(&context, plan, &file_form, (stream, path)).await;
                // Writers make their own errors of what ends a wait.
                written.map_err(|error| if ended.is_set() { ended.reason() } else { error })?
            }
        };
        Ok(Outcome::Changed { verb: "COPY", rows })
    }
}

/// Writes a plan's rows to a file that appears afterwards; returns how many.
async fn write_file(
    context: &SessionContext,
    plan: LogicalPlan,
    form: &FileForm,
    (file, path): (&StagedFile, &str),
) -> Result<u64> {
    let target = file.path();
    let target = &*target.to_string_lossy();
    let frame = DataFrame::new(context.state(), plan);
    let options = DataFrameWriteOptions::new().with_single_file_output(true);
    let written = match form.clone() {
        FileForm::Parquet(parquet) => frame.write_parquet(target, options, Some(*parquet)).await,
        FileForm::Json { compression } => {
            let compression = compression.for_writing();
            let json = JsonOptions { compression, ..JsonOptions::default() };
            frame.write_json(target, options, Some(json)).await
        }
        FileForm::Lines { .. } => {
            let output = std::fs::File::create(file.path());
            let output = output.map_err(|error| unwritable(path, &error))?;
            return write_stream(context, frame.logical_plan().clone(), form, (output, path)).await;
        }
        FileForm::Csv { delimiter, header, compression } => {
            let timestamps = CsvOptions {
                timestamp_format: Some(POINT_FORMAT.to_owned()),
                timestamp_tz_format: Some(POINT_WITH_ZONE_FORMAT.to_owned()),
                ..CsvOptions::default()
            };
            let csv = timestamps.with_has_header(header).with_delimiter(delimiter);
            let csv = csv.with_compression(compression.for_writing());
            frame.write_csv(target, options, Some(csv)).await
        }
    };
    Ok(written_rows(&written.map_err(|error| not_written(path, error))?))
}

/// Writes a plan's rows to a device or pipe as they come; returns how many.
async fn write_stream(
    context: &SessionContext,
    plan: LogicalPlan,
    form: &FileForm,
    (stream, path): (impl Write + Send, &str),
) -> Result<u64> {
    let physical = physical_plan(context.state(), &plan).await.map_err(from_datafusion)?;
    let replan = || Some(Replan::new(context, plan));
    let mut rows = run_or_replan(physical, task_of(context), replan).map_err(from_datafusion)?;
    let mut writer = form.writer(stream, &rows.schema(), Path::new(path))?;
    // So that a header is written even above no rows.
    writer.write(&RecordBatch::new_empty(rows.schema()))?;
    let mut written = 0;
    while let Some(batch) = rows.try_next().await.map_err(from_datafusion)? {
        written += batch.num_rows() as u64;
        blocking(|| writer.write(&batch))?;
    }
    blocking(|| writer.finish())?;
    Ok(written)
}

/// The count that a write yields as its one value.
fn written_rows(batches: &[RecordBatch]) -> u64 {
    use arrow::array::AsArray;
    use arrow::datatypes::UInt64Type;
    let count = |batch: &RecordBatch| {
        let column = batch.columns().first()?.as_primitive_opt::<UInt64Type>()?;
        Some(column.values().iter().sum::<u64>())
    };
    batches.iter().filter_map(count).sum()
}

/// The columns' types as text formats can hold them; the rest is cast afterwards.
fn text_schema(schema: &TableSchema, columns: &[usize], format: FileFormat) -> Schema {
    let field = |&index: &usize| {
        let column = &schema.columns[index];
        let data_type = match column.column_type.arrow() {
            DataType::Utf8View | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                DataType::Utf8
            }
            nested if nested.is_nested() && format == FileFormat::Csv => DataType::Utf8,
            other => type_with_texts(&other).unwrap_or(other),
        };
        Field::new(&column.name, data_type, true)
    };
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}
