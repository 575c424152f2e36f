//! Queries that are planned from their bound trees, beside PostgreSQL's answers.

use crate::support::Shell;

/// A query over the table that is filled, a line of hyphens, its rows.
const ANSWERS: &str = include_str!("bound_queries/answers.txt");
/// Queries that name columns of queries around them.
const CORRELATED: &str = include_str!("bound_queries/correlated.txt");

/// Functions of values, and sets of rows that they give.
const VALUES: &str = include_str!("bound_queries/values.txt");

fn filled() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT, b TEXT, c BIGINT, d DOUBLE, e DATE, f NUMERIC(10,2))");
    shell.run(
        "INSERT INTO t VALUES (1, 'x', 10, 1.5, '2024-01-01', 1.25),
         (2, 'y', 20, 2.5, '2024-02-01', 2.50), (3, NULL, NULL, NULL, NULL, NULL)",
    );
    shell
}

/// Returns the answer to a query, as the file has it.
fn answer(shell: &Shell, query: &str) -> String {
    match shell.try_run(query, &[]) {
        Ok(rows) => rows,
        Err(error) => {
            format!("error {error}")
        }
    }
}

#[test]
fn answers_are_postgresqls() {
    compare([ANSWERS, VALUES].into_iter().flat_map(|file| file.split("\n\n").skip(1)));
}

#[test]
fn answers_of_correlated_queries_are_postgresqls() {
    compare(CORRELATED.split("\n\n"));
}

fn compare(cases: impl Iterator<Item = &'static str>) {
    let shell = filled();
    let mut wrong = Vec::new();
    for case in cases {
        let (query, expected) = case.split_once("\n----").unwrap();
        let expected = expected.trim_matches('\n');
        let found = answer(&shell, query);
        // What the planner of texts cannot read has no EXPLAIN yet, nor has what is refused.
        let tree = shell.try_run(&format!("EXPLAIN (BOUND) {query}"), &[]).unwrap_or_default();
        let reason = tree.lines().find(|line| line.starts_with("Not planned"));
        // An error has come from either way.
        let is_other_way = reason.is_some() && !expected.starts_with("error");
        if found != expected || is_other_way {
            wrong.push(format!("{query}\n  gives {found}\n  not {expected}\n  {reason:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_change_has_its_place_in_with_at_the_top_alone() {
    let shell = filled();
    let within = "SELECT (SELECT count(*) FROM (WITH w AS (DELETE FROM t RETURNING a) SELECT a FROM w) AS x)";
    for query in [
        within.to_owned(),
        "WITH w AS (DELETE FROM t) SELECT a FROM w".to_owned(),
        format!("CREATE VIEW v AS {within}"),
        format!("EXPLAIN {within}"),
        "CREATE FUNCTION f() RETURNS BIGINT LANGUAGE SQL AS 'WITH w AS (DELETE FROM t RETURNING a) SELECT count(*) FROM w'"
            .to_owned(),
        "DECLARE c CURSOR FOR WITH w AS (DELETE FROM t RETURNING a) SELECT a FROM w".to_owned(),
        "CREATE TABLE u AS WITH w AS (DELETE FROM t RETURNING a) SELECT a FROM w".to_owned(),
    ] {
        let (kind, message) = shell.fails(&query);
        assert_eq!(kind, gadus_engine::ErrorKind::Unsupported, "{query}: {message}");
    }
    assert_eq!(shell.run("SELECT count(*) FROM t"), "3");
}
