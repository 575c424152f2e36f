//! Statements, parameters, transactions.

use crate::files::Folder;
use crate::statement::{headings, rows, run, with_table};
use gadus::{Connection, Database, ErrorKind, Options, Outcome, params};

fn database() -> Database {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let script = "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT); \
                  INSERT INTO t VALUES (1, 'one'), (2, 'two'); -- the end";
    assert_eq!(database.connect().execute_script(script).unwrap(), 2);
    database
}

fn names(connection: &Connection, sql: &str, params: &[gadus::Value]) -> Vec<String> {
    let rows = connection.query(sql, params).unwrap();
    rows.map(|row| row.unwrap().get("name").unwrap()).collect()
}

#[test]
fn parameters_stand_for_values_by_order_or_by_number() {
    let connection = database().connect();
    let by_order = "SELECT name FROM t WHERE id = ? AND name = ?";
    assert_eq!(names(&connection, by_order, params![2, "two"]), ["two"]);
    let by_number = "SELECT name FROM t WHERE name = $2 AND id = $1";
    assert_eq!(names(&connection, by_number, params![2, "two"]), ["two"]);
    let error = connection.query(by_order, params![2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
}

#[test]
fn two_signs_in_a_row_begin_no_comment() {
    let connection = database().connect();
    connection.execute("UPDATE t SET name = (- -7) || '!' WHERE id = - -1", &[]).unwrap();
    assert_eq!(names(&connection, "SELECT name FROM t WHERE id < 2", &[]), ["7!"]);
    connection.execute("DELETE FROM t WHERE id = -(-(1))", &[]).unwrap();
    assert_eq!(names(&connection, "SELECT name FROM t", &[]), ["two"]);
}

#[test]
fn as_many_values_are_given_as_there_are_parameters() {
    let connection = database().connect();
    for sql in [
        "SELECT name FROM t WHERE id = ?",
        "SELECT count(*) FROM t WHERE id > $1",
        "INSERT INTO t VALUES (?, 'more')",
        "UPDATE t SET name = 'none' WHERE id = ?",
        "DELETE FROM t WHERE id = ?",
        "SELECT upper(name) FROM t WHERE id <> ?",
    ] {
        for values in [params![], params![1, 2]] {
            let error = connection.execute(sql, values).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Input, "{sql}: {error}");
        }
    }
    assert_eq!(names(&connection, "SELECT name FROM t ORDER BY id", &[]).join(" "), "one two");
}

#[test]
fn text_holds_any_character() {
    let connection = database().connect();
    let text = "a\0b\u{1f41f}\n";
    connection.execute("INSERT INTO t VALUES (7, ?)", params![text]).unwrap();
    connection.execute("INSERT INTO t SELECT 8, ?", params![text]).unwrap();
    let found = names(&connection, "SELECT name FROM t WHERE name = $1", params![text]);
    assert_eq!(found, [text, text]);
}

#[test]
fn a_prepared_statement_runs_with_new_values_each_time() {
    let connection = database().connect();
    let insert = connection.prepare("INSERT INTO t VALUES (?, ?)").unwrap();
    assert_eq!(insert.parameters(), 2);
    for id in 10..20 {
        assert_eq!(insert.execute(params![id, format!("name {id}")]).unwrap(), 1);
    }
    let select = connection.prepare("SELECT name FROM t WHERE id = $1").unwrap();
    for id in 10..20 {
        let mut rows = select.query(params![id]).unwrap();
        let name: String = rows.next().unwrap().unwrap().get("name").unwrap();
        assert_eq!(name, format!("name {id}"));
    }
    assert_eq!(
        insert.execute(params![10, "again"]).unwrap_err().kind(),
        ErrorKind::UniqueViolation
    );
    assert_eq!(connection.prepare("SELEKT 1").unwrap_err().kind(), ErrorKind::Input);
}

#[test]
fn counts_tell_what_changed() {
    let connection = database().connect();
    assert_eq!(connection.execute("UPDATE t SET name = 'x' WHERE id > 0", &[]).unwrap(), 2);
    assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), 2);
    assert_eq!(connection.execute("DELETE FROM t WHERE id = 1", &[]).unwrap(), 1);
    let outcome = connection.run("DROP TABLE t", &[]).unwrap();
    assert!(matches!(outcome, Outcome::Done(_)));
    assert!(connection.query("CREATE TABLE t (n BIGINT)", &[]).unwrap().next().is_none());
}

#[test]
fn connections_see_each_others_commits_and_nothing_else() {
    let database = database();
    let (one, two) = (database.connect(), database.connect());
    one.execute("BEGIN", &[]).unwrap();
    assert!(one.in_transaction());
    one.execute("INSERT INTO t VALUES (3, 'three')", &[]).unwrap();
    assert_eq!(names(&one, "SELECT name FROM t WHERE id = 3", &[]), ["three"]);
    assert!(names(&two, "SELECT name FROM t WHERE id = 3", &[]).is_empty());
    one.execute("COMMIT", &[]).unwrap();
    assert_eq!(names(&two, "SELECT name FROM t WHERE id = 3", &[]), ["three"]);
    one.execute("BEGIN", &[]).unwrap();
    one.execute("DELETE FROM t", &[]).unwrap();
    one.execute("ROLLBACK", &[]).unwrap();
    assert_eq!(two.execute("SELECT * FROM t", &[]).unwrap(), 3);
}

#[test]
fn a_dropped_connection_rolls_back() {
    let database = database();
    let connection = database.connect();
    connection.execute("BEGIN", &[]).unwrap();
    connection.execute("DELETE FROM t", &[]).unwrap();
    drop(connection);
    assert_eq!(database.connect().execute("SELECT * FROM t", &[]).unwrap(), 2);
}

