//! ALTER TABLE: rows stay what they are, also for those who read meanwhile.

use crate::files::Folder;
use crate::statement::{headings, refused, rows, run, with_table};
use gadus::{Database, ErrorKind, Options, Reason, check, params};

#[test]
fn a_column_is_added_with_what_its_default_says() {
    let connection = with_table();
    run(&connection, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 7 NOT NULL, ADD d TEXT");
    assert_eq!(rows(&connection, "SELECT * FROM t WHERE id = 1"), ["1 10 x 7 NULL"]);
    run(&connection, "INSERT INTO t (id) VALUES (4)");
    run(&connection, "INSERT INTO t VALUES (5, 1, 'v', 2, 'd')");
    run(&connection, "UPDATE t SET c = 8 WHERE id = 1");
    let all =
        ["1 10 x 8 NULL", "2 20 y 7 NULL", "3 NULL z 7 NULL", "4 NULL NULL 7 NULL", "5 1 v 2 d"];
    assert_eq!(rows(&connection, "SELECT * FROM t ORDER BY id"), all);
    assert_eq!(rows(&connection, "SELECT id FROM t WHERE c = 7 ORDER BY id"), ["2", "3", "4"]);
    assert_eq!(rows(&connection, "SELECT sum(c), count(d) FROM t"), ["31 1"]);
    run(&connection, "ALTER TABLE t ALTER c SET DEFAULT 9");
    run(&connection, "INSERT INTO t (id) VALUES (6)");
    assert_eq!(rows(&connection, "SELECT c FROM t WHERE id IN (2, 6) ORDER BY id"), ["7", "9"]);
    run(&connection, "ALTER TABLE t ALTER c DROP DEFAULT");
    let missing = refused(&connection, "INSERT INTO t (id) VALUES (7)");
    assert_eq!(missing.kind(), ErrorKind::NotNullViolation);
    run(&connection, "ALTER TABLE t ADD COLUMN IF NOT EXISTS c INTEGER");
    let twice = refused(&connection, "ALTER TABLE t ADD COLUMN c INTEGER");
    assert_eq!(twice.reason(), Some(Reason::DuplicateColumn));
    let empty = refused(&connection, "ALTER TABLE t ADD COLUMN e INTEGER NOT NULL");
    assert_eq!(empty.kind(), ErrorKind::NotNullViolation);
    assert_eq!(empty.message(), "column \"e\" of relation \"t\" contains null values");
}

#[test]
fn a_default_that_is_another_each_time_is_evaluated_for_each_row() {
    let connection = with_table();
    run(&connection, "ALTER TABLE t ADD COLUMN r DOUBLE PRECISION DEFAULT random() NOT NULL");
    assert_eq!(rows(&connection, "SELECT count(DISTINCT r) FROM t"), ["3"]);
}

#[test]
fn columns_are_dropped_and_renamed() {
    let connection = with_table();
    run(&connection, "ALTER TABLE t DROP COLUMN a");
    assert_eq!(headings(&connection, "SELECT * FROM t"), ["id", "b"]);
    run(&connection, "ALTER TABLE t ADD COLUMN a INTEGER");
    assert_eq!(
        rows(&connection, "SELECT * FROM t ORDER BY id"),
        ["1 x NULL", "2 y NULL", "3 z NULL"]
    );
    run(&connection, "ALTER TABLE t RENAME COLUMN b TO name");
    run(&connection, "ALTER TABLE t RENAME a TO \"Amount\"");
    assert_eq!(headings(&connection, "SELECT * FROM t"), ["id", "name", "Amount"]);
    run(&connection, "ALTER TABLE t RENAME TO u");
    assert_eq!(rows(&connection, "SELECT name FROM u WHERE id = 2"), ["y"]);
    for (sql, reason) in [
        ("ALTER TABLE u DROP COLUMN b", Reason::UnknownColumn),
        ("ALTER TABLE u RENAME COLUMN b TO c", Reason::UnknownColumn),
        ("ALTER TABLE u RENAME COLUMN id TO name", Reason::DuplicateColumn),
        ("ALTER TABLE t RENAME TO v", Reason::UnknownTable),
        ("ALTER TABLE u ALTER b SET DEFAULT 1", Reason::UnknownColumn),
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(reason), "{sql}");
    }
    run(&connection, "ALTER TABLE IF EXISTS t DROP COLUMN b");
    run(&connection, "ALTER TABLE u DROP COLUMN IF EXISTS b");
    run(&connection, "CREATE TABLE t (n INT)");
    let taken = refused(&connection, "ALTER TABLE u RENAME TO t");
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    // The key goes with its column.
    run(&connection, "ALTER TABLE u DROP COLUMN id");
    run(&connection, "INSERT INTO u VALUES ('x', 1), ('x', 1)");
    assert_eq!(rows(&connection, "SELECT count(*) FROM u"), ["5"]);
}

