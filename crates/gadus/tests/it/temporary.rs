//! Tables that go with a session.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use gadus::{Connection, Database, Options, check};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

fn two() -> (Database, Connection, Connection) {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, other) = (database.connect(), database.connect());
    (database, one, other)
}

#[test]
fn a_temporary_table_is_seen_by_its_session_alone() {
    let (database, one, other) = two();
    run(&one, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)");
    run(&one, "INSERT INTO t VALUES (1, 'for all')");
    let asked = "SELECT v FROM t WHERE id = 1";
    // Plans and compiled statements of all sessions are there.
    for connection in [&one, &other, &one, &other, &one, &other] {
        assert_eq!(rows(connection, asked), ["for all"]);
    }
    run(&one, "CREATE TEMP TABLE t (id INT PRIMARY KEY, v TEXT)");
    run(&one, "INSERT INTO t VALUES (1, 'mine')");
    run(&other, "CREATE TEMPORARY TABLE t AS SELECT 1 AS id, 'his' AS v");
    for _ in 0..3 {
        assert_eq!(rows(&one, asked), ["mine"]);
        assert_eq!(rows(&other, asked), ["his"]);
        assert_eq!(rows(&one, "SELECT v FROM main.t WHERE id = 1"), ["for all"]);
        assert_eq!(rows(&one, "SELECT v FROM pg_temp.t WHERE pg_temp.t.id = 1"), ["mine"]);
    }
    run(&one, "UPDATE t SET v = 'mine!' WHERE id = 1");
    run(&one, "INSERT INTO t VALUES (1, '') ON CONFLICT (id) DO UPDATE SET v = t.v || '!'");
    run(&one, "INSERT INTO main.t SELECT id + 1, v FROM t");
    let (id, v) = (Int32Array::from(vec![5]), StringArray::from(vec!["appended"]));
    let columns = [("id", Arc::new(id) as ArrayRef), ("v", Arc::new(v) as ArrayRef)];
    one.append("t", vec![RecordBatch::try_from_iter(columns).unwrap()]).unwrap();
    assert_eq!(rows(&one, "SELECT count(*), (SELECT count(*) FROM main.t) FROM t"), ["2 2"]);
    assert_eq!(rows(&other, "SELECT v FROM main.t WHERE id = 2"), ["mine!!"]);
    assert_eq!(database.tables().unwrap(), ["t"]);
    assert_eq!(rows(&one, "SELECT count(*) FROM gadus.tables"), ["1"]);
    // The other's, by whichever name, is none.
    let error = refused(&one, "INSERT INTO t VALUES (1, 'twice')");
    assert!(
        error.to_string().contains("already") && !error.to_string().contains('\u{1f}'),
        "{error}"
    );
    run(&one, "DROP TABLE t");
    assert_eq!(rows(&one, asked), ["for all"]);
    run(&one, "CREATE TEMP TABLE t AS SELECT 1 AS id, 'again' AS v");
    assert_eq!(rows(&one, asked), ["again"]);
    run(&one, "DISCARD ALL");
    assert_eq!(rows(&one, asked), ["for all"]);
    drop(other);
    assert_eq!(rows(&database.connect(), asked), ["for all"]);
}

