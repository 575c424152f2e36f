//! Verification of a database's files without its meaning: headers, roots, log.
//!
//! - Reads only, and shares the files with other readers; a writer excludes it.
//! - Reports every problem with file and offset instead of stopping at the first.

use crate::durable_mark;
use crate::error::StorageError;
use crate::header::{SLOT_OFFSETS, Slot};
use crate::log::scan::scan;
use crate::options::Options;
use crate::store::{Files, log_start, read_slots, shape_of};
use gadus_base::{CommitNumber, DatabaseId};
use gadus_block::Folder;
use std::fmt;
use std::sync::Arc;

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Identity of the database.
    pub database: DatabaseId,
    /// The commit of the last checkpoint.
    pub checkpoint: CommitNumber,
    /// The last commit in the log, or that of the checkpoint.
    pub last_commit: CommitNumber,
    /// Records in the log after the checkpoint.
    pub log_records: u64,
    /// Bytes of the data file.
    pub data_bytes: u64,
    /// Bytes of the log file.
    pub log_bytes: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In which file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// What.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.file, self.offset, self.message)
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        Self { offset: error.offset.unwrap_or(0), file: error.file, message: error.message }
    }
}

/// Verifies both headers, what they name, and every record of the log.
///
/// # Errors
/// When there is nothing to verify: no such files, no database, or in use by a writer. Damage is
/// not an error but part of the report, as long as one header is intact.
pub fn check(folder: Arc<dyn Folder>, name: &str) -> Result<CheckReport, StorageError> {
    let options = Options { read_only: true, ..Options::default() };
    let files = Files::open_owned(folder, name, &options, None)?;
    let slots = read_slots(&*files.data, &files.data_described)?;
    let mut problems = Vec::new();
    for (found, offset) in slots.iter().zip(SLOT_OFFSETS) {
        match found {
            Slot::Valid(header) => {
                if let Err(error) = files.read_root(header) {
                    problems.push(error.into());
                }
            }
            Slot::Blank => {}
            Slot::Strange | Slot::Damaged | Slot::Version(_) => problems.push(Problem {
                file: files.data_described.clone(),
                offset,
                message: "the header is damaged".to_owned(),
            }),
        }
    }
    let newest =
        slots.iter().enumerate().filter_map(|(slot, found)| Some((slot, *found.header()?)));
    let (slot, header) = newest
        .max_by_key(|(_, header)| header.sequence)
        .expect("at least one slot is valid, as read_slots has found");
    let shape = shape_of(&header);
    let mut start = log_start(&header, slots[1 - slot].header());
    let noted = durable_mark::read(&*files.data, shape.database)?;
    start.raise_durable(noted.position());
    problems.extend(noted.warning().map(|message| Problem {
        file: files.data_described.clone(),
        offset: durable_mark::OFFSET,
        message: message.to_owned(),
    }));
    let records = match scan(&*files.log, &files.log_described, shape, start) {
        Ok(scan) => scan.records,
        Err(error) => {
            problems.push(error.into());
            Vec::new()
        }
    };
    Ok(CheckReport {
        database: header.database,
        checkpoint: header.commit,
        last_commit: records.last().map_or(header.commit, |record| record.commit),
        log_records: records.len() as u64,
        data_bytes: files.data.length()?,
        log_bytes: files.log.length()?,
        problems,
    })
}
