//! The writing process: commits from one thread or several, and says so, until it is killed.
//!
//! - A line "writer number" is printed only after that commit has been acknowledged.
//! - A writer carries on behind the last number that it finds in its total.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{ByteCount, Connection, Database, ErrorKind, Options, Statement, params};

use super::{WriterId, fingerprint};
use crate::failure::Failure;

/// What a spare process says once it has its memory.
pub(super) const READY: &str = "ready";

/// What a writing process is told.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Writing {
    /// The database, with the tables of a ledger
    pub(crate) file: PathBuf,
    /// Threads that commit, each a writer
    #[arg(long, default_value_t = 1)]
    pub(crate) writers: u32,
    /// The id of the first of them; the others have those that follow
    #[arg(long, default_value_t = 0)]
    pub(crate) first_writer: u32,
    /// Rows that each writer keeps; older ones it deletes [default: all]
    #[arg(long)]
    pub(crate) rows_kept: Option<u32>,
    /// Bytes of log after which the database writes a checkpoint [default: the database's]
    #[arg(long)]
    pub(crate) checkpoint_log: Option<u64>,
    /// Memory that the process has beside: what its death takes longer for [default: none]
    #[arg(long)]
    pub(crate) resident: Option<ByteCount>,
    /// Have the memory first, and open once standard input tells the id of the first writer
    #[arg(long)]
    pub(crate) spare: bool,
}

impl Writing {
    /// One writer that keeps all its rows.
    pub(crate) fn new(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        Self {
            file,
            writers: 1,
            first_writer: 0,
            rows_kept: None,
            checkpoint_log: None,
            resident: None,
            spare: false,
        }
    }

    /// The words that tell a process the same.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let options = [
            ("--writers", Some(u64::from(self.writers))),
            ("--first-writer", Some(self.first_writer.into())),
            ("--rows-kept", self.rows_kept.map(u64::from)),
            ("--checkpoint-log", self.checkpoint_log),
            ("--resident", self.resident.map(|size| size.0)),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let words = given.flat_map(|(name, value)| [name.into(), value.to_string().into()]);
        let spare = self.spare.then(|| "--spare".into());
        words.chain(spare).chain(["--".into(), self.file.clone().into()]).collect()
    }
}

/// Commits until it is killed, or nobody listens.
pub(crate) fn write(writing: &Writing) -> Result<(), Failure> {
    let mut options = Options::new().create(false);
    if let Some(bytes) = writing.checkpoint_log {
        options = options.checkpoint_log(ByteCount(bytes));
    }
    let resident = touched(writing.resident.unwrap_or_default())?;
    let first_writer = if writing.spare { told()? } else { writing.first_writer };
    let database = Database::open(&writing.file, options)?;
    std::thread::scope(|scope| {
        let start = |index: u32| {
            let id = WriterId(first_writer.saturating_add(index));
            let connection = database.connect();
            scope.spawn(move || Writer::prepare(id, &connection, writing.rows_kept)?.run())
        };
        let threads: Vec<_> = (0..writing.writers).map(start).collect();
        for thread in threads {
            thread.join().map_err(|_| Failure::message("a writer broke off"))??;
        }
        drop(resident);
        Ok(())
    })
}

/// So much memory, present.
fn touched(size: ByteCount) -> Result<Vec<u8>, Failure> {
    const PAGE_BYTES: usize = 4096;
    let bytes = usize::try_from(size.0).ok();
    let bytes = bytes.ok_or_else(|| Failure::message(format!("{size} is more than can be")))?;
    let mut memory = vec![0; bytes];
    memory.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
    Ok(std::hint::black_box(memory))
}

/// Says that this process has its memory; returns the first writer's id, once it is told.
fn told() -> Result<u32, Failure> {
    writeln!(io::stdout(), "{READY}")?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    line.trim().parse().map_err(|_| Failure::message(format!("{line:?} is no writer's id")))
}

/// One writer, and its statements of a commit.
struct Writer<'a> {
    id: WriterId,
    rows_kept: Option<u32>,
    connection: &'a Connection,
    insert: Statement,
    total: Statement,
    delete: Statement,
}

impl<'a> Writer<'a> {
    fn prepare(
        id: WriterId,
        connection: &'a Connection,
        rows_kept: Option<u32>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            id,
            rows_kept,
            connection,
            insert: connection.prepare("INSERT INTO ledger VALUES (?, ?, ?)")?,
            total: connection
                .prepare("UPDATE ledger_totals SET n = ?, total = total + ? WHERE writer = ?")?,
            delete: connection.prepare("DELETE FROM ledger WHERE writer = ? AND n = ?")?,
        })
    }

    fn run(&self) -> Result<(), Failure> {
        let last = "SELECT n FROM ledger_totals WHERE writer = ?";
        let mut n: i64 = match self.connection.query(last, params![self.id.0])?.next() {
            Some(row) => row?.get(0)?,
            None => return Err(Failure::message("the writer has no total")),
        };
        loop {
            n += 1;
            while let Err(error) = self.commit(n) {
                // Maintenance moved a row meanwhile: what anybody does then, again.
                if error.kind() != ErrorKind::Conflict {
                    return Err(error.into());
                }
                if self.connection.in_transaction() {
                    self.connection.execute("ROLLBACK", &[])?;
                }
            }
            let mut output = io::stdout().lock();
            writeln!(output, "{} {n}", self.id.0)?;
            output.flush()?;
        }
    }

    fn commit(&self, n: i64) -> gadus::Result<()> {
        let (writer, fingerprint) = (self.id.0, fingerprint(self.id, n));
        self.connection.execute("BEGIN", &[])?;
        self.insert.execute(params![writer, n, fingerprint])?;
        self.total.execute(params![n, fingerprint, writer])?;
        if let Some(rows) = self.rows_kept {
            self.delete.execute(params![writer, n - i64::from(rows)])?;
        }
        self.connection.execute("COMMIT", &[])?;
        Ok(())
    }
}
