//! The bare pass: what answering a batch of statements costs this machine at the least.
//!
//! - The columns are plain arrays in memory, a batch's constants an index made in the measured time;
//!   there is no SQL, no result, no row, no log. Per statement a count and a sum are kept; of an update,
//!   the count of rows that it would change.
//! - Every row is looked up for every kind of key, on as many threads as Gadus has for a pass.
//! - Nothing is changed: the arrays stay as they were loaded.
//! - Before it counts for anything, its counts are compared with the answers of Gadus.

mod index;
mod pass;
mod shapes;
mod table;

#[cfg(test)]
mod tests;

use std::time::Duration;

use gadus::{Connection, Outcome};
use gadus_base::clock;

use self::index::Index;
use self::pass::{Total, pass};
use self::shapes::Constants;
use self::table::Table;
use super::super::figures::median;
use super::super::load::threads;
use crate::failure::Failure;
use crate::generate::statements::{Sample, Statements};
use crate::texts::texts;

/// Passes whose median is the time of one.
const PASSES: usize = 3;

/// What a pass works on.
#[derive(Debug)]
pub(super) struct Bare {
    table: Table,
    /// Of each row of the sample.
    constants: Vec<Constants>,
}

impl Bare {
    /// So many bookings, as they are generated, and the constants of the sample.
    pub(super) fn load(rows: u64, sample: &Sample) -> Result<Self, Failure> {
        let (table, dictionaries) = table::load(rows)?;
        let constants = sample.rows().iter().map(|row| Constants::of(row, &dictionaries));
        Ok(Self { table, constants: constants.collect::<Result<_, _>>()? })
    }

    /// One turn: batches of so many statements, one after another; gives statements a second.
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    pub(super) fn play(
        &self,
        statements: &Statements<'_>,
        mut first: usize,
        outstanding: u32,
        time: Duration,
    ) -> f64 {
        let (began, mut answered) = (clock().now(), 0);
        while answered == 0 || began.elapsed() < time {
            std::hint::black_box(self.answer(statements, first, outstanding as usize));
            first += outstanding as usize;
            answered += u64::from(outstanding);
        }
        answered as f64 / began.elapsed().as_secs_f64()
    }

    /// The time of a pass over a batch of so many statements.
    pub(super) fn pass_ms(&self, statements: &Statements<'_>, first: usize, count: usize) -> f64 {
        let time = |number: usize| {
            let began = clock().now();
            std::hint::black_box(self.answer(statements, first + number * count, count));
            began.elapsed().as_secs_f64() * 1e3
        };
        median(&(0..PASSES).map(time).collect::<Vec<_>>())
    }

    /// Answers the statements from `first` on, `count` of them, in one pass.
    fn answer(&self, statements: &Statements<'_>, first: usize, count: usize) -> Vec<Total> {
        let index = Index::of(statements, &self.constants, first, count);
        let distinct = pass(&self.table, &index, threads());
        index.of_each(&distinct)
    }

    /// Compares the counts of the first queries with the answers of Gadus, before anything is changed.
    pub(super) fn check(
        &self,
        connection: &Connection,
        statements: &Statements<'_>,
        count: usize,
    ) -> Result<(), Failure> {
        let totals = self.answer(statements, 0, count);
        let queries = (0..count).filter(|&place| !statements.is_update(place));
        let pending =
            queries.map(|place| (place, connection.submit(&statements.texts[place], &[])));
        for (place, pending) in pending.collect::<Vec<_>>() {
            let text = &statements.texts[place];
            let (answer, total) = (Answer::of(pending.wait()?, text)?, totals[place]);
            if !answer.agrees_with(total) {
                let message = format!("the bare pass finds {total:?}, Gadus {answer:?}: {text}");
                return Err(Failure::message(message));
            }
        }
        Ok(())
    }
}

/// What Gadus says to a statement that a pass keeps a count and a sum of.
#[derive(Debug)]
struct Answer {
    rows: u64,
    /// Where the statement asks for it.
    sum: Option<i64>,
}

impl Answer {
    fn of(outcome: Outcome, text: &str) -> Result<Self, Failure> {
        let found = match outcome {
            Outcome::Changed { rows, .. } => return Ok(Self { rows, sum: None }),
            outcome => texts(outcome.into_rows())?,
        };
        if !text.starts_with("SELECT count(*)") {
            return Ok(Self { rows: found.len() as u64, sum: None });
        }
        let number = |column: usize| found.first()?.get(column)?.parse::<i64>().ok();
        let count = number(0).ok_or_else(|| Failure::message(format!("no count: {text}")))?;
        let asks_sum = text.starts_with("SELECT count(*), sum");
        // The sum of no rows is NULL, where a pass has nothing.
        let sum = asks_sum.then(|| number(1).unwrap_or(0));
        Ok(Self { rows: count.unsigned_abs(), sum })
    }

    fn agrees_with(&self, total: Total) -> bool {
        self.rows == total.count && self.sum.is_none_or(|sum| sum == total.sum)
    }
}
