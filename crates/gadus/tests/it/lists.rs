//! Values beside the elements of lists: ANY and ALL, lists as PostgreSQL writes them, lists as values.

use gadus::arrow::array::Int32Array;
use gadus::arrow::datatypes::DataType;
use gadus::{Connection, Database, Options, Value};
use std::sync::Arc;

fn connection() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT, d DOUBLE)", &[]).unwrap();
    let rows = "INSERT INTO t SELECT x, CASE WHEN x % 3 = 0 THEN NULL ELSE x END, x / 2.0
                FROM generate_series(1, 30) AS g(x)";
    connection.execute(rows, &[]).unwrap();
    connection
}

/// The one boolean of a statement; none for NULL.
fn answer(connection: &Connection, sql: &str) -> Option<bool> {
    let mut rows = connection.query(sql, &[]).unwrap();
    rows.next().unwrap().unwrap().get::<Option<bool>>(0).unwrap()
}

fn count(connection: &Connection, condition: &str, values: &[Value]) -> i64 {
    let sql = format!("SELECT count(*) FROM t WHERE {condition}");
    let mut rows = connection.query(&sql, values).unwrap();
    rows.next().unwrap().unwrap().get(0).unwrap()
}

/// What is not known of an element that would decide is not known of the list: PostgreSQL's answers.
#[test]
fn nulls_among_elements_are_unknown() {
    let connection = connection();
    let (yes, no, unknown) = (Some(true), Some(false), None);
    for (sql, expected) in [
        ("3 = ANY (ARRAY[1, NULL])", unknown),
        ("3 = ANY (ARRAY[3, NULL])", yes),
        ("3 = ANY (ARRAY[1, 2])", no),
        ("NULL = ANY (ARRAY[1])", unknown),
        ("NULL = ANY (ARRAY[]::int[])", no),
        ("3 = ANY (NULL::int[])", unknown),
        ("3 <> ALL (ARRAY[1, NULL])", unknown),
        ("3 <> ALL (ARRAY[3, NULL])", no),
        ("3 <> ALL (ARRAY[]::int[])", yes),
        ("3 > ANY (ARRAY[7, NULL])", unknown),
        ("3 > SOME (ARRAY[1, NULL])", yes),
        ("3 < ALL (ARRAY[1, NULL])", no),
        ("3 < ALL (ARRAY[7, NULL])", unknown),
        ("3 <= ALL (ARRAY[3, 4])", yes),
        ("3 >= ANY (ARRAY[4])", no),
        ("3 <> ANY (ARRAY[3, 4])", yes),
        ("3 = ALL (ARRAY[3, 3])", yes),
        ("'b' = ANY ('{a,b}')", yes),
        ("2 = ANY ('{1,NULL}')", unknown),
        ("1.5 = ANY (ARRAY[1.50::double])", yes),
    ] {
        assert_eq!(answer(&connection, &format!("SELECT {sql}")), expected, "{sql}");
    }
}

#[test]
fn rows_are_found_by_lists() {
    let connection = connection();
    for (condition, expected) in [
        ("id = ANY (ARRAY[1, 2, NULL, 31])", 2),
        ("NOT (n = ANY (ARRAY[4, NULL]))", 0),
        ("n <> ALL ('{4,5}')", 18),
        ("n < ANY (ARRAY[id, 5])", 3),
        ("n = ALL (ARRAY[id])", 20),
        ("d = ANY (ARRAY[0.5, 1])", 2),
        ("id = ANY (SELECT n FROM t)", 20),
        ("id <> ALL (SELECT n FROM t WHERE n IS NOT NULL)", 10),
    ] {
        assert_eq!(count(&connection, condition, &[]), expected, "{condition}");
    }
    let deleted = connection.execute("DELETE FROM t WHERE id = ANY ('{1,2,99}')", &[]).unwrap();
    assert_eq!(deleted, 2);
}

#[test]
fn lists_are_values_of_parameters() {
    let connection = connection();
    let ids = Value::List(Arc::new(Int32Array::from(vec![Some(1), Some(30), Some(31), None])));
    assert_eq!(count(&connection, "id = ANY ($1)", std::slice::from_ref(&ids)), 2);
    assert_eq!(count(&connection, "id > ALL ($1)", &[ids]), 0);
    let none = Value::list(&DataType::Int32, []).unwrap();
    assert_eq!(count(&connection, "id = ANY ($1)", std::slice::from_ref(&none)), 0);
    assert_eq!(count(&connection, "id <> ALL ($1)", &[none]), 30);
    let doubles = Value::list(&DataType::Float64, [Value::Integer(1), Value::Null]).unwrap();
    assert_eq!(count(&connection, "d = ANY ($1)", &[doubles]), 1);
    assert!(Value::list(&DataType::Int32, [Value::Text("x".to_owned())]).is_err());
    let mut rows = connection.query("SELECT 1 = ANY ('1,2')", &[]).unwrap();
    let error = rows.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("is no list"), "{error}");
}

#[test]
fn parameters_beside_lists_have_their_types() {
    let connection = connection();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let describe = |sql: &str| {
        let prepared = connection.prepare(sql).unwrap();
        runtime.block_on(prepared.describe()).unwrap().parameters.clone()
    };
    let types = describe("SELECT * FROM t WHERE id = ANY ($1) AND d > ALL ($2)");
    let element = |place: &Option<DataType>| match place {
        Some(DataType::List(of)) => of.data_type().clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(types.iter().map(element).collect::<Vec<_>>(), [DataType::Int32, DataType::Float64]);
    assert_eq!(describe("SELECT $1 >= ANY (ARRAY[1])"), [Some(DataType::Int64)]);
}
