//! Looking at who has a database open, and what keeps whom waiting.
//!
//! - What is told was true a moment ago; nothing waits for those who look.

use crate::database::Database;
use gadus_base::{TableId, date_and_time};
use gadus_engine::{InstanceDescription, LockView, Result};
use std::collections::BTreeMap;
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
    /// Whose it is.
    pub session: Session,
}

/// A connection that has locks, or a process that has the database open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Session {
    /// The process, as numbered in its own namespace; 0 when it is gone.
    pub pid: u32,
    /// The number of the connection in its process; 0 for the process itself.
    pub connection: u32,
    /// Its program.
    pub program: String,
    /// When it opened the database.
    pub since: String,
}

impl Database {
    /// All locks of all connections that have the database open, by resource; of each, those that
    /// hold it before those that wait for it.
    ///
    /// # Errors
    /// `Corrupt` when the shared memory is damaged.
    pub fn locks(&self) -> Result<Vec<Lock>> {
        let views = self.engine().locks()?;
        let tables = self.engine().snapshot()?.tables();
        let names = tables.iter().map(|table| (table.id(), table.schema().name.clone()));
        let names = names.collect::<BTreeMap<_, _>>();
        Ok(views.into_iter().map(|view| Lock::of(view, &names)).collect())
    }

    /// Who has the database open: each process, and each of its connections that has locks.
    ///
    /// # Errors
    /// As [`Database::locks`].
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let processes = self.engine().instances();
        let mut sessions =
            processes.iter().map(|process| Session::of(Some(process), 0)).collect::<Vec<_>>();
        sessions.extend(self.locks()?.into_iter().map(|lock| lock.session));
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }
}

impl Lock {
    fn of(view: LockView, names: &BTreeMap<TableId, String>) -> Self {
        let LockView { resource, granted, wanted, holder } = view;
        Self {
            resource: resource.to_string(),
            table: resource.table_id().and_then(|id| names.get(&id).cloned()),
            granted: granted.map(|mode| mode.to_string()),
            wanted: wanted.map(|mode| mode.to_string()),
            age: holder.age_ms.map(Duration::from_millis),
            session: Session::of(holder.instance.as_ref(), holder.connection),
        }
    }
}

impl Session {
    fn of(process: Option<&InstanceDescription>, connection: u32) -> Self {
        match process {
            Some(process) => Self {
                pid: process.pid,
                connection,
                program: process.program.clone(),
                since: date_and_time(process.since_seconds),
            },
            None => Self { connection, ..Self::gone() },
        }
    }

    fn gone() -> Self {
        Self { pid: 0, connection: 0, program: "gone".to_owned(), since: String::new() }
    }
}
