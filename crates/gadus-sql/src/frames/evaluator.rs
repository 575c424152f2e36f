//! Evaluation of a call for all rows of a partition.

use super::Framed;
use super::call::{Aggregation, Call};
use super::ends::Frames;
use crate::error::{input, to_datafusion};
use crate::executor::check_cancelled;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, new_empty_array};
use arrow::compute::{cast, filter};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::PartitionEvaluator;
use gadus_engine::Diagnosis;
use std::ops::Range;

/// Evaluator of one partition after the other.
#[derive(Debug)]
pub(super) struct Evaluator {
    framed: Framed,
    fields: Vec<FieldRef>,
}

impl Evaluator {
    pub(super) fn new(framed: Framed, fields: Vec<FieldRef>) -> Result<Self> {
        Ok(Self { framed, fields })
    }
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let (arguments, rest) = values.split_at(self.framed.arguments);
        let (filters, rest) = rest.split_at(usize::from(self.framed.has_filter));
        let (keys, offsets) = rest.split_at(self.framed.sort.len());
        let sorted = keys.iter().zip(&self.framed.sort);
        let sorted = sorted
            .map(|(key, options)| SortField::new_with_options(key.data_type().clone(), *options));
        let converter = RowConverter::new(sorted.collect())?;
        let frames =
            Frames::new(self.framed.frame, &converter, keys, offsets.iter().cloned(), rows)?;
        let rows_of = Rows { arguments, rows };
        let results = match &self.framed.call {
            Call::Aggregate(function) => {
                let aggregation = Aggregation::new(function.clone(), self.fields.clone())?;
                let filter = filters.first().map(|filter| filter.as_boolean());
                rows_of.aggregate(&frames, aggregation, filter)?
            }
            call => rows_of.values(&frames, call)?,
        };
        match results.is_empty() {
            true => Ok(new_empty_array(self.framed.call.field(&self.fields)?.data_type())),
            false => ScalarValue::iter_to_array(results),
        }
    }
}

/// Rows of a partition.
struct Rows<'a> {
    arguments: &'a [ArrayRef],
    rows: usize,
}

impl Rows<'_> {
    fn aggregate(
        &self,
        frames: &Frames,
        mut aggregation: Aggregation,
        kept: Option<&BooleanArray>,
    ) -> Result<Vec<ScalarValue>> {
        // Places of rows among those that are kept.
        let (arguments, places) = match kept {
            None => (self.arguments.to_vec(), None),
            Some(kept) => {
                let columns = self.arguments.iter().map(|column| filter(column, kept));
                let mut places = Vec::with_capacity(self.rows + 1);
                let mut count = 0;
                for is_kept in kept {
                    places.push(count);
                    count += usize::from(is_kept == Some(true));
                }
                places.push(count);
                (columns.collect::<Result<Vec<_>, _>>()?, Some(places))
            }
        };
        let among = |range: Range<usize>| match &places {
            None => range,
            Some(places) => places[range.start]..places[range.end],
        };
        let mut results = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            check_cancelled()?;
            let ranges = frames.of(row).into_iter().map(among).collect::<Vec<_>>();
            results.push(aggregation.over(&arguments, &ranges)?);
        }
        Ok(results)
    }

    fn values(&self, frames: &Frames, call: &Call) -> Result<Vec<ScalarValue>> {
        let numbers = match self.arguments.get(1) {
            Some(numbers) => Some(cast(numbers, &DataType::Int64)?),
            None => None,
        };
        let value = |row: usize| {
            let ranges = frames.of(row);
            let found = match call {
                Call::Last => ranges
                    .last()
                    .and_then(|range| range.end.checked_sub(1).filter(|last| range.contains(last))),
                Call::Nth => match numbers.as_ref().filter(|numbers| numbers.is_valid(row)) {
                    Some(numbers) => nth(&ranges, numbers.as_primitive::<Int64Type>().value(row))?,
                    None => None,
                },
                Call::First | Call::Aggregate(_) => nth(&ranges, 1)?,
            };
            match found {
                Some(found) => ScalarValue::try_from_array(&self.arguments[0], found),
                None => ScalarValue::try_from(self.arguments[0].data_type()),
            }
        };
        (0..self.rows).map(value).collect()
    }
}

/// Returns a row by its number within ranges, from 1.
fn nth(ranges: &[Range<usize>], number: i64) -> Result<Option<usize>> {
    let Some(mut left) = usize::try_from(number).ok().and_then(|number| number.checked_sub(1))
    else {
        let error = input("argument of nth_value must be greater than zero");
        let diagnosis = Diagnosis { sql_state: Some("22016"), ..Diagnosis::default() };
        return Err(to_datafusion(error.diagnosed(diagnosis)));
    };
    for range in ranges {
        if left < range.len() {
            return Ok(Some(range.start + left));
        }
        left -= range.len();
    }
    Ok(None)
}
