//! Rows and values, there and back.

use gadus::arrow::array::{Int64Array, RecordBatch, StringArray};
use gadus::arrow::datatypes::{DataType, Field, Schema};
use gadus::{Connection, Database, ErrorKind, Options, Value, params};
use std::sync::Arc;

fn connection() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

#[test]
fn values_of_every_type_come_back_as_they_went_in() {
    let connection = connection();
    connection
        .execute(
            "CREATE TABLE t (b BOOLEAN, i SMALLINT, l BIGINT, u BIGINT UNSIGNED, f REAL, \
             d DOUBLE, n DECIMAL(20, 3), s TEXT, x BYTEA, day DATE, at TIME, \
             t TIMESTAMP, z TIMESTAMP WITH TIME ZONE)",
            &[],
        )
        .unwrap();
    let values = [
        Value::Boolean(true),
        Value::Integer(-7),
        Value::Integer(i64::MIN),
        Value::Decimal(u64::MAX.into(), 0),
        Value::Float(0.5),
        Value::Float(-1e300),
        Value::Decimal(-1_234_567, 3),
        Value::Text("Käse 🧀".to_owned()),
        Value::Binary(vec![0, 255, 1]),
        Value::Date(-1),
        Value::Time(86_399_999_999),
        Value::Timestamp(1_700_000_000_000_001),
        Value::TimestampUtc(-5),
    ];
    let insert = "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    assert_eq!(connection.execute(insert, &values).unwrap(), 1);
    let nulls = vec![Value::Null; values.len()];
    assert_eq!(connection.execute(insert, &nulls).unwrap(), 1);
    let rows = connection.query("SELECT * FROM t", &[]).unwrap();
    let rows = rows.collect::<Result<Vec<_>, _>>().unwrap();
    for (index, value) in values.iter().enumerate() {
        assert_eq!(&rows[0].value(index).unwrap(), value);
        assert_eq!(rows[1].value(index).unwrap(), Value::Null);
    }
    assert_eq!(rows[0].get::<u64>("u").unwrap(), u64::MAX);
    assert_eq!(rows[0].get::<i16>("i").unwrap(), -7);
    assert_eq!(rows[0].get::<Option<String>>("s").unwrap().unwrap(), "Käse 🧀");
    assert_eq!(rows[1].get::<Option<bool>>(0).unwrap(), None);
}

#[test]
fn a_value_is_given_only_as_a_type_that_holds_it() {
    let connection = connection();
    let mut rows = connection.query("SELECT 300 AS n, 'x' AS s, NULL AS nothing", &[]).unwrap();
    let row = rows.next().unwrap().unwrap();
    assert_eq!(row.columns(), 3);
    assert_eq!(row.get::<i32>("n").unwrap(), 300);
    assert_eq!(row.get::<u8>("n").unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(row.get::<i64>("s").unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(row.get::<i64>("nothing").unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(row.get::<i64>("other").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(row.get::<i64>(3).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(rows.next().is_none());
}

#[test]
fn rows_that_have_ended_stay_so() {
    let connection = connection();
    // A plan that is made, one that is kept, a compiled statement.
    connection.execute("CREATE TABLE t (n BIGINT)", &[]).unwrap();
    for text in ["SELECT 1", "SELECT 1", "SELECT 1", "SELECT n FROM t WHERE n = 1"] {
        let mut rows = connection.query(text, &[]).unwrap();
        while rows.next_batch().unwrap().is_some() {}
        assert!(rows.next_batch().unwrap().is_none());
        assert!(rows.next().is_none());
    }
}

#[test]
fn batches_continue_where_single_rows_ended() {
    let connection = connection();
    connection.execute("CREATE TABLE t (n BIGINT)", &[]).unwrap();
    let mut appender = connection.appender("t").unwrap();
    appender.append(batch(&["n"], 0..20_000)).unwrap();
    assert_eq!(appender.finish().unwrap(), 20_000);
    let mut rows = connection.query("SELECT n FROM t", &[]).unwrap();
    assert_eq!(rows.schema().field(0).name(), "n");
    assert!(rows.next().unwrap().is_ok());
    let rest: usize = rows.collect_batches().unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rest, 19_999);
}

#[test]
fn an_appender_loads_many_segments_and_casts() {
    let connection = connection();
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", &[]).unwrap();
    let mut appender = connection.appender("t").unwrap();
    for first in (0..300_000).step_by(1_000) {
        appender.append(named(first..first + 1_000)).unwrap();
    }
    // Another connection sees nothing until the appender commits.
    assert_eq!(count(&connection), 0);
    assert_eq!(appender.finish().unwrap(), 300_000);
    assert_eq!(count(&connection), 300_000);
    let row = connection.query("SELECT name FROM t WHERE id = ?", params![299_999]).unwrap();
    let row = row.map(Result::unwrap).next().unwrap();
    assert_eq!(row.get::<String>(0).unwrap(), "row 299999");
}

#[test]
fn an_appender_joins_the_open_transaction_or_is_dropped_without_a_trace() {
    let connection = connection();
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", &[]).unwrap();
    let mut appender = connection.appender("t").unwrap();
    appender.append(named(0..10)).unwrap();
    drop(appender);
    assert_eq!(count(&connection), 0);

    connection.execute("BEGIN", &[]).unwrap();
    let mut appender = connection.appender("t").unwrap();
    appender.append(named(0..10)).unwrap();
    appender.finish().unwrap();
    assert_eq!(count(&connection), 10);
    connection.execute("ROLLBACK", &[]).unwrap();
    assert_eq!(count(&connection), 0);

    let mut appender = connection.appender("t").unwrap();
    appender.append(named(0..10)).unwrap();
    assert_eq!(appender.flush().unwrap(), 10);
    appender.append(named(0..10)).unwrap();
    assert_eq!(appender.finish().unwrap_err().kind(), ErrorKind::UniqueViolation);
    assert_eq!(count(&connection), 10);
    let mut appender = connection.appender("nowhere").unwrap();
    appender.append(named(0..10)).unwrap();
    assert_eq!(appender.finish().unwrap_err().kind(), ErrorKind::NotFound);
}

fn count(connection: &Connection) -> i64 {
    let mut rows = connection.query("SELECT count(*) FROM t", &[]).unwrap();
    rows.next().unwrap().unwrap().get(0).unwrap()
}

fn batch(names: &[&str], numbers: std::ops::Range<i64>) -> RecordBatch {
    let schema = Schema::new(vec![Field::new(names[0], DataType::Int64, false)]);
    let column = Arc::new(Int64Array::from_iter_values(numbers));
    RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap()
}

fn named(numbers: std::ops::Range<i64>) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("name", DataType::Utf8, false),
    ]);
    let names = numbers.clone().map(|number| format!("row {number}"));
    let names = Arc::new(StringArray::from_iter_values(names));
    let ids = Arc::new(Int64Array::from_iter_values(numbers));
    RecordBatch::try_new(Arc::new(schema), vec![ids, names]).unwrap()
}
