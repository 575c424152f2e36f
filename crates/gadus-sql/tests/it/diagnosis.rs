//! Errors of refused queries in PostgreSQL's words, with SQLSTATE, position, detail and hint; EXPLAIN (BOUND).

use crate::support::Shell;

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT)");
    shell.run("CREATE TABLE u (id INT, x DOUBLE PRECISION)");
    shell
}

/// Fails with a state, at the last occurrence of a part of the statement, and with a message.
fn fails(shell: &Shell, sql: &str, (state, part, message): (&str, &str, &str)) {
    let error = shell.try_run(sql, &[]).expect_err(sql);
    assert_eq!(error.message(), message, "{sql}");
    let diagnosis = error.diagnosis().unwrap_or_else(|| panic!("{sql}: {error}"));
    assert_eq!(diagnosis.sql_state, Some(state), "{sql}");
    assert_eq!(diagnosis.position, sql.rfind(part), "{sql}");
}

#[test]
fn names_that_do_not_exist_are_said_with_their_position() {
    let shell = shell();
    let cases = [
        ("SELECT a, c FROM t", ("42703", "c", "column \"c\" does not exist")),
        ("SELECT t.c FROM t", ("42703", "t.c", "column t.c does not exist")),
        ("SELECT x.a FROM t", ("42P01", "x.a", "missing FROM-clause entry for table \"x\"")),
        ("SELECT id FROM t, u", ("42702", "id", "column reference \"id\" is ambiguous")),
        ("SELECT * FROM nothing", ("42P01", "nothing", "relation \"nothing\" does not exist")),
        (
            "SELECT t.a FROM t AS x",
            ("42P01", "t.a", "invalid reference to FROM-clause entry for table \"t\""),
        ),
        (
            "SELECT no_such(a) FROM t",
            ("42883", "no_such", "function no_such(integer) does not exist"),
        ),
    ];
    for (sql, wanted) in cases {
        fails(&shell, sql, wanted);
    }
}

#[test]
fn types_that_do_not_fit_are_said_with_detail_and_hint() {
    let shell = shell();
    let sql = "SELECT * FROM t JOIN u USING (b)";
    let message = "column \"b\" specified in USING clause does not exist in right table";
    fails(&shell, sql, ("42703", "b", message));
    let sql = "SELECT b, count(*) FROM t GROUP BY a";
    let message =
        "column \"t.b\" must appear in the GROUP BY clause or be used in an aggregate function";
    fails(&shell, sql, ("42803", "b, count", message));
    let error = shell.try_run("SELECT no_such(1)", &[]).unwrap_err();
    let hint = error.diagnosis().and_then(|diagnosis| diagnosis.hint.clone());
    assert!(hint.is_some_and(|hint| hint.starts_with("No function matches the given name")));
}

#[test]
fn syntax_errors_name_the_token() {
    let shell = shell();
    let cases = [
        ("SELEC 1", ("42601", "SELEC", "syntax error at or near \"SELEC\"")),
        (
            "SELECT a FROM t WHERE ORDER BY a",
            ("42601", "ORDER", "syntax error at or near \"ORDER\""),
        ),
        ("SELECT (1", ("42601", "", "syntax error at end of input")),
    ];
    for (sql, wanted) in cases {
        fails(&shell, sql, wanted);
    }
}

#[test]
fn functions_of_the_database_are_no_errors_of_the_binder() {
    let shell = shell();
    shell.run("CREATE FUNCTION twice(n INT) RETURNS INT RETURN n * 2");
    let error = shell.try_run("SELECT twice(a), nothing FROM t", &[]).unwrap_err();
    assert!(error.message().contains("nothing"), "{error}");
    assert!(!error.message().contains("twice"), "{error}");
}

#[test]
fn explain_bound_shows_the_bound_query() {
    let shell = shell();
    let shown =
        shell.run("EXPLAIN (BOUND) SELECT a + 1.5 AS more FROM t JOIN u USING (id) WHERE b = 'x'");
    for part in ["more: numeric", "cast(#2 as numeric)", "InnerJoin (#1 = #4)", "'x'::text"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let error = shell.try_run("EXPLAIN (BOUND, ANALYZE) SELECT 1", &[]).unwrap_err();
    assert!(error.message().contains("ANALYZE"), "{error}");
}

#[test]
fn deep_statements_are_refused_as_others_are() {
    let shell = shell();
    for deep in [
        format!("SELECT nothing{} FROM t", " + 1".repeat(120)),
        format!("SELECT {}nothing{} FROM t", "(".repeat(100), ")".repeat(100)),
        format!("SELECT a FROM t WHERE nothing = 1{}", " OR a = 1".repeat(2_000)),
        format!("SELECT {}nothing{} FROM t", "abs(".repeat(100), ")".repeat(100)),
    ] {
        let error = shell.try_run(&deep, &[]).unwrap_err();
        let sql_state = error.diagnosis().and_then(|diagnosis| diagnosis.sql_state);
        assert_eq!(sql_state, Some("42703"), "{error}");
    }
    // Deeper than any parser goes.
    let error = shell.try_run(&format!("SELECT {}", "(".repeat(100_000)), &[]).unwrap_err();
    assert!(!error.message().is_empty());
}
