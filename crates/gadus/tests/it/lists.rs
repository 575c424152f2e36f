//! Values beside the elements of lists: ANY and ALL, lists as PostgreSQL writes them, lists as values.

use crate::statement::{refused, rows, run};
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
    let error = connection.query("SELECT 1 = ANY ('1,2')", &[]).unwrap_err();
    assert_eq!(error.to_string(), "malformed array literal: \"1,2\"");
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
    assert_eq!(describe("SELECT $1 >= ANY (ARRAY[1])"), [Some(DataType::Int32)]);
}

#[test]
fn a_list_is_made_of_a_querys_rows() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE o (id INTEGER PRIMARY KEY, name TEXT)");
    run(
        &connection,
        "CREATE TABLE g (id INTEGER PRIMARY KEY, of INTEGER, tag TEXT, weight INTEGER)",
    );
    run(&connection, "INSERT INTO o VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    run(
        &connection,
        "INSERT INTO g VALUES (1, 1, 'a', 10), (2, 1, 'b', 9), (3, 2, 'c', 100), (4, 1, NULL, 11), (5, 2, 'c', 1)",
    );
    for (query, expected) in [
        ("SELECT ARRAY(SELECT tag FROM g ORDER BY weight)::text", "{c,b,a,NULL,c}"),
        ("SELECT ARRAY(SELECT tag FROM g ORDER BY weight DESC LIMIT 3)::text", "{c,NULL,a}"),
        ("SELECT ARRAY(SELECT tag FROM g ORDER BY weight OFFSET 3)::text", "{NULL,c}"),
        ("SELECT ARRAY(SELECT id FROM g ORDER BY id DESC)::text", "{5,4,3,2,1}"),
        ("SELECT ARRAY(SELECT id AS X FROM g ORDER BY x DESC LIMIT 2)::text", "{5,4}"),
        ("SELECT ARRAY(SELECT -id FROM g ORDER BY 1)::text", "{-5,-4,-3,-2,-1}"),
        // The heading, which is a text.
        ("SELECT ARRAY(SELECT weight::text FROM g ORDER BY weight)::text", "{1,10,100,11,9}"),
        (
            "SELECT ARRAY(SELECT DISTINCT tag FROM g ORDER BY tag DESC NULLS LAST)::text",
            "{c,b,a,NULL}",
        ),
        (
            "SELECT ARRAY(SELECT tag FROM g WHERE id < 3 UNION ALL SELECT 'z' ORDER BY 1)::text",
            "{a,b,z}",
        ),
        ("SELECT ARRAY(SELECT max(weight) FROM g GROUP BY of ORDER BY of)::text", "{11,100}"),
        ("SELECT ARRAY(SELECT of FROM g GROUP BY of ORDER BY count(*) DESC)::text", "{1,2}"),
        ("SELECT ARRAY(VALUES (3), (1), (2) ORDER BY 1)::text", "{1,2,3}"),
        (
            "SELECT ARRAY(WITH w AS (SELECT id FROM g) SELECT id FROM w ORDER BY id)::text",
            "{1,2,3,4,5}",
        ),
        ("SELECT ARRAY(SELECT id FROM g WHERE id > 9)::text", "{}"),
        ("SELECT array_length(ARRAY(SELECT id FROM g))", "5"),
        ("SELECT array_to_string(ARRAY(SELECT tag FROM g WHERE of = 2 ORDER BY id), '-')", "c-c"),
        ("SELECT count(*) FROM g WHERE id = ANY (ARRAY(SELECT id FROM g WHERE of = 1))", "3"),
        ("SELECT sum(x) FROM unnest(ARRAY(SELECT weight FROM g)) AS u(x)", "131"),
        (
            "SELECT ARRAY(SELECT ARRAY(SELECT h.id FROM g AS h WHERE h.of = o.id ORDER BY 1)::text FROM o ORDER BY id)::text",
            "{\"{1,2,4}\",\"{3,5}\",\"{}\"}",
        ),
    ] {
        assert_eq!(rows(&connection, query), [expected], "{query}");
    }
    let beside = "SELECT o.name, ARRAY(SELECT tag FROM g WHERE g.of = o.id ORDER BY g.weight)::text FROM o ORDER BY o.id";
    assert_eq!(rows(&connection, beside), ["one {b,a,NULL}", "two {c,c}", "three {}"]);
    let first = "SELECT ARRAY(SELECT g.id FROM g WHERE g.of = o.id ORDER BY weight LIMIT 1)::text FROM o ORDER BY id";
    assert_eq!(rows(&connection, first), ["{2}", "{5}", "{}"]);
    for (query, why) in [
        ("SELECT ARRAY(SELECT id, tag FROM g)", "gives several columns"),
        ("SELECT ARRAY(SELECT * FROM g)", "name one"),
        ("SELECT ARRAY(SELECT id FROM nowhere)", "nowhere"),
        (
            "SELECT ARRAY(SELECT DISTINCT tag FROM g ORDER BY weight)",
            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        ),
        ("SELECT ARRAY(SELECT id FROM g UNION SELECT id FROM o ORDER BY -id)", "does not give"),
    ] {
        let error = refused(&connection, query).to_string();
        assert!(error.contains(why), "{query}: {error}");
    }
}

#[test]
fn lists_are_written_as_they_are_read() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    for (list, expected) in [
        ("ARRAY[1, NULL, 3]", "{1,NULL,3}"),
        (
            "ARRAY['a b', NULL, '', 'NULL', 'x,y', 'q\"\\', 'ö']",
            r#"{"a b",NULL,"","NULL","x,y","q\"\\",ö}"#,
        ),
        ("ARRAY[true, false]", "{t,f}"),
        ("ARRAY[1.50, 2.25]", "{1.50,2.25}"),
        ("ARRAY[DATE '2025-03-01']", "{2025-03-01}"),
        ("ARRAY[TIMESTAMP '2025-03-01 12:00:00']", "{\"2025-03-01 12:00:00\"}"),
        ("ARRAY[ARRAY[1, 2], ARRAY[3, 4]]", "{{1,2},{3,4}}"),
        ("ARRAY[INTERVAL '1 day']", "{\"1 day\"}"),
        ("CAST(ARRAY[] AS INTEGER[])", "{}"),
        ("CAST(NULL AS INTEGER[])", "NULL"),
    ] {
        let query = format!("SELECT ({list})::text");
        assert_eq!(rows(&connection, &query), [expected], "{list}");
    }
    let again = "SELECT count(*) FROM (VALUES (ARRAY['a b', NULL, '', 'NULL', 'x,y'])) AS v(l) WHERE l::text::text[] = l";
    assert_eq!(rows(&connection, again), ["1"]);
}
