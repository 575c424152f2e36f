//! CHECK constraints hold on every way into a table.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::array::{Int32Array, Int64Array, RecordBatch};
use gadus::{Connection, Database, ErrorKind, Options, Reason, check, params};
use std::sync::Arc;

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE t (id BIGINT PRIMARY KEY, low INTEGER CHECK (low > 0), high INTEGER, \
                  CONSTRAINT ordered CHECK (t.low < high), CHECK (id <> 13)); \
                  INSERT INTO t VALUES (1, 1, 2), (2, NULL, 5)";
    connection.execute_script(script).unwrap();
    connection
}

fn violates(connection: &Connection, sql: &str, name: &str) {
    let error = refused(connection, sql);
    assert_eq!(error.kind(), ErrorKind::CheckViolation, "{sql}: {error}");
    let message = format!("new row for relation \"t\" violates check constraint \"{name}\"");
    assert_eq!(error.message(), message, "{sql}");
}

#[test]
fn every_statement_that_writes_is_checked() {
    let connection = connect();
    for (sql, name) in [
        ("INSERT INTO t VALUES (3, 0, 1)", "t_low_check"),
        ("INSERT INTO t VALUES (3, 4, 4)", "ordered"),
        ("INSERT INTO t VALUES (13, 1, 2)", "t_id_check"),
        ("INSERT INTO t SELECT id + 10, low, low FROM t", "ordered"),
        ("UPDATE t SET low = -1 WHERE id = 1", "t_low_check"),
        ("UPDATE t SET high = 1 WHERE id = 1", "ordered"),
        ("UPDATE t SET high = high - 4", "ordered"),
        ("UPDATE t SET id = 13 WHERE id = 1", "t_id_check"),
        ("UPDATE t SET low = 9 FROM (VALUES (1)) AS v (n) WHERE t.id = v.n", "ordered"),
        ("INSERT INTO t VALUES (1, 7, 9) ON CONFLICT (id) DO UPDATE SET high = 0", "ordered"),
        ("INSERT INTO t VALUES (1, 9, 7) ON CONFLICT (id) DO NOTHING", "ordered"),
        ("INSERT INTO t VALUES (4, -4, 4) RETURNING id", "t_low_check"),
    ] {
        violates(&connection, sql, name);
        assert_eq!(
            rows(&connection, "SELECT * FROM t ORDER BY id"),
            ["1 1 2", "2 NULL 5"],
            "{sql}"
        );
    }
    run(&connection, "UPDATE t SET low = low + 1, high = high + 1");
    run(&connection, "INSERT INTO t (id) VALUES (3)");
    run(&connection, "DELETE FROM t WHERE id = 2");
    assert_eq!(rows(&connection, "SELECT * FROM t ORDER BY id"), ["1 2 3", "3 NULL NULL"]);
}

#[test]
fn statements_with_parameters_and_in_many_at_once_are_checked() {
    let connection = connect();
    let insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?)").unwrap();
    for _ in 0..3 {
        let error = insert.execute(params![3, 3, 3]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CheckViolation);
    }
    assert_eq!(insert.execute(params![3, 3, 4]).unwrap(), 1);
    let update = ("UPDATE t SET low = ? WHERE high = ?", params![9, 4]);
    for result in connection.execute_many([update; 8]) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::CheckViolation);
    }
    assert_eq!(rows(&connection, "SELECT low FROM t WHERE id = 3"), ["3"]);
}

#[test]
fn appended_batches_and_files_are_checked() {
    let folder = Folder::new();
    let connection = connect();
    let batch = |low: i32| {
        RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(vec![7])) as _),
            ("low", Arc::new(Int32Array::from(vec![low])) as _),
            ("high", Arc::new(Int32Array::from(vec![5])) as _),
        ])
        .unwrap()
    };
    let error = connection.append("t", vec![batch(5)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CheckViolation);
    assert_eq!(connection.append("t", vec![batch(4)]).unwrap(), 1);
    let path = folder.path("rows.csv");
    std::fs::write(&path, "id,low,high\n8,1,2\n9,2,1\n").unwrap();
    let copy = refused(&connection, &format!("COPY t FROM '{}' (HEADER)", path.display()));
    assert_eq!(copy.kind(), ErrorKind::CheckViolation);
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["3"]);
}

