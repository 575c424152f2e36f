//! CREATE INDEX and UNIQUE: what they refuse, what they find, and that they last.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason, check, params};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE person (id BIGINT PRIMARY KEY, mail TEXT UNIQUE, first TEXT, last TEXT, \
                  CONSTRAINT named UNIQUE (last, first)); \
                  INSERT INTO person VALUES (1, 'ada@x', 'Ada', 'L'), (2, NULL, 'Bob', 'L'), (3, NULL, 'Cy', NULL)";
    connection.execute_script(script).unwrap();
    connection
}

fn violates(connection: &Connection, sql: &str, key: &str) {
    let before = rows(connection, "SELECT * FROM person ORDER BY id");
    let error = refused(connection, sql);
    assert_eq!(error.kind(), ErrorKind::UniqueViolation, "{sql}: {error}");
    assert!(error.message().contains(key), "{sql}: {error}");
    assert_eq!(rows(connection, "SELECT * FROM person ORDER BY id"), before, "{sql}");
}

#[test]
fn no_statement_makes_two_rows_alike() {
    let connection = connect();
    for (sql, key) in [
        ("INSERT INTO person VALUES (4, 'ada@x', 'A', 'A')", "(mail) = ('ada@x')"),
        ("INSERT INTO person VALUES (4, 'n', 'Ada', 'L')", "(last, first) = ('L', 'Ada')"),
        ("INSERT INTO person VALUES (4, 'n', 'x', 'x'), (5, 'n', 'y', 'y')", "(mail) = ('n')"),
        ("INSERT INTO person SELECT id + 10, 'same', NULL, NULL FROM person", "(mail)"),
        ("UPDATE person SET mail = 'ada@x' WHERE id = 2", "(mail)"),
        ("UPDATE person SET mail = 'same'", "(mail)"),
        ("UPDATE person SET first = 'Ada' WHERE last = 'L'", "(last, first)"),
        (
            "INSERT INTO person VALUES (1, 'n', 'x', 'x') ON CONFLICT (mail) DO NOTHING",
            "(id) = (1)",
        ),
        (
            "INSERT INTO person VALUES (1, 'n', 'x', 'x') ON CONFLICT (id) DO UPDATE SET first = 'Bob'",
            "(last, first)",
        ),
    ] {
        violates(&connection, sql, key);
    }
    // NULL is like nothing, and what is swapped in one statement is never twice.
    run(&connection, "INSERT INTO person VALUES (4, NULL, 'Cy', NULL)");
    run(&connection, "UPDATE person SET mail = 'bob@x' WHERE id = 2");
    run(
        &connection,
        "UPDATE person SET mail = CASE id WHEN 1 THEN 'bob@x' ELSE 'ada@x' END WHERE id < 3",
    );
    assert_eq!(rows(&connection, "SELECT id FROM person WHERE mail = 'ada@x'"), ["2"]);
    run(&connection, "DELETE FROM person WHERE id = 2");
    run(&connection, "INSERT INTO person VALUES (2, 'ada@x', 'Bob', 'L')");
}

#[test]
fn conflicts_on_any_key_are_left_out_or_change_its_row() {
    let connection = connect();
    let sql = "INSERT INTO person VALUES (9, 'ada@x', 'new', 'new') \
               ON CONFLICT (mail) DO UPDATE SET first = excluded.first";
    run(&connection, sql);
    assert_eq!(rows(&connection, "SELECT id, first FROM person WHERE mail = 'ada@x'"), ["1 new"]);
    run(
        &connection,
        "INSERT INTO person VALUES (9, 'q', 'Bob', 'L'), (10, 'q', 'x', 'x'), (11, NULL, 'x', 'x') \
         ON CONFLICT DO NOTHING",
    );
    assert_eq!(rows(&connection, "SELECT id FROM person WHERE id > 3 ORDER BY id"), ["10"]);
    run(
        &connection,
        "INSERT INTO person VALUES (12, 'r', 'Bob', 'L') ON CONFLICT ON CONSTRAINT named DO NOTHING",
    );
    let error = refused(
        &connection,
        "INSERT INTO person VALUES (1, 'z', 'z', 'z') ON CONFLICT (first) DO NOTHING",
    );
    assert!(error.message().contains("no unique or exclusion constraint matching"), "{error}");
}

