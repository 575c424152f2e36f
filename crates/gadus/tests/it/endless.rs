//! Statements that compute without end, and end when they are told to.
//!
//! - Each would take minutes or for ever. The deadline of a test only guards against a hang.

use gadus::{Connection, Database, ErrorKind, Options};
use gadus_base::clock;
use std::time::Duration;

/// Far more than a busy machine takes to notice a timeout, far less than any of the statements takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn connection() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE t (id INT, v TEXT);
                  INSERT INTO t SELECT i, 'row ' || i FROM range(100000) AS r(i);
                  SET statement_timeout = '300ms'";
    connection.execute_script(script).unwrap();
    connection
}

fn ends_in_time(connection: &Connection, sql: &str) {
    let began = clock().now();
    let error = connection.execute(sql, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn one_value_that_takes_long_is_given_up() {
    let connection = connection();
    ends_in_time(&connection, "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))");
    ends_in_time(
        &connection,
        "SELECT max(levenshtein(repeat(v, 10000), repeat(v, 10000) || 'x')) FROM t",
    );
}

/// Took minutes with an eighth of these lengths.
#[test]
fn searches_take_linear_time() {
    let connection = connection();
    let time = format!("SET statement_timeout = {}", PATIENCE.as_millis());
    connection.execute(&time, &[]).unwrap();
    let pattern = format!("SELECT repeat('a', 800000) LIKE '{}b'", "%a".repeat(40_000));
    let position = "SELECT strpos(repeat('a', 16000000), repeat('a', 8000000) || 'b')";
    let mut rows = connection.query(&pattern, &[]).unwrap();
    assert!(!rows.next().unwrap().unwrap().get::<bool>(0).unwrap());
    let mut rows = connection.query(position, &[]).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().get::<i32>(0).unwrap(), 0);
}

#[test]
fn operators_that_multiply_rows_are_given_up() {
    let connection = connection();
    for sql in [
        "SELECT count(*) FROM t a, t b",
        "SELECT count(*) FROM generate_series(1, 200000000) a, generate_series(1, 100) b",
        "SELECT count(*) FROM t a JOIN t b ON a.id + b.id < 0",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 - n FROM r) SELECT count(*) FROM r",
        "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY a.v) AS n FROM t a, t b) x",
    ] {
        ends_in_time(&connection, sql);
    }
}

/// The names of so many columns take long to write out, in one step.
#[test]
fn plans_of_many_long_expressions_are_given_up() {
    let connection = connection();
    let expression = |column: usize| {
        let terms = (0..60).map(|term| format!("(id + {column} - {term})")).collect::<Vec<_>>();
        terms.join(" + ")
    };
    let list = (0..1600).map(expression).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {list} FROM t");
    ends_in_time(&connection, &sql);
    let error = connection.prepare(&sql).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "parsing is given up, too: {error}");
}

/// A batch of long texts takes milliseconds to compute with, and none of its rows passes: a scan that goes through many
/// batches without a yield keeps the threads of all statements, even after its own was cancelled.
#[test]
fn scans_of_long_texts_leave_the_threads_to_others() {
    let connection = connection();
    let script = "SET statement_timeout = 0;
                  CREATE TABLE long AS SELECT repeat('long', 100000) AS v FROM range(6000);
                  SET statement_timeout = '300ms'";
    connection.execute_script(script).unwrap();
    for sql in [
        "SELECT max(length(v)) FROM long WHERE upper(reverse(lower(v))) = 'x'",
        "SELECT length(v) FROM long ORDER BY upper(reverse(lower(v))) DESC LIMIT 1",
    ] {
        ends_in_time(&connection, sql);
        let mut rows = connection.query("SELECT count(*) FROM t WHERE id < 10", &[]).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), 10, "after {sql}");
    }
}

/// All rows show one text while they are selected, and are a terabyte where they are kept.
#[test]
fn loads_of_one_text_many_times_are_given_up() {
    let connection = connection();
    ends_in_time(&connection, "INSERT INTO t SELECT id, repeat('x', 10000000) FROM t");
    ends_in_time(&connection, "CREATE TABLE u AS SELECT repeat('x', 10000000) AS v FROM t");
}

/// Statements that spend most of their time writing rows, not reading them.
#[test]
fn changes_of_many_rows_are_given_up() {
    let connection = connection();
    let script = "SET statement_timeout = 0;
                  CREATE TABLE k (id INT PRIMARY KEY, v TEXT);
                  INSERT INTO k SELECT i, 'row ' || i FROM range(300000) AS r(i);
                  SET statement_timeout = '300ms'";
    connection.execute_script(script).unwrap();
    let statements = [
        "UPDATE k SET id = id + 1000000",
        "INSERT INTO k SELECT id + 1000000, v FROM k ON CONFLICT DO NOTHING",
        "INSERT INTO k SELECT id + 1, v FROM k ON CONFLICT (id) DO UPDATE SET v = excluded.v",
        "MERGE INTO k USING (SELECT id + 1000000 AS id FROM k) n ON k.id = n.id
         WHEN NOT MATCHED THEN INSERT VALUES (n.id, '')",
    ];
    for statement in statements {
        ends_in_time(&connection, statement);
        connection.execute("BEGIN", &[]).unwrap();
        ends_in_time(&connection, statement);
        connection.execute("ROLLBACK", &[]).unwrap();
    }
    let mut rows = connection.query("SELECT count(*), max(id) FROM k", &[]).unwrap();
    let row = rows.next().unwrap().unwrap();
    assert_eq!((row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()), (300_000, 299_999));
}

#[test]
fn a_select_list_has_at_most_as_many_columns_as_in_postgresql() {
    let connection = connection();
    let list = |count: usize| {
        let columns = (0..count).map(|column| column.to_string()).collect::<Vec<_>>();
        format!("SELECT {}", columns.join(", "))
    };
    connection.execute("SET statement_timeout = 0", &[]).unwrap();
    connection.execute(&list(1664), &[]).unwrap();
    let error = connection.execute(&list(1665), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("target lists can have at most 1664 entries"), "{error}");
}
