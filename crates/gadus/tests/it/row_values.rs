//! Rows of values that are compared, assigned and looked for: as PostgreSQL 15 answers.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options, Reason, Value};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT DEFAULT 'new')");
    run(
        &connection,
        "INSERT INTO t VALUES (1, 1, 'x'), (2, 1, NULL), (3, 2, 'x'), (4, NULL, 'x'), (5, NULL, NULL)",
    );
    run(&connection, "CREATE TABLE u (id INTEGER, a INTEGER, b TEXT)");
    run(&connection, "INSERT INTO u VALUES (1, 7, 'p'), (2, NULL, 'q'), (9, 1, 'x')");
    connection
}

#[test]
fn the_first_values_that_differ_decide() {
    let connection = connect();
    for (condition, holds, fails) in [
        ("(a, b) = (1, 'x')", "1", "3"),
        ("(a, b) <> (1, 'x')", "3", "1"),
        ("(a, b) < (1, 'y')", "1", "3"),
        ("(a, b) <= (1, 'x')", "1", "3"),
        ("(a, b) > (1, 'a')", "1 3", ""),
        ("(a, b) >= (1, 'x')", "1 3", ""),
        ("(a, b, id) > (1, 'x', 0)", "1 3", ""),
        ("ROW (a, b) = ROW (2, 'x')", "3", "1 2"),
        ("(a, b) IN ((1, 'x'), (2, 'x'))", "1 3", ""),
        ("(a, b) IN ((1, 'x'), (2, 'y'), (7, 'z'))", "1", "3"),
        ("(a, b) IS NULL", "5", "1 2 3 4"),
        ("(a, b) IS NOT NULL", "1 3", "2 4 5"),
        ("(a, b) IS DISTINCT FROM (1, NULL)", "1 3 4 5", "2"),
        ("(a, b) IN (SELECT a, b FROM u)", "1", "3"),
        ("(a, b) IN (SELECT a, b FROM u WHERE id = 9)", "1", "3"),
        ("(a, b) IN (SELECT u.a, u.b FROM u WHERE u.id > t.id)", "1", "3"),
        ("(a, b) IN (SELECT a, b FROM u WHERE false)", "", "1 2 3 4 5"),
        ("(id, a) = (SELECT id, 1 FROM u WHERE u.id = 1)", "1", "2 3 4 5"),
        ("(a, b) = (SELECT a, b FROM u WHERE false)", "", ""),
        ("(id, b) > (SELECT max(u.id), 'w' FROM u WHERE u.id <= t.id)", "1 3 4 5", ""),
    ] {
        let ids = |condition: &str| {
            rows(&connection, &format!("SELECT id FROM t WHERE {condition} ORDER BY id")).join(" ")
        };
        assert_eq!(ids(condition), holds, "{condition}");
        assert_eq!(ids(&format!("NOT ({condition})")), fails, "{condition}");
        assert_eq!(ids(&format!("id < 0 OR {condition}")), holds, "{condition}");
        let value = format!("SELECT count(*) FROM t WHERE (({condition}) IS NULL) = true");
        let unknown = 5 - holds.split_whitespace().count() - fails.split_whitespace().count();
        assert_eq!(rows(&connection, &value), [unknown.to_string()], "{condition}");
    }
    let negated =
        "SELECT id FROM t WHERE (a, b) NOT IN (SELECT a, b FROM u WHERE id = 9) ORDER BY id";
    assert_eq!(rows(&connection, negated), ["3"]);
    let many = (0..3_000).map(|id| format!("({id}, {id})")).collect::<Vec<_>>().join(", ");
    let many = format!("SELECT count(*) FROM t WHERE (id, a + 0) IN ({many})");
    assert_eq!(rows(&connection, &many), ["1"]);
    let error = refused(&connection, "SELECT id FROM t WHERE (id, a) = (SELECT id, a FROM u)");
    assert_eq!(error.reason(), Some(Reason::SeveralRows), "{error}");
}

#[test]
fn several_columns_are_assigned_at_once() {
    for (sql, then) in [
        ("UPDATE t SET (a, b) = (10, 'y') WHERE id = 1", "1 10 y"),
        ("UPDATE t SET (a, b) = ROW (10, 'y') WHERE id = 1", "1 10 y"),
        ("UPDATE t SET (a, b) = (DEFAULT, DEFAULT) WHERE id = 1", "1 NULL new"),
        ("UPDATE t SET (a) = (a + 1), b = 'z' WHERE id = 1", "1 2 z"),
        ("UPDATE t SET (b, a) = (SELECT b, a FROM u WHERE u.id = t.id) WHERE id = 1", "1 7 p"),
        (
            "UPDATE t SET (b, a) = (SELECT b, a FROM u WHERE u.id = t.id + 1) WHERE id = 1",
            "1 NULL q",
        ),
        ("UPDATE t SET (b, a) = (SELECT b, a FROM u WHERE u.id = 77) WHERE id = 1", "1 NULL NULL"),
        (
            "UPDATE t SET (a, b) = (SELECT count(*), max(b) FROM u WHERE u.id > t.id) WHERE id = 1",
            "1 2 x",
        ),
        (
            "INSERT INTO t VALUES (1, 8, 'n') ON CONFLICT (id) DO UPDATE SET (a, b) = (excluded.a, t.b || excluded.b)",
            "1 8 xn",
        ),
        (
            "INSERT INTO t VALUES (1, 8, 'n') ON CONFLICT (id) DO UPDATE SET (a, b) = (SELECT a, b FROM u WHERE u.id = excluded.a + 1)",
            "1 1 x",
        ),
        (
            "MERGE INTO t USING u ON u.id = t.id WHEN MATCHED THEN UPDATE SET (a, b) = (u.a, u.b)",
            "1 7 p",
        ),
    ] {
        let connection = connect();
        run(&connection, sql);
        assert_eq!(rows(&connection, "SELECT * FROM t WHERE id = 1"), [then], "{sql}");
    }
    let connection = connect();
    let sql = "UPDATE t SET (a, b) = (SELECT id + ?, b FROM u WHERE id = 1), id = 6 WHERE id = ? RETURNING *";
    let mut returned = connection.query(sql, &[Value::Integer(3), Value::Integer(1)]).unwrap();
    let row = returned.next().unwrap().unwrap();
    assert_eq!(row.value(1).unwrap(), Value::Integer(4));
    drop(returned);
    for sql in [
        "UPDATE t SET (a, b) = (1)",
        "UPDATE t SET (a, b) = (1, 'x', 3)",
        "UPDATE t SET (a, b) = 1",
        "UPDATE t SET (a, a) = (1, 2)",
        "UPDATE t SET (a, b) = (SELECT a, b FROM u)",
        "UPDATE t SET (a, b) = (SELECT a FROM u)",
    ] {
        refused(&connection, sql);
    }
}
