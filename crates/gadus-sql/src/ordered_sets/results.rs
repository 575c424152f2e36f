//! Results of sorted groups.

use super::OrderedSet;
use crate::error::{input, to_datafusion};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue};
use gadus_engine::{ErrorKind, write_double};

/// Rows of a group in the order of their keys.
pub(super) struct Sorted {
    values: ArrayRef,
    keys: Vec<Box<[u8]>>,
    /// Rows by place.
    order: Vec<usize>,
}

impl Sorted {
    /// Sorts rows; equal ones stay in the order in which they came.
    pub(super) fn new(values: ArrayRef, keys: Vec<Box<[u8]>>) -> Self {
        let mut order = (0..keys.len()).collect::<Vec<_>>();
        order.sort_by(|one, other| keys[*one].cmp(&keys[*other]));
        Self { values, keys, order }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn result(
        &self,
        set: OrderedSet,
        part: Option<f64>,
        place: &[u8],
    ) -> Result<ScalarValue> {
        match set {
            OrderedSet::PercentileDisc => self.percentile_disc(checked(part)?),
            OrderedSet::PercentileCont => self.percentile_cont(checked(part)?),
            OrderedSet::Mode => self.mode(),
            OrderedSet::Rank => Ok(ScalarValue::Int64(Some(self.rank(place)))),
            OrderedSet::DenseRank => Ok(ScalarValue::Int64(Some(self.dense_rank(place)))),
            OrderedSet::PercentRank => {
                let rank = self.rank(place) - 1;
                let rows = self.keys.len();
                let part = if rows == 0 { 0.0 } else { double(rank) / double(rows) };
                Ok(ScalarValue::Float64(Some(part)))
            }
            OrderedSet::CumeDist => {
                let upto = self.keys.iter().filter(|key| ***key <= *place).count() + 1;
                Ok(ScalarValue::Float64(Some(double(upto) / double(self.keys.len() + 1))))
            }
        }
    }

    fn value_at(&self, place: usize) -> Result<ScalarValue> {
        match self.order.get(place) {
            Some(row) => ScalarValue::try_from_array(&self.values, *row),
            None => ScalarValue::try_from(self.values.data_type()),
        }
    }

    fn percentile_disc(&self, part: Option<f64>) -> Result<ScalarValue> {
        let Some(part) = part else { return self.value_at(usize::MAX) };
        let row = whole((part * double(self.order.len())).ceil());
        self.value_at(row.saturating_sub(1))
    }

    fn percentile_cont(&self, part: Option<f64>) -> Result<ScalarValue> {
        let Some((part, last)) = part.zip(self.order.len().checked_sub(1)) else {
            return Ok(ScalarValue::Float64(None));
        };
        let values = cast(&self.values, &DataType::Float64)?;
        let values = values.as_primitive::<Float64Type>();
        let place = part * double(last);
        let (first, second) = (whole(place.floor()), whole(place.ceil()));
        let value = |place: usize| values.value(self.order[place]);
        let result = match first == second {
            true => value(first),
            false => {
                let share = place - double(first);
                value(first) + share * (value(second) - value(first))
            }
        };
        Ok(ScalarValue::Float64(Some(result)))
    }

    /// Returns the most frequent value: of several the first.
    fn mode(&self) -> Result<ScalarValue> {
        let (mut best, mut first) = ((0, usize::MAX), 0);
        for place in 0..self.order.len() {
            if self.keys[self.order[first]] != self.keys[self.order[place]] {
                first = place;
            }
            let count = place - first + 1;
            if count > best.0 {
                best = (count, first);
            }
        }
        self.value_at(best.1)
    }

    fn rank(&self, place: &[u8]) -> i64 {
        let before = self.keys.iter().filter(|key| ***key < *place).count();
        i64::try_from(before).unwrap_or(i64::MAX) + 1
    }

    fn dense_rank(&self, place: &[u8]) -> i64 {
        let mut before = self.order.iter().map(|row| &self.keys[*row]).collect::<Vec<_>>();
        before.dedup();
        let before = before.into_iter().filter(|key| ***key < *place).count();
        i64::try_from(before).unwrap_or(i64::MAX) + 1
    }
}

/// Returns the double that is nearest to a number.
#[expect(clippy::cast_precision_loss, reason = "numbers of rows are below 2^53")]
fn double(number: impl TryInto<u64>) -> f64 {
    number.try_into().unwrap_or_default() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is the place of a row"
)]
fn whole(place: f64) -> usize {
    place as usize
}

/// Refuses what is no part of all.
fn checked(part: Option<f64>) -> Result<Option<f64>> {
    match part {
        Some(part) if !(0.0..=1.0).contains(&part) => {
            let mut text = String::new();
            // A String takes all that is written to it.
            let _ = write_double(&mut text, part);
            let message = format!("percentile value {text} is not between 0 and 1");
            Err(to_datafusion(input(message).of_kind(ErrorKind::OutOfRange)))
        }
        part => Ok(part),
    }
}
