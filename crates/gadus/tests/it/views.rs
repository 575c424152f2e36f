//! Views: what they show, what they keep, and who sees them.

use crate::files::Folder;
use crate::statement::{headings, refused, rows, run, with_table};
use gadus::{Database, ErrorKind, Options, Reason, check};

#[test]
fn a_view_is_read_as_a_table_is() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT id, a * 2 AS twice FROM t WHERE a IS NOT NULL");
    for _ in 0..3 {
        // Also by a plan that is kept.
        assert_eq!(rows(&connection, "SELECT * FROM v ORDER BY id"), ["1 20", "2 40"]);
    }
    assert_eq!(rows(&connection, "SELECT x.twice FROM v AS x WHERE x.id = 2"), ["40"]);
    assert_eq!(
        rows(&connection, "SELECT b FROM t WHERE id IN (SELECT id FROM v) ORDER BY b"),
        ["x", "y"]
    );
    assert_eq!(
        rows(&connection, "SELECT t.b FROM main.v JOIN t USING (id) ORDER BY 1"),
        ["x", "y"]
    );
    assert_eq!(rows(&connection, "WITH v AS (SELECT 7 AS seven) SELECT * FROM v"), ["7"]);
    run(&connection, "UPDATE t SET a = 1 WHERE id IN (SELECT id FROM v WHERE twice = 40)");
    assert_eq!(rows(&connection, "SELECT twice FROM v ORDER BY id"), ["20", "2"]);
}

#[test]
fn columns_are_called_as_the_statement_says_then_as_the_query_does() {
    let connection = with_table();
    run(
        &connection,
        "CREATE VIEW v (key, \"Second One\") AS SELECT id, a, b, count(*) OVER () FROM t",
    );
    assert_eq!(headings(&connection, "SELECT * FROM v"), ["key", "Second One", "b", "count"]);
    assert_eq!(rows(&connection, "SELECT \"Second One\" FROM v WHERE key = 2"), ["20"]);
    let twice = refused(&connection, "CREATE VIEW w AS SELECT a, a FROM t");
    assert_eq!(twice.reason(), Some(Reason::DuplicateColumn));
    let more = refused(&connection, "CREATE VIEW w (a, b, c) AS SELECT a, b FROM t");
    assert_eq!(more.reason(), Some(Reason::Syntax));
}

#[test]
fn views_read_views_and_never_themselves() {
    let connection = with_table();
    run(&connection, "CREATE VIEW one AS SELECT id, a FROM t");
    run(&connection, "CREATE VIEW two AS SELECT one.id, t.b FROM one JOIN t ON t.id = one.id");
    run(&connection, "CREATE VIEW three AS SELECT b FROM two WHERE id > 1 UNION ALL SELECT 'more'");
    assert_eq!(rows(&connection, "SELECT * FROM three ORDER BY 1"), ["more", "y", "z"]);
    for sql in [
        "CREATE OR REPLACE VIEW one AS SELECT id, a FROM one",
        "CREATE OR REPLACE VIEW one AS SELECT t.id, t.a FROM t, three",
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::ReadsItself), "{sql}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM three"), ["3"]);
}

#[test]
fn what_grows_by_views_of_views_is_refused_in_time() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v0 AS SELECT id FROM t");
    let mut last = 0;
    let refused = loop {
        let (of, next) = (format!("v{last}"), last + 1);
        let sql =
            format!("CREATE VIEW v{next} AS SELECT l.id FROM {of} l JOIN {of} r ON l.id = r.id");
        match connection.execute(&sql, &[]) {
            Ok(_) => last = next,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");
    assert!(last >= 3, "views of a few tables are possible");
    assert_eq!(rows(&connection, &format!("SELECT count(*) FROM v{last}")), ["3"]);
    let many = vec![format!("v{last}"); 150].join(", ");
    let refused = connection.execute(&format!("SELECT count(*) FROM {many}"), &[]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");
}

#[test]
fn a_view_is_replaced_without_taking_from_those_who_read_it() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT id, a FROM t");
    run(&connection, "CREATE VIEW w AS SELECT * FROM v");
    for sql in [
        "CREATE OR REPLACE VIEW v AS SELECT id FROM t",
        "CREATE OR REPLACE VIEW v AS SELECT id, a AS other FROM t",
        "CREATE OR REPLACE VIEW v AS SELECT id, b AS a FROM t",
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::InvalidDefinition), "{sql}");
    }
    run(&connection, "CREATE OR REPLACE VIEW v AS SELECT id, -a AS a, b FROM t");
    assert_eq!(rows(&connection, "SELECT * FROM w WHERE id = 1"), ["1 -10"]);
    assert_eq!(rows(&connection, "SELECT * FROM v WHERE id = 1"), ["1 -10 x"]);
    assert_eq!(
        refused(&connection, "CREATE VIEW v AS SELECT 1 AS n").kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(refused(&connection, "CREATE TABLE v (n INT)").kind(), ErrorKind::AlreadyExists);
    let of_table = refused(&connection, "CREATE OR REPLACE VIEW t AS SELECT 1 AS n");
    assert_eq!(of_table.reason(), Some(Reason::WrongObject));
}

