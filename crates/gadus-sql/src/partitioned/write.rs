//! Rows as files of partitions.
//!
//! - Rows come sorted by their partitions, so that one file is open at a time, however many there are.

use super::names::folder_name;
use super::target::{Target, failed};
use crate::error::{from_datafusion, limit, unsupported};
use crate::text_files::{CompressedFile, Compression};
use crate::value::assign_array;
use crate::written::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::csv::Writer as CsvWriter;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::json::LineDelimitedWriter;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::file_options::parquet_writer::ParquetWriterOptions;
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use gadus_engine::{ColumnType, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders that one COPY makes.
const PARTITIONS_MAX: usize = 100_000;

/// What a group of rows of Parquet has, about: what is held of a file.
const GROUP_BYTES: usize = 64 << 20;

/// The form of the files.
#[derive(Debug, Clone)]
pub(crate) enum FileForm {
    Parquet(Box<TableParquetOptions>),
    Csv { delimiter: u8, header: bool, compression: Compression },
    Json { compression: Compression },
}

impl FileForm {
    fn ending(&self) -> String {
        match self {
            Self::Parquet(_) => ".parquet".to_owned(),
            Self::Csv { compression, .. } => format!(".csv{}", compression.ending()),
            Self::Json { compression } => format!(".json{}", compression.ending()),
        }
    }
}

/// Writes rows to the files of their partitions.
pub(crate) struct PartitionWriter {
    target: Target,
    form: FileForm,
    /// The columns by which rows are divided, with their names, in the order of the folders.
    by: Vec<(usize, String)>,
    /// The columns of the files.
    kept: Vec<usize>,
    schema: SchemaRef,
    partitions: usize,
    open: Option<(Vec<Option<String>>, OpenFile)>,
}

enum OpenFile {
    Parquet(Box<ArrowWriter<File>>),
    Csv(Box<CsvWriter<CompressedFile>>, PathBuf),
    Json(Box<LineDelimitedWriter<CompressedFile>>, PathBuf),
}

impl PartitionWriter {
    pub(crate) fn new(
        target: Target,
        form: FileForm,
        schema: &Schema,
        by: &[usize],
    ) -> Result<Self> {
        for place in by {
            let field = schema.field(*place);
            let data_type = field.data_type();
            if data_type.is_nested() || data_type.is_binary() {
                let shown = ColumnType::from_field(field)
                    .map_or_else(|| data_type.to_string(), |known| known.to_string());
                return Err(unsupported(&format!("PARTITION_BY a column of {shown}")));
            }
        }
        let kept =
            (0..schema.fields().len()).filter(|place| !by.contains(place)).collect::<Vec<_>>();
        let schema_kept = Arc::new(schema.project(&kept)?);
        let by = by.iter().map(|place| (*place, schema.field(*place).name().clone()));
        let by = by.collect();
        Ok(Self { target, form, by, kept, schema: schema_kept, partitions: 0, open: None })
    }

    /// Takes rows that are sorted by their partitions, also behind those that came before.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let texts =
            self.by.iter().map(|(place, _)| assign_array(batch.column(*place), ColumnType::Text));
        let texts = texts.collect::<Result<Vec<ArrayRef>>>()?;
        let rows = batch.project(&self.kept)?;
        for range in arrow::compute::partition(&texts)?.ranges() {
            let value = |texts: &ArrayRef| {
                let is_null = texts.is_null(range.start);
                (!is_null).then(|| texts.as_string_view().value(range.start).to_owned())
            };
            let key = texts.iter().map(value).collect::<Vec<_>>();
            if self.open.as_ref().is_none_or(|(open, _)| *open != key) {
                self.close()?;
                let file = self.next_file(&key)?;
                self.open = Some((key, file));
            }
            if let Some((_, file)) = &mut self.open {
                file.write(&rows.slice(range.start, range.len()))?;
            }
        }
        Ok(())
    }

    /// Puts all files in their place.
    pub(crate) fn end(mut self) -> Result<()> {
        self.close()?;
        self.target.end()
    }

    fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some((_, file)) => file.close(),
            None => Ok(()),
        }
    }

    fn next_file(&mut self, key: &[Option<String>]) -> Result<OpenFile> {
        self.partitions += 1;
        if self.partitions > PARTITIONS_MAX {
            return Err(limit(format!("more than {PARTITIONS_MAX} partitions")));
        }
        let mut folder = self.target.path().to_owned();
        for ((_, column), value) in self.by.iter().zip(key) {
            folder.push(folder_name(column, value.as_deref()));
        }
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        // Values may differ whose texts do not.
        let path = |number: usize| folder.join(format!("data_{number}{}", self.form.ending()));
        let path = (0..).map(path).find(|path| !path.exists()).unwrap_or_else(|| path(0));
        self.create(&path)
    }

    fn create(&self, path: &Path) -> Result<OpenFile> {
        let file = File::create_new(path).map_err(|error| failed(path, &error))?;
        let compressed = |compression: Compression| -> Result<CompressedFile> {
            let file = file.try_clone().map_err(|error| failed(path, &error))?;
            compression.writer(file).map_err(|error| failed(path, &error))
        };
        let path = path.to_owned();
        Ok(match &self.form {
            FileForm::Parquet(options) => {
                let properties = properties(options, &self.schema).map_err(from_datafusion)?;
                let writer = ArrowWriter::try_new(file, self.schema.clone(), Some(properties));
                let writer = writer.map_err(|error| from_datafusion(error.into()))?;
                OpenFile::Parquet(Box::new(writer))
            }
            FileForm::Csv { delimiter, header, compression } => {
                let builder = CsvBuilder::new().with_header(*header).with_delimiter(*delimiter);
                let builder = builder.with_timestamp_format(POINT_FORMAT.to_owned());
                let builder = builder.with_timestamp_tz_format(POINT_WITH_ZONE_FORMAT.to_owned());
                OpenFile::Csv(Box::new(builder.build(compressed(*compression)?)), path)
            }
            FileForm::Json { compression } => {
                OpenFile::Json(Box::new(LineDelimitedWriter::new(compressed(*compression)?)), path)
            }
        })
    }
}

/// As the writer of single files has them.
fn properties(
    options: &TableParquetOptions,
    schema: &SchemaRef,
) -> std::result::Result<WriterProperties, DataFusionError> {
    let mut options = options.clone();
    options.arrow_schema(schema);
    Ok(ParquetWriterOptions::try_from(&options)?.writer_options().clone())
}

impl OpenFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => {
                let written = writer.write(batch).and_then(|()| {
                    if writer.in_progress_size() > GROUP_BYTES { writer.flush() } else { Ok(()) }
                });
                written.map_err(|error| from_datafusion(error.into()))
            }
            Self::Csv(writer, _) => Ok(writer.write(batch)?),
            Self::Json(writer, _) => Ok(writer.write(batch)?),
        }
    }

    fn close(self) -> Result<()> {
        let (file, path) = match self {
            Self::Parquet(writer) => {
                return writer.close().map(drop).map_err(|error| from_datafusion(error.into()));
            }
            Self::Csv(writer, path) => (writer.into_inner(), path),
            Self::Json(mut writer, path) => {
                writer.finish()?;
                (writer.into_inner(), path)
            }
        };
        file.finish().map_err(|error| failed(&path, &error))
    }
}
