//! The check of one table: its segments, column by column, and what its indexes have of their rows.

use super::keys::LiveKeys;
use super::{Course, Problem};
use crate::encoding::{Body, Column};
use crate::segment::{ColumnEntry, ColumnPlace, EncodedSegment, SegmentVersion};
use crate::types::Datum;
use crate::version::TableVersion;
use gadus_base::{RowId, SegmentId};
use gadus_storage::ExtentRef;
use std::collections::HashMap;

pub(super) struct TableCheck<'a, 'b> {
    pub(super) table: &'a TableVersion,
    pub(super) course: &'a mut Course<'b>,
}

/// The columns of a segment's base that are indexed, by their places.
type KeyColumns = HashMap<usize, Option<Column>>;

/// Where in a table something is: the segment, the column, the offset in the file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) segment: Option<SegmentId>,
    pub(super) column: Option<usize>,
    pub(super) offset: Option<u64>,
}

impl<'a, 'b> TableCheck<'a, 'b> {
    pub(super) fn new(table: &'a TableVersion, course: &'a mut Course<'b>) -> Self {
        Self { table, course }
    }

    /// Returns how many rows could be read whole.
    pub(super) fn run(mut self) -> u64 {
        let (mut live, mut rows_read) = (0, 0);
        let mut keys = vec![LiveKeys::default(); self.table.keys.iter().count()];
        for segment in self.table.segments.values() {
            let rows = u64::from(segment.live_rows());
            live += rows;
            if self.segment(segment, &mut keys) {
                rows_read += rows;
            }
        }
        let counted = self.table.live_rows;
        if live != counted {
            self.problem(Place::default(), format!("has {live} rows, but counts {counted}"));
        }
        for (key, live) in self.table.keys.iter().zip(keys) {
            self.keys(key, live);
        }
        rows_read
    }

    /// Reads a segment, and adds the keys of its rows; false when something cannot be read.
    fn segment(&mut self, segment: &SegmentVersion, keys: &mut [LiveKeys]) -> bool {
        let place = Place { segment: Some(segment.id), ..Place::default() };
        if segment.rows > segment.encoded_rows() && segment.open.is_none() {
            self.problem(place, "has rows without values".to_owned());
            return false;
        }
        let live = u64::from(segment.live_rows());
        let columns = self.table.keys.iter().flat_map(|key| &key.shape.columns);
        let mut key_columns = columns.map(|&column| (column, None)).collect::<KeyColumns>();
        let mut whole = true;
        match &segment.encoded {
            Some(base) => whole = self.base(segment, base, &mut key_columns),
            None => self.course.advance(live * self.table.schema.columns.len() as u64),
        }
        if segment.encoded.is_none() || key_columns.values().all(Option::is_some) {
            self.add_keys(segment, &key_columns, keys);
            self.course.advance(live);
        }
        whole
    }

    /// Reads the columns of a segment's base, and keeps those that are indexed.
    fn base(
        &mut self,
        segment: &SegmentVersion,
        base: &EncodedSegment,
        key_columns: &mut KeyColumns,
    ) -> bool {
        let (table, blobs) = (self.table, self.course.blobs);
        let mut place = Place { segment: Some(segment.id), ..Place::default() };
        let footer = match base.footer(&table.schema, blobs) {
            Ok(footer) => footer,
            Err(error) => {
                place.offset = Some(base.image(segment.id).footer.offset);
                self.unreadable(place, Problem::unreadable(&error));
                return false;
            }
        };
        let mut whole = true;
        for (index, entry) in footer.columns.iter().enumerate() {
            place.column = Some(index);
            if let ColumnPlace::Blob(blob) = &entry.place {
                place.offset = Some(blob.offset);
                let within = base.extents().iter().any(|extent| {
                    let extent = extent.reference();
                    extent.offset <= blob.offset && blob.end() <= extent.end()
                });
                if !within {
                    self.problem(place, "lies outside its extents".to_owned());
                }
            }
            match base.read_column(&table.schema, blobs, index) {
                Ok(column) => {
                    self.column(place, (&column, entry), segment);
                    self.course.advance(segment.live_rows().into());
                    if let Some(slot) = key_columns.get_mut(&index) {
                        *slot = Some(column);
                    }
                }
                Err(error) => {
                    whole = false;
                    self.unreadable(place, Problem::unreadable(&error));
                }
            }
        }
        whole
    }

