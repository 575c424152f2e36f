//! Subqueries in the place of values.

use crate::statement::{rows, run};
use gadus::{Connection, Database, Options};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INTEGER, a INTEGER, b INTEGER)");
    run(
        &connection,
        "INSERT INTO t VALUES (1, 5, 9), (2, 3, 8), (3, NULL, 7), (4, 5, NULL), (5, 1, 1)",
    );
    connection
}

#[test]
fn a_value_depends_on_the_row_around_by_any_condition() {
    let connection = connect();
    let smaller = "SELECT id, (SELECT count(*) FROM t AS x WHERE x.a < t.a) FROM t ORDER BY id";
    assert_eq!(rows(&connection, smaller), ["1 2", "2 1", "3 0", "4 2", "5 0"]);
    let both =
        "SELECT id, (SELECT count(*) FROM t AS x WHERE x.a < t.a AND x.b > t.b) FROM t ORDER BY id";
    assert_eq!(rows(&connection, both), ["1 0", "2 0", "3 0", "4 0", "5 0"]);
    let largest = "SELECT id, (SELECT max(x.b) + t.id FROM t AS x WHERE x.a <= t.a OR x.id = t.id) \
                   FROM t ORDER BY id";
    assert_eq!(rows(&connection, largest), ["1 10", "2 10", "3 10", "4 13", "5 6"]);
}

#[test]
fn such_values_stand_wherever_values_do() {
    let connection = connect();
    let filter =
        "SELECT id FROM t WHERE 1 < (SELECT count(*) FROM t AS x WHERE x.a < t.a) ORDER BY id";
    assert_eq!(rows(&connection, filter), ["1", "4"]);
    let case = "SELECT CASE WHEN (SELECT count(*) FROM t AS x WHERE x.a < t.a) > 0 THEN 'more' ELSE 'least' END, \
                (SELECT sum(x.id) FROM t AS x WHERE x.a > t.a) FROM t WHERE a IS NOT NULL ORDER BY id";
    assert_eq!(rows(&connection, case), ["more NULL", "more 5", "more NULL", "least 7"]);
    let total = "SELECT sum((SELECT count(*) FROM t AS x WHERE x.a < t.a)) FROM t";
    assert_eq!(rows(&connection, total), ["5"]);
    run(&connection, "UPDATE t SET b = (SELECT count(*) FROM t AS x WHERE x.a < t.a) WHERE id < 3");
    assert_eq!(rows(&connection, "SELECT b FROM t WHERE id < 3 ORDER BY id"), ["2", "1"]);
}

#[test]
fn filters_of_aggregates_and_distinct_values_are_kept() {
    let connection = connect();
    let sql = "SELECT id, (SELECT count(DISTINCT x.a) FILTER (WHERE x.b > 7) FROM t AS x WHERE x.id <> t.id) \
               FROM t ORDER BY id";
    assert_eq!(rows(&connection, sql), ["1 1", "2 1", "3 2", "4 2", "5 2"]);
}

#[test]
fn columns_of_the_same_expression_may_stand_side_by_side() {
    let connection = connect();
    for (sql, first) in [
        ("SELECT + a, a AS a FROM t WHERE id = 1", "5 5"),
        ("SELECT - + a, - a FROM t WHERE id = 1", "-5 -5"),
        ("SELECT COUNT(*), + count( * ) FROM t", "5 5"),
        ("SELECT id, a + 1 AS id FROM t WHERE id = 1", "1 6"),
        ("SELECT DISTINCT x.a, 94 AS a FROM t AS x WHERE id = 1", "5 94"),
    ] {
        assert_eq!(rows(&connection, sql), [first], "{sql}");
    }
}
