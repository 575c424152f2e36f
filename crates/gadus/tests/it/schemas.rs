//! Schemas, and names that are looked for in them.

use crate::files::Folder;
use crate::statement::{headings, refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason, check};

fn connected() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

#[test]
fn tables_of_one_name_are_there_in_several_schemas() {
    let connection = connected();
    run(&connection, "CREATE SCHEMA s");
    run(&connection, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)");
    run(&connection, "CREATE TABLE s.t (id INT PRIMARY KEY, v TEXT, n INT CHECK (n > 0) UNIQUE)");
    run(&connection, "INSERT INTO t VALUES (1, 'main')");
    run(&connection, "INSERT INTO s.t VALUES (1, 'own', 5), (2, 'two', 6)");
    run(
        &connection,
        "INSERT INTO s.t VALUES (1, 'x', 7) ON CONFLICT (id) DO UPDATE SET n = excluded.n + t.n",
    );
    run(&connection, "UPDATE s.t SET v = t.v || '!' WHERE t.id = 2");
    run(&connection, "DELETE FROM s.t WHERE s.t.id = 7");
    for (sql, expected) in [
        ("SELECT v FROM t", "main"),
        ("SELECT v FROM public.t WHERE id = 1", "main"),
        ("SELECT v, n FROM s.t WHERE id = 1", "own 12"),
        ("SELECT t.v FROM s.t WHERE s.t.n = 6", "two!"),
        ("SELECT x.v, t.v FROM s.t AS x JOIN t USING (id)", "own main"),
        ("SELECT a.v, b.v FROM main.t AS a, gadus.s.t AS b WHERE b.id = 2", "main two!"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
    assert_eq!(headings(&connection, "SELECT * FROM s.t"), ["id", "v", "n"]);
    let error = refused(&connection, "INSERT INTO s.t VALUES (3, 'x', 0)");
    assert!(
        error.to_string().contains("\"s.t\" violates check constraint \"t_n_check\""),
        "{error}"
    );
    run(&connection, "ALTER TABLE s.t DROP CONSTRAINT t_n_key");
    run(&connection, "ALTER TABLE s.t RENAME TO u");
    run(&connection, "CREATE INDEX i ON s.u (v)");
    run(&connection, "CREATE INDEX i ON t (v)");
    run(&connection, "DROP INDEX s.i");
    assert_eq!(rows(&connection, "SELECT count(*) FROM s.u"), ["2"]);
    run(&connection, "TRUNCATE s.u");
    assert_eq!(rows(&connection, "SELECT count(*) FROM s.u"), ["0"]);
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["1"]);
}

/// Also where it changes between two runs of one text.
#[test]
fn the_search_path_says_what_a_name_means() {
    let connection = connected();
    run(&connection, "CREATE SCHEMA a");
    run(&connection, "CREATE SCHEMA b");
    for schema in ["main", "a", "b"] {
        run(&connection, &format!("CREATE TABLE {schema}.t AS SELECT '{schema}' AS v, 1 AS id"));
    }
    let asked = "SELECT v FROM t WHERE id = 1";
    let at = |path: &str| {
        run(&connection, &format!("SET search_path TO {path}"));
        rows(&connection, asked)
    };
    for _ in 0..3 {
        assert_eq!(rows(&connection, asked), ["main"]);
        assert_eq!(at("b, a, public"), ["b"]);
        assert_eq!(at("nothing, a"), ["a"]);
        assert_eq!(at("\"$user\", public"), ["main"]);
    }
    run(&connection, "CREATE TABLE only_main (x INT)");
    run(&connection, "SET search_path TO a");
    assert_eq!(rows(&connection, "SELECT current_schema()"), ["a"]);
    refused(&connection, "SELECT * FROM only_main");
    refused(&connection, "DROP TABLE only_main");
    assert_eq!(rows(&connection, "SELECT count(*) FROM main.only_main"), ["0"]);
    run(&connection, "CREATE TABLE new (x INT)");
    run(&connection, "INSERT INTO new VALUES (1)");
    run(&connection, "UPDATE t SET v = 'changed' WHERE t.id = 1");
    // What WITH gives a name to hides tables; not within itself.
    assert_eq!(
        rows(&connection, "WITH t AS (SELECT v || '!' AS v FROM t) SELECT v FROM t"),
        ["changed!"]
    );
    run(&connection, "CREATE VIEW seen AS SELECT v FROM t");
    run(&connection, "CREATE FUNCTION f() RETURNS TEXT LANGUAGE sql AS 'SELECT v FROM t'");
    run(&connection, "CREATE MACRO m() AS (SELECT v FROM t)");
    run(&connection, "RESET search_path");
    assert_eq!(rows(&connection, "SELECT x FROM a.new"), ["1"]);
    assert_eq!(rows(&connection, "SELECT v FROM a.seen"), ["changed"]);
    assert_eq!(rows(&connection, "SELECT f(), m()"), ["changed changed"]);
    assert_eq!(rows(&connection, asked), ["main"]);
    refused(&connection, "SELECT * FROM new");
}

#[test]
fn schemas_are_made_kept_and_dropped() {
    let folder = Folder::new();
    let open = || Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let database = open();
    let connection = database.connect();
    run(&connection, "CREATE SCHEMA \"My s\"");
    run(&connection, "CREATE SCHEMA IF NOT EXISTS \"My s\"");
    run(&connection, "CREATE SCHEMA s");
    run(&connection, "COMMENT ON SCHEMA s IS 'of them'");
    run(&connection, "CREATE TABLE s.t (id SERIAL PRIMARY KEY, up INT REFERENCES s.t)");
    run(&connection, "INSERT INTO s.t (up) VALUES (NULL), (1)");
    run(&connection, "CREATE TABLE \"My s\".u (t INT REFERENCES s.t ON DELETE CASCADE, v TEXT)");
    run(&connection, "CREATE INDEX by_v ON \"My s\".u (v)");
    run(&connection, "INSERT INTO \"My s\".u VALUES (2, 'x')");
    run(&connection, "CREATE VIEW s.v AS SELECT id FROM s.t");
    // What it is told of has other names since.
    run(&connection, "ALTER TABLE s.t ADD COLUMN more INT");
    run(&connection, "ALTER TABLE s.t RENAME COLUMN id TO number");
    run(&connection, "CREATE SEQUENCE s.numbers");
    run(&connection, "CREATE VIEW over AS SELECT * FROM s.v");
    assert_eq!(rows(&connection, "SELECT nextval('s.numbers')"), ["1"]);
    let statements = database.schema_statements().unwrap();
    drop((connection, database));
    assert!(check(folder.path("x.gadus"), |_, _| {}).unwrap().problems.is_empty());
    let database = open();
    let connection = database.connect();
    assert_eq!(database.schema_statements().unwrap(), statements);
    assert_eq!(database.tables().unwrap(), ["My s.u", "s.t"]);
    assert_eq!(rows(&connection, "SELECT sum(id) FROM over"), ["3"]);
    for (sql, expected) in [
        ("SELECT relname FROM pg_class WHERE oid = 's.t'::regclass", "t"),
        (
            "SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'u'",
            "My s",
        ),
        ("SELECT schemaname FROM pg_tables WHERE tablename = 't'", "s"),
        ("SELECT schemaname FROM pg_indexes WHERE indexname = 'by_v'", "My s"),
        ("SELECT table_schema FROM information_schema.tables WHERE table_name = 't'", "s"),
        ("SELECT table_name FROM gadus.tables WHERE rows = 2", "s.t"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
    // They make the same database again.
    let other = Database::open_in_memory(Options::new()).unwrap();
    statements.iter().for_each(|sql| run(&other.connect(), sql));
    assert_eq!(other.schema_statements().unwrap(), statements);
    // And so does a backup.
    database.back_up(folder.path("copy.gadus"), |_, _| {}).unwrap();
    let copy = Database::open(folder.path("copy.gadus"), Options::new()).unwrap();
    assert_eq!(copy.schema_statements().unwrap(), statements);
    assert_eq!(rows(&copy.connect(), "SELECT v FROM \"My s\".u"), ["x"]);
    for (sql, reason) in [
        ("CREATE SCHEMA s", Reason::DuplicateSchema),
        ("CREATE SCHEMA pg_mine", Reason::InvalidDefinition),
        ("DROP SCHEMA nothing", Reason::UnknownSchema),
        ("DROP SCHEMA s", Reason::Depended),
        ("CREATE TABLE nothing.t (a INT)", Reason::UnknownSchema),
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(reason), "{sql}");
    }
    run(&connection, "BEGIN");
    run(&connection, "DROP SCHEMA s CASCADE");
    refused(&connection, "SELECT * FROM s.t");
    run(&connection, "ROLLBACK");
    assert_eq!(rows(&connection, "SELECT count(*) FROM s.t"), ["2"]);
    run(&connection, "DROP SCHEMA s CASCADE");
    assert_eq!(database.tables().unwrap(), ["My s.u"]);
    assert!(database.views().unwrap().is_empty() && database.sequences().unwrap().is_empty());
    run(&connection, "DROP SCHEMA IF EXISTS s");
}

/// Neither order leaves a table in a schema that is gone.
#[test]
fn a_schema_is_not_dropped_from_under_a_table() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, other) = (database.connect(), database.connect());
    for first_drops in [true, false] {
        run(&one, "CREATE SCHEMA s");
        run(&one, "BEGIN");
        run(&other, "BEGIN");
        run(&one, "DROP SCHEMA s");
        run(&other, "CREATE TABLE s.t (a INT)");
        let (first, second) = if first_drops { (&one, &other) } else { (&other, &one) };
        run(first, "COMMIT");
        assert_eq!(refused(second, "COMMIT").kind(), ErrorKind::Conflict);
        run(&one, "DROP SCHEMA IF EXISTS s CASCADE");
    }
}
