//! WITH before INSERT, UPDATE, DELETE and MERGE: as PostgreSQL 15 answers.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&connection, "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)");
    run(&connection, "CREATE TABLE x (id INT, v INT)");
    run(&connection, "INSERT INTO x VALUES (1, 7)");
    connection
}

fn all(connection: &Connection) -> String {
    rows(connection, "SELECT id, v FROM t ORDER BY id").join("; ")
}

#[test]
fn names_are_meant_wherever_a_table_stands() {
    for (sql, then) in [
        ("WITH n AS (SELECT 4 AS id) INSERT INTO t SELECT id, 40 FROM n", "1 10; 2 20; 3 30; 4 40"),
        (
            "WITH n (a, b) AS (VALUES (2, 5), (9, 90)) INSERT INTO t AS o SELECT * FROM n
             ON CONFLICT (id) DO UPDATE SET v = o.v + (SELECT max(b) FROM n)",
            "1 10; 2 110; 3 30; 9 90",
        ),
        (
            "WITH n AS (SELECT 1 AS id) UPDATE t SET v = 0 WHERE id IN (SELECT id FROM n)",
            "1 0; 2 20; 3 30",
        ),
        (
            "WITH n AS (SELECT 2 AS id, 5 AS v) UPDATE t SET v = n.v FROM n WHERE n.id = t.id",
            "1 10; 2 5; 3 30",
        ),
        (
            "WITH n AS (SELECT 2 AS id) UPDATE t SET v = m.a FROM n AS m (a) WHERE m.a = t.id",
            "1 10; 2 2; 3 30",
        ),
        ("WITH n AS (SELECT 3 AS id) DELETE FROM t USING n WHERE t.id = n.id", "1 10; 2 20"),
        (
            "WITH n AS (SELECT max(v) AS v FROM t), m AS (SELECT v - 10 AS v FROM n)
          DELETE FROM t WHERE v = (SELECT v FROM m)",
            "1 10; 3 30",
        ),
        (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2)
          UPDATE t SET v = -v WHERE id IN (SELECT i FROM n)",
            "1 -10; 2 -20; 3 30",
        ),
        (
            "WITH n AS (SELECT 3 AS id, 1 AS v UNION ALL SELECT 4, 2)
          MERGE INTO t USING n ON n.id = t.id WHEN MATCHED THEN UPDATE SET v = n.v
          WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.v)",
            "1 10; 2 20; 3 1; 4 2",
        ),
        (
            "WITH n AS (SELECT 3 AS id UNION ALL SELECT 4)
             MERGE INTO t USING n ON n.id = t.id WHEN MATCHED THEN DO NOTHING
             WHEN NOT MATCHED THEN INSERT VALUES (n.id, 0)",
            "1 10; 2 20; 3 30; 4 0",
        ),
        (
            "WITH \"N\" AS (SELECT 1 AS id) DELETE FROM t WHERE id IN (SELECT id FROM \"N\")",
            "2 20; 3 30",
        ),
    ] {
        let connection = connect();
        run(&connection, sql);
        assert_eq!(all(&connection), then, "{sql}");
    }
}

#[test]
fn a_name_hides_a_table_and_is_hidden_by_a_query_within() {
    for (sql, then) in [
        // A table of that name in the query itself.
        (
            "WITH x AS (SELECT id + 1 AS id FROM x) DELETE FROM t WHERE id IN (SELECT id FROM x)",
            "1 10; 3 30",
        ),
        (
            "WITH x AS (SELECT 3 AS id) DELETE FROM t WHERE id IN (SELECT id FROM main.x)",
            "2 20; 3 30",
        ),
        (
            "WITH x AS (SELECT 3 AS id) DELETE FROM t
          WHERE id IN (WITH x AS (SELECT 2 AS id) SELECT id FROM x)",
            "1 10; 3 30",
        ),
        (
            "WITH x AS (SELECT 3 AS id) DELETE FROM t
          WHERE id IN (WITH x AS (SELECT id - 1 AS id FROM x) SELECT id FROM x)",
            "1 10; 3 30",
        ),
        (
            "WITH x AS (SELECT 3 AS id) DELETE FROM t
          WHERE id IN (WITH y AS (SELECT 2 AS id) SELECT id FROM y) OR id IN (SELECT id FROM x)",
            "1 10",
        ),
        (
            "WITH y AS (SELECT 1 AS id), x AS (SELECT id + 1 AS id FROM y)
          DELETE FROM t WHERE id IN (SELECT z.id FROM (SELECT x.id FROM x, y) AS z)",
            "1 10; 3 30",
        ),
    ] {
        let connection = connect();
        run(&connection, sql);
        assert_eq!(all(&connection), then, "{sql}");
    }
}

