//! Functions over 70 lines may not appear or grow: a ratchet.
//!
//! - Recorded as `path::name lines`, sorted. Functions of one name in one file share a record, the
//!   longest counts.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::finding::Finding;
use super::source::Source;

const LINES_MAX: usize = 70;

/// The record of the present state.
pub(crate) fn record(sources: &[Source]) -> String {
    let mut longest: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources {
        for function in source.functions().into_iter().filter(|f| f.lines > LINES_MAX) {
            let lines = longest.entry(key(source, &function.name)).or_default();
            *lines = function.lines.max(*lines);
        }
    }
    let mut text = String::new();
    for (key, lines) in longest {
        writeln!(text, "{key} {lines}").expect("a string can be written");
    }
    text
}

/// The functions that are longer than the limit and than recorded.
pub(crate) fn check(sources: &[Source], recorded: &str) -> Vec<Finding> {
    let recorded: BTreeMap<&str, usize> = recorded
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .filter_map(|(key, lines)| Some((key, lines.parse().ok()?)))
        .collect();
    let mut findings = Vec::new();
    for source in sources {
        for function in source.functions() {
            let before = recorded.get(key(source, &function.name).as_str()).copied();
            if function.lines > before.unwrap_or(LINES_MAX).max(LINES_MAX) {
                let limit = before.map_or(format!("over {LINES_MAX}"), |b| format!("{b} recorded"));
                let (name, lines) = (&function.name, function.lines);
                let message = format!("`{name}` has {lines} lines, {limit}: split it by its steps");
                findings.push(Finding::error(&source.path, function.line, message));
            }
        }
    }
    findings
}

fn key(source: &Source, name: &str) -> String {
    format!("{}::{name}", source.path)
}
