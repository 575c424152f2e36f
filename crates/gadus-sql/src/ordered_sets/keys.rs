//! Keys as bytes that are compared as the sort compares them.

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;

/// Makes bytes of keys.
#[derive(Debug)]
pub(super) struct Sorter {
    converter: RowConverter,
    keys: usize,
}

impl Sorter {
    /// Creates a sorter by keys of these types.
    pub(super) fn new(keys: impl Iterator<Item = (DataType, SortOptions)>) -> Result<Self> {
        let field = |(key, options)| SortField::new_with_options(key, options);
        let fields = keys.map(field).collect::<Vec<_>>();
        Ok(Self { keys: fields.len(), converter: RowConverter::new(fields)? })
    }

    /// Returns the number of keys.
    pub(super) fn keys(&self) -> usize {
        self.keys
    }

    /// Returns the bytes of each row.
    pub(super) fn bytes(&self, keys: &[ArrayRef]) -> Result<Vec<Box<[u8]>>> {
        let rows = self.converter.convert_columns(keys)?;
        Ok(rows.iter().map(|row| row.as_ref().into()).collect())
    }
}
