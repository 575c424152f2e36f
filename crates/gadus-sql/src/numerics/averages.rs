//! `avg` of integers and decimals of one scale: sums of 128 bits.
//!
//! - No number of rows that a table can have makes sums of values of up to [`DIGITS_MAX`] digits overflow; one that does
//!   is an error nevertheless.
//! - An average has the digits that `gadus-numeric` gives a quotient.

use super::aggregates::is_kept;
use super::of_numeric;
use super::values::Written;
use crate::error::{input, to_datafusion};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use gadus_engine::ErrorKind;
use gadus_numeric::Numeric;
use std::sync::Arc;

/// Digits of values whose sums fit 38 digits, of up to 10^10 rows.
const DIGITS_MAX: u8 = 28;

/// Type of sums; their scale is that of the values.
const SUM: DataType = DataType::Decimal128(38, 0);

/// Returns the number of digits behind the point of values that are summed in 128 bits; `None` for others.
pub(super) fn narrow_scale(values: &DataType) -> Option<i8> {
    match values {
        DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(0),
        DataType::Decimal128(digits, scale) if *digits <= DIGITS_MAX => Some(*scale),
        _ => None,
    }
}

/// Returns the columns of a state: sums without a scale, and numbers of values.
pub(super) fn state_fields(name: &str) -> Vec<FieldRef> {
    vec![
        Arc::new(Field::new(format!("{name}[sum]"), SUM, true)),
        Arc::new(Field::new(format!("{name}[count]"), DataType::Int64, true)),
    ]
}

/// Averages of groups; of one group without GROUP BY.
#[derive(Debug)]
pub(super) struct Averages {
    scale: i8,
    sums: Vec<i128>,
    counts: Vec<i64>,
}

impl Averages {
    pub(super) fn new(scale: i8) -> Self {
        Self { scale, sums: Vec::new(), counts: Vec::new() }
    }

    fn grow(&mut self, count: usize) {
        self.sums.resize(count, 0);
        self.counts.resize(count, 0);
    }

    fn add(&mut self, group: usize, sum: i128, count: i64) -> Result<()> {
        let Some(total) = self.sums[group].checked_add(sum) else {
            let error = input("value overflows numeric format").of_kind(ErrorKind::OutOfRange);
            return Err(to_datafusion(error));
        };
        self.sums[group] = total;
        self.counts[group] += count;
        Ok(())
    }

    fn average(&self, sum: i128, count: i64) -> Result<Option<Numeric>> {
        if count == 0 {
            return Ok(None);
        }
        let sum = Numeric::from_unscaled(sum, self.scale.into());
        let average = sum.and_then(|sum| sum.divide(&Numeric::from(count)));
        average.map(Some).map_err(of_numeric)
    }
}

/// Values without their scale.
enum Values {
    Wide(Decimal128Array),
    Integers(Int64Array),
}

impl Values {
    fn of(array: &ArrayRef) -> Result<Self> {
        match array.data_type() {
            DataType::Decimal128(..) => {
                Ok(Self::Wide(array.as_primitive::<Decimal128Type>().clone()))
            }
            DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                let wide = cast(array, &DataType::Int64)?;
                Ok(Self::Integers(wide.as_primitive::<Int64Type>().clone()))
            }
            other => internal_err!("the average of {other}"),
        }
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Wide(array) => array,
            Self::Integers(array) => array,
        }
    }

    fn get(&self, row: usize) -> i128 {
        match self {
            Self::Wide(array) => array.value(row),
            Self::Integers(array) => array.value(row).into(),
        }
    }
}

impl GroupsAccumulator for Averages {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.grow(count);
        let values = Values::of(&values[0])?;
        let has_nulls = values.array().null_count() > 0;
        for (row, &group) in groups.iter().enumerate() {
            if is_kept(filter, row) && !(has_nulls && values.array().is_null(row)) {
                self.add(group, values.get(row), 1)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut written = Written::default();
        let (sums, counts) = (emit.take_needed(&mut self.sums), emit.take_needed(&mut self.counts));
        for (sum, count) in sums.into_iter().zip(counts) {
            written.push(self.average(sum, count)?.as_ref());
        }
        Ok(written.finish())
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums = Decimal128Array::from(emit.take_needed(&mut self.sums)).with_data_type(SUM);
        let counts = Int64Array::from(emit.take_needed(&mut self.counts));
        Ok(vec![Arc::new(sums), Arc::new(counts)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.grow(count);
        let (sums, counts) =
            (states[0].as_primitive::<Decimal128Type>(), states[1].as_primitive::<Int64Type>());
        for (row, &group) in groups.iter().enumerate() {
            if sums.is_valid(row) && counts.is_valid(row) {
                self.add(group, sums.value(row), counts.value(row))?;
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values[0].len();
        let mut single = Self::new(self.scale);
        let groups = (0..rows).collect::<Vec<_>>();
        GroupsAccumulator::update_batch(&mut single, values, &groups, filter, rows)?;
        GroupsAccumulator::state(&mut single, EmitTo::All)
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<i64>()
    }
}

impl Accumulator for Averages {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.grow(1);
        let values = Values::of(&values[0])?;
        let array = values.array();
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            self.add(0, values.get(row), 1)?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.grow(1);
        let mut written = Written::default();
        written.push(self.average(self.sums[0], self.counts[0])?.as_ref());
        ScalarValue::try_from_array(&written.finish(), 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.grow(1);
        let sum = ScalarValue::Decimal128(Some(self.sums[0]), 38, 0);
        Ok(vec![sum, ScalarValue::Int64(Some(self.counts[0]))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let groups = vec![0; states[0].len()];
        GroupsAccumulator::merge_batch(self, states, &groups, 1)
    }
}
