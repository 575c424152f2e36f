//! Verification of a database: its files, then every value of every table.
//!
//! - Reads only. A database that is open elsewhere is refused, not half verified.
//! - Goes on past damage: what is wrong is listed, with file, offset, table and segment.

use gadus_base::CommitNumber;
use gadus_engine::{Engine, Error, Options, Result, place};
use gadus_storage::StorageError;
use std::error::Error as _;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What verification found.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The last commit that the log or the checkpoint holds.
    pub last_commit: CommitNumber,
    /// Records in the log behind the checkpoint.
    pub log_records: u64,
    /// Bytes of the data file.
    pub data_bytes: u64,
    /// Bytes of the log file.
    pub log_bytes: u64,
    /// The tables, where the database opens.
    pub tables: Vec<TableReport>,
    /// What is wrong; nothing in a sound database.
    pub problems: Vec<Problem>,
}

/// A table that was verified.
#[derive(Debug, Clone)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// Rows that it has.
    pub rows: u64,
    /// Rows of which every column was read.
    pub rows_read: u64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// In which file, where it is known.
    pub file: Option<String>,
    /// At which byte of the file.
    pub offset: Option<u64>,
    /// The table concerned.
    pub table: Option<String>,
    /// The column concerned.
    pub column: Option<String>,
    /// The segment of the table: a run of about 65,536 rows.
    pub segment: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// Verifies the database in the file at `path`; calls `progress` with (values read, values in all).
///
/// # Errors
/// When there is nothing to verify: no such file, no database, or in use.
pub fn check(path: impl AsRef<Path>, mut progress: impl FnMut(u64, u64)) -> Result<CheckReport> {
    let (folder, name) = place(path.as_ref())?;
    let folder = Arc::new(folder);
    let files = gadus_storage::check(folder.clone(), &name)?;
    let mut report = CheckReport {
        last_commit: files.last_commit,
        log_records: files.log_records,
        data_bytes: files.data_bytes,
        log_bytes: files.log_bytes,
        tables: Vec::new(),
        problems: files.problems.into_iter().map(Problem::from).collect(),
    };
    let options = Options { read_only: true, create: false, ..Options::default() };
    match Engine::open(folder, &name, options) {
        Ok(engine) => {
            let verified = engine.verify(&mut progress)?;
            report.tables = verified.tables.into_iter().map(TableReport::from).collect();
            let of_engine = |problem| Problem::of_engine(problem, &verified.file);
            report.problems.extend(verified.problems.into_iter().map(of_engine));
        }
        Err(error) => {
            let problem = Problem::from(&error);
            // The files' own verification has seen most of what keeps a database from opening.
            let place = |problem: &Problem| (problem.file.clone(), problem.offset);
            if !report.problems.iter().any(|known| place(known) == place(&problem)) {
                report.problems.push(problem);
            }
        }
    }
    Ok(report)
}

impl From<gadus_engine::VerifiedTable> for TableReport {
    fn from(table: gadus_engine::VerifiedTable) -> Self {
        Self {
            name: gadus_sql::written_name(&table.name),
            rows: table.rows,
            rows_read: table.rows_read,
        }
    }
}

impl Problem {
    fn of_engine(problem: gadus_engine::Problem, file: &str) -> Self {
        Self {
            file: Some(file.to_owned()),
            offset: problem.offset,
            table: problem.table,
            column: problem.column,
            segment: problem.segment.map(|segment| segment.0),
            message: problem.message,
        }
    }
}

impl From<gadus_storage::Problem> for Problem {
    fn from(problem: gadus_storage::Problem) -> Self {
        Self {
            file: Some(problem.file),
            offset: Some(problem.offset),
            message: problem.message,
            ..Self::default()
        }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let message = error.message().to_owned();
        match error.source().and_then(|source| source.downcast_ref::<StorageError>()) {
            Some(storage) => Self {
                file: Some(storage.file.clone()),
                offset: storage.offset,
                message: storage.message.clone(),
                ..Self::default()
            },
            None => Self { message, ..Self::default() },
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            if let Some(offset) = self.offset {
                write!(f, " at byte {offset}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        let Some(table) = &self.table else { return Ok(()) };
        write!(f, " (table {table}")?;
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        if let Some(segment) = self.segment {
            write!(f, ", segment {segment}")?;
        }
        f.write_str(")")
    }
}
