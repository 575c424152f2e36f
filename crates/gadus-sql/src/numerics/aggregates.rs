//! `sum`, `avg`, variances and standard deviations of exact numbers.
//!
//! - States of `gadus-numeric` stand between parts of an aggregation, as bytes.

use super::averages::{self, Averages};
use super::values::{Column, Written};
use super::{NUMERIC, of_numeric};
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use gadus_numeric::{Numeric, SumState, VarianceState};
use std::collections::VecDeque;
use std::sync::Arc;

/// Aggregate of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    Average,
    PopulationVariance,
    SampleVariance,
    PopulationDeviation,
    SampleDeviation,
}

/// Aggregates by name.
const KINDS: &[(&str, Kind)] = &[
    ("sum", Kind::Sum),
    ("avg", Kind::Average),
    ("var_pop", Kind::PopulationVariance),
    ("var_samp", Kind::SampleVariance),
    ("variance", Kind::SampleVariance),
    ("stddev_pop", Kind::PopulationDeviation),
    ("stddev_samp", Kind::SampleDeviation),
    ("stddev", Kind::SampleDeviation),
];

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfNumerics {
    name: &'static str,
    kind: Kind,
    signature: Signature,
}

/// Returns the aggregate of a name, of exact numbers of any type.
pub(crate) fn aggregate(name: &str) -> Option<Arc<AggregateUDF>> {
    let (name, kind) = KINDS.iter().find(|(known, _)| *known == name)?;
    let signature = Signature::any(1, Volatility::Immutable);
    let function = OfNumerics { name, kind: *kind, signature };
    Some(Arc::new(AggregateUDF::new_from_impl(function)))
}

/// State of one group.
#[derive(Debug, Clone)]
enum State {
    Sum(SumState),
    Variance(VarianceState),
}

impl Kind {
    fn state(self) -> State {
        match self {
            Self::Sum | Self::Average => State::Sum(SumState::new()),
            _ => State::Variance(VarianceState::new()),
        }
    }

    fn result(self, state: &State) -> Result<Option<Numeric>> {
        let result = match (self, state) {
            (Self::Average, State::Sum(state)) => state.average(),
            (_, State::Sum(state)) => state.sum(),
            (Self::PopulationVariance, State::Variance(state)) => state.var_pop(),
            (Self::PopulationDeviation, State::Variance(state)) => state.stddev_pop(),
            (Self::SampleDeviation, State::Variance(state)) => state.stddev_samp(),
            (_, State::Variance(state)) => state.var_samp(),
        };
        result.map_err(of_numeric)
    }
}

impl State {
    fn add(&mut self, value: &Numeric) {
        match self {
            Self::Sum(state) => state.add(value),
            Self::Variance(state) => state.add(value),
        }
    }

    /// Removes a value; returns false if the state has to be made anew.
    fn remove(&mut self, value: &Numeric) -> bool {
        match self {
            Self::Sum(state) => state.remove(value),
            Self::Variance(state) => state.remove(value),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Sum(state) => state.to_bytes(),
            Self::Variance(state) => state.to_bytes(),
        }
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Sum(state) => state.merge(&SumState::from_bytes(bytes).map_err(of_numeric)?),
            Self::Variance(state) => {
                state.merge(&VarianceState::from_bytes(bytes).map_err(of_numeric)?);
            }
        }
        Ok(())
    }
}

impl AggregateUDFImpl for OfNumerics {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(NUMERIC)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if let [value] = args.input_fields
            && self.narrow_scale(value.data_type()).is_some()
        {
            return Ok(averages::state_fields(args.name));
        }
        let name = format!("{}[state]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) of numerics", self.name());
        }
        if let Some(scale) = self.scale_of(&args) {
            return Ok(Box::new(Averages::new(scale)));
        }
        Ok(Box::new(OneGroup { kind: self.kind, state: self.kind.state() }))
    }

    /// Moving frames: a state of which a value cannot be removed is made anew of those that are left.
    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) over a moving frame", self.name());
        }
        let state = self.kind.state();
        Ok(Box::new(Moving { kind: self.kind, state, values: VecDeque::new() }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        if let Some(scale) = self.scale_of(&args) {
            return Ok(Box::new(Averages::new(scale)));
        }
        Ok(Box::new(ManyGroups { kind: self.kind, groups: Vec::new() }))
    }
}

