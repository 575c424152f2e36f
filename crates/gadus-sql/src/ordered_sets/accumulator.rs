//! Rows of one group, gathered until its end.

use super::OrderedSet;
use super::keys::Sorter;
use super::results::Sorted;
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Float64Array};
use arrow::compute::{cast, concat, filter};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use std::sync::Arc;

/// Gathered rows.
#[derive(Debug)]
pub(super) struct Gathering {
    set: OrderedSet,
    sorter: Sorter,
    value_type: DataType,
    values: Vec<ArrayRef>,
    keys: Vec<Box<[u8]>>,
    key_bytes: usize,
    /// True for a percentile of several parts.
    is_of_many: bool,
    /// Parts of all that a percentile is of, those of the first row; none if they are NULL.
    parts: Option<Vec<Option<f64>>>,
    /// Keys of the row that might be there.
    place: Option<Box<[u8]>>,
}

impl Gathering {
    pub(super) fn new(
        set: OrderedSet,
        sorter: Sorter,
        (value_type, is_of_many): (DataType, bool),
    ) -> Self {
        Self {
            set,
            sorter,
            value_type,
            values: Vec::new(),
            keys: Vec::new(),
            key_bytes: 0,
            is_of_many,
            parts: None,
            place: None,
        }
    }

    /// Reads the direct arguments, of the first row that there is.
    fn read_direct(&mut self, direct: &[ArrayRef]) -> Result<()> {
        let Some(first) = direct.first().filter(|first| !first.is_empty()) else { return Ok(()) };
        if self.set.is_hypothetical() {
            if self.place.is_none() {
                let first = direct.iter().map(|value| value.slice(0, 1)).collect::<Vec<_>>();
                self.place = self.sorter.bytes(&first)?.pop();
            }
        } else if self.parts.is_none() && first.is_valid(0) {
            let first = match first.as_list_opt::<i32>() {
                Some(lists) => lists.value(0),
                None => first.slice(0, 1),
            };
            let parts = cast(&first, &DataType::Float64)?;
            self.parts = Some(parts.as_primitive::<Float64Type>().iter().collect());
        }
        Ok(())
    }

    fn add(&mut self, values: ArrayRef, keys: Vec<Box<[u8]>>) {
        self.key_bytes += keys.iter().map(|key| key.len()).sum::<usize>();
        self.values.push(values);
        self.keys.extend(keys);
    }

    fn all_values(&self) -> Result<ArrayRef> {
        let values = self.values.iter().map(|values| &**values).collect::<Vec<_>>();
        Ok(match values.as_slice() {
            [] => arrow::array::new_empty_array(&self.value_type),
            values => concat(values)?,
        })
    }
}

impl Accumulator for Gathering {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let (values, rest) = (&columns[0], &columns[1..]);
        let (keys, direct) = rest.split_at(self.sorter.keys());
        self.read_direct(direct)?;
        let has_nulls = !self.set.is_hypothetical() && values.null_count() > 0;
        if !has_nulls {
            let keys = self.sorter.bytes(keys)?;
            self.add(values.clone(), keys);
            return Ok(());
        }
        // A percentile or a mode is one of the values that there are.
        let is_there = arrow::compute::is_not_null(values)?;
        let kept = |column: &ArrayRef| filter(column, &is_there);
        let keys = keys.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
        let keys = self.sorter.bytes(&keys)?;
        self.add(kept(values)?, keys);
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let values = self.all_values()?;
        let keys = std::mem::take(&mut self.keys);
        let place = self.place.take().unwrap_or_default();
        let sorted = Sorted::new(values, keys);
        if !self.is_of_many {
            let part = self.parts.take().and_then(|parts| parts.first().copied().flatten());
            return sorted.result(self.set, part, &place);
        }
        let one = self.set.result(self.value_type.clone(), false);
        let Some(parts) = self.parts.take().filter(|_| !sorted.is_empty()) else {
            return ScalarValue::try_from(&self.set.result(self.value_type.clone(), true));
        };
        let results = parts.into_iter().map(|part| sorted.result(self.set, part, &place));
        let results = results.collect::<Result<Vec<_>>>()?;
        Ok(ScalarValue::List(ScalarValue::new_list_nullable(&results, &one)))
    }

    fn size(&self) -> usize {
        let values = self.values.iter().map(|values| values.get_array_memory_size());
        size_of::<Self>()
            + values.sum::<usize>()
            + self.key_bytes
            + self.keys.capacity() * size_of::<Box<[u8]>>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = self.all_values()?;
        let keys = BinaryArray::from_iter_values(self.keys.iter());
        // Before the parts is a number that says that there are some.
        let parts =
            self.parts.iter().flat_map(|parts| std::iter::once(Some(1.0)).chain(parts.clone()));
        let direct = parts.collect::<Float64Array>();
        let place = BinaryArray::from_iter_values(self.place.iter());
        let list = |array: ArrayRef| SingleRowListArrayBuilder::new(array).build_list_scalar();
        Ok(vec![list(values), list(Arc::new(keys)), list(Arc::new(direct)), list(Arc::new(place))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for row in 0..states[0].len() {
            let part = |place: usize| states[place].as_list::<i32>().value(row);
            let bytes = |place: usize| {
                let bytes = part(place);
                bytes.as_binary::<i32>().iter().flatten().map(Box::from).collect::<Vec<_>>()
            };
            if self.parts.is_none() {
                let direct = part(2);
                let mut direct = direct.as_primitive::<Float64Type>().iter();
                self.parts = direct.next().map(|_| direct.collect());
            }
            if self.place.is_none() {
                self.place = bytes(3).pop();
            }
            let keys = bytes(1);
            self.add(part(0), keys);
        }
        Ok(())
    }
}
