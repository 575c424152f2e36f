//! What becomes of decimal places that a type has no room for: PostgreSQL 15 and DuckDB 1 round, too.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, params};

const NUMBERS: [f64; 8] = [0.5, 1.5, 1.6, 2.5, -0.5, -2.5, -1.6, 0.0];

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (d DECIMAL(10,2), f DOUBLE, r REAL, i INT)");
    for number in NUMBERS {
        connection
            .execute("INSERT INTO t VALUES (?, ?, ?, NULL)", params![number, number, number])
            .unwrap();
    }
    connection
}

fn one(connection: &Connection, sql: &str) -> String {
    rows(connection, sql).join(", ")
}

#[test]
fn casts_round_decimals_away_from_zero_and_doubles_to_even() {
    let connection = connect();
    let all = |what: &str| one(&connection, &format!("SELECT {what} FROM t"));
    assert_eq!(all("d::INT"), "1, 2, 2, 3, -1, -3, -2, 0");
    assert_eq!(all("CAST(d AS BIGINT)"), "1, 2, 2, 3, -1, -3, -2, 0");
    assert_eq!(all("f::INT"), "0, 2, 2, 2, 0, -2, -2, 0");
    assert_eq!(all("r::SMALLINT"), "0, 2, 2, 2, 0, -2, -2, 0");
    assert_eq!(all("TRY_CAST(d AS INT)"), "1, 2, 2, 3, -1, -3, -2, 0");
    assert_eq!(
        one(&connection, "SELECT 1.6::INT, (2.5)::BIGINT, 3.5::FLOAT8::INT, 99.99::INT"),
        "2 3 4 100"
    );
    assert_eq!(
        one(&connection, "SELECT 1.25::DECIMAL(3,1)::TEXT, 9.99::DECIMAL(4,1)::TEXT"),
        "1.3 10.0"
    );
    assert_eq!(one(&connection, "SELECT NULL::DECIMAL(4,2)::INT, 0.4::INT, -0.4::INT"), "NULL 0 0");
    assert_eq!(refused(&connection, "SELECT 9.99::DECIMAL(2,1)").kind(), ErrorKind::OutOfRange);
    assert_eq!(refused(&connection, "SELECT 127.5::TINYINT").kind(), ErrorKind::OutOfRange);
}

#[test]
fn what_is_cast_is_found_by_what_it_became() {
    let connection = connect();
    let found = |condition: &str| one(&connection, &format!("SELECT f FROM t WHERE {condition}"));
    assert_eq!(found("d::INT = 2"), "1.5, 1.6");
    assert_eq!(found("f::INT = 2"), "1.5, 1.6, 2.5");
    assert_eq!(found("d::INT > 1 AND d::INT < 3"), "1.5, 1.6");
    assert_eq!(found("d::INT IN (1, -3)"), "0.5, -2.5");
    assert_eq!(found("d::DECIMAL(10,1) = 1.6"), "1.6");
    run(&connection, "UPDATE t SET d = 1.55 WHERE f = 1.6");
    assert_eq!(found("d::DECIMAL(10,1) = 1.6"), "1.6");
    assert_eq!(found("d::DECIMAL(10,1) > 1.5"), "1.6, 2.5");
}

#[test]
fn assignments_round_as_casts_do() {
    let connection = connect();
    run(&connection, "UPDATE t SET i = d");
    assert_eq!(one(&connection, "SELECT i FROM t"), "1, 2, 2, 3, -1, -3, -2, 0");
    run(&connection, "UPDATE t SET i = f");
    assert_eq!(one(&connection, "SELECT i FROM t"), "0, 2, 2, 2, 0, -2, -2, 0");
    run(&connection, "DELETE FROM t");
    run(&connection, "INSERT INTO t (i) VALUES (1.6), (2.5), (-2.5), (3.49)");
    run(&connection, "INSERT INTO t (i) SELECT 1.5");
    connection.execute("INSERT INTO t (i) VALUES (?)", params![1.7]).unwrap();
    assert_eq!(one(&connection, "SELECT i FROM t"), "2, 3, -3, 3, 2, 2");
    connection.execute("UPDATE t SET i = ? WHERE i = 3", params![-0.6]).unwrap();
    assert_eq!(one(&connection, "SELECT count(*) FROM t WHERE i = -1"), "2");
    let cast = connection.prepare("SELECT CAST(? AS INT)").unwrap();
    let rows = cast.query(&[1.6.into()]).unwrap().collect_batches().unwrap();
    assert_eq!(
        gadus::arrow::util::pretty::pretty_format_batches(&rows)
            .unwrap()
            .to_string()
            .matches('2')
            .count(),
        1
    );
}