#[test]
fn a_result_is_of_the_moment_of_its_query() {
    let database = database();
    let connection = database.connect();
    let rows = connection.query("SELECT name FROM t", &[]).unwrap();
    connection.execute("DELETE FROM t", &[]).unwrap();
    assert_eq!(rows.count(), 2);
}

#[test]
fn the_first_statement_that_fails_ends_a_script() {
    let connection = database().connect();
    let script = "INSERT INTO t VALUES (3, 'x'); INSERT INTO t VALUES (3, 'y'); DROP TABLE t;";
    assert_eq!(connection.execute_script(script).unwrap_err().kind(), ErrorKind::UniqueViolation);
    assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), 3);
}

#[test]
fn a_tables_statement_makes_the_same_table_again() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let statement = "CREATE TABLE t (\n    id BIGINT NOT NULL,\n    \"Full Name\" TEXT,\n    \
                     price DECIMAL(15,2) NOT NULL DEFAULT 1.50,\n    PRIMARY KEY (id)\n)";
    let connection = database.connect();
    connection.execute(statement, &[]).unwrap();
    assert_eq!(database.tables().unwrap(), ["t"]);
    assert_eq!(database.create_statement("t").unwrap(), statement);
    assert_eq!(database.create_statement("T").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn points_in_time_need_no_seconds() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE points (at TIMESTAMP, z TIMESTAMPTZ)");
    run(&connection, "INSERT INTO points VALUES ('2025-03-01 12:30', '2025-03-01T12:30+02')");
    run(&connection, "INSERT INTO points VALUES ('2025-03-01 12:30:07', '2025-03-01 12:30Z')");
    for (condition, expected) in [
        ("at = TIMESTAMP '2025-03-01 12:30'", "1"),
        ("at > '2025-03-01 12:30'", "1"),
        ("at >= '2025-03-01T12:30'::timestamp", "2"),
        ("z = '2025-03-01 10:30:00+00'", "1"),
        ("at - TIMESTAMP '2025-03-01 12:29' > INTERVAL '1 minute'", "1"),
    ] {
        let sql = format!("SELECT count(*) FROM points WHERE {condition}");
        assert_eq!(rows(&connection, &sql), [expected], "{condition}");
    }
    let wrong = "SELECT count(*) FROM points WHERE at > '2025-03-01 12x30'";
    // The error comes with the rows if the text is read when these are.
    let failed = connection.query(wrong, &[]).and_then(|mut rows| rows.next_batch());
    assert!(failed.is_err());
}

#[test]
fn points_in_time_are_written_as_they_are_read() {
    let connection = with_table();
    run(&connection, "CREATE TABLE p (id INTEGER PRIMARY KEY, at TIMESTAMP, here TIMESTAMPTZ)");
    run(
        &connection,
        "INSERT INTO p VALUES (1, '2025-03-01 12:00:00.5', '2025-03-01 12:00:00.25+02'), (2, NULL, NULL),
         (3, '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59')",
    );
    let expected = [
        "2025-03-01 12:00:00.5 2025-03-01 10:00:00.25+00",
        "NULL NULL",
        "1969-12-31 23:59:59.999999 1969-12-31 23:59:59+00",
    ];
    let texts = "SELECT at::text, CAST(here AS VARCHAR) FROM p ORDER BY id";
    assert_eq!(rows(&connection, texts), expected);
    let again =
        "SELECT count(*) FROM p WHERE at::text::timestamp = at AND here::text::timestamptz = here";
    assert_eq!(rows(&connection, again), ["2"]);
    let concatenated = "SELECT 'at ' || at || ', ' || here FROM p WHERE id = 1";
    assert_eq!(
        rows(&connection, concatenated),
        ["at 2025-03-01 12:00:00.5, 2025-03-01 10:00:00.25+00"]
    );
    let literals =
        "SELECT '2025-03-01 12:00+02'::timestamptz::text, TIMESTAMP '2025-03-01 12:00'::text";
    assert_eq!(rows(&connection, literals), ["2025-03-01 10:00:00+00 2025-03-01 12:00:00"]);
    let now = "SELECT now()::text LIKE '%+00', current_timestamp = now()";
    assert_eq!(rows(&connection, now), ["true true"]);
    let folder = Folder::new();
    let file = folder.path("p.csv");
    run(
        &connection,
        &format!("COPY (SELECT at, here FROM p WHERE id = 1) TO '{}'", file.display()),
    );
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, "at,here\n2025-03-01 12:00:00.500,2025-03-01 10:00:00.250+00:00\n");
    run(&connection, "CREATE TABLE q (at TIMESTAMP, here TIMESTAMPTZ)");
    run(&connection, &format!("COPY q FROM '{}'", file.display()));
    assert_eq!(
        rows(&connection, "SELECT count(*) FROM p, q WHERE p.at = q.at AND p.here = q.here"),
        ["1"]
    );
}

#[test]
fn columns_beside_all_others_keep_their_headings() {
    let connection = with_table();
    for (query, expected) in [
        ("SELECT *, a::text, a + 1, a FROM t", &["id", "a", "b", "a::TEXT", "a + 1", "a"][..]),
        ("SELECT a + 1, t.*, -a FROM t", &["a + 1", "id", "a", "b", "-a"]),
        ("SELECT -t.a, t.*, 1 + 1, u.*, t.a || t.b FROM t, t AS u", &["-t.a", "id", "a", "b"]),
        ("SELECT * FROM t", &["id", "a", "b"]),
    ] {
        let found = headings(&connection, query);
        assert_eq!(found[..expected.len()], *expected, "{query}");
        assert!(
            expected.len() == found.len() || found.last().unwrap() == "t.a || t.b",
            "{found:?}"
        );
    }
}