#[test]
fn temporary_tables_are_tables() {
    let (_database, one, other) = two();
    run(
        &one,
        "CREATE TEMP TABLE t (id SERIAL PRIMARY KEY, n INT CHECK (n > 0), twice INT GENERATED ALWAYS AS (n * 2) STORED)",
    );
    run(&one, "CREATE INDEX i ON t (n)");
    run(&other, "CREATE TEMP TABLE t (n INT)");
    run(&other, "CREATE INDEX i ON t (n)");
    run(&one, "INSERT INTO t (n) SELECT g FROM generate_series(1, 1000) AS s(g)");
    run(&one, "CREATE TEMP TABLE child (t INT REFERENCES t ON DELETE CASCADE)");
    run(&one, "INSERT INTO child VALUES (1), (2)");
    run(&one, "CREATE TEMP VIEW large AS SELECT * FROM t WHERE n > 900");
    run(&one, "BEGIN");
    run(&one, "DELETE FROM t WHERE n = 1");
    run(&one, "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'x'");
    run(&one, "SAVEPOINT s");
    run(&one, "CREATE TEMP TABLE gone (a INT)");
    run(&one, "ROLLBACK TO s");
    refused(&one, "SELECT * FROM gone");
    run(&one, "COMMIT");
    assert_eq!(
        rows(&one, "SELECT count(*), sum(twice), (SELECT count(*) FROM child), max(more) FROM t"),
        ["999 1000998 1 x"]
    );
    assert_eq!(rows(&one, "SELECT count(*) FROM large"), ["100"]);
    assert_eq!(rows(&one, "WITH t AS (SELECT 1 AS one) SELECT * FROM t"), ["1"]);
    assert_eq!(rows(&other, "SELECT count(*) FROM t"), ["0"]);
    for (connection, sql) in [
        (&one, "CREATE TABLE kept (t INT REFERENCES t)"),
        (&one, "CREATE TEMP TABLE main.x (a INT)"),
        (&one, "CREATE TEMP TABLE x (a INT) ON COMMIT DROP"),
        (&other, "SELECT * FROM large"),
    ] {
        refused(connection, sql);
    }
    // A view of what goes with the session goes with it, too.
    run(&one, "CREATE VIEW v AS SELECT count(*) AS n FROM t");
    assert_eq!(rows(&one, "SELECT n FROM v"), ["999"]);
    refused(&other, "SELECT n FROM v");
}

/// The tables that a file has, those of sessions among them.
fn kept(folder: &Folder) -> Vec<String> {
    let report = check(folder.path("x.gadus"), |_, _| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let names = report.tables.into_iter().map(|table| table.name);
    names.filter(|name| !name.starts_with("gadus.")).collect()
}

#[test]
fn temporary_tables_go_with_their_session() {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let (own, other) = (database.connect(), database.connect());
    run(&other, "CREATE TEMP TABLE t (a INT)");
    run(&own, "CREATE TEMP TABLE t (a INT)");
    run(&own, "CREATE TEMP VIEW v AS SELECT * FROM t");
    run(&own, "BEGIN");
    run(&own, "INSERT INTO t VALUES (1)");
    drop(own);
    let copy = folder.path("copy.gadus");
    database.back_up(&copy, |_, _| {}).unwrap();
    assert!(Database::open(&copy, Options::new()).unwrap().schema_statements().unwrap().is_empty());
    assert_eq!(rows(&other, "SELECT count(*) FROM t"), ["0"]);
    drop((other, database));
    assert_eq!(kept(&folder), Vec::<String>::new());
}

/// Where this is set, the test below is the process that is killed.
const CHILD: &str = "GADUS_TEMPORARY_CHILD";

/// The next session that makes any drops what a process has left that was killed.
#[test]
fn what_a_killed_process_leaves_is_dropped() {
    if let Ok(path) = std::env::var(CHILD) {
        let database = Database::open(path, Options::new()).unwrap();
        let connection = database.connect();
        run(&connection, "CREATE TEMP TABLE left_behind (a INT)");
        run(&connection, "INSERT INTO left_behind VALUES (1)");
        println!("made");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        unreachable!("it is killed");
    }
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "temporary::what_a_killed_process_leaves_is_dropped", "--nocapture"]);
    child.env(CHILD, &path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let told = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(told.map(Result::unwrap).any(|line| line.contains("made")));
    let database = Database::open(&path, Options::new()).unwrap();
    let connection = database.connect();
    // It is alive: what it has stays.
    run(&connection, "CREATE TEMP TABLE t (a INT)");
    child.kill().unwrap();
    child.wait().unwrap();
    drop((connection, database));
    let left = kept(&folder);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].ends_with(".left_behind"), "{left:?}");
    let database = Database::open(&path, Options::new()).unwrap();
    run(&database.connect(), "CREATE TEMP TABLE t (b INT)");
    drop(database);
    assert_eq!(kept(&folder), Vec::<String>::new());
}
