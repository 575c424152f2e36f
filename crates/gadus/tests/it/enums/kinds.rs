//! The statements that make, change and drop enumerations, and what the catalog tells of them.

use super::{connected, is_no_label};
use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason};

const TYPES: &str = "SELECT data_type FROM gadus.columns WHERE table_name = 't' ORDER BY position";

#[test]
fn types_that_cannot_be_are_refused() {
    let connection = connected();
    let long = format!("CREATE TYPE x AS ENUM ('{}')", "x".repeat(64));
    let many = (0..5_000).map(|label| format!("'{label}'")).collect::<Vec<_>>().join(", ");
    let many = format!("CREATE TYPE x AS ENUM ({many})");
    for (sql, reason) in [
        ("CREATE TYPE mood AS ENUM ('a')", Some(Reason::DuplicateObject)),
        ("CREATE TYPE x AS ENUM ('a', 'b', 'a')", Some(Reason::DuplicateObject)),
        ("CREATE TYPE text AS ENUM ('a')", Some(Reason::DuplicateObject)),
        ("CREATE TYPE \"oid\" AS ENUM ('a')", Some(Reason::DuplicateObject)),
        (&long, Some(Reason::InvalidName)),
        (&many, None),
        ("CREATE TYPE nowhere.x AS ENUM ('a')", Some(Reason::UnknownSchema)),
        ("CREATE TYPE x AS ENUM (a)", Some(Reason::Syntax)),
        ("CREATE TYPE x AS (a INT)", None),
        ("CREATE TABLE x (a unknown_type)", Some(Reason::UnknownObject)),
        ("SELECT 'a'::unknown_type", Some(Reason::UnknownObject)),
        ("DROP TYPE unknown_type", Some(Reason::UnknownObject)),
        ("DROP TYPE mood", Some(Reason::Depended)),
        ("CREATE TABLE x (a mood[])", None),
        ("CREATE TABLE x (a mood PRIMARY KEY REFERENCES t)", Some(Reason::TypeMismatch)),
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), reason, "{sql}: {error}");
    }
    run(&connection, "DROP TYPE IF EXISTS x, unknown_type");
    run(&connection, "CREATE TYPE x AS ENUM ()");
    run(&connection, "CREATE TABLE u (a x)");
    run(&connection, "INSERT INTO u VALUES (NULL)");
    assert_eq!(rows(&connection, "SELECT a, enum_first(a) FROM u"), ["NULL NULL"]);
}

#[test]
fn labels_are_added_under_rows() {
    let connection = connected();
    run(&connection, "CREATE VIEW v AS SELECT id, m FROM t");
    run(&connection, "CREATE TABLE f (m mood PRIMARY KEY)");
    run(&connection, "CREATE TABLE g (m mood REFERENCES f)");
    run(&connection, "ALTER TYPE mood ADD VALUE 'great'");
    run(&connection, "ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy'");
    run(&connection, "ALTER TYPE mood ADD VALUE 'awful' BEFORE 'sad'");
    run(&connection, "ALTER TYPE mood ADD VALUE 'so' AFTER 'ok'");
    run(&connection, "ALTER TYPE mood ADD VALUE IF NOT EXISTS 'so'");
    let labels = "SELECT array_to_string(enum_range(NULL::mood), ' ')";
    assert_eq!(rows(&connection, labels), ["awful sad ok so fine happy great"]);
    for (sql, reason) in [
        ("ALTER TYPE mood ADD VALUE 'so'", Reason::DuplicateObject),
        ("ALTER TYPE mood ADD VALUE 'x' AFTER 'y'", Reason::InvalidParameter),
        ("ALTER TYPE mood RENAME VALUE 'y' TO 'x'", Reason::InvalidParameter),
        ("ALTER TYPE mood RENAME VALUE 'ok' TO 'so'", Reason::DuplicateObject),
        ("ALTER TYPE mood RENAME VALUE 'ok' TO 'fair'", Reason::Depended),
        ("ALTER TYPE unknown_type ADD VALUE 'x'", Reason::UnknownObject),
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(reason), "{sql}");
    }
    run(&connection, "INSERT INTO t VALUES (4, 'awful', 'great')");
    run(&connection, "INSERT INTO f VALUES ('so')");
    run(&connection, "INSERT INTO g VALUES ('so')");
    assert_eq!(rows(&connection, "SELECT id FROM v WHERE m = 'awful'"), ["4"]);
    assert_eq!(rows(&connection, "SELECT m FROM t WHERE id = 1"), ["sad"]);
    run(&connection, "CREATE TYPE free AS ENUM ('a', 'b')");
    run(&connection, "ALTER TYPE free RENAME VALUE 'a' TO 'c'");
    assert_eq!(rows(&connection, "SELECT enum_first(NULL::free)"), ["c"]);
}

