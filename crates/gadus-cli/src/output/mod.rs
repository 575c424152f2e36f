//! Writing result rows for people and programs: one file per family of formats.
//!
//! - Streaming: memory does not grow with the result; a table measures its first rows only.
//! - What a value could do to a terminal, it does not do: control characters are shown, not sent.
//! - NULL is `NULL` in tables, empty in CSV, `null` in JSON.

mod boxes;
mod cells;
mod encoded;
mod layout;
mod markdown;
mod numbers;
mod parquet;
mod plan;
mod texts;
mod times;

#[cfg(test)]
mod tests;

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use clap::ValueEnum;

pub(crate) use layout::cut;
pub(crate) use plan::Plan;
use texts::Texts;
pub(crate) use times::Times;

/// How points in time are written, and those with a zone.
const POINT_FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f";
const POINT_WITH_ZONE_FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f%:z";

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Boxes, for reading
    Table,
    /// Comma-separated values with a header
    Csv,
    /// One array of objects
    Json,
    /// One object per line
    Jsonl,
    /// A Markdown table
    Markdown,
    /// An Arrow IPC stream
    Arrow,
    /// A Parquet file
    Parquet,
}

/// How much of a result a table shows; everything when nothing is set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    /// Columns of the terminal.
    pub(crate) width_max: Option<usize>,
    /// Rows shown, half from the beginning and half from the end.
    pub(crate) rows_max: Option<usize>,
}

/// Takes the batches of one result, in order.
pub(crate) trait BatchWriter {
    /// Called once, before any batch.
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError>;
    /// Writes rows of the started schema.
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError>;
    /// Called once, after the last batch; the output itself stays to be flushed by its owner.
    fn finish(&mut self) -> Result<(), ArrowError>;
}

impl Format {
    /// A writer of this format to `output`; only tables mind the limits.
    pub(crate) fn writer<'a, W: Write + Send + 'a>(
        self,
        output: W,
        limits: Limits,
    ) -> Box<dyn BatchWriter + 'a> {
        match self {
            Self::Table => Box::new(Texts::of_identifiers(boxes::Boxes::new(output, limits))),
            Self::Csv => Box::new(Texts::of_identifiers_and_nested(encoded::Csv::new(output))),
            Self::Json => Box::new(Texts::of_identifiers(encoded::Json::new(output))),
            Self::Jsonl => Box::new(Texts::of_identifiers(encoded::JsonLines::new(output))),
            Self::Markdown => Box::new(Texts::of_identifiers(markdown::Markdown::new(output))),
            Self::Arrow => Box::new(encoded::Arrow::new(output)),
            Self::Parquet => Box::new(Texts::of_intervals(parquet::Parquet::new(output))),
        }
    }
}

impl<W: BatchWriter + ?Sized> BatchWriter for Box<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        (**self).start(schema)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        (**self).batch(batch)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        (**self).finish()
    }
}

impl Format {
    /// The formats' names, for messages.
    pub(crate) fn names() -> String {
        let names = Self::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        names.map(|name| name.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    }

    /// True when a terminal cannot show it.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        <Self as ValueEnum>::from_str(text, true)
    }
}
