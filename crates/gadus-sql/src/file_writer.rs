//! Rows written in a file format, to whatever bytes can be written to.

use crate::copy_text::{CopyForm, CopyFormat, LineWriter};
use crate::error::{error_of_system, from_datafusion};
use crate::partitioned::failed;
use crate::text_files::{CompressedFile, Compression};
use crate::written::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};
use arrow::array::RecordBatch;
use arrow::csv::Writer as CsvWriter;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::json::LineDelimitedWriter;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::file_options::parquet_writer::ParquetWriterOptions;
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use gadus_engine::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a Parquet row group, about: what is held of a file in memory.
const GROUP_BYTES: usize = 64 << 20;

/// Format of a file that is written.
#[derive(Debug, Clone)]
pub(crate) enum FileForm {
    Parquet(Box<TableParquetOptions>),
    Csv {
        delimiter: u8,
        header: bool,
        compression: Compression,
    },
    Json {
        compression: Compression,
    },
    /// Lines of texts as PostgreSQL writes them.
    Lines {
        form: CopyForm,
        compression: Compression,
    },
}

/// A file that rows are written to; unless it is finished, it is none.
pub(crate) struct FileWriter<W: Write + Send> {
    encoder: Encoder<W>,
    /// Name of the file in errors.
    path: PathBuf,
}

enum Encoder<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Csv(Box<CsvWriter<CompressedFile<W>>>),
    Json(Box<LineDelimitedWriter<CompressedFile<W>>>),
    Lines(Box<LineWriter<CompressedFile<W>>>),
}

impl FileForm {
    /// Returns the usual ending of such a file's name.
    pub(crate) fn ending(&self) -> String {
        match self {
            Self::Parquet(_) => ".parquet".to_owned(),
            Self::Csv { compression, .. } => format!(".csv{}", compression.ending()),
            Self::Json { compression } => format!(".json{}", compression.ending()),
            Self::Lines { form, compression } => match form.format {
                CopyFormat::Csv => format!(".csv{}", compression.ending()),
                _ => format!(".txt{}", compression.ending()),
            },
        }
    }

    /// Begins to write rows of a schema; errors name `path`.
    pub(crate) fn writer<W: Write + Send>(
        &self,
        file: W,
        schema: &SchemaRef,
        path: &Path,
    ) -> Result<FileWriter<W>> {
        let compressed = |compression: Compression, file: W| {
            compression.writer(file).map_err(|error| failed(path, &error))
        };
        let encoder = match self {
            Self::Parquet(options) => {
                let properties = properties(options, schema).map_err(from_datafusion)?;
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
                let writer = writer.map_err(|error| from_datafusion(error.into()))?;
                Encoder::Parquet(Box::new(writer))
            }
            Self::Csv { delimiter, header, compression } => {
                let builder = CsvBuilder::new().with_header(*header).with_delimiter(*delimiter);
                let builder = builder.with_timestamp_format(POINT_FORMAT.to_owned());
                let builder = builder.with_timestamp_tz_format(POINT_WITH_ZONE_FORMAT.to_owned());
                Encoder::Csv(Box::new(builder.build(compressed(*compression, file)?)))
            }
            Self::Json { compression } => {
                let file = compressed(*compression, file)?;
                Encoder::Json(Box::new(LineDelimitedWriter::new(file)))
            }
            Self::Lines { form, compression } => {
                let writer = LineWriter::new(compressed(*compression, file)?, form.clone(), schema);
                Encoder::Lines(Box::new(writer.map_err(|error| failed(path, &error))?))
            }
        };
        Ok(FileWriter { encoder, path: path.to_owned() })
    }
}

/// Returns the properties that the writer of single files has.
fn properties(
    options: &TableParquetOptions,
    schema: &SchemaRef,
) -> std::result::Result<WriterProperties, DataFusionError> {
    let mut options = options.clone();
    options.arrow_schema(schema);
    Ok(ParquetWriterOptions::try_from(&options)?.writer_options().clone())
}

impl<W: Write + Send> FileWriter<W> {
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.encoder {
            Encoder::Parquet(writer) => {
                let written = writer.write(batch).and_then(|()| {
                    if writer.in_progress_size() > GROUP_BYTES { writer.flush() } else { Ok(()) }
                });
                written.map_err(|error| not_written(&self.path, error.into()))
            }
            Encoder::Csv(writer) => {
                writer.write(batch).map_err(|error| not_written(&self.path, error.into()))
            }
            Encoder::Json(writer) => {
                writer.write(batch).map_err(|error| not_written(&self.path, error.into()))
            }
            Encoder::Lines(writer) => {
                writer.write(batch).map_err(|error| failed(&self.path, &error))
            }
        }
    }

    /// Writes what the format has at its end, and what is left in buffers.
    pub(crate) fn finish(self) -> Result<()> {
        let file = match self.encoder {
            Encoder::Parquet(writer) => {
                let closed = writer.close().map(drop);
                return closed.map_err(|error| not_written(&self.path, error.into()));
            }
            Encoder::Csv(writer) => writer.into_inner(),
            Encoder::Lines(writer) => {
                writer.into_inner().map_err(|error| failed(&self.path, &error))?
            }
            Encoder::Json(mut writer) => {
                writer.finish().map_err(|error| not_written(&self.path, error.into()))?;
                writer.into_inner()
            }
        };
        file.finish().map_err(|error| failed(&self.path, &error))
    }
}

fn not_written(path: &Path, error: DataFusionError) -> Error {
    match error_of_system(&error) {
        Some(error) => failed(path, &error),
        None => from_datafusion(error),
    }
}
