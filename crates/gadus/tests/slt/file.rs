//! One file: its records, and what became of them.
//!
//! - Conditions are judged here, because the parser knows neither words behind them nor a `halt` that
//!   has one.

use crate::corpus::CorpusFile;
use crate::engine::{ENGINE, Engine, Wanted};
use sqllogictest::{Control, DefaultColumnType, QueryExpect, Record, ResultMode, Runner};
use std::collections::{BTreeMap, HashMap};

/// Results of more values are compared by their hash, unless a file says something else.
const HASH_THRESHOLD: usize = 8;

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct FileResult {
    pub(crate) name: String,
    pub(crate) passed: usize,
    /// By their line.
    pub(crate) failed: BTreeMap<u32, String>,
    /// How many records are for other engines, by the condition that says so.
    pub(crate) skipped: BTreeMap<String, usize>,
    /// The last line that was run.
    pub(crate) last_line: u32,
}

impl FileResult {
    /// Whether it got as far as a line.
    pub(crate) fn reached(&self, line: u32) -> bool {
        line <= self.last_line
    }
}

/// Runs a file, up to so many queries.
pub(crate) fn run_file(file: &CorpusFile, queries_max: usize) -> FileResult {
    let mut result = FileResult { name: file.name.clone(), ..FileResult::default() };
    let text = String::from_utf8_lossy(&std::fs::read(&file.path).unwrap()).into_owned();
    let Conditional { text, skipped } = without_conditions(&text);
    let records = match sqllogictest::parse_with_name(&text, file.name.as_str()) {
        Ok(records) => records,
        Err(error) => {
            result.failed.insert(error.location().line(), error.to_string());
            return result;
        }
    };
    let wanted = Wanted::default();
    let of_connection = wanted.clone();
    let mut runner = Runner::new(move || {
        let engine = Engine::new(of_connection.clone());
        async move { engine }
    });
    runner.with_column_validator(|given, wanted| given.len() == wanted.len());
    runner.with_hash_threshold(HASH_THRESHOLD);
    runner.run(Record::Control(Control::ResultMode(ResultMode::ValueWise))).unwrap();
    let mut queries = 0;
    for record in records {
        let line = match &record {
            Record::Statement { loc, .. } => loc.line(),
            Record::Query { loc, expected, .. } => {
                queries += 1;
                *wanted.lock() = types(expected);
                loc.line()
            }
            _ => {
                runner.run(record).unwrap();
                continue;
            }
        };
        if queries > queries_max {
            break;
        }
        result.last_line = line;
        if let Some(condition) = skipped.get(&line) {
            *result.skipped.entry(condition.clone()).or_default() += 1;
            continue;
        }
        match runner.run(record) {
            Ok(_) => result.passed += 1,
            Err(error) => {
                result.failed.insert(line, error.to_string());
            }
        }
    }
    result
}

fn types(expected: &QueryExpect<DefaultColumnType>) -> Vec<DefaultColumnType> {
    match expected {
        QueryExpect::Results { types, .. } => types.clone(),
        QueryExpect::Error(_) => Vec::new(),
    }
}

/// A file's text without conditions, and the lines of records that are for other engines.
struct Conditional {
    text: String,
    skipped: HashMap<u32, String>,
}

/// Takes conditions out of a text, whose lines keep their places; it ends at a `halt` that is for us.
fn without_conditions(text: &str) -> Conditional {
    let mut rest = String::with_capacity(text.len());
    let mut skipped = HashMap::new();
    let mut against = None;
    for (line, number) in text.lines().zip(1..) {
        let first = line.split_whitespace().next().unwrap_or_default();
        match first {
            "onlyif" | "skipif" => {
                let is_ours = line.split_whitespace().nth(1) == Some(ENGINE);
                if is_ours != (first == "onlyif") {
                    against = Some(line.trim().trim_end_matches(':').to_owned());
                }
            }
            "halt" => {
                if against.take().is_none() {
                    break;
                }
            }
            "statement" | "query" => {
                if let Some(against) = against.take() {
                    skipped.insert(number, against);
                }
                rest.push_str(line);
            }
            _ => rest.push_str(line),
        }
        rest.push('\n');
    }
    Conditional { text: rest, skipped }
}
