//! Arrays, beside PostgreSQL's answers.

use crate::support::Shell;

const QUERIES: &str = include_str!("arrays/queries.txt");
const CHANGES: &str = include_str!("arrays/changes.txt");

/// Returns the answer to a statement, as the files have it.
fn answer(shell: &Shell, statement: &str) -> String {
    match shell.try_run(statement, &[]) {
        Ok(rows) => rows,
        Err(error) => {
            let known = error.diagnosis().and_then(|diagnosis| diagnosis.sql_state);
            format!("error {} {error}", known.unwrap_or("?"))
        }
    }
}

/// Returns the statements of a file whose answers are others, or that are planned from their texts.
fn wrong_answers(shell: &Shell, answers: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in answers.split("\n\n").skip(1) {
        let (statement, expected) = case.split_once("\n----").unwrap();
        let expected = expected.trim_matches('\n');
        let is_change = !statement.starts_with("SELECT");
        let tree = match is_change {
            true => String::new(),
            false => {
                let explained = format!("EXPLAIN (BOUND) {statement}");
                shell.try_run(&explained, &[]).unwrap_or_default()
            }
        };
        let reason = tree.lines().find(|line| line.starts_with("Not planned"));
        let found = answer(shell, statement);
        // Some kinds of errors say their SQLSTATE only over the wire.
        let found = match (found.strip_prefix("error ? "), expected.get(..12)) {
            (Some(message), Some(state)) => format!("{state}{message}"),
            _ => found,
        };
        let is_done = expected == "done" && !found.starts_with("error");
        let is_other_way = reason.is_some() && !expected.starts_with("error");
        if (found != expected && !is_done) || is_other_way {
            wrong.push(format!("{statement}\n  gives {found}\n  not {expected}\n  {reason:?}"));
        }
    }
    wrong
}

#[test]
fn queries_give_postgresqls_answers() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id INT, a INT[], m INT[][], s TEXT[], b TEXT)");
    shell.run(
        "INSERT INTO t VALUES (1, '{1,2,3}', '{{1,2},{3,4}}', '{a%,%z}', 'one'),
         (2, '{}', '{}', '{}', 'two'), (3, NULL, NULL, NULL, NULL),
         (4, '{NULL,5}', ARRAY[[7],[8]], ARRAY['x%', NULL], 'four'),
         (5, ARRAY[1,2,3], NULL, '{abc}', 'five')",
    );
    let wrong = wrong_answers(&shell, QUERIES);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_give_postgresqls_answers() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id INT, a INT[], m INT[][], s TEXT[], n NUMERIC(10,2)[], d DATE[])");
    shell.run("CREATE TABLE c (id INT PRIMARY KEY, a INT[])");
    let wrong = wrong_answers(&shell, CHANGES);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// PostgreSQL has these arrays; the engine keeps none of them.
#[test]
fn other_lower_bounds_and_other_dimensions_than_a_columns_are_refused() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id INT, a INT[])");
    shell.run("INSERT INTO t VALUES (1, '{1}'), (2, '{}')");
    for statement in [
        "SELECT '[0:1]={1,2}'::int[]",
        "SELECT x::int[] FROM (VALUES ('[2:2]={1}')) v(x)",
        "SELECT x::int[] FROM (VALUES ('{{1}}')) v(x)",
        "SELECT (x::int[])[1][1] FROM (VALUES ('{{1}}')) v(x)",
        "SELECT array_fill(1, ARRAY[2], ARRAY[0])",
        "UPDATE t SET a[0] = 5 WHERE id = 1",
        "UPDATE t SET a[2] = 5 WHERE id = 2",
        "UPDATE t SET a[0:1] = '{1,2}' WHERE id = 1",
        "UPDATE t SET a[2:3] = '{1,2}' WHERE id = 2",
        "INSERT INTO t VALUES (3, '{{1}}')",
        "UPDATE t SET a = ARRAY[[1]]",
    ] {
        let found = answer(&shell, statement);
        assert!(found.starts_with("error 0A000"), "{statement}: {found}");
    }
    assert_eq!(shell.run("SELECT id, a::text FROM t ORDER BY id"), "1|{1}\n2|{}");
}
