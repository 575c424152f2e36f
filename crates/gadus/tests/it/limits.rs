//! Values that are too long, and rows that are large.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Database, ErrorKind, Options, check};

/// Longer values could be written, and made the file one that could not be read.
#[test]
fn a_value_that_is_too_long_is_refused_and_harms_nothing() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    let connection = database.connect();
    run(&connection, "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b BYTEA, l TEXT[])");
    run(&connection, "INSERT INTO t (id, a) VALUES (1, 'x')");
    for sql in [
        "INSERT INTO t (id, a) SELECT 2, repeat('x', 268435457)",
        "UPDATE t SET l = array_repeat(repeat('x', 10000000), 27) WHERE id + 0 = 1",
        "ALTER TABLE t ADD COLUMN c TEXT DEFAULT repeat('x', 300000000)",
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.kind(), ErrorKind::Limit, "{sql}: {error}");
        assert!(error.to_string().contains("268435456 are possible"), "{sql}: {error}");
    }
    drop((connection, database));
    let connection = open().connect();
    assert_eq!(rows(&connection, "SELECT id, a FROM t"), ["1 x"]);
    drop(connection);
    assert!(check(folder.path("x.gadus"), |_, _| {}).unwrap().problems.is_empty());
}

/// They move where they become large, by whichever way they are changed, and are found by their keys again.
#[test]
fn rows_that_grow_are_the_same_rows() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INT PRIMARY KEY, a TEXT)");
    run(&connection, "INSERT INTO t SELECT g, 'x' FROM generate_series(1, 100) AS s(g)");
    let long = "y".repeat(100_000);
    connection.execute("UPDATE t SET a = $1 WHERE id = 7", &[long.as_str().into()]).unwrap();
    connection.execute("UPDATE t SET a = a || $1 WHERE id = 8", &[long.as_str().into()]).unwrap();
    run(&connection, "BEGIN");
    connection.execute("UPDATE t SET a = a || $1 WHERE id = 9", &[long.as_str().into()]).unwrap();
    // One of them grows, the other stays where it is.
    run(
        &connection,
        "UPDATE t SET a = a || repeat('z', CASE id WHEN 10 THEN 100000 ELSE 1 END) \
         WHERE id + 0 IN (10, 11)",
    );
    run(&connection, "COMMIT");
    let lengths = "SELECT id, length(a) FROM t WHERE length(a) > 1 ORDER BY id";
    assert_eq!(
        rows(&connection, lengths),
        ["7 100000", "8 100001", "9 100001", "10 100001", "11 2"]
    );
    assert_eq!(rows(&connection, "SELECT count(*), sum(id) FROM t"), ["100 5050"]);
    assert_eq!(rows(&connection, "SELECT length(a) FROM t WHERE id = 8"), ["100001"]);
    run(&connection, "VACUUM t");
    assert_eq!(rows(&connection, lengths).len(), 5);
}
