//! `gadus import`: tables of SQLite, as SQLite itself writes them.

use crate::folder::{Folder, error_of};
use rusqlite::Connection;

const SCHEMA: &str = "
    CREATE TABLE customer (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, email TEXT UNIQUE, active BOOLEAN DEFAULT 1,
        balance DECIMAL(10,2), joined DATE, seen DATETIME, extra JSON, picture BLOB, score REAL, anything);
    CREATE TABLE \"order\" (
        customer INTEGER NOT NULL REFERENCES customer ON DELETE CASCADE, number INT, price NUMERIC,
        PRIMARY KEY (customer, number)) WITHOUT ROWID;
    CREATE TABLE loose (k TEXT PRIMARY KEY, v, made TEXT DEFAULT (lower('X')), twice INT GENERATED ALWAYS AS (v * 2));
    CREATE INDEX by_name ON customer (name, id);
    CREATE INDEX by_lower ON customer (lower(name));
    CREATE INDEX by_case ON customer (name COLLATE NOCASE);
    CREATE VIEW named AS SELECT name FROM customer;
    CREATE TRIGGER t AFTER INSERT ON loose BEGIN SELECT 1; END;
    INSERT INTO customer VALUES
        (3, 'Ada', 'ada@x', 1, 10.1, '1815-12-10', '2026-01-02 03:04:05', '{\"a\": 1}', x'00ff', 1.5, 1),
        (7, 'It''s', NULL, 0, 2, NULL, '2026-01-02T03:04:05.25', NULL, NULL, 2, 'text'),
        (9, 'Ünï', 'u@x', NULL, NULL, '2024-02-29', NULL, '[]', x'', NULL, NULL);
    INSERT INTO \"order\" VALUES (3, 1, 5), (3, 2, 7.25), (9, 1, NULL);
    INSERT INTO loose (k, v) VALUES ('a', 1), (NULL, 2), ('b', NULL);";

fn source(folder: &Folder) -> Connection {
    let source = Connection::open(folder.path("in.sqlite")).unwrap();
    source.execute_batch(SCHEMA).unwrap();
    source
}

#[test]
fn tables_of_sqlite_become_tables() {
    let folder = Folder::new();
    // Whoever has it open may go on.
    let source = source(&folder);
    let output = folder.run(&["import", "in.sqlite", "out.gadus"]);
    let notices = error_of(&output);
    assert!(output.status.success(), "{notices}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.contains("customer: 3 rows") && printed.contains("9 rows in 3 tables"),
        "{printed}"
    );
    for told in [
        "view named is left out",
        "trigger t is left out",
        "index by_lower",
        "index by_case",
        "generated column twice",
        "the primary key is left out: k has NULL",
        "DEFAULT lower('X') of made",
    ] {
        assert!(notices.contains(told), "{told}: {notices}");
    }
    let asked = |sql: &str| folder.printed(&["out.gadus", "--format", "csv", "-c", sql]);
    let types = asked(
        "SELECT string_agg(data_type, ' ' ORDER BY position) AS t FROM gadus.columns WHERE table_name = 'customer'",
    );
    let expected = "BIGINT TEXT TEXT BOOLEAN DECIMAL(10,2) DATE TIMESTAMP JSON BYTEA DOUBLE TEXT";
    assert_eq!(types.lines().nth(1).map(|line| line.replace('"', "")).as_deref(), Some(expected));
    for (sql, expected) in [
        (
            "SELECT id, name, active, balance, joined, seen, extra ->> 'a' AS a, encode(picture, 'hex') AS p, score, anything \
             FROM customer WHERE id = 3",
            "3,Ada,true,10.10,1815-12-10,2026-01-02 03:04:05,1,00ff,1.5,1",
        ),
        ("SELECT name, seen, score FROM customer WHERE id = 7", "It's,2026-01-02 03:04:05.25,2.0"),
        ("SELECT name, email, joined FROM customer WHERE id = 9", "Ünï,u@x,2024-02-29"),
        ("SELECT sum(price) AS s, count(*) AS n FROM \"order\"", "12.25,3"),
        ("SELECT sum(twice) AS s FROM loose", "6"),
    ] {
        assert_eq!(asked(sql).lines().nth(1), Some(expected), "{sql}");
    }
    // Numbers go on behind those that are there; keys and references hold.
    folder.printed(&["out.gadus", "-c", "INSERT INTO customer (name) VALUES ('new')"]);
    assert_eq!(
        asked("SELECT id, active FROM customer WHERE name = 'new'").lines().nth(1),
        Some("10,true")
    );
    folder.refused(&["out.gadus", "-c", "INSERT INTO \"order\" VALUES (99, 1, 1)"]);
    folder.refused(&[
        "out.gadus",
        "-c",
        "INSERT INTO customer (name, email) VALUES ('x', 'ada@x')",
    ]);
    folder.printed(&["out.gadus", "-c", "DELETE FROM customer WHERE id = 3"]);
    assert_eq!(asked("SELECT count(*) AS n FROM \"order\"").lines().nth(1), Some("1"));
    folder.printed(&["check", "out.gadus"]);
    // All or nothing, and once more where that is said.
    assert!(folder.refused(&["import", "in.sqlite", "out.gadus"]).contains("--replace"));
    source.execute("DELETE FROM loose", []).unwrap();
    let json = folder.printed(&["import", "in.sqlite", "out.gadus", "--replace", "--json"]);
    assert!(json.contains("{\"rows\":0,\"table\":\"loose\"}"), "{json}");
    let one = folder.printed(&["import", "in.sqlite", "one.gadus", "--table", "loose"]);
    assert!(one.contains("0 rows in 1 tables"), "{one}");
}

#[test]
fn what_is_no_sqlite_file_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path("text"), "no database, but a text that is long enough").unwrap();
    std::fs::write(folder.path("duck"), b"12345678DUCK and more").unwrap();
    drop(source(&folder));
    for (file, expected) in
        [("text", "not a database"), ("duck", "EXPORT DATABASE"), ("nothing", "No such file")]
    {
        let told = folder.refused(&["import", file, "out.gadus"]);
        assert!(told.contains(file) && told.contains(expected), "{told}");
    }
    let told = folder.refused(&["import", "in.sqlite", "out.gadus", "--table", "none"]);
    assert!(told.contains("has no table none"), "{told}");
    assert!(!folder.path("out.gadus").exists());
    // A text that is none would be changed.
    let source = Connection::open(folder.path("in.sqlite")).unwrap();
    source.execute("INSERT INTO loose (k) VALUES (CAST(x'ff' AS TEXT))", []).unwrap();
    let told = folder.refused(&["import", "in.sqlite", "out.gadus"]);
    assert!(told.contains("row 4 of table loose: column k"), "{told}");
    assert_eq!(folder.printed(&["out.gadus", "-c", ".tables"]), "");
}