impl OfNumerics {
    /// Returns the scale of values whose averages are made of sums of 128 bits.
    fn narrow_scale(&self, values: &DataType) -> Option<i8> {
        let is_average = matches!(self.kind, Kind::Average);
        averages::narrow_scale(values).filter(|_| is_average)
    }

    fn scale_of(&self, args: &AccumulatorArgs<'_>) -> Option<i8> {
        self.narrow_scale(args.expr_fields.first()?.data_type())
    }
}

/// Aggregate over one group.
#[derive(Debug)]
struct OneGroup {
    kind: Kind,
    state: State,
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = Column::of(&values[0])?;
        for row in 0..values[0].len() {
            if let Some(value) = column.get(row)? {
                self.state.add(&value);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        scalar(self.kind.result(&self.state)?.as_ref())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.state.bytes()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i32>().iter().flatten() {
            self.state.merge(bytes)?;
        }
        Ok(())
    }
}

/// Aggregate over a frame that moves.
#[derive(Debug)]
struct Moving {
    kind: Kind,
    state: State,
    /// Values of the frame, the first one first.
    values: VecDeque<Numeric>,
}

impl Accumulator for Moving {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = Column::of(&values[0])?;
        for row in 0..values[0].len() {
            if let Some(value) = column.get(row)? {
                self.state.add(&value);
                self.values.push_back(value);
            }
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = Column::of(&values[0])?;
        let mut is_known = true;
        for row in 0..values[0].len() {
            if let Some(value) = column.get(row)? {
                self.values.pop_front();
                is_known = is_known && self.state.remove(&value);
            }
        }
        if !is_known {
            self.state = self.kind.state();
            self.values.iter().for_each(|value| self.state.add(value));
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        scalar(self.kind.result(&self.state)?.as_ref())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<Numeric>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("a moving frame has no parts")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("a moving frame has no parts")
    }
}

fn scalar(value: Option<&Numeric>) -> Result<ScalarValue> {
    let mut written = Written::default();
    written.push(value);
    ScalarValue::try_from_array(&written.finish(), 0)
}

/// Aggregate over many groups.
#[derive(Debug)]
struct ManyGroups {
    kind: Kind,
    groups: Vec<State>,
}

impl ManyGroups {
    fn grow(&mut self, count: usize) {
        let kind = self.kind;
        self.groups.resize_with(count, || kind.state());
    }
}

/// Returns true for a row that the filter keeps.
pub(super) fn is_kept(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl GroupsAccumulator for ManyGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.grow(count);
        let column = Column::of(&values[0])?;
        for (row, group) in groups.iter().enumerate() {
            if is_kept(filter, row)
                && let Some(value) = column.get(row)?
            {
                self.groups[*group].add(&value);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut written = Written::default();
        for state in emit.take_needed(&mut self.groups) {
            written.push(self.kind.result(&state)?.as_ref());
        }
        Ok(written.finish())
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut states = BinaryBuilder::new();
        for state in emit.take_needed(&mut self.groups) {
            states.append_value(state.bytes());
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.grow(count);
        let states = states[0].as_binary::<i32>();
        for (row, group) in groups.iter().enumerate() {
            if states.is_valid(row) {
                self.groups[*group].merge(states.value(row))?;
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let (column, mut states) = (Column::of(&values[0])?, BinaryBuilder::new());
        for row in 0..values[0].len() {
            let mut state = self.kind.state();
            if is_kept(filter, row)
                && let Some(value) = column.get(row)?
            {
                state.add(&value);
            }
            states.append_value(state.bytes());
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        self.groups.capacity() * size_of::<State>()
    }
}
