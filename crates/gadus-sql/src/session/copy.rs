//! COPY between tables and files.

use super::copy_partitioned::PartitionForm;
use super::copy_rejects::{Recorder, RejectsForm};
use super::copy_words::CopyWords;
use super::files::{FileFormat, FileSource};
use super::insert::loaded_columns;
use super::locking::{Part, blocking};
use super::modify::target;
use super::reach::{not_written, unwritable};
use super::{Outcome, Prepared, Session, State};
use crate::error::{from_datafusion, input, unsupported};
use crate::executor::physical_plan;
use crate::file_writer::FileForm;
use crate::intervals::with_texts_of_intervals;
use crate::memory::{Replan, run_or_replan, task_of};
use crate::text_files::Compression;
use crate::uuids::with_texts;
use crate::value::Value;
use crate::written::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::config::{CsvOptions, JsonOptions};
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::sqlparser::ast::{
    CopyLegacyOption, CopyOption, CopySource, CopyTarget, Ident, ObjectName, Statement,
};
use futures::TryStreamExt;
use gadus_block::{Destination, StagedFile, StreamFile};
use gadus_engine::{Isolation, Result, TableSchema, Transaction, type_with_texts};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Options of a COPY.
pub(super) struct CopyForm {
    pub(super) format: FileFormat,
    pub(super) header: Option<bool>,
    pub(super) delimiter: Option<u8>,
    /// As it is said: of a file of texts, or of the columns of Parquet.
    compression: Option<String>,
    rejects: Option<RejectsForm>,
    partitions: Option<PartitionForm>,
}

impl CopyForm {
    /// Adds what the parser has no words for.
    fn take(&mut self, words: &CopyWords, to: bool) -> Result<()> {
        self.compression = words.value("compression")?.map(|word| word.text.clone());
        self.rejects = RejectsForm::of(words)?;
        self.partitions = PartitionForm::of(words)?;
        if self.partitions.is_some() && !to {
            return Err(input("PARTITION_BY is for a COPY to a folder"));
        }
        if let Some(option) = words.said_of(&RejectsForm::OPTIONS)
            && (to || self.format != FileFormat::Csv)
        {
            let option = option.to_uppercase();
            return Err(input(format!("{option} is for a COPY from a file in CSV format")));
        }
        Ok(())
    }

    /// How a file of texts is compressed; none where its name is to tell.
    pub(super) fn compression(&self) -> Result<Option<Compression>> {
        self.compression.as_deref().map_or(Ok(None), Compression::named)
    }

    /// How the columns of Parquet are, in the writer's words; none for what is usual.
    pub(super) fn codec(&self) -> Result<Option<&'static str>> {
        let Some(name) = &self.compression else { return Ok(None) };
        Ok(match name.to_ascii_lowercase().as_str() {
            "auto" => None,
            "none" | "uncompressed" => Some("uncompressed"),
            "zstd" => Some("zstd(3)"),
            "snappy" => Some("snappy"),
            "gzip" => Some("gzip(6)"),
            "lz4" | "lz4_raw" => Some("lz4_raw"),
            _ => {
                let known = "zstd, snappy, gzip, lz4 and none are";
                return Err(input(format!("Parquet has no compression '{name}'; {known}")));
            }
        })
    }
}

impl CopyForm {
    /// Returns the format of the files, and a plan that gives its rows as that format holds them. Texts are
    /// compressed as the statement says, or else as `named`.
    pub(super) fn file_form(
        &self,
        context: &SessionContext,
        plan: LogicalPlan,
        named: Compression,
    ) -> Result<(LogicalPlan, FileForm)> {
        Ok(match self.format {
            FileFormat::Parquet => {
                let mut options = context.state().default_table_options().parquet;
                if let Some(codec) = self.codec()? {
                    options.global.compression = Some(codec.to_owned());
                }
                (with_texts_of_intervals(plan)?, FileForm::Parquet(Box::new(options)))
            }
            FileFormat::Json => {
                let compression = self.compression()?.unwrap_or(named);
                (with_texts(plan, true)?, FileForm::Json { compression })
            }
            FileFormat::Csv => {
                let (delimiter, header) =
                    (self.delimiter.unwrap_or(b','), self.header.unwrap_or(true));
                let compression = self.compression()?.unwrap_or(named);
                (with_texts(plan, false)?, FileForm::Csv { delimiter, header, compression })
            }
        })
    }
}

impl Session {
    pub(super) async fn copy(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let Statement::Copy { source, to, target, options, legacy_options, .. } =
            prepared.statement()
        else {
            return Err(gadus_engine::Error::internal("COPY was expected"));
        };
        let CopyTarget::File { filename } = target else {
            return Err(unsupported("COPY with anything but a file"));
        };
        self.files.check()?;
        let mut form = form_of(filename, options, legacy_options)?;
        if let Some(words) = &prepared.copy_words {
            form.take(words, *to)?;
        }
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
        form: &CopyForm,
    ) -> Result<u64> {
        let schema = target(&transaction.snapshot(), table)?;
        let names = columns.iter().map(|name| vec![name.clone()].into()).collect::<Vec<_>>();
        let columns = loaded_columns(&schema, &names)?;
        let mut source = FileSource::new(path, form.format);
        // Whoever copies says how the file is written, or means the usual.
        source.header = Some(form.header.unwrap_or(true));
        source.delimiter = form.delimiter.or(source.delimiter).or(Some(b','));
        source.compression = form.compression()?;
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
        form: &CopyForm,
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
        let context = self.planner(snapshot, &mut statement).await?;
        let plan = super::query::plan(&context, statement, parameters).await?;
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
    (stream, path): (StreamFile, &str),
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

fn form_of(path: &str, options: &[CopyOption], legacy: &[CopyLegacyOption]) -> Result<CopyForm> {
    let mut format = None;
    let mut form = CopyForm {
        format: FileFormat::Csv,
        header: None,
        delimiter: None,
        compression: None,
        rejects: None,
        partitions: None,
    };
    let delimiter = |character: &char| {
        u8::try_from(*character).map_err(|_| input("a delimiter is one ASCII character"))
    };
    for option in options {
        match option {
            CopyOption::Format(name) => format = Some(FileFormat::named(&name.value)?),
            CopyOption::Header(header) => form.header = Some(*header),
            CopyOption::Delimiter(character) => form.delimiter = Some(delimiter(character)?),
            other => return Err(unsupported(&format!("the COPY option {other}"))),
        }
    }
    for option in legacy {
        match option {
            CopyLegacyOption::Csv(_) => format = Some(FileFormat::Csv),
            CopyLegacyOption::Parquet => format = Some(FileFormat::Parquet),
            CopyLegacyOption::Header => form.header = Some(true),
            CopyLegacyOption::Delimiter(character) => form.delimiter = Some(delimiter(character)?),
            other => return Err(unsupported(&format!("the COPY option {other}"))),
        }
    }
    form.format = format.or_else(|| FileFormat::of_path(path)).ok_or_else(|| {
        input(format!("the ending of '{path}' names no format: add (FORMAT csv) or another"))
    })?;
    Ok(form)
}