#[test]
fn not_null_is_set_where_nothing_is_null() {
    let connection = with_table();
    let refusal = refused(&connection, "ALTER TABLE t ALTER COLUMN a SET NOT NULL");
    assert_eq!(refusal.kind(), ErrorKind::NotNullViolation);
    run(&connection, "UPDATE t SET a = 30 WHERE id = 3");
    run(&connection, "ALTER TABLE t ALTER COLUMN a SET NOT NULL");
    for sql in ["INSERT INTO t VALUES (4, NULL, 'w')", "UPDATE t SET a = NULL WHERE id = 1"] {
        assert_eq!(refused(&connection, sql).kind(), ErrorKind::NotNullViolation, "{sql}");
    }
    run(&connection, "ALTER TABLE t ALTER COLUMN a DROP NOT NULL");
    run(&connection, "INSERT INTO t VALUES (4, NULL, 'w')");
    let of_key = refused(&connection, "ALTER TABLE t ALTER COLUMN id DROP NOT NULL");
    assert_eq!(of_key.reason(), Some(Reason::InvalidDefinition));
}

#[test]
fn a_type_is_changed_by_a_cast_or_an_expression() {
    let connection = with_table();
    run(&connection, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT");
    run(&connection, "INSERT INTO t VALUES (4, 3000000000, 'w')");
    run(&connection, "ALTER TABLE t ALTER COLUMN a SET DATA TYPE TEXT");
    let values = "SELECT a FROM t ORDER BY id";
    assert_eq!(rows(&connection, values), ["10", "20", "NULL", "3000000000"]);
    let refusal = refused(&connection, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT");
    assert_eq!(refusal.reason(), Some(Reason::TypeMismatch));
    run(&connection, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT USING CAST(a AS BIGINT) + id");
    assert_eq!(rows(&connection, values), ["11", "22", "NULL", "3000000004"]);
    let narrow = refused(&connection, "ALTER TABLE t ALTER COLUMN a TYPE INTEGER");
    assert_eq!(narrow.kind(), ErrorKind::OutOfRange);
    assert_eq!(rows(&connection, values), ["11", "22", "NULL", "3000000004"]);
    assert_eq!(rows(&connection, "SELECT b FROM t WHERE id = 2"), ["y"], "the key is there, too");
    run(&connection, "CREATE VIEW v AS SELECT b FROM t");
    run(&connection, "ALTER TABLE t ALTER COLUMN a TYPE DOUBLE PRECISION");
    let read = refused(&connection, "ALTER TABLE t ALTER COLUMN b TYPE BIGINT USING 1");
    assert_eq!(read.kind(), ErrorKind::Unsupported);
    assert_eq!(rows(&connection, "SELECT * FROM v ORDER BY b"), ["w", "x", "y", "z"]);
}

#[test]
fn a_key_is_added_to_rows_that_are_there() {
    let connection = with_table();
    run(&connection, "CREATE TABLE u AS SELECT id, b FROM t");
    run(&connection, "CREATE VIEW v AS SELECT id FROM u");
    run(&connection, "ALTER TABLE u ADD PRIMARY KEY (id)");
    let twice = refused(&connection, "INSERT INTO u VALUES (1, 'x')");
    assert_eq!(twice.kind(), ErrorKind::UniqueViolation);
    assert_eq!(rows(&connection, "SELECT b FROM u WHERE id = 3"), ["z"]);
    assert_eq!(rows(&connection, "SELECT count(*) FROM v"), ["3"]);
    let second = refused(&connection, "ALTER TABLE u ADD PRIMARY KEY (b)");
    assert_eq!(second.reason(), Some(Reason::InvalidDefinition));
}

#[test]
fn a_shape_is_part_of_its_transaction() {
    let connection = with_table();
    run(&connection, "BEGIN");
    run(&connection, "INSERT INTO t VALUES (4, 40, 'w')");
    run(&connection, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 1, DROP COLUMN a");
    run(&connection, "SAVEPOINT s");
    run(&connection, "UPDATE t SET c = 2 WHERE id < 3");
    run(&connection, "ALTER TABLE t RENAME TO u");
    assert_eq!(rows(&connection, "SELECT sum(c) FROM u"), ["6"]);
    run(&connection, "ROLLBACK TO s");
    run(&connection, "UPDATE t SET c = 3 WHERE id = 4");
    assert_eq!(rows(&connection, "SELECT * FROM t WHERE id = 4"), ["4 w 3"]);
    run(&connection, "COMMIT");
    assert_eq!(
        rows(&connection, "SELECT * FROM t ORDER BY id"),
        ["1 x 1", "2 y 1", "3 z 1", "4 w 3"]
    );
    run(&connection, "BEGIN");
    run(&connection, "ALTER TABLE t DROP COLUMN b");
    run(&connection, "ROLLBACK");
    assert_eq!(rows(&connection, "SELECT * FROM t WHERE id = 1"), ["1 x 1"]);
}

#[test]
fn statements_that_are_known_follow_the_shape_in_all_instances() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let open = || Database::open(&path, Options::new()).unwrap().connect();
    let (one, two) = (open(), open());
    run(&one, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER, b TEXT)");
    run(&one, "INSERT INTO t SELECT value, value, 'x' FROM generate_series(1, 20000)");
    let (point, all) =
        ("SELECT * FROM t WHERE id = ?", "SELECT * FROM t WHERE length(b) < ? AND id = 5");
    let known = [two.prepare(point).unwrap(), two.prepare(all).unwrap()];
    let read = |columns: usize| {
        for statement in &known {
            for _ in 0..3 {
                let row = statement.query(params![5]).unwrap().next().unwrap().unwrap();
                assert_eq!(row.columns(), columns);
                assert_eq!(row.get::<i64>("id").unwrap(), 5);
            }
        }
    };
    read(3);
    let old = two.query("SELECT * FROM t ORDER BY id", &[]).unwrap();
    run(&one, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 4");
    read(4);
    run(&one, "ALTER TABLE t DROP COLUMN a");
    read(3);
    run(&two, "ALTER TABLE t RENAME COLUMN c TO d");
    assert_eq!(rows(&one, "SELECT d, b FROM t WHERE id = 5"), ["4 x"]);
    run(&one, "UPDATE t SET d = 6 WHERE id = 5");
    assert_eq!(rows(&two, "SELECT d FROM t WHERE id IN (5, 6) ORDER BY id"), ["6", "4"]);
    // What was begun before is as it was.
    let old = old.map(|row| row.unwrap()).collect::<Vec<_>>();
    assert_eq!((old.len(), old[4].columns()), (20_000, 3));
    assert!(old.iter().all(|row| row.get::<i64>("a").unwrap() == row.get::<i64>("id").unwrap()));
    drop((known, one, two));
    assert_eq!(rows(&open(), "SELECT count(*), sum(d) FROM t"), ["20000 80002"]);
    assert!(check(&path, |_, _| ()).unwrap().problems.is_empty());
}

#[test]
fn who_changes_rows_meanwhile_is_not_forgotten() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, two) = (database.connect(), database.connect());
    run(&one, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER)");
    run(&one, "INSERT INTO t VALUES (1, 1)");
    run(&two, "BEGIN");
    run(&two, "INSERT INTO t VALUES (2, NULL)");
    run(&one, "SET lock_timeout = '50ms'");
    for sql in ["ALTER TABLE t ALTER a SET NOT NULL", "ALTER TABLE t ADD COLUMN c INTEGER"] {
        assert_eq!(refused(&one, sql).kind(), ErrorKind::Locked, "{sql}");
    }
    run(&two, "COMMIT");
    let holds = refused(&one, "ALTER TABLE t ALTER a SET NOT NULL");
    assert_eq!(holds.kind(), ErrorKind::NotNullViolation);
    run(&one, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 3");
    assert_eq!(rows(&two, "SELECT * FROM t ORDER BY id"), ["1 1 3", "2 NULL 3"]);
}
