//! Results of PostgreSQL 15: calls and their results, in `golden/*.tsv`.
//!
//! The first line is the start of the transaction in microseconds since 1970. A line is the settings, a function, its
//! arguments and its result, separated by tabs. The files were made so: the literals of PostgreSQL's own regression
//! files for these types, and a seeded generator, wrote calls, a third of whose operands are edges (infinities, years
//! before Christ, leap days, ends of ranges, gaps and overlaps of daylight saving time), and damaged texts; they were
//! copied into a table of PostgreSQL 15.18, where a function in PL/pgSQL computed the result as text, or caught the
//! exception and returned its SQLSTATE, message, detail and hint. They are not rewritten by a switch, because this crate
//! is not the authority for them.

use crate::calls::{call, settings};
use gadus_times::TimestampTz;

#[test]
fn literals_of_the_regression_files_are_postgresqls() {
    check(include_str!("golden/literals.tsv"), 1_199);
}

#[test]
fn texts_are_postgresqls() {
    check(include_str!("golden/texts.tsv"), 860);
}

#[test]
fn intervals_are_postgresqls() {
    check(include_str!("golden/intervals.tsv"), 956);
}

#[test]
fn fields_are_postgresqls() {
    check(include_str!("golden/fields.tsv"), 1_072);
}

#[test]
fn functions_are_postgresqls() {
    check(include_str!("golden/functions.tsv"), 1_266);
}

fn check(lines: &str, count: usize) {
    let mut lines = lines.lines();
    let now: i64 = lines.next().unwrap().parse().unwrap();
    let now = TimestampTz::from_unix_microseconds(now).unwrap();
    let mut checked = 0;
    for line in lines {
        let columns: Vec<String> = line.split('\t').map(unescaped).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let [styles, function, arguments @ .., expected] = columns.as_slice() else {
            panic!("{line}")
        };
        assert_eq!(call(function, arguments, &settings(styles, now)), *expected, "{line}");
        checked += 1;
    }
    assert_eq!(checked, count);
}

/// Returns a column with tabs and newlines, as COPY escapes them.
fn unescaped(column: &str) -> String {
    let mut text = String::new();
    let mut characters = column.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next().unwrap() {
                't' => '\t',
                'n' => '\n',
                other => other,
            },
            other => other,
        });
    }
    text
}