#[test]
fn indexes_are_made_named_used_and_dropped() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(
        &connection,
        "CREATE TABLE t AS SELECT i AS id, (i * 7919) % 50000 AS n, 'k' || (i % 1000) AS k \
         FROM range(200000) AS r(i)",
    );
    let before = rows(&connection, "SELECT id FROM t WHERE n = 77 ORDER BY id");
    run(&connection, "CREATE INDEX ON t (n)");
    run(&connection, "CREATE INDEX IF NOT EXISTS by_k ON t USING btree (k DESC, n)");
    run(&connection, "CREATE INDEX IF NOT EXISTS by_k ON t (id)");
    let plan = |sql: &str| rows(&connection, &format!("EXPLAIN {sql}")).join("\n");
    assert!(plan("SELECT id FROM t WHERE n = 77").contains("by index t_n_idx"));
    assert!(plan("SELECT id FROM t WHERE k = 'k5' AND n = 37595").contains("by index by_k"));
    assert!(plan("SELECT sum(id) FROM t WHERE n = 77 OR n = 78").contains("index"));
    assert!(!plan("SELECT id FROM t WHERE n > 77").contains("index"));
    let joined =
        "SELECT a.id FROM t AS a JOIN t AS b ON a.id = b.id + 1 WHERE a.n BETWEEN 70 AND 72";
    assert!(plan(joined).contains("by an index"), "{}", plan(joined));
    assert_eq!(rows(&connection, "SELECT id FROM t WHERE n = 77 ORDER BY id"), before);
    let sum = "SELECT count(*), min(n), max(n) FROM t WHERE n BETWEEN 100 AND 109";
    assert_eq!(rows(&connection, sum), ["40 100 109"]);
    let changed = |sql: &str| connection.execute(sql, &[]).unwrap();
    assert_eq!(changed("UPDATE t SET n = 100 WHERE n = 109"), 4);
    assert_eq!(rows(&connection, sum), ["40 100 108"]);
    assert_eq!(changed("DELETE FROM t WHERE n = 100"), 8);
    assert_eq!(rows(&connection, sum), ["32 101 108"]);

    let error = refused(&connection, "CREATE INDEX by_k ON t (id)");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    run(&connection, "ALTER INDEX by_k RENAME TO other");
    run(&connection, "DROP INDEX other");
    let error = refused(&connection, "DROP INDEX other");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    run(&connection, "DROP INDEX IF EXISTS other");
    run(&connection, "ALTER TABLE t DROP COLUMN n");
    assert_eq!(rows(&connection, "SELECT count(*) FROM pg_indexes WHERE tablename = 't'"), ["0"]);
}

#[test]
fn what_is_no_index_of_columns_is_refused() {
    let connection = connect();
    for sql in [
        "CREATE INDEX i ON person (lower(mail))",
        "CREATE INDEX i ON person (mail) WHERE id > 1",
        "CREATE INDEX i ON person USING gin (mail)",
        "CREATE UNIQUE INDEX i ON person (mail) NULLS NOT DISTINCT",
        "CREATE INDEX i ON person (mail) INCLUDE (first)",
    ] {
        assert_eq!(refused(&connection, sql).kind(), ErrorKind::Unsupported, "{sql}");
    }
    let twice = refused(&connection, "CREATE INDEX i ON person (mail, mail)");
    assert_eq!(twice.reason(), Some(Reason::DuplicateColumn));
    let unknown = refused(&connection, "CREATE INDEX i ON person (none)");
    assert_eq!(unknown.reason(), Some(Reason::UnknownColumn));
    let needed = refused(&connection, "DROP INDEX named");
    assert!(needed.message().contains("constraint named on table person requires it"));
    run(&connection, "ALTER TABLE person DROP CONSTRAINT named");
    run(&connection, "INSERT INTO person VALUES (9, NULL, 'Ada', 'L')");
    let error =
        refused(&connection, "ALTER TABLE person ADD CONSTRAINT named UNIQUE (last, first)");
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    let error = refused(&connection, "CREATE UNIQUE INDEX named ON person (last, first)");
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
}

#[test]
fn an_index_may_be_made_in_the_transaction_that_fills_its_table() {
    let connection = connect();
    run(&connection, "BEGIN");
    run(&connection, "CREATE TABLE u (id BIGINT PRIMARY KEY, n BIGINT)");
    run(&connection, "INSERT INTO u SELECT i, i % 10000 FROM range(20000) AS r(i)");
    run(&connection, "INSERT INTO u VALUES (-1, -1)");
    run(&connection, "CREATE INDEX u_n ON u (n)");
    run(&connection, "INSERT INTO u VALUES (-2, -1)");
    assert_eq!(rows(&connection, "SELECT id FROM u WHERE n = -1 ORDER BY id"), ["-2", "-1"]);
    run(&connection, "SAVEPOINT s");
    run(&connection, "DROP INDEX u_n");
    run(&connection, "ROLLBACK TO s");
    run(&connection, "COMMIT");
    assert_eq!(rows(&connection, "SELECT id FROM u WHERE n = 7 ORDER BY id"), ["7", "10007"]);
    run(&connection, "BEGIN");
    run(&connection, "UPDATE u SET n = -5 WHERE id = 7");
    run(&connection, "ALTER TABLE u ADD UNIQUE (n, id)");
    run(&connection, "COMMIT");
    assert_eq!(rows(&connection, "SELECT id FROM u WHERE n = -5"), ["7"]);
    assert_eq!(
        rows(&connection, "SELECT indexname FROM pg_indexes WHERE tablename = 'u' ORDER BY 1"),
        ["u_n", "u_n_id_key", "u_pkey"]
    );
}

