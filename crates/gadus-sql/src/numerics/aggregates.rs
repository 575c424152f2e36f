//! `sum` and `avg` of exact numbers.
//!
//! - What stands between parts of an aggregation is the count and the sum of each part.

use super::values::{Column, Written};
use super::{NUMERIC, of_numeric};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use gadus_numeric::{Numeric, SumState};
use std::sync::{Arc, LazyLock};

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfNumerics {
    is_average: bool,
    signature: Signature,
}

/// Returns `sum`, of exact numbers of any type.
pub(crate) fn sum() -> Arc<AggregateUDF> {
    static SUM: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| aggregate(false));
    SUM.clone()
}

/// Returns `avg`, of exact numbers of any type.
pub(crate) fn average() -> Arc<AggregateUDF> {
    static AVERAGE: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| aggregate(true));
    AVERAGE.clone()
}

fn aggregate(is_average: bool) -> Arc<AggregateUDF> {
    let signature = Signature::any(1, Volatility::Immutable);
    Arc::new(AggregateUDF::new_from_impl(OfNumerics { is_average, signature }))
}

/// State of one group.
#[derive(Debug, Clone, Default)]
struct Group {
    values: SumState,
    /// Sums of parts, and how many values these had.
    parts: SumState,
    part_count: i64,
}

impl Group {
    fn count(&self) -> i64 {
        self.values.count() + self.part_count
    }

    fn total(&self) -> Result<Option<Numeric>> {
        let mut all = self.values.clone();
        all.merge(&self.parts);
        all.sum().map_err(of_numeric)
    }

    fn result(&self, is_average: bool) -> Result<Option<Numeric>> {
        match (is_average, self.total()?) {
            (true, Some(total)) => {
                total.divide(&Numeric::from(self.count())).map(Some).map_err(of_numeric)
            }
            (_, total) => Ok(total),
        }
    }

    /// Adds a part that was aggregated elsewhere.
    fn merge(&mut self, count: i64, total: Option<&Numeric>) {
        if let Some(total) = total {
            self.parts.add(total);
            self.part_count += count;
        }
    }
}

impl AggregateUDFImpl for OfNumerics {
    fn name(&self) -> &'static str {
        if self.is_average { "avg" } else { "sum" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(NUMERIC)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |part: &str, data_type| Field::new(format!("{}[{part}]", args.name), data_type, true);
        Ok(vec![Arc::new(field("count", DataType::Int64)), Arc::new(field("sum", NUMERIC))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) of numerics", self.name());
        }
        Ok(Box::new(OneGroup { is_average: self.is_average, group: Group::default() }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(ManyGroups { is_average: self.is_average, groups: Vec::new() }))
    }
}

/// Aggregate over one group.
#[derive(Debug)]
struct OneGroup {
    is_average: bool,
    group: Group,
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = Column::of(&values[0])?;
        for row in 0..values[0].len() {
            if let Some(value) = column.get(row)? {
                self.group.values.add(&value);
            }
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = Column::of(&values[0])?;
        for row in 0..values[0].len() {
            if let Some(value) = column.get(row)?
                && !self.group.values.remove(&value)
            {
                // The sum is right; it has more digits than PostgreSQL shows.
                self.group.values.add(&value.negate());
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        scalar(self.group.result(self.is_average)?.as_ref())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let count = ScalarValue::Int64(Some(self.group.count()));
        Ok(vec![count, scalar(self.group.total()?.as_ref())?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (counts, totals) = (states[0].as_primitive::<Int64Type>(), Column::of(&states[1])?);
        for row in 0..counts.len() {
            self.group.merge(counts.value(row), totals.get(row)?.as_ref());
        }
        Ok(())
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
    is_average: bool,
    groups: Vec<Group>,
}

impl ManyGroups {
    fn taken(&mut self, emit: EmitTo) -> Vec<Group> {
        emit.take_needed(&mut self.groups)
    }
}

/// Returns true for a row that the filter keeps.
fn is_kept(filter: Option<&BooleanArray>, row: usize) -> bool {
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
        self.groups.resize_with(count, Group::default);
        let column = Column::of(&values[0])?;
        for (row, group) in groups.iter().enumerate() {
            if is_kept(filter, row)
                && let Some(value) = column.get(row)?
            {
                self.groups[*group].values.add(&value);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut written = Written::default();
        for group in self.taken(emit) {
            written.push(group.result(self.is_average)?.as_ref());
        }
        Ok(written.finish())
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let groups = self.taken(emit);
        let counts = groups.iter().map(Group::count).collect::<Int64Array>();
        let mut totals = Written::default();
        for group in &groups {
            totals.push(group.total()?.as_ref());
        }
        Ok(vec![Arc::new(counts), totals.finish()])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.groups.resize_with(count, Group::default);
        let (counts, totals) = (states[0].as_primitive::<Int64Type>(), Column::of(&states[1])?);
        for (row, group) in groups.iter().enumerate() {
            self.groups[*group].merge(counts.value(row), totals.get(row)?.as_ref());
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let (column, rows) = (Column::of(&values[0])?, values[0].len());
        let (mut counts, mut totals) = (Vec::with_capacity(rows), Written::default());
        for row in 0..rows {
            let value = if is_kept(filter, row) { column.get(row)? } else { None };
            counts.push(i64::from(value.is_some()));
            totals.push(value.as_ref());
        }
        Ok(vec![Arc::new(Int64Array::from(counts)), totals.finish()])
    }

    fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }
}
