//! PREPARE, EXECUTE and DEALLOCATE: as PostgreSQL 15 answers.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Outcome, Reason};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a INT, b TEXT, c DATE)");
    connection
}

#[test]
fn a_name_stands_for_a_statement_and_takes_values() {
    let connection = connect();
    for sql in [
        "PREPARE ins (int, text, date) AS INSERT INTO t VALUES ($1, $2, $3)",
        "EXECUTE ins (1, 'it''s', '2024-02-29')",
        "EXECUTE ins(1 + 1, 'a' || ', b', DATE '2024-03-01');",
        "execute INS(-3, NULL, current_date)",
        "PREPARE upd AS UPDATE t SET b = $2 WHERE a = $1",
        "EXECUTE upd (-3, 'three')",
        "/* of one */ PREPARE q(int) AS SELECT a, b, '$1;' AS c FROM t WHERE a = $1 OR a = $1 + 1;",
    ] {
        run(&connection, sql);
    }
    assert_eq!(rows(&connection, "EXECUTE q(1)").join("; "), "1 it's $1;; 2 a, b $1;");
    assert_eq!(rows(&connection, "-- again\nEXECUTE q('-3')"), ["-3 three $1;"]);
    assert_eq!(rows(&connection, "SELECT count(*) FROM t WHERE c >= '2024-02-29'"), ["3"]);
    run(&connection, "PREPARE \"Two words\" AS SELECT 1 LIMIT $1");
    assert_eq!(rows(&connection, "EXECUTE \"Two words\"(1)"), ["1"]);
    run(&connection, "PREPARE none AS VALUES (7)");
    assert_eq!(rows(&connection, "EXECUTE none"), ["7"]);
    assert_eq!(rows(&connection, "EXECUTE none()"), ["7"]);
    let plan = rows(&connection, "EXPLAIN (COSTS OFF) EXECUTE q(1)").join("\n");
    assert!(plan.contains('t'), "{plan}");
    run(&connection, "EXPLAIN ANALYZE EXECUTE ins(9, 'nine', NULL)");
    assert_eq!(rows(&connection, "SELECT b FROM t WHERE a = 9"), ["nine"]);
}

#[test]
fn an_execute_is_what_it_runs() {
    let connection = connect();
    run(&connection, "PREPARE q AS SELECT count(*), b FROM t WHERE a = $1 GROUP BY b");
    let statement = connection.prepare("EXECUTE q(1)").unwrap();
    assert!(statement.gives_rows());
    assert_eq!(statement.postgres_names(), ["count", "b"]);
    run(&connection, "PREPARE d AS DELETE FROM t RETURNING a");
    assert!(connection.prepare("EXECUTE d").unwrap().gives_rows());
    run(&connection, "PREPARE i AS INSERT INTO t (a) SELECT $1 FROM range($2)");
    let outcome = connection.prepare("EXECUTE i(5, 3)").unwrap().run(&[]).unwrap();
    assert!(matches!(outcome, Outcome::Changed { verb: "INSERT", rows: 3 }), "{outcome:?}");
}

#[test]
fn names_are_the_sessions_and_outlive_transactions() {
    let connection = connect();
    run(&connection, "BEGIN");
    run(&connection, "PREPARE p AS SELECT 1");
    run(&connection, "ROLLBACK");
    assert_eq!(rows(&connection, "EXECUTE p"), ["1"]);
    let error = refused(&connection, "PREPARE p AS SELECT 2");
    assert_eq!(error.reason(), Some(Reason::DuplicateStatement), "{error}");
    run(&connection, "DEALLOCATE p");
    let error = refused(&connection, "EXECUTE p");
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::NotFound, Some(Reason::UnknownStatement))
    );
    assert_eq!(refused(&connection, "DEALLOCATE p").reason(), Some(Reason::UnknownStatement));
    for forget in ["DEALLOCATE ALL", "DEALLOCATE PREPARE ALL", "DISCARD ALL"] {
        run(&connection, "PREPARE p AS SELECT 1");
        run(&connection, forget);
        assert_eq!(refused(&connection, "EXECUTE p").reason(), Some(Reason::UnknownStatement));
    }
}

#[test]
fn what_cannot_be_said_by_values_is_refused() {
    let connection = connect();
    run(&connection, "PREPARE two AS SELECT $1, $1, $2");
    for sql in [
        "EXECUTE two(1)",
        "EXECUTE two(1, 2, 3)",
        "EXECUTE two(1,, 3)",
        "EXECUTE two(1, 2) x",
        "EXECUTE two(random(), 1)",
        "EXECUTE two(1, (SELECT 1))",
        "EXECUTE two(1, $1)",
        "EXECUTE two(1",
        "EXECUTE",
        "PREPARE p SELECT 1",
        "PREPARE p AS",
        "PREPARE p AS SELECT ?",
        "PREPARE p AS SELECT :name",
        "PREPARE p AS BEGIN",
        "PREPARE p AS CREATE TABLE u (a INT)",
        "PREPARE p AS SELECT 1 FROM (",
        "PREPARE p AS SELECT 1; SELECT 2",
    ] {
        refused(&connection, sql);
    }
    assert_eq!(rows(&connection, "EXECUTE two(-1, upper('x'))"), ["-1 -1 X"]);
    let wrong = "PREPARE p\nAS SELECT 1 FROM t WHERE )";
    let position = refused(&connection, wrong).diagnosis().and_then(|found| found.position);
    assert_eq!(position, wrong.find(')'));
    run(&connection, "PREPARE typed(smallint) AS SELECT $1");
    assert_eq!(refused(&connection, "EXECUTE typed('x')").kind(), ErrorKind::Input);
}
