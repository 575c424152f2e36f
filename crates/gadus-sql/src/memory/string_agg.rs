//! `string_agg`, under its own name, whose texts are bounded and counted.
//!
//! - DataFusion's counts the bytes of a text while its buffer doubles, and copies it for the result: a text within
//!   the memory limit took more than twice of that.
//! - Each row's own delimiter stands before its value, as in PostgreSQL; the first one is left out. A partial
//!   text keeps it, because another part may come before.
//! - With DISTINCT or ORDER BY it collects values in a list, as DataFusion's.

use super::Memory;
use crate::value_limits::check_value;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, LargeStringArray, StringViewArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::string_agg::string_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
};
use std::sync::Arc;

const NAME: &str = "string_agg";

/// Returns the function, to be registered in the place of DataFusion's.
pub(crate) fn bounded_string_agg(memory: &Memory) -> Arc<AggregateUDF> {
    let function = BoundedStringAgg { inner: string_agg_udaf(), memory: memory.clone() };
    Arc::new(AggregateUDF::new_from_impl(function))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct BoundedStringAgg {
    inner: Arc<AggregateUDF>,
    memory: Memory,
}

impl AggregateUDFImpl for BoundedStringAgg {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct || !args.ordering_fields.is_empty() {
            return self.inner.state_fields(args);
        }
        let field =
            |part: &str, kind| Arc::new(Field::new(format_state_name(args.name, part), kind, true));
        Ok(vec![field(NAME, DataType::LargeUtf8), field("delimiter_bytes", DataType::Int64)])
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct || !args.order_bys.is_empty() {
            return self.inner.accumulator(args);
        }
        Ok(Box::new(Text { texts: Texts::new(&self.memory) }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Reversed(bounded_string_agg(&self.memory))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Texts::new(&self.memory)))
    }
}

/// The text of one group, behind its first delimiter.
#[derive(Debug, Clone, Default)]
struct Joined {
    bytes: String,
    delimiter_bytes: usize,
}

impl Joined {
    fn text(&self) -> &str {
        &self.bytes[self.delimiter_bytes..]
    }
}

/// The texts of groups; none where all values were null.
#[derive(Debug)]
struct Texts {
    memory: Memory,
    groups: Vec<Option<Joined>>,
    /// Bytes of their buffers.
    buffers: usize,
}

impl Texts {
    fn new(memory: &Memory) -> Self {
        Self { memory: memory.clone(), groups: Vec::new(), buffers: 0 }
    }

    /// Adds a value, or a partial text, to a group.
    fn add(&mut self, group: usize, delimiter: &str, value: &str) -> Result<()> {
        let first = || Joined { bytes: String::new(), delimiter_bytes: delimiter.len() };
        let joined = self.groups[group].get_or_insert_with(first);
        let added = delimiter.len() + value.len();
        check_value(NAME, (joined.bytes.len() + added) as u64, &self.memory)?;
        let before = joined.bytes.capacity();
        if before - joined.bytes.len() < added {
            // A quarter more, not twice as much.
            joined.bytes.reserve_exact(added.max(joined.bytes.len() / 4));
        }
        joined.bytes.push_str(delimiter);
        joined.bytes.push_str(value);
        self.buffers += joined.bytes.capacity() - before;
        Ok(())
    }

    fn add_rows(&mut self, rows: &Rows, group_of: impl Fn(usize) -> usize) -> Result<()> {
        let chosen = (0..rows.values.len()).filter(|row| rows.has(*row));
        for row in chosen {
            self.add(group_of(row), rows.delimiter(row), rows.values.value(row))?;
        }
        Ok(())
    }

    fn add_states(&mut self, states: &[ArrayRef], group_of: impl Fn(usize) -> usize) -> Result<()> {
        let texts = states[0].as_string::<i64>();
        let delimiters = states[1].as_primitive::<Int64Type>();
        for row in (0..texts.len()).filter(|row| texts.is_valid(*row)) {
            let bytes = usize::try_from(delimiters.value(row)).unwrap_or_default();
            let (delimiter, text) = texts.value(row).split_at(bytes);
            self.add(group_of(row), delimiter, text)?;
        }
        Ok(())
    }

