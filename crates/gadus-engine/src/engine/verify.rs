//! Verification of an open database: everything that a snapshot names is read and compared.
//!
//! - Reports every problem with its place and goes on; changes nothing.
//! - Checksums prove that bytes are those that were written; this proves that they agree.

use super::Engine;
use crate::blobs::Blobs;
use crate::encoding::Column;
use crate::error::Error;
use crate::keys::{KeyHash, row_code};
use crate::segment::{ColumnEntry, SegmentVersion};
use crate::version::TableVersion;
use gadus_base::{RowId, SegmentId};
use gadus_storage::{ExtentRef, StorageError};
use std::error::Error as _;
use std::fmt;

/// One thing that is wrong in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The table that it concerns, if one.
    pub table: Option<String>,
    /// The segment within the table.
    pub segment: Option<SegmentId>,
    /// The column's name.
    pub column: Option<String>,
    /// The place in the data file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "table \"{table}\", ")?;
        }
        if let Some(segment) = self.segment {
            write!(f, "{segment}, ")?;
        }
        if let Some(column) = &self.column {
            write!(f, "column \"{column}\", ")?;
        }
        if let Some(offset) = self.offset {
            write!(f, "offset {offset}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Engine {
    /// Reads every column, key page and overlay of the newest version and checks that they agree.
    pub fn verify(&self, report: &mut dyn FnMut(Problem)) {
        let snapshot = self.snapshot();
        let inner = self.inner();
        // What the last checkpoint names stays in use until the next: read before the version's
        // extents, so that none of them can have been given to another meanwhile.
        let mut extents = inner.checkpointer.lock().extents();
        for table in snapshot.tables() {
            let mut check = TableCheck { table: table.version(), blobs: &inner.blobs, report };
            check.segments();
            check.keys();
            extents.extend(check.extents());
        }
        check_extents(extents, report);
    }
}

/// The check of one table.
struct TableCheck<'a> {
    table: &'a TableVersion,
    blobs: &'a Blobs,
    report: &'a mut dyn FnMut(Problem),
}

