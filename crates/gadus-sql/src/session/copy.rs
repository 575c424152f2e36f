//! COPY between tables and files.

use super::copy_partitioned::PartitionForm;
use super::copy_rejects::{Recorder, RejectsForm};
use super::copy_words::CopyWords;
use super::files::{FileFormat, FileSource};
use super::insert::loaded_columns;
use super::locking::Part;
use super::modify::target;
use super::{Outcome, Prepared, Session, State};
use crate::error::{from_datafusion, input, unsupported};
use crate::intervals::with_texts_of_intervals;
use crate::text_files::Compression;
use crate::uuids::with_texts;
use crate::value::Value;
use crate::written::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::config::{CsvOptions, JsonOptions};
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::{DataFrame, SessionContext};
use datafusion::sql::sqlparser::ast::{
    CopyLegacyOption, CopyOption, CopySource, CopyTarget, Ident, ObjectName, Statement,
};
use gadus_engine::{Isolation, Result, TableSchema, Transaction, type_with_texts};
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
        let path = &*self.files.to_write(path)?;
        let plan = match form.format {
            FileFormat::Parquet => with_texts_of_intervals(plan)?,
            FileFormat::Json => with_texts(plan, true)?,
            FileFormat::Csv => with_texts(plan, false)?,
        };
        let frame = DataFrame::new(context.state(), plan);
        let options = DataFrameWriteOptions::new().with_single_file_output(true);
        let named = Compression::of_path(path).0;
        let written = match form.format {
            FileFormat::Parquet => {
                let mut parquet = context.state().default_table_options().parquet;
                if let Some(codec) = form.codec()? {
                    parquet.global.compression = Some(codec.to_owned());
                }
                frame.write_parquet(path, options, Some(parquet)).await
            }
            FileFormat::Json => {
                let compression = form.compression()?.unwrap_or(named).for_writing();
                let json = JsonOptions { compression, ..JsonOptions::default() };
                frame.write_json(path, options, Some(json)).await
            }
            FileFormat::Csv => {
                let points = CsvOptions {
                    timestamp_format: Some(POINT_FORMAT.to_owned()),
                    timestamp_tz_format: Some(POINT_WITH_ZONE_FORMAT.to_owned()),
                    ..CsvOptions::default()
                };
                let csv = points
                    .with_has_header(form.header.unwrap_or(true))
                    .with_delimiter(form.delimiter.unwrap_or(b','))
                    .with_compression(form.compression()?.unwrap_or(named).for_writing());
                frame.write_csv(path, options, Some(csv)).await
            }
        };
        let batches = written.map_err(from_datafusion)?;
        Ok(Outcome::Changed { verb: "COPY", rows: written_rows(&batches) })
    }
}

/// The count that a write yields as its one value.
fn written_rows(batches: &[arrow::array::RecordBatch]) -> u64 {
    use arrow::array::AsArray;
    use arrow::datatypes::UInt64Type;
    let count = |batch: &arrow::array::RecordBatch| {
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
