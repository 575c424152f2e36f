//! Audit log: who came in, who was refused, and statements that change users, end sessions or reach files.
//!
//! - One JSON object a line, appended by one system call before the client is answered; unlike the server's
//!   events, no line is dropped for want of room.
//! - The file has mode 0600. A symbolic link is refused. `reopen` begins a new file after the old one was
//!   renamed, as log rotation does.
//! - Passwords and values of parameters are never in it.

use crate::connection::{Who, shown};
use crate::error::Failure;
use gadus_base::{clock, date_and_time};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The audit log of a server.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
    file: Mutex<File>,
}

impl Audit {
    /// Opens the file at a path, to append to it.
    ///
    /// # Errors
    /// When it cannot be opened, or is a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), file: Mutex::new(open(path)?) })
    }

    /// Opens the file at the path anew.
    ///
    /// # Errors
    /// As [`Audit::open`]; the file that was open then stays in use.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        let file = open(&self.path)?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = file;
        Ok(())
    }

    /// Records an event of a client that came in or went.
    pub(crate) fn connection(&self, event: &str, who: &Who) {
        self.append(event, who, json!({ "database": who.database, "encrypted": who.is_encrypted }));
    }

    /// Records a client that was refused, with the failed logins in a row so far.
    pub(crate) fn refused(&self, who: &Who, failure: &Failure) {
        let event = match failure.code.is_of_authentication() {
            true => "authentication failed",
            false => "connection refused",
        };
        let code = failure.code.text();
        let database = &who.database;
        self.append(
            event,
            who,
            json!({ "database": database, "code": code, "error": failure.message }),
        );
    }

    /// Records a statement if it is one of those that are audited.
    pub(crate) fn statement(&self, who: &Who, text: &str, code: Option<&str>) {
        if is_audited(text) {
            self.append("statement", who, json!({ "statement": shown(text), "code": code }));
        }
    }

    fn append(&self, event: &str, who: &Who, facts: Value) {
        let mut line = json!({
            "time": date_and_time(clock().wall_time().0.as_secs()),
            "event": event,
            "user": who.user,
            "peer": who.peer.to_string(),
        });
        if let (Value::Object(line), Value::Object(facts)) = (&mut line, facts) {
            line.extend(facts);
        }
        let line = format!("{line}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::error!(path = %self.path.display(), %error, "audit log cannot be written");
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NOCTTY;
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path)
}

/// True for statements that change users, end sessions or reach files.
fn is_audited(text: &str) -> bool {
    let is_separator = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut words = text.split(is_separator).filter(|word| !word.is_empty());
    let mut is_next = |known: &[&str]| {
        words.next().is_some_and(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let first = text.trim_start();
    let begins = |word: &str| first.get(..word.len()).is_some_and(|f| f.eq_ignore_ascii_case(word));
    if ["KILL", "BACKUP", "COPY"].into_iter().any(begins) {
        return true;
    }
    is_next(&["CREATE", "ALTER", "DROP"]) && is_next(&["USER", "ROLE"])
}

#[cfg(test)]
mod tests {
    use super::is_audited;

    #[test]
    fn statements_of_users_sessions_and_files_are_audited() {
        let audited =
            ["create user ada PASSWORD 'x'", "ALTER ROLE ada", "drop user ada", " kill 7"];
        assert!(audited.iter().all(|text| is_audited(text)));
        assert!(is_audited("COPY t TO 'x.csv'") && is_audited("BACKUP TO 'x'"));
        for other in ["SELECT 1", "CREATE TABLE users (a INT)", "", "DROP TABLE role"] {
            assert!(!is_audited(other), "{other}");
        }
    }
}
