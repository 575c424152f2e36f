//! Looking at who has a database open, and what keeps whom waiting.
//!
//! - What is told was true a moment ago; nothing waits for those who look.

use crate::database::Database;
use gadus_base::date_and_time;
use gadus_engine::{Ending, InstanceDescription, NamedLock, Result, SessionView, Stage};
use std::time::Duration;

/// A lock that a connection holds or waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// What it is, in words: a table, a segment, a row, a key.
    pub resource: String,
    /// The name of the table, where it is one or is part of one.
    pub table: Option<String>,
    /// The mode that the connection has: IX, X and so on.
    pub granted: Option<String>,
    /// The mode that it waits for.
    pub wanted: Option<String>,
    /// For how long it has held it or waited; unknown where nobody contends.
    pub age: Option<Duration>,
    /// The process of the connection, as numbered in its own namespace; 0 when it is gone.
    pub pid: u32,
    /// The number of the connection in its process.
    pub connection: u32,
    /// The program of the process.
    pub program: String,
}

/// A process that has the database open, or one of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Names a connection in `KILL`, as long as it is there; none for the process itself.
    pub id: Option<u32>,
    /// The process, as numbered in its own namespace; 0 when it is gone.
    pub pid: u32,
    /// The number of the connection in its process; 0 for the process itself.
    pub connection: u32,
    /// Its program.
    pub program: String,
    /// When the process opened the database.
    pub since: String,
    /// Locks that the connection holds.
    pub locks: u64,
    /// Whether it waits for one.
    pub waits: bool,
    /// What the process does just now that others may have to wait for: `commit`, `sync` and so on.
    pub busy: Option<String>,
    /// Whether it is this process and this handle's database.
    pub is_own: bool,
}

impl Database {
    /// All locks of all connections that have the database open, by resource; of each, those that
    /// hold it before those that wait for it.
    ///
    /// # Errors
    /// `Corrupt` when the shared memory is damaged.
    pub fn locks(&self) -> Result<Vec<Lock>> {
        Ok(self.engine().locks()?.into_iter().map(Lock::from).collect())
    }

    /// Who has the database open: each process, and each of its connections that has run a statement.
    ///
    /// # Errors
    /// As [`Database::locks`].
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let own = self.engine().own_instance();
        let session = |view: SessionView| Session {
            is_own: view.process.as_ref().is_some_and(|process| process.owner == own),
            ..Session::from(view)
        };
        Ok(self.engine().sessions()?.into_iter().map(session).collect())
    }

    /// Which processes, by their ids, do what others may have to wait for, just now.
    #[must_use]
    pub fn busy(&self) -> Vec<(u32, Stage)> {
        self.engine().busy().into_iter().map(|(process, stage)| (process.pid, stage)).collect()
    }

    /// Ends a session, whichever process it is of: its statement is cancelled, its transaction rolled
    /// back, and what it runs later refused with `Terminated`. Its process does so soon, unless it is
    /// stopped. The same as the statement `KILL id`.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id.
    pub fn end_session(&self, id: u32) -> Result<()> {
        self.engine().end_session(id, Ending::Connection)
    }
}

impl From<NamedLock> for Lock {
    fn from(NamedLock { view, table, .. }: NamedLock) -> Self {
        let (pid, program) = named(view.holder.instance.as_ref());
        Self {
            resource: view.resource.to_string(),
            table,
            granted: view.granted.map(|mode| mode.to_string()),
            wanted: view.wanted.map(|mode| mode.to_string()),
            age: view.holder.age_ms.map(Duration::from_millis),
            pid,
            connection: view.holder.connection,
            program,
        }
    }
}

impl From<SessionView> for Session {
    fn from(view: SessionView) -> Self {
        let (pid, program) = named(view.process.as_ref());
        let since = view.process.as_ref().map(|process| date_and_time(process.since_seconds));
        Self {
            id: view.id,
            pid,
            connection: view.connection.unwrap_or(0),
            program,
            since: since.unwrap_or_default(),
            locks: view.locks,
            waits: view.waits,
            busy: view.busy_with(),
            is_own: false,
        }
    }
}

/// A process's id and program.
fn named(process: Option<&InstanceDescription>) -> (u32, String) {
    process.map_or_else(|| (0, "gone".to_owned()), |process| (process.pid, process.program.clone()))
}
