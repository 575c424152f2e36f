//! Arrays that are made of elements of other arrays.

use super::column::{ArrayColumn, Dimensions, offset};
use super::{other_depth, refused};
use arrow::array::{Array, ArrayRef, ListArray, NullBufferBuilder, new_null_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use std::sync::Arc;

/// Most elements of an array, as in PostgreSQL.
pub(super) const ELEMENTS_MAX: usize = 134_217_727;

/// Writer of arrays, row by row. Elements are picked from sources; source 0 is NULL.
pub(super) struct ArrayWriter {
    sources: Vec<ArrayRef>,
    picks: Vec<(usize, usize)>,
    /// Lengths of the lists of each level.
    lengths: Vec<Vec<usize>>,
    nulls: NullBufferBuilder,
}

/// Pick of NULL as an element.
pub(super) const NULL: (usize, usize) = (0, 0);

impl ArrayWriter {
    /// Creates a writer of arrays of so many dimensions, with elements of a type that are in `sources`.
    pub(super) fn new(leaf: &DataType, depth: usize, sources: &[&ArrayRef]) -> Self {
        let null = new_null_array(leaf, 1);
        let sources = std::iter::once(&null).chain(sources.iter().copied()).cloned().collect();
        Self {
            sources,
            picks: Vec::new(),
            lengths: vec![Vec::new(); depth],
            nulls: NullBufferBuilder::new(0),
        }
    }

    /// Adds NULL.
    pub(super) fn push_null(&mut self) {
        self.lengths[0].push(0);
        self.nulls.append_null();
    }

    /// Adds an array of these elements, each the number of a source, from 1, and the position in it.
    pub(super) fn push(
        &mut self,
        dimensions: &Dimensions,
        elements: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<()> {
        let depth = self.lengths.len();
        self.nulls.append_non_null();
        if dimensions.is_empty() {
            self.lengths[0].push(0);
            return Ok(());
        }
        if dimensions.count() != depth {
            return Err(other_depth(dimensions.count(), depth));
        }
        if dimensions.elements() > ELEMENTS_MAX {
            return Err(too_many_elements());
        }
        let mut lists = 1;
        for (lengths, length) in self.lengths.iter_mut().zip(dimensions.lengths()) {
            lengths.extend(std::iter::repeat_n(*length, lists));
            lists *= length;
        }
        let before = self.picks.len();
        self.picks.extend(elements);
        debug_assert_eq!(self.picks.len() - before, dimensions.elements());
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<ArrayRef> {
        let sources = self.sources.iter().map(|source| &**source).collect::<Vec<&dyn Array>>();
        if i32::try_from(self.picks.len()).is_err() {
            return Err(refused("54000", "the arrays of one batch have too many elements"));
        }
        let mut values = interleave(&sources, &self.picks)?;
        for lengths in self.lengths.iter().skip(1).rev() {
            values = list(values, lengths, None)?;
        }
        list(values, &self.lengths[0], self.nulls.finish())
    }
}

/// Returns the error of an array with too many elements.
pub(super) fn too_many_elements() -> DataFusionError {
    refused("54000", format!("array size exceeds the maximum allowed ({ELEMENTS_MAX})"))
}

fn list(values: ArrayRef, lengths: &[usize], nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
}

/// Returns the arrays of a column with other elements, which are those of its whole range in their order.
pub(super) fn with_leaves(column: &ArrayColumn, leaves: ArrayRef) -> Result<ArrayRef> {
    let mut levels = Vec::with_capacity(column.depth());
    let (mut start, mut end) = (0, column.len());
    for level in column.levels() {
        levels.push(level.slice(start, end - start));
        (start, end) = (offset(level, start), offset(level, end));
    }
    let mut values = leaves;
    for level in levels.into_iter().rev() {
        let lengths = level.offsets().lengths().collect::<Vec<_>>();
        values = list(values, &lengths, level.nulls().cloned())?;
    }
    Ok(values)
}
