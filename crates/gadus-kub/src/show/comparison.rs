//! Two reports side by side, as text or lines of JSON.

use super::blocks::{Block, Table};
use super::figures::{digits, shown};
use super::text;
use crate::compare::{Change, Comparison};
use serde_json::json;

impl Comparison {
    /// For a terminal; `first` and `second` are what the two are called.
    #[must_use]
    pub fn to_text(&self, first: &str, second: &str) -> String {
        let headings = |last: [&str; 3]| {
            let mut all = vec!["what".to_owned(), first.to_owned(), second.to_owned()];
            all.extend(last.iter().filter(|name| !name.is_empty()).map(|name| (*name).to_owned()));
            all
        };
        let machines = self.machines.iter();
        let machines =
            machines.map(|(name, one, other)| vec![name.clone(), one.clone(), other.clone()]);
        let rows = self.changes.iter().map(line).collect();
        let only = |whose: &str, names: &[String]| {
            names.iter().map(|name| format!("only in {whose}: {name}")).collect::<Vec<_>>()
        };
        let mut rest = only(first, &self.only_first);
        rest.extend(only(second, &self.only_second));
        let certain = self.changes.iter().filter(|change| change.is_certain).count();
        let summary = format!(
            "{certain} of {} figures have changed: their intervals have nothing in common. Of the times, {} % \
             have.{}",
            self.changes.len(),
            digits(self.overlapping() * 100.0),
            if self.quiet { "" } else { " One of the machines at least was not quiet." },
        );
        text::render(&[
            Block::Heading(1, "Two reports".to_owned()),
            Block::Table(Table { headings: headings([""; 3]), rows: machines.collect() }),
            Block::Paragraph(summary),
            Block::Table(Table { headings: headings(["ratio", "changed", ""]), rows }),
            Block::List(rest),
        ])
    }

    /// An object for each line.
    #[must_use]
    pub fn to_json_lines(&self) -> String {
        let machines = self.machines.iter().map(|(name, first, second)| {
            json!({ "kind": "machine", "what": name, "first": first, "second": second })
        });
        let changes = self.changes.iter().map(|change| {
            let Change { what, unit, first, second, is_certain } = change;
            json!({
                "kind": "figure", "what": what, "unit": unit, "first": first, "second": second,
                "ratio": change.ratio(), "changed": is_certain,
            })
        });
        let only = |place: &'static str, names: &[String]| {
            let objects =
                names.iter().map(|name| json!({ "kind": "only", "in": place, "what": name }));
            objects.collect::<Vec<_>>()
        };
        let lines = machines.chain(changes).chain(only("first", &self.only_first));
        let lines = lines.chain(only("second", &self.only_second));
        lines.map(|line| format!("{line}\n")).collect()
    }
}

fn line(change: &Change) -> Vec<String> {
    vec![
        change.what.clone(),
        shown(change.first, &change.unit),
        shown(change.second, &change.unit),
        format!("{} ×", digits(change.ratio())),
        if change.is_certain { "yes" } else { "" }.to_owned(),
    ]
}
