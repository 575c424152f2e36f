//! Which share of a table's rows passes a test, as far as one can tell without a scan.
//!
//! - Counted in samples of some segments: hot values are known by them. Of what no sampled row passes,
//!   the sketches of the same segments say how rare it is.

mod distinct;

use crate::error::Result;
use crate::scan::{Comparison, Predicate, Test};
use crate::segment::{EncodedSegment, Sample};
use crate::snapshot::Table;
use crate::types::Datum;

/// Segments that are sampled.
const SEGMENTS_MAX: usize = 8;

/// Some segments of a table, spread over it.
pub(super) struct Samples<'a> {
    table: &'a Table,
    segments: Vec<&'a EncodedSegment>,
}

impl<'a> Samples<'a> {
    pub(super) fn of(table: &'a Table) -> Self {
        let segments = table.version().segments.values();
        let bases = segments.filter_map(|segment| segment.encoded.as_deref()).collect::<Vec<_>>();
        let step = bases.len().div_ceil(SEGMENTS_MAX).max(1);
        Self { table, segments: bases.into_iter().step_by(step).collect() }
    }

    /// About which share of the rows passes.
    #[allow(clippy::cast_precision_loss)] // counts of sampled rows
    pub(super) fn share(&self, predicate: &Predicate) -> Result<f64> {
        let (schema, blobs) = (self.table.schema(), self.table.blobs());
        let (mut rows, mut passing, mut by_sketches) = (0, 0, 0.0);
        for segment in &self.segments {
            let sample = segment.sample(schema, blobs, predicate.column)?;
            rows += sample.rows();
            passing += passing_of(sample, &predicate.test);
            if passing == 0 {
                by_sketches += self.by_sketch(segment, predicate)?;
            }
        }
        Ok(match (rows, passing) {
            (0, _) => 0.0,
            // Rarer than half a sampled row.
            (_, 0) => (by_sketches / self.segments.len() as f64).min(0.5 / rows as f64),
            _ => passing as f64 / rows as f64,
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

/// How many rows of a sample pass a test.
fn passing_of(sample: &Sample, test: &Test) -> usize {
    let values = &sample.values;
    let below = |bound: &Datum| values.partition_point(|value| value < bound);
    let up_to = |bound: &Datum| values.partition_point(|value| value <= bound);
    let all = values.len();
    let equal = |value: &Datum| {
        let rest = &values[below(value)..];
        // Most values that are asked for are in no sample.
        if rest.first() == Some(value) { rest.partition_point(|other| other <= value) } else { 0 }
    };
    match test {
        Test::Compare(comparison, bound) => match comparison {
            Comparison::Equal => equal(bound),
            Comparison::NotEqual => all - equal(bound),
            Comparison::Less => below(bound),
            Comparison::LessOrEqual => up_to(bound),
            Comparison::Greater => all - up_to(bound),
            Comparison::GreaterOrEqual => all - below(bound),
        },
        Test::Between(low, high) => up_to(high).saturating_sub(below(low)),
        Test::In(values) => values.iter().map(equal).sum(),
        Test::StartsWith(prefix) => {
            let prefix = prefix.as_slice();
            let is_below = |value: &Datum| match value {
                Datum::Bytes(bytes) => **bytes < *prefix,
                _ => true,
            };
            let first = values.partition_point(is_below);
            values[first..].partition_point(|value| test.passes(value))
        }
        Test::IsNull => sample.nulls,
        Test::IsNotNull => all,
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