#[test]
fn constraints_are_added_to_rows_that_meet_them_and_dropped() {
    let connection = connect();
    let error = refused(&connection, "ALTER TABLE t ADD CONSTRAINT small CHECK (high < 5)");
    assert_eq!(error.kind(), ErrorKind::CheckViolation);
    let message = "check constraint \"small\" of relation \"t\" is violated by some row";
    assert_eq!(error.message(), message);
    run(&connection, "ALTER TABLE t ADD CONSTRAINT small CHECK (high < 6)");
    violates(&connection, "UPDATE t SET high = 6 WHERE id = 1", "small");
    let twice = refused(&connection, "ALTER TABLE t ADD CONSTRAINT small CHECK (high < 7)");
    assert_eq!(twice.reason(), Some(Reason::DuplicateObject));
    run(&connection, "ALTER TABLE t RENAME CONSTRAINT small TO smaller");
    run(&connection, "ALTER TABLE t DROP CONSTRAINT smaller");
    run(&connection, "UPDATE t SET high = 6 WHERE id = 1");
    let unknown = refused(&connection, "ALTER TABLE t DROP CONSTRAINT smaller");
    assert_eq!(unknown.reason(), Some(Reason::UnknownObject));
    run(&connection, "ALTER TABLE t DROP CONSTRAINT IF EXISTS smaller");
    run(&connection, "ALTER TABLE t ADD CHECK (high < 5) NOT VALID");
    violates(&connection, "INSERT INTO t VALUES (5, 1, 5)", "t_high_check");
    run(&connection, "ALTER TABLE t DROP CONSTRAINT t_pkey");
    run(&connection, "INSERT INTO t VALUES (1, 1, 2)");
    run(&connection, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 3 CHECK (c > 2)");
    violates(&connection, "INSERT INTO t VALUES (5, 1, 2, 2)", "t_c_check");
    let at_once =
        refused(&connection, "ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 3 CHECK (d > 3)");
    assert_eq!(at_once.kind(), ErrorKind::CheckViolation);
}

#[test]
fn conditions_follow_their_columns() {
    let connection = connect();
    run(&connection, "ALTER TABLE t RENAME COLUMN low TO \"Least\"");
    run(&connection, "ALTER TABLE t RENAME COLUMN high TO most");
    violates(&connection, "INSERT INTO t VALUES (3, 4, 4)", "ordered");
    violates(&connection, "INSERT INTO t VALUES (3, 0, 4)", "t_low_check");
    run(&connection, "ALTER TABLE t ALTER COLUMN most TYPE BIGINT");
    violates(&connection, "INSERT INTO t VALUES (3, 4, 4)", "ordered");
    run(&connection, "ALTER TABLE t DROP COLUMN most");
    violates(&connection, "INSERT INTO t VALUES (3, 0)", "t_low_check");
    run(&connection, "INSERT INTO t VALUES (3, 4)");
}

#[test]
fn what_is_no_condition_of_a_row_is_refused() {
    let connection = connect();
    for (condition, kind) in [
        ("a > 0", ErrorKind::NotFound),
        ("low", ErrorKind::Input),
        ("low > (SELECT 1)", ErrorKind::Unsupported),
        ("count(*) > 1", ErrorKind::Input),
    ] {
        let sql = format!("ALTER TABLE t ADD CHECK ({condition})");
        assert_eq!(refused(&connection, &sql).kind(), kind, "{sql}");
    }
}

#[test]
fn constraints_are_in_the_catalog_and_known_to_all_instances() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let database = Database::open(&path, Options::new()).unwrap();
    let (one, two) = (database.connect(), Database::open(&path, Options::new()).unwrap().connect());
    run(&one, "CREATE TABLE t (a INTEGER, CONSTRAINT big CHECK (a > 10))");
    let statement = database.create_statement("t").unwrap();
    assert_eq!(statement, "CREATE TABLE t (\n    a INTEGER,\n    CONSTRAINT big CHECK (a > 10)\n)");
    violates(&two, "INSERT INTO t VALUES (1)", "big");
    run(&one, "ALTER TABLE t DROP CONSTRAINT big");
    run(&two, "INSERT INTO t VALUES (1)");
    run(&two, "ALTER TABLE t ADD CONSTRAINT small CHECK (a < 10)");
    violates(&one, "INSERT INTO t VALUES (11)", "small");
    let known = "SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint";
    assert_eq!(rows(&one, known), ["small c CHECK (a < 10)"]);
    drop((one, two, database));
    let again = Database::open(&path, Options::new()).unwrap().connect();
    violates(&again, "INSERT INTO t VALUES (11)", "small");
    drop(again);
    assert!(check(&path, |_, _| ()).unwrap().problems.is_empty());
}
