//! Which share of a table's rows passes a test, as far as one can tell without a scan.
//!
//! - Counted in samples of some segments: hot values are known by them. Of what no sampled row passes,
//!   the sketches of the same segments say how rare it is.

mod distinct;
mod drawn;

use crate::error::Result;
use crate::interrupt_check::check_interrupt;
use crate::scan::{Comparison, Predicate, Test};
use crate::segment::{EncodedSegment, Sample};
use crate::snapshot::Table;
use crate::types::Datum;
use drawn::{Drawn, Together};
use std::cell::OnceCell;

/// Segments that are sampled.
const SEGMENTS_MAX: usize = 8;

/// Who has so many questions gains by putting the samples of a column together.
const QUESTIONS_TOGETHER_MIN: usize = 64;

/// Some segments of a table, spread over it.
pub(super) struct Samples<'a> {
    table: &'a Table,
    segments: Vec<&'a EncodedSegment>,
    /// The samples of each column put together, as they are asked for; nothing is for few questions.
    together: Vec<OnceCell<Together<'a>>>,
}

impl<'a> Samples<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let segments = table.version().segments.values();
        let bases = segments.filter_map(|segment| segment.encoded.as_deref()).collect::<Vec<_>>();
        let step = bases.len().div_ceil(SEGMENTS_MAX).max(1);
        let segments = bases.into_iter().step_by(step).collect();
        Self { table, segments, together: Vec::new() }
    }

    /// The same for so many questions.
    pub(super) fn of_many(table: &'a Table, questions: usize) -> Self {
        let is_many = questions >= QUESTIONS_TOGETHER_MIN;
        let columns = if is_many { table.schema().columns.len() } else { 0 };
        Self { together: (0..columns).map(|_| OnceCell::new()).collect(), ..Self::of(table) }
    }

    /// About which share of the rows passes.
    #[allow(clippy::cast_precision_loss)] // counts of sampled rows
    pub(super) fn share(&self, predicate: &Predicate) -> Result<f64> {
        let (rows, passing) = self.passing(predicate)?;
        if rows == 0 || passing > 0 {
            return Ok(passing as f64 / rows.max(1) as f64);
        }
        let mut by_sketches = 0.0;
        for segment in &self.segments {
            by_sketches += self.by_sketch(segment, predicate)?;
        }
        // Rarer than half a sampled row.
        Ok((by_sketches / self.segments.len() as f64).min(0.5 / rows as f64))
    }

    /// The sampled rows, and those of them that pass.
    fn passing(&self, predicate: &Predicate) -> Result<(usize, usize)> {
        let Some(together) = self.together.get(predicate.column) else {
            let (mut rows, mut passing) = (0, 0);
            for sample in self.of_column(predicate.column) {
                let sample = sample?;
                rows += sample.rows();
                passing += sample.passing(&predicate.test);
            }
            return Ok((rows, passing));
        };
        let together = match together.get() {
            Some(together) => together,
            None => {
                let samples = self.of_column(predicate.column).collect::<Result<Vec<_>>>()?;
                together.get_or_init(|| Together::of(&samples))
            }
        };
        Ok((together.rows(), together.passing(&predicate.test)))
    }

    /// The sample of each segment.
    fn of_column(&self, column: usize) -> impl Iterator<Item = Result<&'a Sample>> {
        let (schema, blobs) = (self.table.schema(), self.table.blobs());
        self.segments.iter().map(move |segment| {
            // A sample that is not there yet takes a read of the column.
            check_interrupt()?;
            segment.sample(schema, blobs, column)
        })
    }

    fn by_sketch(&self, segment: &EncodedSegment, predicate: &Predicate) -> Result<f64> {
        let footer = segment.footer(self.table.schema(), self.table.blobs())?;
        let sketch = &footer.columns[predicate.column].sketch;
        let Some((min, max)) = &sketch.range else {
            return Ok(if sketch.nulls == segment.rows() { 0.0 } else { 1.0 });
        };
        if !predicate.test.may_pass(min, max) {
            return Ok(0.0);
        }
        let one_value = 1.0 / f64::from(sketch.distinct.max(1));
        Ok(match &predicate.test {
            Test::In(values) => {
                let inside = values.iter().filter(|value| min <= value && *value <= max);
                one_value * inside.fold(0.0, |count, _| count + 1.0)
            }
            range => share_of_range(range, min, max).unwrap_or(one_value).max(one_value),
        })
    }
}

/// The part of the values' range that a range of numbers covers.
#[allow(clippy::cast_precision_loss)] // an estimate
fn share_of_range(test: &Test, min: &Datum, max: &Datum) -> Option<f64> {
    let number = |datum: &Datum| match datum {
        Datum::Float(value) => Some(*value),
        integer => integer.as_wide().map(|value| value as f64),
    };
    let (min, max) = (number(min)?, number(max)?);
    let bounds = match test {
        Test::Between(low, high) => number(low).zip(number(high)),
        Test::Compare(Comparison::Less | Comparison::LessOrEqual, high) => {
            number(high).map(|high| (min, high))
        }
        Test::Compare(Comparison::Greater | Comparison::GreaterOrEqual, low) => {
            number(low).map(|low| (low, max))
        }
        _ => None,
    };
    let (low, high) = bounds?;
    let width = (max - min).max(f64::MIN_POSITIVE);
    Some(((high.min(max) - low.max(min)) / width).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