#[test]
fn a_type_is_called_otherwise_wherever_it_is_named() {
    let connection = connected();
    for sql in [
        "COMMENT ON TYPE mood IS 'how it is'",
        "CREATE TABLE d (a TEXT CHECK (a::mood <> 'sad'), m mood DEFAULT 'ok'::mood, g mood GENERATED ALWAYS AS (a::mood) STORED)",
        "CREATE VIEW v AS SELECT a, 'happy'::mood AS h FROM d",
        "CREATE TABLE f (m mood PRIMARY KEY)",
        "CREATE TABLE g (m mood REFERENCES f)",
        "ALTER TYPE mood RENAME TO feeling",
        "INSERT INTO d (a) VALUES ('ok')",
    ] {
        run(&connection, sql);
    }
    assert_eq!(rows(&connection, "SELECT m, g, h FROM d JOIN v USING (a)"), ["ok ok happy"]);
    assert_eq!(rows(&connection, TYPES), ["INTEGER", "feeling", "feeling"]);
    assert_eq!(rows(&connection, "SELECT m = 'ok'::feeling FROM t WHERE id = 2"), ["true"]);
    let described = "SELECT obj_description('feeling'::regtype, 'pg_type')";
    assert_eq!(rows(&connection, described), ["how it is"]);
    assert_eq!(refused(&connection, "SELECT 'ok'::mood").reason(), Some(Reason::UnknownObject));
    run(&connection, "CREATE TYPE mood AS ENUM ('other')");
}

#[test]
fn what_is_of_a_type_goes_with_it_where_that_is_asked_for() {
    let connection = connected();
    run(&connection, "CREATE VIEW v AS SELECT m FROM t");
    run(&connection, "CREATE VIEW w AS SELECT 'ok'::mood::text AS x, id FROM t");
    let error = refused(&connection, "DROP TYPE mood RESTRICT");
    for depends in ["column m of table t", "column n of table t", "view v", "view w"] {
        assert!(error.to_string().contains(depends), "{error}");
    }
    run(&connection, "DROP TYPE mood CASCADE");
    assert_eq!(rows(&connection, TYPES), ["INTEGER"]);
    refused(&connection, "SELECT * FROM v");
    refused(&connection, "SELECT * FROM w");
    run(&connection, "CREATE TYPE mood AS ENUM ('new')");
    run(&connection, "CREATE TABLE d (a TEXT CHECK (a::mood = 'new'))");
    for sql in ["DROP TYPE mood", "DROP TYPE mood CASCADE"] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::Depended), "{sql}");
    }
    run(&connection, "DROP TABLE d");
    run(&connection, "DROP TYPE mood");
}

