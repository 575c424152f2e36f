//! What the tests of statements do with a connection.

use gadus::{Connection, Database, Error, Options, Row, Value};

/// To a database in memory with a small table.
pub(crate) fn with_table() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER, b TEXT); \
                  INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, NULL, 'z')";
    connection.execute_script(script).unwrap();
    connection
}

pub(crate) fn run(connection: &Connection, sql: &str) {
    connection.execute(sql, &[]).map_err(|error| format!("{sql}: {error}")).unwrap();
}

pub(crate) fn refused(connection: &Connection, sql: &str) -> Error {
    connection.execute(sql, &[]).expect_err(sql)
}

/// All rows as text.
pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let rows = connection.query(sql, &[]).map_err(|error| format!("{sql}: {error}")).unwrap();
    let columns = rows.schema().fields().len();
    let row = |row: Row| {
        let cell = |column| match row.value(column).unwrap() {
            Value::Integer(value) => value.to_string(),
            Value::Text(value) => value,
            Value::Null => "NULL".to_owned(),
            Value::Float(value) => value.to_string(),
            Value::Boolean(value) => value.to_string(),
            Value::Decimal(value, 0) => value.to_string(),
            Value::Interval(value) => value.to_string(),
            other => format!("{other:?}"),
        };
        (0..columns).map(cell).collect::<Vec<_>>().join(" ")
    };
    rows.map(|each| row(each.unwrap())).collect()
}

pub(crate) fn headings(connection: &Connection, sql: &str) -> Vec<String> {
    let rows = connection.query(sql, &[]).unwrap();
    rows.schema().fields().iter().map(|field| field.name().clone()).collect()
}
