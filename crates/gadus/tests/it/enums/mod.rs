//! Enumerations: their values, wherever they are written, read and compared.

mod kinds;
mod processes;

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use gadus::{Connection, Database, Error, Options, Reason, Value};
use std::sync::Arc;

fn connected() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    fill(&connection);
    connection
}

fn fill(connection: &Connection) {
    run(connection, "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')");
    run(connection, "CREATE TABLE t (id INT PRIMARY KEY, m mood NOT NULL DEFAULT 'ok', n mood)");
    run(
        connection,
        "INSERT INTO t VALUES (1, 'sad', NULL), (2, 'ok', 'happy'), (3, 'happy', 'ok')",
    );
}

/// The error of a text that is no label.
fn is_no_label(error: &Error, label: &str) {
    assert_eq!(error.reason(), Some(Reason::InvalidText), "{error}");
    let expected = format!("invalid input value for enum mood: \"{label}\"");
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn values_are_labels() {
    let connection = connected();
    run(&connection, "INSERT INTO t (id) VALUES (4)");
    for (sql, expected) in [
        ("SELECT m, n FROM t WHERE id = 1", "sad NULL"),
        ("SELECT m FROM t WHERE id = 4", "ok"),
        ("SELECT id FROM t WHERE m = 'happy'", "3"),
        ("SELECT id FROM t WHERE 'happy' = m AND id + 0 = 3", "3"),
        ("SELECT count(*) FROM t WHERE m IN ('sad', 'happy')", "2"),
        ("SELECT count(*) FROM t WHERE m <> 'ok'", "2"),
        ("SELECT count(*) FROM t WHERE m IS DISTINCT FROM n", "4"),
        ("SELECT count(*) FROM t AS a JOIN t AS b ON a.m = b.n", "3"),
        ("SELECT 'ok'::mood, CAST('sad' AS mood)", "ok sad"),
        ("SELECT lower(upper('OK'))::mood = m FROM t WHERE id = 2", "true"),
        ("SELECT m::text || '!' FROM t WHERE id = 2", "ok!"),
        ("SELECT length(m::text), m::text = 'nothing' FROM t WHERE id = 2", "2 false"),
        ("SELECT NULL::mood IS NULL", "true"),
        ("SELECT TRY_CAST('x' AS mood) IS NULL", "true"),
        ("SELECT m::mood FROM t WHERE id = 3", "happy"),
        ("SELECT id FROM t WHERE CASE WHEN id = 1 THEN m ELSE 'ok' END = 'sad'", "1"),
        ("SELECT coalesce(n, m) FROM t WHERE id = 1", "sad"),
        ("WITH w AS (SELECT m AS x FROM t) SELECT count(*) FROM w WHERE x = 'ok'", "2"),
        ("SELECT count(DISTINCT m) FROM t", "3"),
        ("SELECT count(*) FROM t GROUP BY m HAVING m = 'ok'", "2"),
        ("SELECT count(*) FROM t WHERE m IN (SELECT n FROM t WHERE n = 'happy')", "1"),
        ("SELECT enum_first(NULL::mood), enum_last(NULL::mood)", "sad happy"),
        ("SELECT array_to_string(enum_range(NULL::mood), ',')", "sad,ok,happy"),
        ("SELECT array_to_string(enum_range('ok'::mood, NULL), ',')", "ok,happy"),
        ("SELECT array_to_string(enum_range(NULL, 'ok'::mood), ',')", "sad,ok"),
        ("SELECT array_to_string(enum_range(m, n), ',') FROM t WHERE id = 2", "ok,happy"),
        ("SELECT enum_last(m) FROM t WHERE id = 1", "happy"),
        (
            "SELECT count(*) FROM (SELECT 'ok' AS x UNION SELECT m FROM t UNION SELECT NULL) WHERE x = 'ok'",
            "1",
        ),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
}

#[test]
fn what_is_no_label_is_refused_on_every_way_in() {
    let folder = Folder::new();
    let connection = connected();
    let file = |name: &str| folder.path(name).display().to_string();
    let (csv, json, parquet) = (file("x.csv"), file("x.json"), file("x.parquet"));
    std::fs::write(&csv, "id,m\n8,x\n").unwrap();
    std::fs::write(&json, "{\"id\": 8, \"m\": \"x\"}\n").unwrap();
    run(&connection, &format!("COPY (SELECT 8 AS id, 'x' AS m) TO '{parquet}'"));
    for sql in [
        "INSERT INTO t VALUES (8, 'x')".to_owned(),
        "INSERT INTO t VALUES (8, 'ok', 'x')".to_owned(),
        "INSERT INTO t SELECT 8, 'x'".to_owned(),
        "INSERT INTO t VALUES (1, 'ok') ON CONFLICT (id) DO UPDATE SET m = 'x'".to_owned(),
        "UPDATE t SET m = 'x'".to_owned(),
        "UPDATE t SET m = 'x' WHERE id = 1".to_owned(),
        "UPDATE t SET n = 'x' WHERE m = 'ok'".to_owned(),
        "MERGE INTO t USING (VALUES (1)) AS s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET m = 'x'".to_owned(),
        "MERGE INTO t USING (VALUES (9)) AS s(id) ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, m) VALUES (s.id, 'x')".to_owned(),
        format!("COPY t (id, m) FROM '{csv}' (FORMAT csv, HEADER)"),
        format!("COPY t (id, m) FROM '{json}'"),
        format!("COPY t (id, m) FROM '{parquet}'"),
        "SELECT 'x'::mood".to_owned(),
        "SELECT id FROM t WHERE m = 'x'".to_owned(),
        "SELECT id FROM t WHERE id = 1 AND m = 'x'".to_owned(),
        "SELECT id FROM t WHERE m IN ('ok', 'x')".to_owned(),
        "SELECT id FROM t WHERE m BETWEEN 'ok' AND 'x'".to_owned(),
        "SELECT id FROM t WHERE m < 'x'".to_owned(),
        "SELECT count(*) FROM t WHERE lower('X')::mood = m".to_owned(),
        "SELECT coalesce(n, 'x') FROM t".to_owned(),
        "SELECT m FROM t UNION ALL SELECT 'x'".to_owned(),
        "DELETE FROM t WHERE m = 'x'".to_owned(),
        "ALTER TABLE t ALTER COLUMN m SET DEFAULT 'x'".to_owned(),
        "ALTER TABLE t ADD COLUMN o mood DEFAULT 'x'".to_owned(),
        "CREATE TABLE u (m mood DEFAULT 'x')".to_owned(),
        "CREATE TABLE u (m mood CHECK (m <> 'x'))".to_owned(),
        "CREATE VIEW v AS SELECT id FROM t WHERE m = 'x'".to_owned(),
    ] {
        is_no_label(&refused(&connection, &sql), "x");
    }
    let error = refused(&connection, "UPDATE t SET m = lower('X') WHERE id > 1");
    assert_eq!(error.reason(), Some(Reason::TypeMismatch), "{error}");
    let x = [Value::from("x")];
    for sql in [
        "INSERT INTO t VALUES (8, $1)",
        "UPDATE t SET m = $1",
        "UPDATE t SET m = $1 WHERE id = 1",
        "SELECT id FROM t WHERE m = $1",
        "SELECT id FROM t WHERE id + 0 = 1 AND m = $1",
        "SELECT $1::mood",
    ] {
        // Also by a plan that is kept.
        for _ in 0..4 {
            let outcome = connection.query(sql, &x).map(|rows| rows.collect::<Result<Vec<_>, _>>());
            is_no_label(&outcome.and_then(|rows| rows.map(|_| ())).expect_err(sql), "x");
        }
    }
    let ids = Arc::new(Int32Array::from(vec![8])) as ArrayRef;
    let labels = Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
    let columns = [("id", ids), ("m", labels.clone()), ("n", labels)];
    let mut appender = connection.appender("t").unwrap();
    let appended = appender.append(RecordBatch::try_from_iter(columns).unwrap());
    is_no_label(&appended.and_then(|()| appender.finish().map(|_| ())).unwrap_err(), "x");
    assert_eq!(rows(&connection, "SELECT m FROM t WHERE id = 2"), ["ok"]);
    assert_eq!(rows(&connection, "SELECT count(*), max(id) FROM t"), ["3 3"]);
    run(&connection, "CREATE TABLE g (a TEXT, m mood GENERATED ALWAYS AS (a::mood) STORED)");
    is_no_label(&refused(&connection, "INSERT INTO g VALUES ('x')"), "x");
    run(&connection, "INSERT INTO g VALUES ('ok')");
    assert_eq!(rows(&connection, "SELECT m FROM g WHERE m = 'ok'"), ["ok"]);
}

#[test]
fn parameters_are_labels() {
    let connection = connected();
    for sql in [
        "SELECT id FROM t WHERE m = $1",
        "SELECT id FROM t WHERE id + 0 < 5 AND m = $1",
        "SELECT id FROM t WHERE $1::mood = m",
    ] {
        for (label, expected) in [("ok", 2), ("happy", 3), ("ok", 2), ("sad", 1)] {
            let mut found = connection.query(sql, &[Value::from(label)]).unwrap();
            let id = found.next().unwrap().unwrap().get::<i64>(0).unwrap();
            assert_eq!(id, expected, "{sql} {label}");
        }
    }
    connection.execute("INSERT INTO t VALUES (4, $1, $2)", &["sad".into(), Value::Null]).unwrap();
    connection.execute("UPDATE t SET n = $1 WHERE id = 4", &["sad".into()]).unwrap();
    assert_eq!(rows(&connection, "SELECT m, n FROM t WHERE id = 4"), ["sad sad"]);
}

#[test]
fn values_of_several_types_have_nothing_in_common() {
    let connection = connected();
    run(&connection, "CREATE TYPE other AS ENUM ('ok', 'bad')");
    run(&connection, "CREATE TABLE o (k other PRIMARY KEY, i INT)");
    for sql in [
        "SELECT 1 FROM t, o WHERE t.m = o.k",
        "SELECT 1 FROM t JOIN o ON t.m <> o.k",
        "SELECT m = 'ok'::other FROM t",
        "SELECT 'ok'::mood IN ('ok'::other)",
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(Reason::UnknownFunction), "{sql}: {error}");
    }
    let error = refused(&connection, "SELECT enum_first('x')");
    assert_eq!(error.reason(), Some(Reason::TypeMismatch), "{error}");
    for sql in ["SELECT m::other FROM t", "SELECT 1::mood", "SELECT i::mood FROM o"] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(Reason::CannotCast), "{sql}: {error}");
    }
    let sql = "CREATE TABLE f (m mood REFERENCES o)";
    assert_eq!(refused(&connection, sql).reason(), Some(Reason::TypeMismatch));
    assert_eq!(rows(&connection, "SELECT 'ok'::other::text = 'ok'::mood::text"), ["true"]);
}

