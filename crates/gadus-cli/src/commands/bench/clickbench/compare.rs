//! Whether Gadus and DuckDB answer a query alike, where much of an answer is not determined.
//!
//! - DuckDB is asked for every row that could stand in an answer, with the first and the last place
//!   that it could have: rows that ORDER BY leaves equal share their places, and without ORDER BY any
//!   row has any. Each row of Gadus is one of those that could stand where it stands, and none of them
//!   stands twice.
//! - Of so many rows, only those that begin as some row of Gadus does.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use arrow::datatypes::DataType;
use gadus::Connection;

use super::super::answers::{Answer, Comparison, Kinds, Rows, ask_gadus, ask_peer};
use super::super::peers::Python;
use crate::failure::Failure;

/// The parts of a query that say which rows of all it gives.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'a> {
    /// Before FROM, and from there.
    select: &'a str,
    from: &'a str,
    /// With its words.
    order: &'a str,
    limit: Option<usize>,
    offset: usize,
}

/// Asks both.
pub(super) fn compare(
    connection: &Connection,
    peer: &mut Python,
    text: &str,
) -> Result<Comparison, Failure> {
    let own = match ask_gadus(connection, text)? {
        Ok(answer) => answer,
        Err(refused) => return Ok(refused),
    };
    let parts =
        Parts::of(text).ok_or_else(|| Failure::message(format!("not understood: {text}")))?;
    let kinds = Kinds::of(&own, peer, text)?;
    let count = ask_peer(peer, text)?.len();
    let possible = ask_peer(peer, &parts.possible(&own))?;
    let difference = match count == own.rows.len() {
        true => difference(&kinds, parts.offset, &own.rows, possible),
        false => Some(format!("gadus has {} rows, duckdb {count}", own.rows.len())),
    };
    Ok(Comparison { rows: own.rows.len(), difference })
}

/// The first row of Gadus that could not stand where it does; `possible` are rows with their first and
/// last places.
fn difference(kinds: &Kinds, offset: usize, own: &Rows, mut possible: Rows) -> Option<String> {
    let columns = kinds.types.len();
    for (at, row) in own.iter().enumerate() {
        let place = offset + at + 1;
        let number = |text: &String| text.parse::<usize>().unwrap_or(0);
        let stands = |other: &Vec<String>| {
            (number(&other[columns])..=number(&other[columns + 1])).contains(&place)
        };
        let found = possible.iter().position(|other| stands(other) && kinds.rows_agree(row, other));
        match found {
            Some(found) => drop(possible.swap_remove(found)),
            None => {
                let there = possible.iter().find(|other| stands(other));
                let there = there.map_or("another".to_owned(), |row| row[..columns].join("|"));
                let row = row.join("|");
                return Some(format!("row {place} of gadus is {row}, of duckdb such as {there}"));
            }
        }
    }
    None
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (text, offset) = last_number(text, " OFFSET ");
        let (text, limit) = last_number(text, " LIMIT ");
        let at = text.rfind(" ORDER BY ").unwrap_or(text.len());
        let (text, order) = text.split_at(at);
        let (select, from) = text.split_at(text.find(" FROM hits")?);
        Some(Self { select, from, order: order.trim_start(), limit, offset: offset.unwrap_or(0) })
    }

    /// What gives all rows that could stand in an answer, with their places.
    fn possible(&self, own: &Answer) -> String {
        let Self { select, from, order, limit, offset } = self;
        let names = (0..own.schema.fields().len()).map(|column| format!("c{column}, "));
        let mut text = format!(
            "SELECT * FROM ({select}, rank() OVER ({order}), count(*) OVER ({order}){from}) \
             AS possible ({}first_place, last_place)",
            names.collect::<String>()
        );
        let Some(limit) = limit else { return text };
        let end = limit + offset;
        write!(text, " WHERE first_place <= {end} AND last_place > {offset}")
            .expect("a string can be written");
        // Doubles are not compared as text, and times are written in other ways.
        let fields = own.schema.fields().iter();
        let is_plain = |kind: &DataType| kind.is_integer() || *kind == DataType::Utf8View;
        let first = fields.map(|field| field.data_type()).position(is_plain);
        if let Some(first) = first.filter(|_| !own.rows.is_empty()) {
            let quoted = |row: &Vec<String>| format!("'{}'", row[first].replace('\'', "''"));
            let values = own.rows.iter().map(quoted).collect::<Vec<_>>().join(", ");
            write!(text, " AND CAST(c{first} AS VARCHAR) IN ({values})")
                .expect("a string can be written");
        }
        text
    }
}

/// A text without what ends it: a word and a number.
fn last_number<'a>(text: &'a str, word: &str) -> (&'a str, Option<usize>) {
    let parts = text.rsplit_once(word);
    let parts = parts.and_then(|(before, number)| Some((before, number.parse().ok()?)));
    parts.map_or((text, None), |(before, number)| (before, Some(number)))
}
