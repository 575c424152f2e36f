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
    // The first rows filter the scan, where there are no slices.
    let first =
        "SELECT CAST(id AS BIGINT) FROM t WHERE id < 20000 ORDER BY repeat(v, 5000) DESC LIMIT 1";
    assert_eq!(number(&connection, first), 9);
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

/// Through both stages of grouping, and where a window asks for each row.
#[test]
fn joined_texts_have_the_delimiter_of_each_row() {
    let connection = connection();
    let script = "CREATE TABLE words (g INT, id INT, w TEXT, d TEXT);
                  INSERT INTO words VALUES (1, 1, 'a', '-'), (1, 2, NULL, '?'), (1, 3, 'b', NULL),
                                           (1, 4, 'c', '/'), (2, 5, NULL, '!')";
    connection.execute_script(script).unwrap();
    for (sql, expected) in [
        ("SELECT string_agg(w, d) FROM words", "ab/c"),
        ("SELECT string_agg(w, d) FROM words GROUP BY g ORDER BY g LIMIT 1", "ab/c"),
        ("SELECT coalesce(string_agg(w, d), 'none') FROM words WHERE g = 2", "none"),
        ("SELECT string_agg(w, ', ' ORDER BY id DESC) FROM words", "c, b, a"),
        ("SELECT string_agg(w, NULL) FROM words WHERE g = 1", "abc"),
        (
            "SELECT string_agg(s, '|' ORDER BY id) FROM \
             (SELECT id, string_agg(w, d) OVER (ORDER BY id) AS s FROM words WHERE g = 1) x",
            "a|a|ab|ab/c",
        ),
        ("SELECT string_agg(w, d) FILTER (WHERE id > 1) FROM words", "b/c"),
    ] {
        let mut rows = connection.query(sql, &[]).expect(sql);
        assert_eq!(rows.next().unwrap().expect(sql).get::<String>(0).unwrap(), expected, "{sql}");
    }
    let many = "SELECT CAST(sum(length(s)) AS BIGINT) FROM \
                (SELECT string_agg(v, ',') AS s FROM t GROUP BY id % 1000) x";
    let values = "SELECT CAST(sum(length(v)) + count(*) - 1000 AS BIGINT) FROM t";
    assert_eq!(number(&connection, many), number(&connection, values));
}

#[test]
fn joined_texts_beyond_their_part_of_the_limit_are_refused() {
    let connection = connection();
    connection.execute("SET gadus.memory_limit = '64MiB'", &[]).unwrap();
    for sql in [
        "SELECT length(string_agg(repeat(v, 100), ',')) FROM t",
        "SELECT max(length(s)) FROM (SELECT string_agg(repeat(v, 100), ',') AS s FROM t GROUP BY id < 0) x",
    ] {
        let error = connection.execute(sql, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{sql}: {error}");
    }
    assert_eq!(number(&connection, "SELECT length(string_agg(v, ',')) FROM t"), 988_889);
}

/// Each rule of the planner copies, hashes and prints what stands in a plan.
#[test]
fn large_constants_do_not_become_part_of_a_plan() {
    let connection = connection();
    for (sql, result) in [
        ("SELECT count(*) FROM t WHERE v > repeat('k', 3000000)", 100_000),
        (
            "SELECT CAST(max(length(repeat('k', 3000000) || id)) AS BIGINT) FROM t WHERE id < 20",
            3_000_002,
        ),
        ("SELECT count(*) FROM t WHERE id < 20 AND id = ANY(range(0, 1000000))", 20),
    ] {
        let explained = connection.query(&format!("EXPLAIN {sql}"), &[]).expect(sql);
        let lines = explained.map(|row| row.unwrap().get::<String>(0).unwrap());
        let length = lines.map(|line| line.len()).sum::<usize>();
        assert!(length < 10_000, "{sql}: {length}");
        assert_eq!(number(&connection, sql), result, "{sql}");
    }
}