    /// A column and its sketch agree.
    fn column(
        &mut self,
        place: Place,
        (column, entry): (&Column, &ColumnEntry),
        segment: &SegmentVersion,
    ) {
        let nulls = column.null_count();
        let sketched = entry.sketch.nulls;
        if nulls != sketched as usize {
            let message = format!("has {nulls} NULLs, but its sketch says {sketched}");
            self.problem(place, message);
        }
        let nullable = place.column.is_some_and(|index| self.table.schema.columns[index].nullable);
        // Rows that were deleted or changed before NOT NULL was set may have been NULL.
        let is_null = |index: usize, position: &u32| {
            segment.is_live(*position)
                && segment.datum_with(Some(column), index, *position).is_null()
        };
        let index = place.column.filter(|_| nulls > 0 && !nullable);
        let nulls = index.map_or(0, |index| {
            (0..segment.encoded_rows()).filter(|position| is_null(index, position)).count()
        });
        if nulls > 0 {
            self.problem(place, format!("has {nulls} NULLs and may have none"));
        }
        if let Some((min, max)) = &entry.sketch.range {
            let outside = values_outside(column, min, max);
            if outside > 0 {
                let message = format!("has {outside} values outside the bounds of its sketch");
                self.problem(place, message);
            }
        }
    }

    fn add_keys(&self, segment: &SegmentVersion, key_columns: &KeyColumns, keys: &mut [LiveKeys]) {
        for (key, live) in self.table.keys.iter().zip(keys) {
            let column = |column: &usize| (*column, key_columns[column].as_ref());
            let columns = key.shape.columns.iter().map(column).collect::<Vec<_>>();
            let mut values: Vec<Datum> = Vec::with_capacity(columns.len());
            for position in (0..segment.rows).filter(|&position| segment.is_live(position)) {
                values.clear();
                let value = |(column, base): &(usize, Option<&Column>)| {
                    segment.datum_with(*base, *column, position)
                };
                values.extend(columns.iter().map(value));
                let row = RowId { segment: segment.id, position };
                live.add(key.shape.code(values.iter()), row);
            }
        }
    }

    /// Notes what could not be read, at the place known here where the error knows none.
    pub(super) fn unreadable(&mut self, place: Place, problem: Problem) {
        let offset = place.offset.or(problem.offset);
        self.problem(Place { offset, ..place }, problem.message);
    }

    pub(super) fn problem(&mut self, place: Place, message: String) {
        let schema = &self.table.schema;
        self.course.problems.push(Problem {
            table: Some(schema.name.clone()),
            segment: place.segment,
            column: place.column.map(|index| schema.columns[index].name.clone()),
            offset: place.offset,
            message,
        });
    }
}

/// The extents that a table names.
pub(super) fn extents(table: &TableVersion) -> Vec<ExtentRef> {
    let bases = table.segments.values().filter_map(|segment| segment.encoded.as_ref());
    let columns = bases.flat_map(|base| base.extents().iter().map(|extent| extent.reference()));
    columns.chain(table.keys.runs().flat_map(|run| run.extents())).collect()
}

fn values_outside(column: &Column, min: &Datum, max: &Datum) -> usize {
    let outside = |value: &Datum| !value.is_null() && (value < min || value > max);
    let (Body::Plain(values) | Body::Dictionary { values, .. } | Body::Runs { values, .. }) =
        &column.body;
    // What the blob holds is less than its rows; only where some is outside, rows are counted.
    if !(0..values.count()).any(|index| outside(&values.datum(index))) {
        return 0;
    }
    (0..column.rows).filter(|&row| outside(&column.datum(row))).count()
}
