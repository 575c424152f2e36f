//! Verification of an open database: everything that a snapshot names is read and compared.
//!
//! - Reports every problem with its place and goes on; changes nothing.
//! - Checksums prove that bytes are those that were written; this proves that they agree.
//! - Columns and key pages are read once, and around the cache: what counts is what the file holds.

mod keys;
mod references;
mod table;

use super::Engine;
use crate::blobs::Blobs;
use crate::error::{Error, Result};
use crate::snapshot::Table;
use gadus_base::SegmentId;
use gadus_storage::{ExtentRef, StorageError};
use std::error::Error as _;
use std::fmt;
use table::TableCheck;

/// What verification found.
#[derive(Debug, Clone, Default)]
pub struct Verification {
    /// The data file, as messages name it.
    pub file: String,
    /// The tables, by name.
    pub tables: Vec<VerifiedTable>,
    /// What is wrong; nothing in a sound database.
    pub problems: Vec<Problem>,
}

/// A table that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedTable {
    /// Its name.
    pub name: String,
    /// Rows that it has.
    pub rows: u64,
    /// Rows of which every column was read.
    pub rows_read: u64,
}

/// One thing that is wrong in a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Reads every column and key page of the newest version and checks that they agree, and that whatever foreign
    /// keys refer to is there; calls `progress` with (values read, values in all).
    ///
    /// # Errors
    /// When there is no version to look at; what is damaged is no error.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verification> {
        let snapshot = self.snapshot()?;
        let inner = self.inner();
        // What the last checkpoint names stays in use until the next: read before the version's
        // extents, so that none of them can have been given to another meanwhile.
        let mut extents = inner.alone()?.extents();
        let tables = snapshot.tables();
        // Each value is read; then each row is looked at once more, with its key.
        let values = |table: &Table| table.about_rows() * (table.schema().columns.len() as u64 + 1);
        let total = tables.iter().map(values).sum();
        let mut course =
            Course { blobs: &inner.blobs, problems: Vec::new(), read: 0, total, progress };
        let mut verified = Vec::new();
        for table in tables {
            let rows_read = TableCheck::new(table.version(), &mut course).run();
            let name = table.schema().name.clone();
            verified.push(VerifiedTable { name, rows: table.about_rows(), rows_read });
            extents.extend(table::extents(table.version()));
        }
        for table in snapshot.tables() {
            course.references(&snapshot, &table);
        }
        check_extents(extents, &mut course.problems);
        let file = inner.blobs.store().describe().to_owned();
        Ok(Verification { file, tables: verified, problems: course.problems })
    }
}

/// How far a verification has come, and what it has found.
struct Course<'a> {
    blobs: &'a Blobs,
    problems: Vec<Problem>,
    read: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Course<'_> {
    fn advance(&mut self, values: u64) {
        self.read += values;
        (self.progress)(self.read, self.total);
    }
}

impl Problem {
    /// What keeps something from being read, where the error knows the place.
    fn unreadable(error: &Error) -> Self {
        match error.source().and_then(|source| source.downcast_ref::<StorageError>()) {
            Some(storage) => {
                Self { offset: storage.offset, message: storage.message.clone(), ..Self::default() }
            }
            None => Self { message: error.message().to_owned(), ..Self::default() },
        }
    }
}

/// Two extents are the same or apart.
fn check_extents(mut extents: Vec<ExtentRef>, problems: &mut Vec<Problem>) {
    extents.sort_unstable_by_key(|extent| (extent.offset, extent.bytes, extent.id));
    extents.dedup();
    for pair in extents.windows(2) {
        if pair[0].end() > pair[1].offset {
            problems.push(Problem {
                offset: Some(pair[1].offset),
                message: format!("extent {} overlaps extent {}", pair[1].id, pair[0].id),
                ..Problem::default()
            });
        }
    }
}

#[cfg(test)]
mod tests;
