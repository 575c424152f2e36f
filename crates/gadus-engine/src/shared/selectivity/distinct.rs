//! How many different values a column has, about.
//!
//! - Segments count their values as long as there are few. Where there are many, samples tell: how many of their values
//!   are equal, and how many rows are followed by the same value, as in a table that is ordered by them.
//! - Values of a kilobyte and more count as different where segments have counted so: they take a whole read to draw.
//! - Where segments have values of their own each, as in such a table, their counts are added; otherwise all draw
//!   from the same values.

use super::Samples;
use crate::error::Result;
use crate::types::Datum;

/// Where so many of some values are different, all are.
const UNIQUE_SHARE: f64 = 0.98;

/// Bytes of a value, encoded, above which none are drawn.
const DRAWN_BYTES_MAX: f64 = 1024.0;

/// Fewer sampled values tell nothing.
const DRAWN_MIN: f64 = 64.0;

/// Fewer equal ones among those that were drawn are chance.
const EQUAL_MIN: f64 = 3.0;

/// What some segments tell of a column: sums over them.
#[derive(Debug, Default)]
struct Told {
    rows: f64,
    values: f64,
    /// As the segments have counted, or more.
    counted: f64,
    /// Bytes of the column, encoded.
    bytes: f64,
    drawn: f64,
    /// Of those drawn in a segment.
    distinct: f64,
    repeated: f64,
    ranges: Vec<(Datum, Datum)>,
}

impl Samples<'_> {
    /// About how many different values a column has; none where no segment says.
    #[allow(clippy::cast_precision_loss)] // counts of rows
    pub(in crate::shared) fn distinct(&self, column: usize) -> Result<Option<f64>> {
        let mut told = self.told(column)?;
        if told.values == 0.0 {
            return Ok(None);
        }
        let all = self.table.about_rows() as f64 * told.values / told.rows;
        told.ranges.sort();
        let is_apart = told.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let distinct = told.distinct_of(all, self.segments.len() as f64, is_apart);
        let most = told.values_in_range().filter(|_| !is_apart || self.segments.len() == 1);
        Ok(Some(distinct.min(most.unwrap_or(all)).clamp(1.0, all.max(1.0))))
    }

    #[allow(clippy::cast_precision_loss)] // counts of sampled rows
    fn told(&self, column: usize) -> Result<Told> {
        let (schema, blobs) = (self.table.schema(), self.table.blobs());
        let mut told = Told::default();
        for segment in &self.segments {
            let sketch = &segment.footer(schema, blobs)?.columns[column].sketch;
            told.rows += f64::from(segment.rows());
            told.values += f64::from(segment.rows() - sketch.nulls);
            told.counted += f64::from(sketch.distinct);
            told.bytes += segment.column_bytes(schema, blobs, column)? as f64;
            told.ranges.extend(sketch.range.clone());
        }
        let are_long = told.bytes > DRAWN_BYTES_MAX * told.values;
        if told.counted < UNIQUE_SHARE * told.values || are_long {
            return Ok(told);
        }
        for sample in self.of_column(column) {
            let sample = sample?;
            let different = sample.values.windows(2).filter(|pair| pair[0] != pair[1]).count();
            told.drawn += sample.values.len() as f64;
            told.distinct += (different + usize::from(!sample.values.is_empty())) as f64;
            told.repeated += sample.repeated as f64;
        }
        Ok(told)
    }
}

impl Told {
    /// Among `all` values of a table of which so many segments tell.
    fn distinct_of(&self, all: f64, segments: f64, is_apart: bool) -> f64 {
        let values = self.values / segments;
        if self.counted < UNIQUE_SHARE * self.values {
            let counted = (self.counted / segments).min(values);
            return if is_apart { counted * all / values } else { drawn_from(values, counted) };
        }
        if self.drawn < DRAWN_MIN {
            return all;
        }
        // Of rows one after the other that have the same value, one counts.
        let apart = 1.0 - self.repeated / self.drawn;
        let is_unique = self.drawn - self.distinct < EQUAL_MIN;
        match (is_unique, is_apart) {
            (true, _) => apart * all,
            (false, true) => {
                let drawn = drawn_from(self.drawn / segments, self.distinct / segments);
                drawn.min(apart * values) * all / values
            }
            (false, false) => {
                drawn_from(self.drawn / segments, self.distinct / segments).min(apart * all)
            }
        }
    }

    /// Integers between the least and the greatest; none where there are other values between.
    #[allow(clippy::cast_precision_loss)] // an estimate
    fn values_in_range(&self) -> Option<f64> {
        let mut bounds: Option<(i64, i64)> = None;
        for range in &self.ranges {
            let (Datum::Integer(least), Datum::Integer(greatest)) = range else { return None };
            let (low, high) = bounds.unwrap_or((*least, *greatest));
            bounds = Some((low.min(*least), high.max(*greatest)));
        }
        bounds.map(|(low, high)| high as f64 - low as f64 + 1.0)
    }
}

/// From how many values one has drawn who drew so often, and got so many different ones.
fn drawn_from(draws: f64, distinct: f64) -> f64 {
    let expected = |values: f64| values * (1.0 - (-draws / values).exp());
    let (mut low, mut high) = (distinct, distinct * draws.max(2.0));
    // Each step halves the ratio of the two, in logarithms.
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        match expected(middle) < distinct {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests;
