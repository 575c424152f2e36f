//! Plans as trees of operators, and what each of them took: EXPLAIN and EXPLAIN ANALYZE, as text, JSON or a page.
//!
//! - An operator's time is its own, of all threads: what those below it took is theirs, and waiting is nobody's.
//! - Memory is told by operators that count what they hold; what a whole statement held is counted for all of them.
//! - A statement that runs compiled, or writes, is one operator: it runs as it always does.

mod html;
mod json;
mod operator;
mod request;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use operator::{Figures, Operator};
pub(crate) use request::{Format, Request};

use crate::rows::RowStream;
use crate::session::Outcome;
use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use gadus_base::{Account, CacheUse, IoBytes};
use gadus_engine::Result;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A statement that is explained.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) operator: Operator,
    /// What it took; none where it did not run.
    pub(crate) run: Option<Run>,
}

/// What a whole statement took.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) planned: Duration,
    /// Why the statement was planned again while it ran, if it was.
    pub(crate) planned_again: Option<String>,
    pub(crate) ran: Duration,
    /// Given, or changed.
    pub(crate) rows: u64,
    /// The most that its operators held at a time.
    pub(crate) memory_bytes: u64,
    pub(crate) bytes: IoBytes,
    pub(crate) cache: CacheUse,
}

impl Run {
    /// With what stands on the statement's account.
    pub(crate) fn on(self, account: &Account) -> Self {
        Self {
            memory_bytes: account.held_bytes_max(),
            bytes: account.bytes(),
            cache: account.cache_use(),
            ..self
        }
    }
}

/// Stands in the metadata of the schema of what EXPLAIN gives: its one column has lines to be shown as they are.
pub const EXPLAINED: &str = "gadus.explained";

/// The one column of what EXPLAIN gives.
pub(crate) fn schema() -> SchemaRef {
    let column = Field::new("plan", DataType::Utf8, false);
    let metadata = HashMap::from([(EXPLAINED.to_owned(), "lines".to_owned())]);
    Arc::new(Schema::new_with_metadata(vec![column], metadata))
}

impl Explained {
    /// As rows of text, one for each line; as JSON and as a page, one in all.
    pub(crate) fn shown(&self, format: Format) -> Result<Outcome> {
        let text = match format {
            Format::Text => text::render(self),
            Format::Json => json::render(self),
            Format::Html => html::render(self),
        };
        match format {
            Format::Text => rows(text.lines().collect()),
            Format::Json | Format::Html => rows(vec![&text]),
        }
    }

    /// The same, with these lines in the place of its text.
    pub(crate) fn shown_as(&self, lines: &[String], format: Format) -> Result<Outcome> {
        match format {
            Format::Text => rows(lines.iter().map(String::as_str).collect()),
            other => self.shown(other),
        }
    }

    /// Written out by all operators.
    fn spilled_bytes(&self) -> u64 {
        self.operator.sum(&|figures| figures.spilled_bytes)
    }

    /// The time of all operators: more than that of the statement, where several threads worked for it.
    fn time(&self) -> Duration {
        Duration::from_nanos(self.operator.sum(&|figures| nanoseconds(figures.time)))
    }
}

fn rows(lines: Vec<&str>) -> Result<Outcome> {
    let column = Arc::new(StringArray::from(lines));
    let batch = RecordBatch::try_new(schema(), vec![column])?;
    Ok(Outcome::Rows(RowStream::ready(schema(), vec![batch])))
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// For people: three digits or so, whatever it is.
fn shown_time(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms >= 10_000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms if ms >= 10.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.2} ms"),
    }
}

/// One part of a whole, in percent.
fn percent(part: Duration, whole: Duration) -> f64 {
    match whole.as_secs_f64() {
        whole if whole > 0.0 => part.as_secs_f64() / whole * 100.0,
        _ => 0.0,
    }
}
