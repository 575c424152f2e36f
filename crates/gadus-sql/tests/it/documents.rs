//! JSON and JSONB: documents, operators and functions, beside PostgreSQL's answers.

use crate::support::Shell;

const TABLES: &str = include_str!("documents/tables.sql");

const ANSWERS: &str = include_str!("documents/answers.txt");

#[test]
fn answers_are_postgresqls() {
    let shell = Shell::new();
    shell.run("SET TimeZone = 'America/New_York'");
    for statement in TABLES.split(";\n").filter(|statement| !statement.is_empty()) {
        shell.run(statement);
    }
    let mut wrong = Vec::new();
    for case in ANSWERS.trim_end().split("\n\n").skip(1) {
        let (query, expected) = case.split_once("\n----").unwrap();
        let expected = expected.strip_prefix('\n').unwrap_or(expected);
        let found = shell.try_run(query, &[]).unwrap_or_else(|error| format!("error {error}"));
        let tree = shell.try_run(&format!("EXPLAIN (BOUND) {query}"), &[]).unwrap_or_default();
        let reason = tree.lines().find(|line| line.starts_with("Not planned"));
        let is_other_way = reason.is_some() && !expected.starts_with("error");
        if found != expected || is_other_way {
            wrong.push(format!("{query}\n  gives {found}\n  not {expected}\n  {reason:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
