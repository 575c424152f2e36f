//! VARCHAR(n), CHAR(n), `name` and `"char"`, with PostgreSQL's answers.

use crate::statement::{refused, rows, run};
use gadus::{Characters, Connection, Database, Options};

fn with_table() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE c (f char(4), v varchar(4), n name, b \"char\")");
    run(
        &connection,
        "INSERT INTO c VALUES ('a', 'ab  ', 'x', 'abc'), ('abcd  ', 'abcd  ', 'y', '\\101')",
    );
    connection
}

fn state(connection: &Connection, sql: &str) -> &'static str {
    let error = refused(connection, sql);
    error.diagnosis().and_then(|found| found.sql_state).unwrap_or("none")
}

#[test]
fn values_are_stored_as_assignments_make_them() {
    let connection = with_table();
    let shown = rows(&connection, "SELECT f || '|', v || '|', n, b FROM c ORDER BY n");
    assert_eq!(shown, ["a| ab  | x a", "abcd| abcd| y A"]);
    assert_eq!(rows(&connection, "SELECT f FROM c ORDER BY n"), ["a   ", "abcd"]);
    for wrong in [
        "INSERT INTO c (f) VALUES ('abcde')",
        "INSERT INTO c (v) VALUES ('abcde')",
        "INSERT INTO c (v) SELECT 'abcde' FROM c",
        "UPDATE c SET v = 'abcde'",
        "UPDATE c SET f = v || 'e'",
    ] {
        assert_eq!(state(&connection, wrong), "22001", "{wrong}");
    }
    run(&connection, &format!("UPDATE c SET n = '{}' WHERE n = 'y'", "z".repeat(70)));
    assert_eq!(rows(&connection, "SELECT length(n) FROM c ORDER BY 1"), ["1", "63"]);
}

#[test]
fn blanks_at_the_end_of_char_have_no_meaning() {
    let connection = with_table();
    for condition in ["f = 'a'", "f = 'a    '", "f = 'a'::char(10)", "f IN ('a ', 'q')"] {
        let query = format!("SELECT n FROM c WHERE {condition}");
        assert_eq!(rows(&connection, &query), ["x"], "{condition}");
    }
    let lengths = "SELECT length(f), octet_length(f), f LIKE 'a', f LIKE 'a%', f ~ '^a {3}$' FROM c WHERE n = 'x'";
    assert_eq!(rows(&connection, lengths), ["1 4 false true true"]);
    assert_eq!(rows(&connection, "SELECT count(DISTINCT f) FROM c"), ["2"]);
    run(&connection, "CREATE UNIQUE INDEX i ON c (f)");
    let error = refused(&connection, "INSERT INTO c (f) VALUES ('a ')");
    assert_eq!(error.kind(), gadus::ErrorKind::UniqueViolation);
}

#[test]
fn casts_cut() {
    let connection = with_table();
    let cast =
        "SELECT 'abcdef'::varchar(3), 'abc'::char(5), 'abc'::char, 'ab'::\"char\", 'x'::name";
    assert_eq!(rows(&connection, cast), ["abc abc   a a x"]);
    let of_rows = "SELECT v::varchar(2), CAST(f AS char(2)) FROM c ORDER BY n";
    assert_eq!(rows(&connection, of_rows), ["ab a ", "ab ab"]);
    assert_eq!(state(&connection, "CREATE TABLE d (a varchar(0))"), "none");
}

#[test]
fn fields_name_the_types_and_tables_of_queries_keep_them() {
    let connection = with_table();
    run(&connection, "CREATE TABLE d AS SELECT * FROM c");
    for query in ["SELECT * FROM d", "SELECT f, v, n, b FROM d GROUP BY f, v, n, b"] {
        let found = connection.query(query, &[]).unwrap();
        let types = found.schema().fields().iter().map(|field| Characters::of_field(field));
        let expected =
            [Characters::Char(4), Characters::Varchar(4), Characters::Name, Characters::Byte];
        assert_eq!(types.collect::<Vec<_>>(), expected.map(Some), "{query}");
    }
    assert_eq!(state(&connection, "INSERT INTO d (v) VALUES ('abcde')"), "22001");
    let text = connection.query("SELECT f::text, v::text FROM d", &[]).unwrap();
    assert!(text.schema().fields().iter().all(|field| Characters::of_field(field).is_none()));
    run(&connection, "ALTER TABLE d ALTER COLUMN v TYPE varchar(10)");
    run(&connection, "INSERT INTO d (v) VALUES ('abcdefghij')");
    assert_eq!(state(&connection, "ALTER TABLE d ALTER COLUMN v TYPE varchar(3)"), "22001");
    run(&connection, "ALTER TABLE d ALTER COLUMN f TYPE text");
    assert_eq!(rows(&connection, "SELECT f || '|' FROM d WHERE n = 'x'"), ["a|"]);
}

#[test]
fn values_of_several_lengths_stand_in_one_column() {
    let connection = with_table();
    let mixed = "VALUES ('abc'::varchar(3)), ('abcd'::varchar(4)), ('x'), (NULL)";
    assert_eq!(rows(&connection, mixed), ["abc", "abcd", "x", "NULL"]);
    for union in ["UNION ALL", "UNION"] {
        let query = format!(
            "SELECT 'abc'::varchar(3) AS a {union} SELECT 'abcd'::varchar(4) {union} SELECT 'x'::text ORDER BY 1"
        );
        assert_eq!(rows(&connection, &query), ["abc", "abcd", "x"], "{union}");
    }
    run(&connection, "INSERT INTO c (v, n) VALUES ('ab'::varchar(2), 'q'), ('abc'::char(3), 'r')");
    assert_eq!(
        rows(&connection, "SELECT v FROM c WHERE n IN ('q', 'r') ORDER BY n"),
        ["ab", "abc"]
    );
    let chosen = "SELECT CASE WHEN n = 'q' THEN v ELSE n END, coalesce(v, n) FROM c WHERE n = 'q'";
    assert_eq!(rows(&connection, chosen), ["ab ab"]);
}

#[test]
fn keys_refer_to_texts_of_other_lengths() {
    let connection = with_table();
    run(&connection, "CREATE TABLE p (k text PRIMARY KEY)");
    run(&connection, "CREATE TABLE r (k varchar(3) REFERENCES p MATCH FULL ON UPDATE CASCADE)");
    run(&connection, "INSERT INTO p VALUES ('abc')");
    run(&connection, "INSERT INTO r VALUES ('abc')");
    refused(&connection, "INSERT INTO r VALUES ('q')");
    refused(&connection, "UPDATE p SET k = 'abcd'");
    run(&connection, "UPDATE p SET k = 'xyz'");
    assert_eq!(rows(&connection, "SELECT k FROM r"), ["xyz"]);
}