#[test]
fn parameters_returning_explain_and_prepare_know_it() {
    let connection = connect();
    let sql = "WITH n AS (SELECT CAST(? AS INT) AS id) DELETE FROM t WHERE id IN (SELECT id FROM n) AND v = ?";
    assert_eq!(connection.execute(sql, &[2.into(), 21.into()]).unwrap(), 0);
    assert_eq!(connection.execute(sql, &[2.into(), 20.into()]).unwrap(), 1);
    let returned = "WITH n AS (SELECT 1 AS id) UPDATE t SET v = 11 FROM n WHERE t.id = n.id RETURNING t.id, v, n.id";
    assert_eq!(rows(&connection, returned), ["1 11 1"]);
    let explained = "EXPLAIN WITH n AS (SELECT 1 AS id) DELETE FROM t USING n WHERE t.id = n.id";
    assert_eq!(rows(&connection, explained)[0], "DELETE");
    let explained = "EXPLAIN WITH n AS (SELECT 9 AS id) INSERT INTO t AS o SELECT id, 1 FROM n";
    assert_eq!(rows(&connection, explained)[0], "INSERT");
    run(
        &connection,
        "PREPARE p AS WITH n AS (SELECT $1::INT AS id) DELETE FROM t USING n WHERE t.id = n.id",
    );
    run(&connection, "EXECUTE p (3)");
    assert_eq!(all(&connection), "1 11");
}

#[test]
fn what_is_no_table_or_changes_within_is_refused() {
    let connection = connect();
    // Also where there is a table of the name.
    for sql in [
        "WITH x AS (SELECT 1 AS id) UPDATE x SET v = 1",
        "WITH t AS (SELECT 1 AS id) DELETE FROM t",
        "WITH t AS (SELECT 1 AS id, 2 AS v) INSERT INTO t SELECT * FROM t",
        "WITH t AS (SELECT 1 AS id) MERGE INTO t USING x ON false WHEN NOT MATCHED THEN INSERT VALUES (1, 2)",
        "EXPLAIN WITH t AS (SELECT 1 AS id) DELETE FROM t",
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(Reason::WrongObject), "{sql}: {error}");
    }
    let view = "CREATE VIEW w AS WITH n AS (DELETE FROM t RETURNING id) SELECT * FROM n";
    let error = refused(&connection, view);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().ends_with("run them before it, in one transaction"), "{error}");
    let explained = "EXPLAIN WITH n AS (DELETE FROM t RETURNING id) SELECT * FROM n";
    assert_eq!(rows(&connection, explained), ["SELECT with changes in WITH"]);
    assert_eq!(all(&connection), "1 10; 2 20; 3 30");
}

#[test]
fn changes_in_with_are_carried_out_once_and_give_rows() {
    let connection = connect();
    let gone = "WITH n AS (DELETE FROM t WHERE id > ? RETURNING id) SELECT (SELECT count(*) FROM t), * FROM n ORDER BY id";
    let rows = connection.query(gone, &[1.into()]).unwrap();
    let rows = rows.map(|row| row.unwrap());
    let ids = rows.map(|row| (row.value(0).unwrap(), row.value(1).unwrap())).collect::<Vec<_>>();
    assert_eq!(ids, [(3.into(), 2.into()), (3.into(), 3.into())]);
    run(&connection, "BEGIN");
    run(&connection, "WITH n AS (INSERT INTO t VALUES (7, 70)) SELECT 1");
    assert_eq!(all(&connection), "1 10; 7 70");
    run(&connection, "ROLLBACK");
    assert_eq!(all(&connection), "1 10");
    run(&connection, "SET default_transaction_read_only = on");
    let error = refused(&connection, "WITH n AS (DELETE FROM t RETURNING id) SELECT * FROM n");
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
}
