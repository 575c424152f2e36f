//! Columns whose values follow from others of their row.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use gadus::{Connection, Database, Options, Reason};
use std::sync::Arc;

fn connected() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

const TABLE: &str =
    "CREATE TABLE t (id INT PRIMARY KEY, net DECIMAL(10, 2), rate DECIMAL(4, 2) DEFAULT 0.25,
    gross DECIMAL(10, 2) GENERATED ALWAYS AS (net * (1 + rate)) STORED, name TEXT,
    folded TEXT GENERATED ALWAYS AS (lower(name)) STORED)";

/// Every way in writes what the expressions say of the row as it is then.
#[test]
fn generated_columns_follow_their_row_whatever_writes_it() {
    let connection = connected();
    run(&connection, TABLE);
    run(&connection, "INSERT INTO t VALUES (1, 100, 0.5, DEFAULT, 'Ada', DEFAULT)");
    run(&connection, "INSERT INTO t (id, net, name) VALUES (2, 10, 'Bob')");
    run(
        &connection,
        "INSERT INTO t (id, net, name) SELECT g, g, 'X' || g FROM generate_series(3, 4) AS s(g)",
    );
    run(
        &connection,
        "INSERT INTO t (id, net) VALUES (2, 20) ON CONFLICT (id) DO UPDATE SET net = excluded.net + t.net",
    );
    run(
        &connection,
        "MERGE INTO t USING (VALUES (3, 5), (5, 7)) AS s(id, net) ON t.id = s.id \
         WHEN MATCHED THEN UPDATE SET net = s.net, name = 'Merged' \
         WHEN NOT MATCHED THEN INSERT (id, net, name) VALUES (s.id, s.net, 'New')",
    );
    let all = "SELECT id, gross::text, folded FROM t ORDER BY id";
    assert_eq!(
        rows(&connection, all),
        ["1 150.00 ada", "2 37.50 bob", "3 6.25 merged", "4 5.00 x4", "5 8.75 new"]
    );
    // By its key, by a filter, and of all rows.
    run(&connection, "UPDATE t SET net = 200 WHERE id = 1");
    run(&connection, "UPDATE t SET name = 'Z' WHERE id > 3");
    run(&connection, "UPDATE t SET rate = 1, gross = DEFAULT");
    assert_eq!(
        rows(&connection, all),
        ["1 400.00 ada", "2 60.00 bob", "3 10.00 merged", "4 8.00 z", "5 14.00 z"]
    );
    let returned = "UPDATE t SET net = 1 WHERE id = 5 RETURNING gross::text, folded";
    assert_eq!(rows(&connection, returned), ["2.00 z"]);
    assert_eq!(rows(&connection, "SELECT id FROM t WHERE gross = 400"), ["1"]);
}

#[test]
fn loads_leave_generated_columns_out() {
    let folder = Folder::new();
    let connection = connected();
    run(
        &connection,
        "CREATE TABLE t (a INT, twice INT GENERATED ALWAYS AS (a * 2) STORED, b TEXT)",
    );
    let path = folder.path("in.csv");
    std::fs::write(&path, "a,b\n1,x\n2,y\n").unwrap();
    run(&connection, &format!("COPY t FROM '{}'", path.display()));
    let mut appender = connection.appender("t").unwrap();
    let (a, b) = (Int32Array::from(vec![7]), StringArray::from(vec!["z"]));
    let columns = [("a", Arc::new(a) as ArrayRef), ("b", Arc::new(b) as ArrayRef)];
    appender.append(RecordBatch::try_from_iter(columns).unwrap()).unwrap();
    appender.finish().unwrap();
    assert_eq!(rows(&connection, "SELECT * FROM t ORDER BY a"), ["1 2 x", "2 4 y", "7 14 z"]);
}

#[test]
fn nobody_gives_generated_columns_values() {
    let connection = connected();
    run(&connection, TABLE);
    run(&connection, "INSERT INTO t (id) VALUES (1)");
    for sql in [
        "INSERT INTO t VALUES (1, 100, 0.5, 7)",
        "INSERT INTO t (id, gross) SELECT 1, 2",
        "INSERT INTO t (id, gross) OVERRIDING SYSTEM VALUE VALUES (1, 2)",
        "UPDATE t SET gross = 1",
        "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET gross = 1",
        "MERGE INTO t USING (VALUES (1)) AS s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET gross = 1",
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::GeneratedAlways), "{sql}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM t WHERE gross IS NULL"), ["1"]);
}