#[test]
fn an_index_may_be_dropped_in_the_transaction_that_fills_its_table() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a BIGINT UNIQUE, b BIGINT)");
    // Enough to be loaded as segments, twice.
    let script = "CREATE INDEX of_b ON t (b); BEGIN; \
                  INSERT INTO t SELECT value, value FROM generate_series(1, 20000) AS g(value); \
                  INSERT INTO t SELECT value, value FROM generate_series(20001, 40000) AS g(value); \
                  DROP INDEX of_b; COMMIT";
    connection.execute_script(script).unwrap();
    assert_eq!(rows(&connection, "SELECT count(*) FROM t WHERE b = 7"), ["1"]);
    let error = refused(&connection, "INSERT INTO t VALUES (30000, 1)");
    assert_eq!(error.kind(), ErrorKind::UniqueViolation, "{error}");
}

#[test]
fn indexes_are_there_after_opening_and_in_a_backup() {
    let folder = Folder::new();
    let (path, copy) = (folder.path("x.gadus"), folder.path("copy.gadus"));
    {
        let database = Database::open(&path, Options::new()).unwrap();
        let connection = database.connect();
        run(&connection, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, mail TEXT UNIQUE)");
        run(&connection, "INSERT INTO t SELECT i, i % 40000, 'm' || i FROM range(100000) AS r(i)");
        run(&connection, "CREATE INDEX t_n ON t (n)");
        let insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?)").unwrap();
        for id in 0..100_i64 {
            insert.execute(params![200_000 + id, id, format!("late {id}")]).unwrap();
        }
        assert_eq!(database.index_statements("t").unwrap(), ["CREATE INDEX t_n ON t (n)"]);
        assert!(
            database.create_statement("t").unwrap().contains("CONSTRAINT t_mail_key UNIQUE (mail)")
        );
    }
    let asked = |path: &std::path::Path| {
        let connection = Database::open(path, Options::new()).unwrap().connect();
        let plan = rows(&connection, "EXPLAIN SELECT id FROM t WHERE n = 5").join("\n");
        assert!(plan.contains("by index t_n"), "{plan}");
        let found = rows(&connection, "SELECT id FROM t WHERE n = 5 ORDER BY id");
        assert_eq!(found, ["5", "40005", "80005", "200005"]);
        let error = refused(&connection, "INSERT INTO t VALUES (-1, 1, 'late 7')");
        assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    };
    asked(&path);
    let database = Database::open(&path, Options::new()).unwrap();
    database.back_up(&copy, |_, _| {}).unwrap();
    drop(database);
    asked(&copy);
    for path in [&path, &copy] {
        assert!(check(path, |_, _| {}).unwrap().problems.is_empty());
    }
}

#[test]
fn the_catalog_tells_of_indexes() {
    let connection = connect();
    run(&connection, "CREATE INDEX by_first ON person (first)");
    let told = "SELECT c.relname, i.indisunique, i.indisprimary, pg_get_indexdef(i.indexrelid) \
                FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid ORDER BY 1";
    assert_eq!(
        rows(&connection, told),
        [
            "by_first false false CREATE INDEX by_first ON main.person USING btree (first)",
            "named true false CREATE UNIQUE INDEX named ON main.person USING btree (\"last\", first)",
            "person_mail_key true false CREATE UNIQUE INDEX person_mail_key ON main.person USING btree (mail)",
            "person_pkey true true CREATE UNIQUE INDEX person_pkey ON main.person USING btree (id)",
        ]
        .map(|row| row.replace("\"last\"", "last"))
    );
    let constraints =
        "SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1";
    assert_eq!(
        rows(&connection, constraints),
        [
            "named u UNIQUE (last, first)",
            "person_mail_key u UNIQUE (mail)",
            "person_pkey p PRIMARY KEY (id)"
        ]
    );
}