#[test]
fn columns_take_and_lose_the_type() {
    let connection = connected();
    for sql in [
        "CREATE TABLE x (id INT, s TEXT)",
        "INSERT INTO x VALUES (1, 'OK'), (2, 'SAD')",
        "ALTER TABLE x ADD COLUMN m mood NOT NULL DEFAULT 'happy'",
        "ALTER TABLE x ALTER COLUMN s TYPE mood USING lower(s)::mood",
    ] {
        run(&connection, sql);
    }
    assert_eq!(rows(&connection, "SELECT s, m FROM x WHERE s = 'ok'"), ["ok happy"]);
    is_no_label(&refused(&connection, "UPDATE x SET s = 'OK'"), "OK");
    run(&connection, "ALTER TABLE x ALTER COLUMN s TYPE TEXT");
    run(&connection, "UPDATE x SET s = 'OK' WHERE id = 1");
    let sql = "ALTER TABLE x ALTER COLUMN s TYPE mood";
    assert_eq!(refused(&connection, sql).reason(), Some(Reason::TypeMismatch));
    is_no_label(&refused(&connection, &format!("{sql} USING s::mood")), "OK");
    run(&connection, "CREATE TABLE y AS SELECT id, m, m::text AS s, coalesce(m, 'ok') AS c FROM x");
    run(&connection, "CREATE TEMPORARY TABLE z (m mood)");
    run(&connection, "INSERT INTO z SELECT m FROM y");
    is_no_label(&refused(&connection, "INSERT INTO z VALUES ('x')"), "x");
    let types = "SELECT data_type FROM gadus.columns WHERE table_name = 'y' ORDER BY position";
    assert_eq!(rows(&connection, types), ["INTEGER", "mood", "TEXT", "mood"]);
}

#[test]
fn types_stand_in_schemas() {
    let connection = connected();
    for sql in [
        "CREATE SCHEMA s",
        "CREATE TYPE s.mood AS ENUM ('up', 'down')",
        "CREATE TABLE s.t (m s.mood DEFAULT 'up'::s.mood, o mood)",
        "INSERT INTO s.t (o) VALUES ('ok')",
    ] {
        run(&connection, sql);
    }
    assert_eq!(rows(&connection, "SELECT m, o, 'down'::s.mood FROM s.t"), ["up ok down"]);
    run(&connection, "SET search_path = s");
    assert_eq!(rows(&connection, "SELECT m = 'up'::mood FROM t"), ["true"]);
    run(&connection, "CREATE TYPE own AS ENUM ('x')");
    run(&connection, "CREATE TABLE u (a own, b mood, c main.mood)");
    run(&connection, "ALTER TYPE mood ADD VALUE 'left'");
    run(&connection, "RESET search_path");
    run(&connection, "INSERT INTO s.u VALUES ('x', 'left', 'sad')");
    assert_eq!(rows(&connection, "SELECT a = 'x'::s.own FROM s.u"), ["true"]);
    assert_eq!(refused(&connection, "DROP SCHEMA s").reason(), Some(Reason::Depended));
    run(&connection, "DROP SCHEMA s CASCADE");
    refused(&connection, "SELECT 'x'::s.own");
    assert_eq!(rows(&connection, "SELECT 'ok'::mood"), ["ok"]);
    run(&connection, "CREATE SCHEMA s");
    run(&connection, "CREATE TYPE s.alone AS ENUM ('x')");
    assert_eq!(refused(&connection, "DROP SCHEMA s").reason(), Some(Reason::Depended));
}

#[test]
fn the_catalog_tells_of_types() {
    let connection = connected();
    run(&connection, "COMMENT ON TYPE mood IS 'how it is'");
    for (sql, expected) in [
        (
            "SELECT typname, typtype, typcategory FROM pg_type WHERE typtype = 'e'",
            &["mood e E"][..],
        ),
        (
            "SELECT enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid \
             WHERE typname = 'mood' ORDER BY enumsortorder",
            &["sad", "ok", "happy"],
        ),
        (
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = 't'::regclass ORDER BY attnum",
            &["integer", "mood", "mood"],
        ),
        ("SELECT 'mood'::regtype::oid = oid FROM pg_type WHERE typname = 'mood'", &["true"]),
        (
            "SELECT data_type FROM information_schema.columns WHERE table_name = 't' AND column_name = 'm'",
            &["USER-DEFINED"],
        ),
        (
            "SELECT udt_name FROM information_schema.columns WHERE table_name = 't' AND column_name = 'm'",
            &["mood"],
        ),
        (TYPES, &["INTEGER", "mood", "mood"]),
    ] {
        assert_eq!(rows(&connection, sql), expected, "{sql}");
    }
}

