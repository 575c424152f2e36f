//! What is said of tables, columns and the rest: COMMENT ON.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Database, ErrorKind, Options};

const COMMENTS: [&str; 8] = [
    "COMMENT ON TABLE t IS 'rows of ''t'''",
    "COMMENT ON COLUMN t.a IS 'the first'",
    "COMMENT ON INDEX i IS 'by b'",
    "COMMENT ON VIEW v IS 'a view'",
    "COMMENT ON COLUMN v.n IS 'of the view'",
    "COMMENT ON SEQUENCE s IS 'numbers'",
    "COMMENT ON FUNCTION f(INT) IS 'adds'",
    "COMMENT ON DATABASE gadus IS 'all of it'",
];

#[test]
fn comments_stay_with_what_they_are_about() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    let connection = database.connect();
    run(&connection, "CREATE TABLE t (a INT, b INT COMMENT 'the second')");
    run(&connection, "CREATE INDEX i ON t (b)");
    run(&connection, "CREATE VIEW v AS SELECT a AS n FROM t");
    run(&connection, "CREATE SEQUENCE s");
    run(&connection, "CREATE MACRO f(a) AS a + 1");
    COMMENTS.iter().for_each(|sql| run(&connection, sql));
    run(&connection, "CREATE TABLE gone (a INT)");
    run(&connection, "COMMENT ON COLUMN gone.a IS 'goes along'");
    run(&connection, "DROP TABLE gone");
    run(&connection, "ALTER TABLE t RENAME COLUMN b TO c");
    drop((connection, database));
    let database = open();
    let connection = database.connect();
    let statements = database.schema_statements().unwrap();
    let said = statements.iter().filter(|one| one.starts_with("COMMENT")).collect::<Vec<_>>();
    let wanted = |sql: &&str| sql.replace("f(INT)", "f");
    let mut expected = COMMENTS.iter().map(wanted).collect::<Vec<_>>();
    expected.push("COMMENT ON COLUMN t.c IS 'the second'".to_owned());
    assert!(expected.iter().all(|one| said.contains(&one)), "{said:?}");
    assert_eq!(said.len(), expected.len(), "{said:?}");
    assert_eq!(
        rows(&connection, "SELECT column_name, comment FROM gadus.columns ORDER BY position"),
        ["a the first", "c the second"]
    );
    assert_eq!(rows(&connection, "SELECT comment FROM gadus.tables"), ["rows of 't'"]);
    assert_eq!(rows(&connection, "SELECT parameters, comment FROM gadus.functions"), ["a adds"]);
    for (sql, expected) in [
        ("SELECT obj_description('t'::regclass, 'pg_class')", "rows of 't'"),
        ("SELECT col_description('t'::regclass, 2)", "the second"),
        ("SELECT col_description('v'::regclass, 1)", "of the view"),
        ("SELECT obj_description('i'::regclass)", "by b"),
        ("SELECT obj_description('s'::regclass)", "numbers"),
        ("SELECT obj_description(oid, 'pg_proc') FROM pg_proc WHERE proname = 'f'", "adds"),
        ("SELECT shobj_description(oid, 'pg_database') FROM pg_database", "all of it"),
        ("SELECT count(*) FROM pg_description WHERE objoid = 't'::regclass", "3"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
    // By another type its column is another one; then it is dropped.
    run(&connection, "DROP VIEW v");
    run(&connection, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT");
    run(&connection, "ALTER TABLE t DROP COLUMN c");
    run(&connection, "COMMENT ON TABLE t IS NULL");
    run(&connection, "COMMENT ON DATABASE gadus IS ''");
    let left = "SELECT description FROM pg_description ORDER BY 1";
    assert_eq!(rows(&connection, left), ["adds", "numbers", "the first"]);
}

#[test]
fn comments_on_what_is_not_there_are_refused() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a INT)");
    for sql in [
        "COMMENT ON TABLE u IS 'x'",
        "COMMENT ON COLUMN t.b IS 'x'",
        "COMMENT ON VIEW t IS 'x'",
        "COMMENT ON FUNCTION f IS 'x'",
    ] {
        assert_eq!(refused(&connection, sql).kind(), ErrorKind::NotFound, "{sql}");
    }
    run(&connection, "COMMENT IF EXISTS ON TABLE u IS 'x'");
    assert_eq!(refused(&connection, "COMMENT ON ROLE r IS 'x'").kind(), ErrorKind::Unsupported);
}
