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
    /// Part of all that a percentile is of; that of the first row.
    part: Option<Option<f64>>,
    /// Keys of the row that might be there.
    place: Option<Box<[u8]>>,
}

impl Gathering {
    pub(super) fn new(set: OrderedSet, sorter: Sorter, value_type: DataType) -> Self {
        Self {
            set,
            sorter,
            value_type,
            values: Vec::new(),
            keys: Vec::new(),
            key_bytes: 0,
            part: None,
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
        } else if self.part.is_none() {
            let parts = cast(first, &DataType::Float64)?;
            self.part = Some(parts.as_primitive::<Float64Type>().iter().next().flatten());
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
        Sorted::new(values, keys).result(self.set, self.part.flatten(), &place)
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
        let direct = Float64Array::from_iter(self.part);
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
            if self.part.is_none() {
                self.part = part(2).as_primitive::<Float64Type>().iter().next();
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
