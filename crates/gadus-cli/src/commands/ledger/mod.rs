//! The ledger: what processes write while they are killed, so that whatever is lost shows.
//!
//! - A writer is a thread with an id of its own. It counts its commits; a commit enters a row with
//!   its number, and notes number and sum in the writer's total, so that half a commit shows.
//! - Keys begin with the writer's id: writers never meet, in one process or in several.
//! - A commit counts as acknowledged when the line that says so has left the writing process.
//! - Acknowledged commits are found again in the reopened database, all of them, or it says so.

mod process;
mod verify;
mod writer;
mod writers;

pub(crate) use process::{Pause, WritingProcess};
pub(crate) use verify::Totals;
pub(crate) use writer::{Writing, write};
pub(crate) use writers::{AFTERMATH, Writers, Written};

use std::collections::BTreeMap;
use std::ops::Range;

use gadus::{Connection, params};
use gadus_base::Random;

use crate::failure::Failure;

const TABLES: &str = "
    CREATE TABLE ledger (writer BIGINT, n BIGINT, fingerprint BIGINT NOT NULL,
                         PRIMARY KEY (writer, n));
    CREATE TABLE ledger_totals (writer BIGINT PRIMARY KEY, n BIGINT NOT NULL,
                                total BIGINT NOT NULL);";

/// The id of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WriterId(pub(crate) u32);

/// How far each writer has come: the number of its last commit. One that is not here has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Numbers(BTreeMap<WriterId, i64>);

/// Makes the tables of a ledger, with a total for each writer.
pub(crate) fn create(connection: &Connection, writers: Range<u32>) -> Result<(), Failure> {
    connection.execute_script(TABLES)?;
    for writer in writers {
        connection.execute("INSERT INTO ledger_totals VALUES (?, 0, 0)", params![writer])?;
    }
    Ok(())
}

/// What stands beside a number: 32 bits, so that sums of many fit.
fn fingerprint(writer: WriterId, n: i64) -> i64 {
    let mut random = Random::seeded(writer.0.into()).child(n.cast_unsigned());
    (random.next_u64() >> 32).cast_signed()
}

/// The first number whose row a writer that came to `n` has not deleted.
fn first_kept(n: i64, rows_kept: Option<u32>) -> i64 {
    rows_kept.map_or(1, |rows| (n - i64::from(rows) + 1).max(1))
}

impl Numbers {
    pub(crate) fn of(&self, writer: WriterId) -> i64 {
        self.0.get(&writer).copied().unwrap_or(0)
    }

    /// Notes that a writer has come to `n`.
    pub(crate) fn note(&mut self, writer: WriterId, n: i64) {
        let last = self.0.entry(writer).or_insert(n);
        *last = n.max(*last);
    }

    /// Notes all of another.
    pub(crate) fn note_all(&mut self, other: &Self) {
        other.iter().for_each(|(writer, n)| self.note(writer, n));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (WriterId, i64)> {
        self.0.iter().map(|(&writer, &n)| (writer, n))
    }

    /// Commits that are here and not in `other`.
    pub(crate) fn beyond(&self, other: &Self) -> u64 {
        self.iter().map(|(writer, n)| (n - other.of(writer)).max(0).cast_unsigned()).sum()
    }
}

#[cfg(test)]
mod tests;
