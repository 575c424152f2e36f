//! Functions of SQL, PostgreSQL's and DuckDB's macros.

use crate::files::Folder;
use crate::statement::{headings, refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason};

fn connected() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (k INT, v INT)");
    run(&connection, "INSERT INTO t VALUES (1, 10), (1, 20), (2, 30)");
    connection
}

#[test]
fn functions_give_values() {
    let connection = connected();
    for sql in [
        "CREATE MACRO add(a, b := 5) AS a + b",
        "CREATE FUNCTION twice(a) AS a * 2",
        "CREATE FUNCTION half(n INT) RETURNS DOUBLE PRECISION LANGUAGE sql AS $$ SELECT n / 2.0 $$",
        "CREATE FUNCTION named(INT, TEXT DEFAULT 'x') RETURNS TEXT AS 'SELECT $2 || $1' LANGUAGE sql STRICT",
        "CREATE OR REPLACE FUNCTION third(a INT) RETURNS INT IMMUTABLE RETURN a + 3",
        "CREATE MACRO both(a, b) AS add(a, b) + twice(a)",
    ] {
        run(&connection, sql);
    }
    for (sql, expected) in [
        ("SELECT add(1), add(1, 2), add(b := 1, a := 2)", "6 3 3"),
        // Arguments and bodies keep to themselves.
        ("SELECT 10 - add(1, 2), twice(1 + 2), main.twice(3)", "7 6 6"),
        ("SELECT half(5), third(1)", "2.5 4"),
        ("SELECT named(7), named(7, 'y'), named(7, NULL) IS NULL", "x7 y7 true"),
        ("SELECT both(1, 2), twice(twice(twice(1)))", "5 8"),
        ("SELECT sum(twice(v)) FROM t WHERE add(k, 0) = 1", "60"),
        ("SELECT twice(k), count(*) FROM t GROUP BY twice(k) ORDER BY twice(k) LIMIT 1", "2 2"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
    assert_eq!(headings(&connection, "SELECT twice(1), 1 + twice(2) AS n"), ["twice(1)", "n"]);
    run(&connection, "UPDATE t SET v = twice(v) WHERE twice(k) = 4");
    assert_eq!(rows(&connection, "SELECT v FROM t WHERE k = 2"), ["60"]);
    let mut found = connection.query("SELECT twice($1)", &[21.into()]).unwrap();
    assert_eq!(found.next().unwrap().unwrap().get::<i64>(0).unwrap(), 42);
}

/// What a body reads does not take an argument's columns for its own.
#[test]
fn arguments_are_of_the_row_around_the_call() {
    let connection = connected();
    run(
        &connection,
        "CREATE FUNCTION total(key INT) RETURNS BIGINT LANGUAGE sql AS 'SELECT sum(v) FROM t WHERE k = key'",
    );
    run(&connection, "CREATE MACRO below(x) AS (SELECT count(*) FROM t WHERE v < x)");
    run(
        &connection,
        "CREATE FUNCTION first_of(key INT) RETURNS INT LANGUAGE sql AS 'SELECT v FROM t WHERE t.k = key ORDER BY v'",
    );
    assert_eq!(
        rows(&connection, "SELECT total(1), total(3) IS NULL, below(15), first_of(1)"),
        ["30 true 1 10"]
    );
    assert_eq!(
        rows(&connection, "SELECT k, total(k) FROM t GROUP BY k ORDER BY k"),
        ["1 30", "2 30"]
    );
    assert_eq!(
        rows(
            &connection,
            "SELECT v, below(v), below(t.v + 1), total(t.k), first_of(k) FROM t ORDER BY v"
        ),
        ["10 0 1 30 10", "20 1 2 30 10", "30 2 3 30 30"]
    );
    assert_eq!(rows(&connection, "SELECT k FROM t WHERE total(k) + below(v) = 32"), ["2"]);
}

#[test]
fn functions_give_rows() {
    let connection = connected();
    for sql in [
        "CREATE MACRO of_key(x) AS TABLE SELECT v, v + x AS more FROM t WHERE k = x",
        "CREATE FUNCTION pairs(key INT) RETURNS TABLE (id BIGINT, name TEXT) LANGUAGE sql \
         AS $$ SELECT v, 'v' || v FROM t WHERE k = key $$",
        "CREATE FUNCTION all_of(key INT) RETURNS SETOF BIGINT LANGUAGE sql AS 'SELECT v FROM t WHERE k = key'",
    ] {
        run(&connection, sql);
    }
    assert_eq!(rows(&connection, "SELECT * FROM of_key(1) ORDER BY v"), ["10 11", "20 21"]);
    assert_eq!(rows(&connection, "SELECT p.name, id FROM pairs(2) AS p"), ["v30 30"]);
    assert_eq!(headings(&connection, "SELECT * FROM pairs(2)"), ["id", "name"]);
    assert_eq!(
        rows(&connection, "SELECT all_of, a + 1 FROM all_of(2), all_of(1) AS s(a) ORDER BY a"),
        ["30 11", "30 21"]
    );
    assert_eq!(
        rows(
            &connection,
            "SELECT d.k, more FROM (VALUES (1), (2)) AS d(k), of_key(d.k) ORDER BY more"
        ),
        ["1 11", "1 21", "2 32"]
    );
    // Also where what it reads has columns of the same names.
    assert_eq!(
        rows(
            &connection,
            "SELECT t.v, count(*) FROM t, LATERAL of_key(k) GROUP BY t.v ORDER BY t.v"
        ),
        ["10 2", "20 2", "30 1"]
    );
}

#[test]
fn what_keeps_a_call_keeps_what_it_was() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    let connection = database.connect();
    run(&connection, "CREATE MACRO step(a) AS a + 1");
    run(&connection, "CREATE VIEW v AS SELECT step(1) AS n");
    run(
        &connection,
        "CREATE TABLE t (a INT DEFAULT step(4) CHECK (step(a) > 1), b INT GENERATED ALWAYS AS (step(a)) STORED)",
    );
    run(&connection, "CREATE MACRO more(a) AS step(a) * 10");
    run(&connection, "CREATE OR REPLACE MACRO step(a) AS a + 100");
    run(&connection, "INSERT INTO t (a) VALUES (DEFAULT), (1)");
    refused(&connection, "INSERT INTO t (a) VALUES (0)");
    let all = "SELECT n, step(1), more(1), (SELECT sum(b) FROM t) FROM v";
    assert_eq!(rows(&connection, all), ["2 101 20 8"]);
    drop((connection, database));
    let database = open();
    let connection = database.connect();
    assert_eq!(rows(&connection, all), ["2 101 20 8"]);
    database.checkpoint().unwrap();
    let others = database.connect();
    run(&others, "DROP MACRO step");
    assert_eq!(refused(&connection, "SELECT step(1)").reason(), Some(Reason::UnknownFunction));
    assert_eq!(rows(&connection, "SELECT n, more(1) FROM v"), ["2 20"]);
    // In a transaction until it ends.
    run(&connection, "BEGIN");
    run(&connection, "CREATE MACRO step(a) AS a");
    assert_eq!(rows(&connection, "SELECT step(7)"), ["7"]);
    refused(&others, "SELECT step(7)");
    run(&connection, "ROLLBACK");
    refused(&connection, "SELECT step(7)");
    let statements = database.schema_statements().unwrap();
    assert!(
        statements.iter().any(|one| one == "CREATE MACRO \"more\"(a) AS (a + 1) * 10"),
        "{statements:?}"
    );
}

#[test]
fn functions_that_cannot_be_are_refused() {
    let connection = connected();
    for (sql, kind, expected) in [
        ("CREATE MACRO loop(a) AS loop(a - 1)", ErrorKind::Unsupported, "calls itself"),
        ("CREATE OR REPLACE MACRO lower(a) AS a", ErrorKind::AlreadyExists, "built in"),
        (
            "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE sql AS 'SELECT a + nothing'",
            ErrorKind::Input,
            "nothing",
        ),
        (
            "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE sql AS 'SELECT $2'",
            ErrorKind::Input,
            "no parameter $2",
        ),
        ("CREATE FUNCTION f() RETURNS INT LANGUAGE c AS 'x'", ErrorKind::Unsupported, "not SQL"),
        ("DROP FUNCTION f", ErrorKind::NotFound, "does not exist"),
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.kind(), kind, "{sql}: {error}");
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
    run(&connection, "DROP FUNCTION IF EXISTS f");
    run(&connection, "CREATE MACRO f(a, b) AS a + b");
    for (sql, expected) in [
        ("CREATE MACRO f(a) AS a", "already exists"),
        ("SELECT f(1)", "misses its argument b"),
        ("SELECT f(1, 2, 3)", "no parameter"),
        ("SELECT f(1, a := 2)", "second time"),
        ("SELECT f(1, 2) OVER ()", "no window function"),
        ("SELECT * FROM f(1, 2)", "does not stand behind FROM"),
    ] {
        let error = refused(&connection, sql);
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
    // A body that is as long as a body may become is not doubled for ever.
    run(&connection, "CREATE MACRO d(a) AS a + a");
    let nested = (0..60).fold("1".to_owned(), |inner, _| format!("d({inner})"));
    assert_eq!(refused(&connection, &format!("SELECT {nested}")).kind(), ErrorKind::Limit);
}
