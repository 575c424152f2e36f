//! What is known to fail: a reason, then the records that it is about.
//!
//! ```text
//! = why
//! select1.test 12 35 78
//! ```

use crate::file::FileResult;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// The records that fail, by reason and file.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures {
    /// What stands before the first reason.
    head: String,
    reasons: Vec<(String, BTreeMap<String, BTreeSet<u32>>)>,
}

impl KnownFailures {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(path()).unwrap();
        let mut known = Self::default();
        for line in text.lines() {
            if let Some(reason) = line.strip_prefix("= ") {
                known.reasons.push((reason.to_owned(), BTreeMap::new()));
            } else if let Some((_, files)) = known.reasons.last_mut() {
                let mut words = line.split_whitespace();
                let Some(file) = words.next() else { continue };
                let lines = words.map(|word| word.parse::<u32>().unwrap());
                files.entry(file.to_owned()).or_default().extend(lines);
            } else {
                known.head.push_str(line);
                known.head.push('\n');
            }
        }
        known
    }

    /// The reason for which a record fails.
    pub(crate) fn reason(&self, file: &str, line: u32) -> Option<&str> {
        let is_there = |files: &BTreeMap<String, BTreeSet<u32>>| {
            files.get(file).is_some_and(|lines| lines.contains(&line))
        };
        let found = self.reasons.iter().find(|(_, files)| is_there(files));
        found.map(|(reason, _)| reason.as_str())
    }

    /// The records of a file.
    pub(crate) fn of_file(&self, file: &str) -> impl Iterator<Item = u32> {
        let lines = self.reasons.iter().filter_map(move |(_, files)| files.get(file));
        lines.flatten().copied()
    }

    /// Without the records that did not fail.
    pub(crate) fn without(mut self, results: &[FileResult]) -> Self {
        for (_, files) in &mut self.reasons {
            for result in results {
                let Some(lines) = files.get_mut(&result.name) else { continue };
                lines.retain(|line| !result.reached(*line) || result.failed.contains_key(line));
            }
            files.retain(|_, lines| !lines.is_empty());
        }
        self.reasons.retain(|(_, files)| !files.is_empty());
        self
    }

    pub(crate) fn write(&self) {
        let mut text = self.head.clone();
        for (reason, files) in &self.reasons {
            writeln!(text, "= {reason}").unwrap();
            for (file, lines) in files {
                let lines = lines.iter().map(u32::to_string).collect::<Vec<_>>();
                writeln!(text, "{file} {}", lines.join(" ")).unwrap();
            }
        }
        std::fs::write(path(), text).unwrap();
    }
}

fn path() -> PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    root.join("tests/slt/failures.txt")
}