    fn emit(&mut self, emitted: EmitTo) -> Vec<Option<Joined>> {
        let groups = emitted.take_needed(&mut self.groups);
        let left = groups.iter().flatten().map(|joined| joined.bytes.capacity());
        self.buffers = self.buffers.saturating_sub(left.sum());
        groups
    }

    fn bytes(&self) -> usize {
        // Also what the results take.
        2 * self.buffers + self.groups.capacity() * size_of::<Option<Joined>>()
    }
}

/// Values with their delimiters.
struct Rows {
    values: StringViewArray,
    delimiters: StringViewArray,
    filter: Option<BooleanArray>,
}

impl Rows {
    fn new(columns: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Self> {
        let view = |column: &ArrayRef| -> Result<StringViewArray> {
            Ok(cast(column, &DataType::Utf8View)?.as_string_view().clone())
        };
        let (values, delimiters) = (view(&columns[0])?, view(&columns[1])?);
        Ok(Self { values, delimiters, filter: filter.cloned() })
    }

    fn has(&self, row: usize) -> bool {
        let chosen = |filter: &BooleanArray| filter.is_valid(row) && filter.value(row);
        self.values.is_valid(row) && self.filter.as_ref().is_none_or(chosen)
    }

    /// A delimiter that is null is empty.
    fn delimiter(&self, row: usize) -> &str {
        match self.delimiters.is_valid(row) {
            true => self.delimiters.value(row),
            false => "",
        }
    }
}

impl GroupsAccumulator for Texts {
    fn update_batch(
        &mut self,
        columns: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        groups: usize,
    ) -> Result<()> {
        self.groups.resize(groups, None);
        self.add_rows(&Rows::new(columns, filter)?, |row| group_indices[row])
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        group_indices: &[usize],
        groups: usize,
    ) -> Result<()> {
        self.groups.resize(groups, None);
        self.add_states(states, |row| group_indices[row])
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        let groups = self.emit(emitted);
        let texts = groups.iter().map(|joined| joined.as_ref().map(Joined::text));
        Ok(Arc::new(texts.collect::<LargeStringArray>()))
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        let groups = self.emit(emitted);
        let texts = groups.iter().map(|joined| Some(&*joined.as_ref()?.bytes));
        let delimiters = groups.iter().map(|joined| Some(joined.as_ref()?.delimiter_bytes as i64));
        let texts = Arc::new(texts.collect::<LargeStringArray>());
        Ok(vec![texts, Arc::new(delimiters.collect::<Int64Array>())])
    }

    fn convert_to_state(
        &self,
        columns: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = columns[0].len();
        let mut texts = Self::new(&self.memory);
        texts.update_batch(columns, &(0..rows).collect::<Vec<_>>(), filter, rows)?;
        texts.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

/// The text of one group alone.
#[derive(Debug)]
struct Text {
    texts: Texts,
}

impl Text {
    fn joined(&self) -> Option<&Joined> {
        self.texts.groups.first()?.as_ref()
    }
}

impl Accumulator for Text {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        self.texts.groups.resize(1, None);
        self.texts.add_rows(&Rows::new(columns, None)?, |_| 0)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.texts.groups.resize(1, None);
        self.texts.add_states(states, |_| 0)
    }

    /// Keeps the text: a window goes on with it.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeUtf8(self.joined().map(|joined| joined.text().to_owned())))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.texts.groups.resize(1, None);
        let states = GroupsAccumulator::state(&mut self.texts, EmitTo::All)?;
        states.iter().map(|state| ScalarValue::try_from_array(state, 0)).collect()
    }

    fn size(&self) -> usize {
        self.texts.bytes()
    }
}

#[cfg(test)]
mod tests;