/// Copies of a database by its statements, and by its backup.
#[test]
fn types_are_in_copies() {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    super::fill(&connection);
    for sql in [
        "COMMENT ON TYPE mood IS 'how it is'",
        "CREATE SCHEMA s",
        "CREATE TYPE s.\"Odd one\" AS ENUM ('it''s', '\"')",
        "CREATE TABLE s.u (m s.\"Odd one\" DEFAULT 'it''s', n mood CHECK (n = 'ok'::mood))",
        "INSERT INTO s.u VALUES (DEFAULT, 'ok')",
        "CREATE VIEW v AS SELECT m, n::mood AS n FROM s.u",
    ] {
        run(&connection, sql);
    }
    database.back_up(folder.path("copy.gadus"), |_, _| ()).unwrap();
    let copy = Database::open(folder.path("copy.gadus"), Options::new()).unwrap();
    let again = Database::open_in_memory(Options::new()).unwrap();
    for statement in database.schema_statements().unwrap() {
        run(&again.connect(), &statement);
    }
    let statements = database.schema_statements().unwrap();
    assert!(
        statements.contains(&"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')".to_owned()),
        "{statements:?}"
    );
    assert_eq!(again.schema_statements().unwrap(), statements);
    assert_eq!(copy.schema_statements().unwrap(), statements);
    assert_eq!(rows(&copy.connect(), "SELECT m, n FROM v"), ["it's ok"]);
    drop(copy);
    let report = gadus::check(folder.path("copy.gadus"), |_, _| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

fn fails_with(connection: &Connection, sql: &str, kind: ErrorKind) {
    let error = refused(connection, sql);
    assert_eq!(error.kind(), kind, "{sql}: {error}");
}

/// Who changes a type, and who makes a column of it meanwhile, do not both commit.
#[test]
fn transactions_change_types_whole_or_not_at_all() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, other) = (database.connect(), database.connect());
    super::fill(&one);
    run(&one, "BEGIN");
    run(&one, "CREATE TYPE own AS ENUM ('a')");
    run(&one, "CREATE TABLE u (x own)");
    run(&one, "ALTER TYPE own ADD VALUE 'b'");
    run(&one, "ALTER TYPE mood ADD VALUE 'great'");
    run(&one, "INSERT INTO u VALUES ('b')");
    run(&one, "INSERT INTO t VALUES (4, 'great')");
    refused(&other, "SELECT 'a'::own");
    is_no_label(&refused(&other, "SELECT 'great'::mood"), "great");
    run(&one, "ROLLBACK");
    refused(&one, "SELECT 'a'::own");
    is_no_label(&refused(&one, "INSERT INTO t VALUES (4, 'great')"), "great");
    run(&one, "BEGIN");
    run(&one, "CREATE TABLE u (x mood)");
    run(&other, "ALTER TYPE mood ADD VALUE 'great'");
    fails_with(&one, "COMMIT", ErrorKind::Conflict);
    run(&one, "BEGIN");
    run(&one, "ALTER TYPE mood ADD VALUE 'late'");
    run(&other, "CREATE TABLE u (x mood)");
    fails_with(&one, "COMMIT", ErrorKind::Conflict);
    run(&other, "INSERT INTO u VALUES ('great')");
    run(&one, "BEGIN");
    run(&one, "DROP TABLE u");
    run(&one, "ALTER TABLE t DROP COLUMN m, DROP COLUMN n");
    run(&one, "DROP TYPE mood");
    run(&one, "COMMIT");
    refused(&other, "SELECT 'ok'::mood");
}