impl TableCheck<'_> {
    fn segments(&mut self) {
        let mut live = 0;
        for segment in self.table.segments.values() {
            live += u64::from(segment.live_rows());
            self.segment(segment);
        }
        if live != self.table.live_rows {
            let counted = self.table.live_rows;
            self.problem(None, None, None, format!("has {live} rows, but counts {counted}"));
        }
    }

    fn segment(&mut self, segment: &SegmentVersion) {
        let id = Some(segment.id);
        if segment.rows > segment.encoded_rows() && segment.open.is_none() {
            self.problem(id, None, None, "has rows without values".to_owned());
        }
        let Some(base) = &segment.encoded else { return };
        let schema = self.table.schema.clone();
        let footer = match base.footer(&schema, self.blobs) {
            Ok(footer) => footer.clone(),
            Err(error) => {
                let offset = Some(base.image(segment.id).footer.offset);
                return self.failed(id, None, offset, &error);
            }
        };
        for (index, entry) in footer.columns.iter().enumerate() {
            let place = Some(entry.blob.offset);
            let within = base.extents().iter().any(|extent| {
                let extent = extent.reference();
                extent.offset <= entry.blob.offset && entry.blob.end() <= extent.end()
            });
            if !within {
                self.problem(id, Some(index), place, "lies outside its extents".to_owned());
            }
            match base.column(&schema, self.blobs, index) {
                Ok(column) => self.column(segment.id, index, &column, entry),
                Err(error) => self.failed(id, Some(index), place, &error),
            }
        }
    }

    fn column(&mut self, segment: SegmentId, index: usize, column: &Column, entry: &ColumnEntry) {
        let definition = &self.table.schema.columns[index];
        let (mut nulls, mut outside) = (0_u32, 0_u32);
        for row in 0..column.rows {
            let value = column.datum(row);
            if value.is_null() {
                nulls += 1;
            } else if let Some((min, max)) = &entry.sketch.range {
                outside += u32::from(value < *min || value > *max);
            }
        }
        let place = Some(entry.blob.offset);
        let sketched = entry.sketch.nulls;
        if nulls != sketched {
            let message = format!("has {nulls} NULLs, but its sketch says {sketched}");
            self.problem(Some(segment), Some(index), place, message);
        }
        if nulls > 0 && !definition.nullable {
            let message = format!("has {nulls} NULLs and may have none");
            self.problem(Some(segment), Some(index), place, message);
        }
        if outside > 0 {
            let message = format!("has {outside} values outside the bounds of its sketch");
            self.problem(Some(segment), Some(index), place, message);
        }
    }

    fn keys(&mut self) {
        if self.table.schema.key.is_empty() {
            return;
        }
        let mut entries = self.table.keys.recent_entries();
        for run in self.table.keys.runs() {
            match run.read_all(self.blobs) {
                Ok(read) => {
                    if read.len() as u64 != run.entries() || !read.is_sorted() {
                        let message = "a run of its key index is out of order".to_owned();
                        self.problem(None, None, Some(run.offset()), message);
                    }
                    entries.extend(read);
                }
                Err(error) => return self.failed(None, None, None, &error),
            }
        }
        entries.sort_unstable();
        let table = self.table;
        for segment in table.segments.values() {
            for position in (0..segment.rows).filter(|&position| segment.is_live(position)) {
                let row = RowId { segment: segment.id, position };
                if let Err(error) = self.key(segment, row, &entries) {
                    // The column has been reported; its other rows would say the same.
                    self.failed(Some(segment.id), None, None, &error);
                    break;
                }
            }
        }
    }

    fn key(
        &mut self,
        segment: &SegmentVersion,
        row: RowId,
        entries: &[(u64, u64)],
    ) -> Result<(), Error> {
        let schema = &self.table.schema;
        let key = schema
            .key
            .iter()
            .map(|&column| segment.datum(schema, self.blobs, column, row.position))
            .collect::<Result<Vec<_>, _>>()?;
        let entry = (KeyHash::of(&key).0, row_code(row));
        let first = entries.partition_point(|other| *other < entry);
        let times = entries[first..].iter().take_while(|other| **other == entry).count();
        if times != 1 {
            let message =
                format!("row {} is {times} times in the key index, not once", row.position);
            self.problem(Some(row.segment), None, None, message);
        }
        let found = self.table.find_key(self.blobs, &key)?;
        if found != Some(row) {
            let message = format!("looking up the key of row {} finds {found:?}", row.position);
            self.problem(Some(row.segment), None, None, message);
        }
        Ok(())
    }

    fn extents(&self) -> Vec<ExtentRef> {
        let bases = self.table.segments.values().filter_map(|segment| segment.encoded.as_ref());
        let columns = bases.flat_map(|base| base.extents().iter().map(|extent| extent.reference()));
        columns.chain(self.table.keys.runs().iter().flat_map(|run| run.extents())).collect()
    }

    fn failed(
        &mut self,
        segment: Option<SegmentId>,
        column: Option<usize>,
        offset: Option<u64>,
        error: &Error,
    ) {
        let storage = error.source().and_then(|source| source.downcast_ref::<StorageError>());
        let offset = offset.or_else(|| storage.and_then(|error| error.offset));
        self.problem(segment, column, offset, error.to_string());
    }

    fn problem(
        &mut self,
        segment: Option<SegmentId>,
        column: Option<usize>,
        offset: Option<u64>,
        message: String,
    ) {
        let schema = &self.table.schema;
        let column = column.map(|index| schema.columns[index].name.clone());
        (self.report)(Problem {
            table: Some(schema.name.clone()),
            segment,
            column,
            offset,
            message,
        });
    }
}

/// Two extents are the same or apart.
fn check_extents(mut extents: Vec<ExtentRef>, report: &mut dyn FnMut(Problem)) {
    extents.sort_unstable_by_key(|extent| (extent.offset, extent.bytes, extent.id));
    extents.dedup();
    for pair in extents.windows(2) {
        if pair[0].end() > pair[1].offset {
            report(Problem {
                table: None,
                segment: None,
                column: None,
                offset: Some(pair[1].offset),
                message: format!("extent {} overlaps extent {}", pair[1].id, pair[0].id),
            });
        }
    }
}