#[test]
fn generations_that_cannot_hold_are_refused() {
    let connection = connected();
    for (column, expected) in [
        ("b INT GENERATED ALWAYS AS (nothing + 1) STORED", "does not exist"),
        ("b DOUBLE GENERATED ALWAYS AS (random()) STORED", "not immutable"),
        ("b TIMESTAMPTZ GENERATED ALWAYS AS (now()) STORED", "not immutable"),
        (
            "b INT GENERATED ALWAYS AS (a + 1) STORED, c INT GENERATED ALWAYS AS (b + 1) STORED",
            "generated column",
        ),
        ("b INT GENERATED ALWAYS AS (b + 1) STORED", "generated column"),
        ("b INT DEFAULT 1 GENERATED ALWAYS AS (a + 1) STORED", "both default and generation"),
        ("b INT GENERATED ALWAYS AS ((SELECT 1)) STORED", "subquery"),
        ("b BIGINT GENERATED ALWAYS AS (count(*)) STORED", "aggregate"),
        (
            "b INT REFERENCES s ON DELETE SET NULL, c INT GENERATED ALWAYS AS (b + 1) STORED",
            "foreign key",
        ),
    ] {
        run(&connection, "CREATE TABLE IF NOT EXISTS s (id INT PRIMARY KEY)");
        let error = refused(&connection, &format!("CREATE TABLE t (a INT, {column})"));
        assert!(error.to_string().contains(expected), "{column}: {error}");
    }
}

#[test]
fn conditions_and_keys_see_generated_values() {
    let connection = connected();
    run(
        &connection,
        "CREATE TABLE t (a INT, half INT NOT NULL GENERATED ALWAYS AS (CASE WHEN a % 2 = 0 THEN a / 2 END) STORED \
         CHECK (half < 100), UNIQUE (half))",
    );
    run(&connection, "INSERT INTO t VALUES (4)");
    for (sql, expected) in [
        ("INSERT INTO t VALUES (5)", "NULL"),
        ("INSERT INTO t VALUES (4)", "already"),
        ("INSERT INTO t VALUES (400)", "check constraint"),
        ("UPDATE t SET a = 400", "check constraint"),
    ] {
        let error = refused(&connection, sql);
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
    run(&connection, "UPDATE t SET a = 6");
    assert_eq!(rows(&connection, "SELECT a FROM t WHERE half = 3"), ["6"]);
}

#[test]
fn tables_with_generated_columns_are_altered_and_kept() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    let connection = database.connect();
    run(&connection, "CREATE TABLE t (a INT, b INT)");
    run(&connection, "INSERT INTO t VALUES (1, 2), (3, 4)");
    run(&connection, "ALTER TABLE t ADD COLUMN sum INT GENERATED ALWAYS AS (a + b) STORED");
    run(&connection, "ALTER TABLE t RENAME COLUMN a TO \"A\"");
    run(&connection, "INSERT INTO t VALUES (5, 6)");
    assert_eq!(
        refused(&connection, "ALTER TABLE t DROP COLUMN b").reason(),
        Some(Reason::Depended)
    );
    assert_eq!(
        refused(&connection, "ALTER TABLE t ALTER COLUMN b TYPE BIGINT").reason(),
        Some(Reason::Depended)
    );
    refused(&connection, "ALTER TABLE t ALTER COLUMN sum SET DEFAULT 1");
    drop((connection, database));
    let database = open();
    let connection = database.connect();
    run(&connection, "UPDATE t SET b = b + 1 WHERE b = 6");
    assert_eq!(rows(&connection, "SELECT sum FROM t ORDER BY 1"), ["3", "7", "12"]);
    let statements = database.create_statement("t").unwrap();
    assert!(statements.contains("GENERATED ALWAYS AS (\"A\" + b) STORED"), "{statements}");
    assert_eq!(
        rows(
            &connection,
            "SELECT attname, attgenerated FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 2"
        ),
        ["sum s"]
    );
    run(&connection, "ALTER TABLE t DROP COLUMN b CASCADE");
    assert_eq!(rows(&connection, "SELECT * FROM t ORDER BY 1"), ["1", "3", "5"]);
}