#[test]
fn what_views_read_is_dropped_with_them_or_not_at_all() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT a FROM t");
    run(&connection, "CREATE VIEW w AS SELECT a FROM v");
    for sql in
        ["DROP TABLE t", "DROP TABLE t RESTRICT", "DROP VIEW v", "ALTER TABLE t DROP COLUMN a"]
    {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), Some(Reason::Depended), "{sql}: {error}");
    }
    run(&connection, "ALTER TABLE t DROP COLUMN b");
    run(&connection, "DROP VIEW v CASCADE");
    assert_eq!(refused(&connection, "SELECT * FROM w").reason(), Some(Reason::UnknownTable));
    run(&connection, "CREATE VIEW v AS SELECT a FROM t");
    run(&connection, "DROP TABLE t CASCADE");
    assert_eq!(refused(&connection, "DROP VIEW v").reason(), Some(Reason::UnknownTable));
    run(&connection, "DROP VIEW IF EXISTS v");
    run(&connection, "CREATE TABLE u (n INT)");
    assert_eq!(refused(&connection, "DROP VIEW u").reason(), Some(Reason::WrongObject));
    run(&connection, "CREATE VIEW v AS SELECT n FROM u");
    assert_eq!(refused(&connection, "DROP TABLE v").reason(), Some(Reason::WrongObject));
}

#[test]
fn a_view_stays_what_it_was_when_tables_and_columns_are_renamed() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT * FROM t WHERE t.a > 10");
    run(&connection, "CREATE VIEW w AS SELECT b FROM v");
    run(&connection, "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 5");
    run(&connection, "ALTER TABLE t RENAME COLUMN a TO amount");
    run(&connection, "ALTER TABLE t RENAME TO goods");
    // Another one under the old name is not meant.
    run(&connection, "CREATE TABLE t (id BIGINT, a INTEGER, b TEXT)");
    assert_eq!(headings(&connection, "SELECT * FROM v"), ["id", "a", "b"]);
    assert_eq!(rows(&connection, "SELECT * FROM v"), ["2 20 y"]);
    assert_eq!(rows(&connection, "SELECT * FROM w"), ["y"]);
    let definition = rows(&connection, "SELECT definition FROM pg_views WHERE viewname = 'v'");
    run(&connection, &format!("CREATE VIEW again AS {}", definition[0]));
    assert_eq!(rows(&connection, "SELECT * FROM again"), ["2 20 y"]);
}

#[test]
fn rows_are_changed_in_tables_only() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT id, a FROM t");
    for sql in ["INSERT INTO v VALUES (9, 9)", "UPDATE v SET a = 1", "DELETE FROM v WHERE id = 1"] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::NotInState), "{sql}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["3"]);
}

#[test]
fn what_is_there_for_a_statement_alone_makes_no_view() {
    let connection = with_table();
    for sql in [
        "CREATE VIEW v AS SELECT * FROM pg_class",
        "CREATE VIEW v AS SELECT * FROM gadus.facts",
        "CREATE MATERIALIZED VIEW v AS SELECT 1 AS n",
    ] {
        assert_eq!(refused(&connection, sql).kind(), ErrorKind::Unsupported, "{sql}");
    }
    let parameter = connection.execute("CREATE VIEW v AS SELECT $1 AS n", gadus::params![1]);
    assert_eq!(parameter.unwrap_err().kind(), ErrorKind::Input);
    for sql in ["CREATE VIEW v AS SELECT nothing FROM t", "CREATE VIEW v AS SELECT 1 FROM nothing"]
    {
        assert!(refused(&connection, sql).reason().is_some(), "{sql}");
    }
}

#[test]
fn the_catalogs_tell_of_views() {
    let connection = with_table();
    run(&connection, "CREATE VIEW v AS SELECT id, b AS name FROM t");
    let kinds = "SELECT table_name, table_type FROM information_schema.tables \
                 WHERE table_schema = 'main' ORDER BY 1";
    assert_eq!(rows(&connection, kinds), ["t BASE TABLE", "v VIEW"]);
    let columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'v'";
    assert_eq!(rows(&connection, columns), ["id", "name"]);
    let class = "SELECT relname, relkind FROM pg_class WHERE relkind IN ('r', 'v') ORDER BY 1";
    assert_eq!(rows(&connection, class), ["t r", "v v"]);
    let attributes =
        "SELECT attname FROM pg_attribute WHERE attrelid = 'v'::regclass ORDER BY attnum";
    assert_eq!(rows(&connection, attributes), ["id", "name"]);
    let definition = "SELECT pg_get_viewdef('v'::regclass)";
    assert_eq!(rows(&connection, definition), ["SELECT id, b AS name FROM t;"]);
}

#[test]
fn views_are_part_of_transactions_and_seen_by_all_instances() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let open = || Database::open(&path, Options::new()).unwrap().connect();
    let (one, two) = (open(), open());
    run(&one, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER)");
    run(&one, "INSERT INTO t VALUES (1, 2)");
    run(&one, "BEGIN");
    run(&one, "CREATE VIEW v AS SELECT a FROM t");
    assert_eq!(rows(&one, "SELECT * FROM v"), ["2"]);
    assert_eq!(refused(&two, "SELECT * FROM v").reason(), Some(Reason::UnknownTable));
    run(&one, "ROLLBACK");
    assert_eq!(refused(&one, "SELECT * FROM v").reason(), Some(Reason::UnknownTable));
    run(&one, "CREATE VIEW v AS SELECT a FROM t");
    for _ in 0..3 {
        assert_eq!(rows(&two, "SELECT * FROM v"), ["2"]);
    }
    run(&one, "CREATE OR REPLACE VIEW v AS SELECT -a AS a FROM t");
    assert_eq!(rows(&two, "SELECT * FROM v"), ["-2"]);
    assert_eq!(refused(&two, "DROP TABLE t").reason(), Some(Reason::Depended));
    drop((one, two));
    assert_eq!(rows(&open(), "SELECT * FROM v"), ["-2"]);
    assert!(check(&path, |_, _| ()).unwrap().problems.is_empty());
}
