//! Arrays of one column: their dimensions, and where their elements are.

use super::refused;
use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, internal_err};
use std::ops::Range;
use std::sync::Arc;

/// Most dimensions of an array.
pub(crate) const DIMENSIONS_MAX: usize = 6;

/// Returns true for the type of arrays.
pub(crate) fn is_array(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_))
}

/// Returns the dimensions of a type, 0 for types that are no arrays.
pub(crate) fn depth_of(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(field) => 1 + depth_of(field.data_type()),
        _ => 0,
    }
}

/// Returns the type of the elements of arrays; other types are their own.
pub(crate) fn leaf_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(field) => leaf_of(field.data_type()),
        other => other,
    }
}

/// Returns the type of a list of values of a type.
pub(crate) fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(element, true)))
}

/// Returns the type of arrays with so many dimensions and elements of a type.
pub(crate) fn of_leaf(leaf: &DataType, depth: usize) -> DataType {
    (0..depth).fold(leaf.clone(), |element, _| list_of(element))
}

/// Lengths of the dimensions of one array; none if it has no elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dimensions {
    count: usize,
    lengths: [usize; DIMENSIONS_MAX],
}

impl Dimensions {
    /// Dimensions of an array without elements.
    pub(super) const NONE: Self = Self { count: 0, lengths: [0; DIMENSIONS_MAX] };

    /// Returns dimensions of these lengths; none if a length is zero.
    pub(super) fn of(lengths: &[usize]) -> Self {
        let mut dimensions = Self::NONE;
        if lengths.contains(&0) {
            return dimensions;
        }
        for length in lengths.iter().take(DIMENSIONS_MAX) {
            dimensions.lengths[dimensions.count] = *length;
            dimensions.count += 1;
        }
        dimensions
    }

    /// Returns the dimension of so many elements in a row; none for zero.
    pub(super) fn one(length: usize) -> Self {
        Self::of(&[length])
    }

    pub(super) fn lengths(&self) -> &[usize] {
        &self.lengths[..self.count]
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of elements.
    pub(super) fn elements(&self) -> usize {
        match self.count {
            0 => 0,
            _ => self.lengths().iter().product(),
        }
    }
}

/// Arrays of a column.
#[derive(Debug)]
pub(super) struct ArrayColumn {
    /// Lists, the outermost first.
    levels: Vec<ListArray>,
    /// Elements of all arrays.
    leaves: ArrayRef,
}

impl ArrayColumn {
    /// Returns the arrays of a list array.
    pub(super) fn of(array: &ArrayRef) -> Result<Self> {
        let (mut levels, mut values) = (Vec::new(), array.clone());
        while let Some(list) = values.as_list_opt::<i32>() {
            let list = list.clone();
            values = list.values().clone();
            levels.push(list);
        }
        match levels.is_empty() {
            true => internal_err!("{} as an array", array.data_type()),
            false => Ok(Self { levels, leaves: values }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.levels[0].len()
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        self.levels[0].is_null(row)
    }

    /// Returns the dimensions of the type.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn leaves(&self) -> &ArrayRef {
        &self.leaves
    }

    /// Returns where the elements of a row's array are.
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        let (mut start, mut end) = (row, row + 1);
        for level in &self.levels {
            (start, end) = (offset(level, start), offset(level, end));
        }
        start..end
    }

    /// Returns where the elements of all arrays are.
    pub(super) fn whole_range(&self) -> Range<usize> {
        match self.len() {
            0 => 0..0,
            rows => self.range(0).start..self.range(rows - 1).end,
        }
    }

    /// Returns the dimensions of a row's array.
    ///
    /// # Errors
    /// 0A000 for arrays whose parts have different lengths.
    pub(super) fn dimensions(&self, row: usize) -> Result<Dimensions> {
        let mut lengths = [0; DIMENSIONS_MAX];
        let mut first = row;
        if self.levels.len() > DIMENSIONS_MAX {
            return Err(super::too_many_dimensions(self.levels.len()));
        }
        for (level, length) in self.levels.iter().zip(&mut lengths) {
            let start = offset(level, first);
            *length = offset(level, first + 1) - start;
            if *length == 0 {
                break;
            }
            first = start;
        }
        let dimensions = Dimensions::of(&lengths[..self.levels.len()]);
        match dimensions.elements() == self.range(row).len() {
            true => Ok(dimensions),
            false => {
                let message = "arrays whose parts have different lengths are not supported";
                Err(refused("0A000", message))
            }
        }
    }

    /// Returns the lengths of all lists of a row's array, the outer ones first.
    pub(super) fn lengths_of_parts(&self, row: usize) -> Vec<usize> {
        let (mut start, mut end, mut lengths) = (row, row + 1, Vec::new());
        for level in &self.levels {
            lengths.extend((start..end).map(|at| offset(level, at + 1) - offset(level, at)));
            (start, end) = (offset(level, start), offset(level, end));
        }
        lengths
    }

    /// Returns the lists, from which arrays with other elements are made.
    pub(super) fn levels(&self) -> &[ListArray] {
        &self.levels
    }
}

/// Returns the position of the first value of a list; of the list after the last one, the number of values.
pub(super) fn offset(list: &ListArray, row: usize) -> usize {
    usize::try_from(list.value_offsets()[row]).unwrap_or(0)
}
