//! What a ledger holds once its database is open again, and whether it is whole.

use std::collections::BTreeMap;

use gadus::Connection;

use super::{Numbers, WriterId, fingerprint, first_kept};
use crate::failure::Failure;

const TOTALS: &str = "SELECT writer, n, total FROM ledger_totals";

const ROWS: &str = "SELECT writer, count(*), min(n), max(n), sum(fingerprint) FROM ledger \
                    GROUP BY writer";

/// What each writer noted with its last commit.
#[derive(Debug)]
pub(crate) struct Totals(BTreeMap<WriterId, [i64; 2]>);

impl Totals {
    /// Reads the number and the sum of each writer.
    pub(crate) fn read(connection: &Connection) -> Result<Self, Failure> {
        Ok(Self(by_writer(connection, TOTALS)?))
    }

    /// Verifies that each writer's rows and total agree, where each keeps its last `rows_kept` rows;
    /// returns how far the writers have come.
    pub(crate) fn verify(
        &self,
        connection: &Connection,
        rows_kept: Option<u32>,
    ) -> Result<Numbers, Failure> {
        let mut found: BTreeMap<_, [i64; 4]> = by_writer(connection, ROWS)?;
        let mut numbers = Numbers::default();
        for (&writer, &[n, total]) in &self.0 {
            let first = first_kept(n, rows_kept);
            let sum = |from: i64| (from..=n).map(|n| fingerprint(writer, n)).sum::<i64>();
            let expected = (n > 0).then(|| [n - first + 1, first, n, sum(first)]);
            let found = found.remove(&writer);
            if total != sum(1) || found != expected {
                let WriterId(writer) = writer;
                return Err(Failure::message(format!(
                    "half a commit is there, of writer {writer}: it noted {n} and {total}; \
                     count, first, last and sum are {found:?}, not {expected:?}"
                )));
            }
            numbers.note(writer, n);
        }
        match found.first_key_value() {
            Some((WriterId(writer), _)) => {
                Err(Failure::message(format!("writer {writer} has rows and no total")))
            }
            None => Ok(numbers),
        }
    }
}

/// The rows of a query by their first column, a writer.
fn by_writer<const N: usize>(
    connection: &Connection,
    sql: &str,
) -> Result<BTreeMap<WriterId, [i64; N]>, Failure> {
    let mut all = BTreeMap::new();
    for row in connection.query(sql, &[])? {
        let row = row?;
        let mut values = [0; N];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get(index + 1)?;
        }
        let writer: i64 = row.get(0)?;
        let writer = u32::try_from(writer)
            .map_err(|_| Failure::message(format!("{writer} is no writer's id")))?;
        all.insert(WriterId(writer), values);
    }
    Ok(all)
}
