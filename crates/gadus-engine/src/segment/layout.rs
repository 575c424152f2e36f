//! Where the columns of a table are in a base that was written before they were what they are.

use super::encoded::{ColumnEntry, ColumnPlace, Footer};
use crate::encoding::{Column, EncodedColumn, encode};
use crate::error::{Error, Result};
use crate::types::{ColumnType, Datum, StorageClass, TableSchema};
use crate::vector::Vector;
use arrow::buffer::Buffer;
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use std::sync::{Arc, OnceLock};

/// Where a column's values come from when the shape of a table changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// From the column that was at this place.
    Kept(u32),
    /// Each row that is there has this one.
    Added(Datum),
}

/// The source of each column of a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout(Arc<[Source]>);

/// A column of which all rows have one value.
pub(crate) struct Constant {
    value: Datum,
    column_type: ColumnType,
    rows: u32,
    column: OnceLock<Arc<Column>>,
}

impl Source {
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Kept(place) => {
                to.u8(0);
                to.u32(*place);
            }
            Self::Added(value) => {
                to.u8(1);
                value.encode(to);
            }
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let offset = from.offset();
        match from.u8()? {
            0 => Ok(Self::Kept(from.u32()?)),
            1 => Ok(Self::Added(Datum::decode(from)?)),
            _ => Err(DecodeError { offset, expected: "the source of a column" }),
        }
    }
}

impl Layout {
    pub(super) fn new(sources: Vec<Source>) -> Self {
        Self(sources.into())
    }

    /// What becomes of it when the shape changes once more.
    pub(super) fn followed_by(&self, sources: &[Source]) -> Self {
        let source = |source: &Source| match source {
            Source::Kept(place) => self.0[*place as usize].clone(),
            added @ Source::Added(_) => added.clone(),
        };
        Self(sources.iter().map(source).collect())
    }

    /// The footer of today's columns; none where the one that was written has not what it names.
    pub(super) fn applied(
        &self,
        written: &Footer,
        rows: u32,
        schema: &TableSchema,
    ) -> Option<Footer> {
        let entry = |(index, source): (usize, &Source)| match source {
            Source::Kept(place) => written.columns.get(*place as usize).cloned(),
            Source::Added(value) => {
                let column_type = schema.columns.get(index)?.column_type;
                column_type.admits(value).then(|| Constant::entry(value, column_type, rows))
            }
        };
        let columns = self.0.iter().enumerate().map(entry).collect::<Option<_>>()?;
        Some(Footer { columns })
    }

    pub(super) fn encode(&self, to: &mut ByteWriter) {
        to.u32(u32::try_from(self.0.len()).expect("at most COLUMNS_MAX columns"));
        self.0.iter().for_each(|source| source.encode(to));
    }

    pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let count = from.count(2)?;
        (0..count).map(|_| Source::decode(from)).collect::<Result<Vec<_>, _>>().map(Self::new)
    }
}

impl Constant {
    /// The entry of such a column in a footer.
    fn entry(value: &Datum, column_type: ColumnType, rows: u32) -> ColumnEntry {
        let constant = Self { value: value.clone(), column_type, rows, column: OnceLock::new() };
        // One row says as much of bounds as all of them.
        let mut sketch = constant.encoded(1).sketch;
        sketch.nulls *= rows;
        ColumnEntry { place: ColumnPlace::Constant(Arc::new(constant)), sketch }
    }

    /// The column, made when it is first asked for.
    pub(super) fn column(&self) -> Result<Arc<Column>> {
        if let Some(column) = self.column.get() {
            return Ok(column.clone());
        }
        let blob = Buffer::from_vec(self.encoded(self.rows).blob);
        let class: StorageClass = self.column_type.storage();
        let opened = Column::open(class, self.column_type.is_text(), &blob);
        let opened = opened.map_err(|error| Error::internal(format!("a constant: {error}")))?;
        Ok(self.column.get_or_init(|| Arc::new(opened)).clone())
    }

    fn encoded(&self, rows: u32) -> EncodedColumn {
        let mut vector = Vector::empty(self.column_type.storage());
        (0..rows).for_each(|_| vector.push(&self.value));
        let (mut values, validity) = vector.into_owned();
        encode(&mut values, validity.as_ref())
    }
}

impl std::fmt::Debug for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constant").field("value", &self.value).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
