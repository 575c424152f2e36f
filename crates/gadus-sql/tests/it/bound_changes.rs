//! Changes that are carried out by their bound trees, beside PostgreSQL's answers.

use crate::support::Shell;
use gadus_engine::{CacheScope, Error, ErrorKind, Reason};

const ANSWERS: &str = include_str!("bound_changes/answers.txt");

/// Verbs of statements that give neither rows nor a number of them.
const DONE: [&str; 5] = ["CREATE", "ALTER", "DROP", "SET", "RESET"];

/// Returns the answer to a statement, as the file has it.
fn answer(shell: &Shell, statement: &str) -> String {
    match shell.try_run(statement, &[]) {
        Ok(_) if DONE.iter().any(|verb| statement.starts_with(verb)) => "done".to_owned(),
        Ok(rows) => rows,
        Err(error) => format!("error {}", sql_state(&error)),
    }
}

/// Returns the SQLSTATE of an error that a change has whichever way it is planned.
fn sql_state(error: &Error) -> &'static str {
    let known = error.diagnosis().and_then(|diagnosis| diagnosis.sql_state);
    known.unwrap_or(match (error.kind(), error.reason()) {
        (_, Some(Reason::SeveralRows)) => "21000",
        (_, Some(Reason::UnknownColumn)) => "42703",
        (_, Some(Reason::UnknownTable)) => "42P01",
        (_, Some(Reason::DuplicateColumn)) => "42701",
        (_, Some(Reason::InvalidDefinition)) => "42P16",
        (_, Some(Reason::UnknownSchema)) => "3F000",
        (_, Some(Reason::UnknownObject)) => "42704",
        (_, Some(Reason::Depended)) => "2BP01",
        (_, Some(Reason::Syntax)) => "42601",
        (ErrorKind::AlreadyExists, _) => "42P07",
        (ErrorKind::Unsupported, _) => "0A000",
        (ErrorKind::NotNullViolation, _) => "23502",
        (ErrorKind::CheckViolation, _) => "23514",
        (ErrorKind::UniqueViolation, _) => "23505",
        (ErrorKind::OutOfRange, _) => "22003",
        _ => "?",
    })
}

pub(crate) fn compare(shell: &Shell, answers: &str) {
    let mut wrong = Vec::new();
    for case in answers.split("\n\n").skip(1) {
        let (statement, expected) = case.split_once("\n----").unwrap();
        let expected = expected.trim_matches('\n');
        let found = answer(shell, statement);
        if found != expected {
            wrong.push(format!("{statement}\n  gives {found}\n  not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_are_postgresqls() {
    compare(&Shell::new(), ANSWERS);
}

#[test]
fn answers_are_the_same_for_instances_that_share_a_file() {
    compare(&Shell::of(2, CacheScope::Process), ANSWERS);
}

#[test]
fn the_planner_of_texts_does_not_compare_numerics_as_texts() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id INT, n NUMERIC)");
    shell.run("INSERT INTO t VALUES (1, 1.50), (2, 7.0), (3, NULL)");
    // PostgreSQL has no such function of one argument.
    let list = "array_length(ARRAY[1, 2])";
    for query in [
        format!("SELECT {list} FROM t WHERE n = 1.5"),
        format!("SELECT {list} WHERE 7 IN (SELECT n FROM t)"),
        format!("SELECT {list} WHERE '7' = ANY (SELECT n FROM t)"),
        format!("SELECT {list}, (SELECT n FROM t WHERE id = 1) = '1.5'"),
        format!("SELECT {list}, (SELECT max(b.id) FROM t b WHERE b.n = a.n) FROM t a"),
        format!("SELECT {list}, n FROM t ORDER BY n"),
        format!("SELECT DISTINCT {list}, n FROM t"),
        format!("SELECT {list}, n FROM t UNION SELECT 2, 7"),
        format!("SELECT {list} FROM t a JOIN t b USING (n)"),
        format!("SELECT max(n), max({list}) FROM t"),
    ] {
        let (kind, message) = shell.fails(&query);
        assert_eq!(kind, ErrorKind::Unsupported, "{query}: {message}");
    }
    let passed = shell.run(&format!("SELECT {list}, n, n IS NULL FROM t ORDER BY id"));
    assert_eq!(passed, "2|1.50|false\n2|7.0|false\n2|NULL|true");
}
