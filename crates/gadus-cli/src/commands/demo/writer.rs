//! The writing process that the demo kills: commits in a loop, and says so.
//!
//! - A number is printed only after its commit has been acknowledged.
//! - Each commit changes two tables, so that half a commit would be seen.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{Database, Options, params};
use gadus_base::Random;

use super::show::single;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Writer {
    /// The database
    file: PathBuf,
}

/// What the writer writes to, made by the demo.
pub(super) const TABLES: &str = "
    CREATE TABLE ledger (n BIGINT PRIMARY KEY, fingerprint BIGINT NOT NULL);
    CREATE TABLE ledger_total (id BIGINT PRIMARY KEY, n BIGINT NOT NULL, total BIGINT NOT NULL);
    INSERT INTO ledger_total VALUES (1, 0, 0);";

/// What stands beside a number: 32 bits, so that sums of many fit.
pub(super) fn fingerprint(n: i64) -> i64 {
    i64::from((Random::seeded(n.cast_unsigned()).next_u64() >> 32) as u32)
}

/// Commits until it is killed, or nobody listens.
pub(crate) fn write(command: &Writer) -> Result<(), Failure> {
    let connection = Database::open(&command.file, Options::new().create(false))?.connect();
    let insert = connection.prepare("INSERT INTO ledger VALUES (?, ?)")?;
    let total = "UPDATE ledger_total SET n = ?, total = total + ? WHERE id = 1";
    let total = connection.prepare(total)?;
    let mut n: i64 = single(&connection, "SELECT n FROM ledger_total")?;
    let mut output = io::stdout();
    loop {
        n += 1;
        connection.execute("BEGIN", &[])?;
        insert.execute(params![n, fingerprint(n)])?;
        total.execute(params![n, fingerprint(n)])?;
        connection.execute("COMMIT", &[])?;
        writeln!(output, "{n}")?;
        output.flush()?;
    }
}
