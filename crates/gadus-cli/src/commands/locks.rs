//! `gadus locks` and `gadus sessions`: who has a database open, and who keeps whom waiting.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gadus::{Database, Lock, LockStatistics, Options, Session};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus locks shop.gadus
  gadus locks shop.gadus --table
  gadus locks shop.gadus --json | jq 'select(.wanted != null)'

Modes: IS and IX are intentions on a table or segment, X is a row, key or table that is changed.
Joins those who have the database open; where nobody has, it is opened and closed again.")]
pub(crate) struct Locks {
    /// The database
    file: PathBuf,
    /// The lock table itself: its size, and what has happened in it
    #[arg(long)]
    table: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  gadus sessions shop.gadus
  gadus shop.gadus -c 'KILL 7'

A process is listed by itself, then each of its connections that has run a statement, with the id that
KILL ends it by; this process is not.")]
pub(crate) struct Sessions {
    /// The database
    file: PathBuf,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Joins those who have the database open.
fn join(file: &Path) -> Result<Database, Failure> {
    Ok(Database::open(file, Options::new().create(false))?)
}

pub(crate) fn locks(command: &Locks) -> Result<(), Failure> {
    let database = join(&command.file)?;
    if command.table {
        return figures(&database.statistics().locks, command.json);
    }
    let locks = database.locks()?;
    if command.json {
        return lines(locks.iter().map(lock_json));
    }
    let row = |lock: &Lock| {
        let Lock { resource, table, granted, wanted, age, pid, connection, program } = lock.clone();
        let age = age.map(|age| format!("{:.1} s", age.as_secs_f64())).unwrap_or_default();
        let (pid, connection) = (pid.to_string(), connection.to_string());
        let [table, granted, wanted] = [table, granted, wanted].map(Option::unwrap_or_default);
        [resource, table, granted, wanted, age, pid, connection, program]
    };
    let headings = ["resource", "table", "held", "wanted", "for", "pid", "connection", "program"];
    print_rows(headings, &locks.iter().map(row).collect::<Vec<_>>())
}

pub(crate) fn sessions(command: &Sessions) -> Result<(), Failure> {
    let database = join(&command.file)?;
    // This process is there only because it looks.
    let sessions = database.sessions()?.into_iter().filter(|session| !session.is_own);
    let sessions = sessions.collect::<Vec<_>>();
    if command.json {
        return lines(sessions.iter().map(session_json));
    }
    let row = |session: &Session| {
        let Session { id, pid, program, since, locks, waits, busy, .. } = session.clone();
        let id_or_none = id.map(|id| id.to_string()).unwrap_or_default();
        let locks = id.map(|_| locks.to_string()).unwrap_or_default();
        let doing = if waits { Some("waits for a lock".to_owned()) } else { busy };
        [id_or_none, pid.to_string(), since, locks, doing.unwrap_or_default(), program]
    };
    print_rows(
        ["id", "pid", "since", "locks", "busy", "program"],
        &sessions.iter().map(row).collect::<Vec<_>>(),
    )
}

fn figures(locks: &LockStatistics, json: bool) -> Result<(), Failure> {
    let figures = [
        ("extents", locks.extents),
        ("slots_used", locks.slots_used),
        ("slots_free", locks.slots_free),
        ("waits", locks.waits),
        ("wake_ups", locks.wake_ups),
        ("conversions", locks.conversions),
        ("timeouts", locks.timeouts),
        ("cancellations", locks.cancellations),
        ("deadlocks", locks.deadlocks),
        ("reorders", locks.reorders),
        ("notifications", locks.notifications),
        ("escalations", locks.escalations),
        ("fast_moves", locks.fast_moves),
        ("rebuilds", locks.rebuilds),
        ("cleanups", locks.cleanups),
    ];
    if json {
        let object = figures.into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
        return lines([Value::Object(object.collect())].into_iter());
    }
    let rows = figures.map(|(name, value)| [name.replace('_', " "), value.to_string()]);
    print_rows(["figure", "value"], &rows)
}

fn lines(objects: impl Iterator<Item = Value>) -> Result<(), Failure> {
    let mut output = io::stdout();
    for object in objects {
        writeln!(output, "{object}")?;
    }
    Ok(())
}

fn lock_json(lock: &Lock) -> Value {
    json!({
        "resource": lock.resource,
        "table": lock.table,
        "granted": lock.granted,
        "wanted": lock.wanted,
        "age_ms": lock.age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
        "pid": lock.pid,
        "connection": lock.connection,
        "program": lock.program,
    })
}

fn session_json(session: &Session) -> Value {
    let Session { id, pid, connection, program, since, locks, waits, busy, is_own: _ } = session;
    json!({
        "id": id, "pid": pid, "connection": connection, "program": program, "since": since,
        "locks": locks, "waits": waits, "busy": busy,
    })
}
