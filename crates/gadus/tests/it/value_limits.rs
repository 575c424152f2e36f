//! Values that are large, and limits that are not in the way of others.

use gadus::{Connection, Database, ErrorKind, Options};

fn connection() -> Connection {
    let connection = Database::open_in_memory(Options::new().threads(2)).unwrap().connect();
    let script = "CREATE TABLE t (id INT, v TEXT);
                  INSERT INTO t SELECT i, 'row ' || i FROM range(100000) AS r(i);
                  CREATE SEQUENCE s";
    connection.execute_script(script).unwrap();
    connection
}

fn number(connection: &Connection, sql: &str) -> i64 {
    let mut rows = connection.query(sql, &[]).expect(sql);
    rows.next().unwrap().expect(sql).get::<i64>(0).unwrap()
}

#[test]
fn results_larger_than_a_batch_may_be_are_made_in_slices() {
    let connection = connection();
    connection.execute("SET gadus.memory_limit = '64MiB'", &[]).unwrap();
    let repeated = "SELECT CAST(sum(length(repeat(v, 2000))) AS BIGINT) FROM t";
    assert_eq!(
        number(&connection, repeated),
        2_000 * (10 * 5 + 90 * 6 + 900 * 7 + 9_000 * 8 + 90_000 * 9)
    );
    let constant = "SELECT count(*) FROM (SELECT repeat('k', 100000) AS v FROM t) x WHERE v > 'a'";
    assert_eq!(number(&connection, constant), 100_000);
}

#[test]
fn aggregates_in_several_stages_take_any_expression() {
    let connection = connection();
    for sql in [
        "SELECT count(v || v) FROM t",
        "SELECT max(n) FROM (SELECT id % 3 AS g, count(replace(v, 'r', 'xx')) AS n FROM t GROUP BY 1) x",
        "SELECT count(DISTINCT v || v) FROM t",
        "SELECT count(*) FROM (SELECT v || '!' AS w, min(repeat(v, 2)) FROM t GROUP BY v || '!') x",
    ] {
        assert!(number(&connection, sql) > 0, "{sql}");
    }
}

/// What is not evaluated for a row is not measured for it either.
#[test]
fn branches_that_are_not_taken_have_no_limit() {
    let connection = connection();
    for sql in [
        "SELECT count(CASE WHEN id < 0 THEN repeat(v, 2147483647) ELSE v END) FROM t",
        "SELECT count(CASE WHEN id <> 0 THEN repeat('x', 10 / id) ELSE v END) FROM t",
        "SELECT count(CASE WHEN id < 0 THEN repeat(v, 100000) || repeat(v, 100000) ELSE v END) FROM t",
    ] {
        assert_eq!(number(&connection, sql), 100_000, "{sql}");
    }
    let error = connection.execute("SELECT repeat(v, 2147483647) FROM t", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn arguments_with_effects_are_evaluated_once() {
    let connection = connection();
    let drawn = "SELECT count(repeat('x', CAST(nextval('s') AS INT) % 5)) FROM t";
    assert_eq!(number(&connection, drawn), 100_000);
    assert_eq!(number(&connection, "SELECT nextval('s')"), 100_001);
}
