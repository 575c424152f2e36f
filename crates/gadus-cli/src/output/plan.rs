//! What EXPLAIN gives, with the lines of its plans as lines.

use std::io::Write;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use gadus::EXPLAINED;

use super::{BatchWriter, cells};

/// The columns of the planner's own form.
const COLUMNS: [&str; 2] = ["plan_type", "plan"];

#[derive(Debug)]
pub(crate) struct Plan<W> {
    output: W,
}

impl<W: Write> Plan<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output }
    }
}

impl Plan<()> {
    /// Whether a result is one of EXPLAIN.
    pub(crate) fn is_one(schema: &SchemaRef) -> bool {
        schema.metadata().contains_key(EXPLAINED)
            || schema.fields().iter().map(|field| field.name().as_str()).eq(COLUMNS)
    }
}

impl<W: Write> BatchWriter for Plan<W> {
    fn start(&mut self, _: &SchemaRef) -> Result<(), ArrowError> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let first = cast(batch.column(0), &DataType::Utf8)?;
        if batch.num_columns() == 1 {
            let cells = first.as_string::<i32>().iter().flatten();
            for line in cells.flat_map(|cell| cell.trim_end_matches('\n').split('\n')) {
                writeln!(self.output, "{}", cells::shown(line))?;
            }
            return Ok(());
        }
        let (kinds, plans) = (first, cast(batch.column(1), &DataType::Utf8)?);
        let rows = kinds.as_string::<i32>().iter().zip(plans.as_string::<i32>());
        for (kind, plan) in rows {
            writeln!(self.output, "{}", cells::shown(kind.unwrap_or_default()))?;
            for line in plan.unwrap_or_default().lines() {
                writeln!(self.output, "  {}", cells::shown(line))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        Ok(())
    }
}