#[test]
fn keys_and_conditions_are_over_labels() {
    let connection = connected();
    for sql in [
        "CREATE TABLE kinds (m mood PRIMARY KEY, name TEXT)",
        "INSERT INTO kinds VALUES ('sad', 'Sad'), ('ok', 'Fine')",
        "CREATE TABLE uses (id INT, m mood REFERENCES kinds ON UPDATE CASCADE CHECK (m IN ('sad', 'ok')))",
        "CREATE INDEX ON uses (m)",
        "INSERT INTO uses VALUES (1, 'sad'), (2, 'ok'), (3, NULL)",
        "CREATE TABLE once (m mood UNIQUE)",
        "INSERT INTO once VALUES ('ok')",
        "INSERT INTO once VALUES ('ok'), ('sad') ON CONFLICT DO NOTHING",
    ] {
        run(&connection, sql);
    }
    refused(&connection, "INSERT INTO kinds VALUES ('ok', 'again')");
    refused(&connection, "INSERT INTO once VALUES ('sad')");
    refused(&connection, "INSERT INTO uses VALUES (4, 'happy')");
    refused(&connection, "DELETE FROM kinds WHERE m = 'ok'");
    for (sql, expected) in [
        ("SELECT name FROM kinds WHERE m = 'ok'", "Fine"),
        ("SELECT count(*) FROM uses JOIN kinds USING (m)", "2"),
        ("SELECT id FROM uses WHERE m = 'ok'", "2"),
        ("SELECT count(*) FROM once", "2"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
}

#[test]
fn files_hold_labels_as_texts() {
    let folder = Folder::new();
    let connection = connected();
    for (name, options) in [("t.csv", "(FORMAT csv, HEADER)"), ("t.parquet", ""), ("t.json", "")] {
        let file = folder.path(name).display().to_string();
        run(&connection, &format!("COPY t TO '{file}' {options}"));
        run(&connection, "CREATE TABLE again (id INT, m mood, n mood)");
        run(&connection, &format!("COPY again FROM '{file}' {options}"));
        let all = "SELECT * FROM again EXCEPT SELECT * FROM t";
        assert!(rows(&connection, all).is_empty(), "{name}");
        assert_eq!(rows(&connection, "SELECT count(*) FROM again WHERE m = 'ok'"), ["1"], "{name}");
        run(&connection, "DROP TABLE again");
        // In another database there is no such type.
        let other = Database::open_in_memory(Options::new()).unwrap().connect();
        run(&other, &format!("CREATE TABLE x AS SELECT * FROM '{file}'"));
        assert_eq!(rows(&other, "SELECT id FROM x WHERE m = 'sad'"), ["1"], "{name}");
    }
}
