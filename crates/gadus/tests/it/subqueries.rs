//! Subqueries in the place of values.

use crate::statement::{refused, rows, run, with_table};
use gadus::{Connection, Database, Options};

/// A database with a table `t` of some numbers.
pub(crate) fn connect() -> Connection {
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

/// Each condition stands for itself, negated, and beside OR, where it is no plain condition of the filter.
#[test]
fn a_value_is_among_others_or_not_or_nobody_knows() {
    let connection = connect();
    run(&connection, "CREATE TABLE few (a INTEGER, b INTEGER)");
    run(&connection, "INSERT INTO few VALUES (5, 1), (NULL, 2), (3, 3), (1, NULL)");
    let cases = [
        // Nothing is among none, not even NULL.
        ("a IN (SELECT a FROM few WHERE b > 9)", "", "1 2 3 4 5"),
        ("a IN (SELECT a FROM few WHERE b = 1)", "1 4", "2 5"),
        // Of whom nobody knows whether it is there, it is neither said that it is nor that it is not.
        ("a IN (SELECT a FROM few WHERE b < 3)", "1 4", ""),
        ("a IN (SELECT f.a FROM few AS f WHERE f.a = t.a)", "1 2 4 5", "3"),
        ("a IN (SELECT f.a FROM few AS f WHERE f.b = t.id)", "1", "4 5"),
        ("a IN (SELECT f.a FROM few AS f WHERE f.b < t.id)", "4", "1 2"),
        ("a + 2 IN (SELECT f.b FROM few AS f WHERE f.b = t.a)", "", "1 2 3 4 5"),
        ("5 IN (SELECT f.a FROM few AS f WHERE f.b = t.id)", "1", "3 4 5"),
        ("CAST(a AS BIGINT) IN (SELECT f.b FROM few AS f WHERE f.b = t.a)", "2 5", "1 3 4"),
    ];
    let ids = |condition: &str| {
        rows(&connection, &format!("SELECT id FROM t WHERE {condition} ORDER BY id")).join(" ")
    };
    for (among, holds, fails) in cases {
        let not = among.replacen(" IN ", " NOT IN ", 1);
        assert_eq!([ids(among), ids(&not)], [holds, fails], "{among}");
        assert_eq!(ids(&format!("NOT ({among})")), fails, "{among}");
        assert_eq!(ids(&format!("id < 0 OR {among}")), holds, "{among}");
        assert_eq!(ids(&format!("id < 0 OR {not}")), fails, "{among}");
        assert_eq!(ids(&format!("NOT (id < 0 OR {among})")), fails, "{among}");
        assert_eq!(ids(&format!("NOT (id > 0 AND {not})")), holds, "{among}");
        let all = format!("SELECT id FROM t WHERE {not} UNION ALL SELECT id FROM t WHERE {among}");
        let both = rows(&connection, &all).len();
        assert_eq!(
            both,
            ids(among).split_whitespace().count() + ids(&not).split_whitespace().count()
        );
    }
}

#[test]
fn a_condition_over_an_aggregate_decides_whether_its_row_is_given() {
    let connection = connect();
    for condition in [
        "(SELECT count(*) FROM t WHERE b > 100) >= 3",
        "NULL OR (SELECT count(*) FROM t WHERE b > 100) >= 3",
        "EXISTS (SELECT 1 FROM t WHERE b > 100)",
        "n.c > 0 AND 77 IN (SELECT id FROM t)",
    ] {
        let queries = |condition: &str| {
            let among = format!("FROM (SELECT count(*) AS c FROM t) AS n WHERE {condition}");
            let having = condition.replace("n.c", "count(*)");
            let having = format!("SELECT count(*) FROM t AS n HAVING {having}");
            let joined = among.replace(" AS n ", " AS n JOIN (SELECT 1 AS one) AS o ON o.one < 2 ");
            let joined = format!("SELECT n.c {joined}");
            [format!("SELECT 7 {among}"), format!("SELECT DISTINCT n.c {among}"), having, joined]
        };
        for query in queries(condition) {
            assert!(rows(&connection, &query).is_empty(), "{query}");
        }
        for query in queries(&format!("NOT coalesce(({condition}), FALSE)")) {
            assert_eq!(rows(&connection, &query).len(), 1, "{query}");
        }
    }
}

/// A key of a table is none of groups that have other columns, too.
#[test]
fn groups_are_ordered_and_joined_by_all_of_their_columns() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE n (id INTEGER PRIMARY KEY, s TEXT)");
    run(&connection, "CREATE TABLE m (k INTEGER PRIMARY KEY, a INTEGER, s TEXT)");
    run(&connection, "INSERT INTO n VALUES (1, 'x'), (2, 'y')");
    run(
        &connection,
        "INSERT INTO m VALUES (1, 5, 'x'), (2, 1, 'x'), (3, 7, 'x'), (4, 2, 'x'), (5, 2, 'x')",
    );
    let joined = "FROM n JOIN m ON m.s = n.s";
    let distinct = format!("SELECT DISTINCT n.id, m.a {joined}");
    let ordered = ["1 1", "1 2", "1 5", "1 7"];
    assert_eq!(rows(&connection, &format!("{distinct} ORDER BY 1, 2")), ordered);
    let grouped = format!("SELECT n.id, m.a {joined} GROUP BY n.id, m.a ORDER BY n.id, m.a");
    assert_eq!(rows(&connection, &grouped), ordered);
    let counted =
        format!("SELECT n.id, n.s, m.a, count(*) {joined} GROUP BY n.id, m.a ORDER BY 1, 3 DESC");
    assert_eq!(rows(&connection, &counted), ["1 x 7 1", "1 x 5 1", "1 x 2 2", "1 x 1 1"]);
    let several =
        format!("SELECT n.id FROM n LEFT JOIN ({distinct}) AS d ON n.id = d.id ORDER BY 1");
    assert_eq!(rows(&connection, &several), ["1", "1", "1", "1", "2"]);
    let nested = format!(
        "SELECT id, a, sum(c) FROM (SELECT n.id, m.a, count(*) AS c {joined} GROUP BY n.id, m.a) AS d \
                          GROUP BY id, a ORDER BY id, a"
    );
    assert_eq!(rows(&connection, &nested), ["1 1 1", "1 2 2", "1 5 1", "1 7 1"]);
    let alone = "SELECT n.id, n.s, count(m.k) FROM n LEFT JOIN m ON m.s = n.s GROUP BY n.id ORDER BY n.s DESC";
    assert_eq!(rows(&connection, alone), ["2 y 0", "1 x 5"]);
}

#[test]
fn queries_stand_among_values() {
    let connection = with_table();
    assert_eq!(rows(&connection, "VALUES ((SELECT max(id) FROM t))"), ["3"]);
    let values = "SELECT x, y FROM (VALUES (1, (SELECT b FROM t WHERE id = 1)), (2.5, 'q'), (NULL, NULL)) AS v (x, y) \
                  WHERE y IS NOT NULL ORDER BY x";
    assert_eq!(rows(&connection, values).len(), 2);
    let exists = "VALUES (CASE WHEN EXISTS (SELECT 1 FROM t WHERE a IS NULL) THEN 1 ELSE 2 END)";
    assert_eq!(rows(&connection, exists), ["1"]);
    assert_eq!(
        rows(&connection, "VALUES (3 IN (SELECT id FROM t), 4 IN (SELECT id FROM t))"),
        ["true false"]
    );
    let next = "INSERT INTO t VALUES ((SELECT max(id) + 1 FROM t), (SELECT count(*) FROM t), 'new') RETURNING id, a, b";
    assert_eq!(rows(&connection, next), ["4 3 new"]);
    run(
        &connection,
        "INSERT INTO t VALUES (4, 0, 'x'), ((SELECT 9), 0, 'y') ON CONFLICT (id) DO UPDATE SET b = excluded.b",
    );
    assert_eq!(rows(&connection, "SELECT id, b FROM t WHERE id > 3 ORDER BY id"), ["4 x", "9 y"]);
}

#[test]
fn exists_and_in_are_values() {
    let connection = with_table();
    let one = |sql: &str| rows(&connection, sql).join(", ");
    assert_eq!(
        one("SELECT EXISTS (SELECT 1 FROM t WHERE id = 2), EXISTS (SELECT 1 FROM t WHERE id = 9)"),
        "true false"
    );
    assert_eq!(
        one("SELECT EXISTS (SELECT 1 AS one FROM t WHERE id > 1 ORDER BY id LIMIT 1) AS found"),
        "true"
    );
    assert_eq!(
        one("SELECT EXISTS (SELECT * FROM t LIMIT 0), NOT EXISTS (SELECT * FROM t OFFSET 3)"),
        "false true"
    );
    assert_eq!(
        one(
            "SELECT EXISTS (SELECT count(*) FROM t WHERE id = 9), EXISTS (SELECT DISTINCT a FROM t)"
        ),
        "true true"
    );
    // Of each row: by equality, and by other conditions.
    assert_eq!(
        one("SELECT EXISTS (SELECT 1 FROM t AS u WHERE u.id = t.id + 1) FROM t ORDER BY id"),
        "true, true, false"
    );
    assert_eq!(
        one("SELECT NOT EXISTS (SELECT 1 FROM t AS u WHERE u.id > t.id) FROM t ORDER BY id"),
        "false, false, true"
    );
    assert_eq!(
        one(
            "SELECT CASE WHEN EXISTS (SELECT 1 FROM t AS u WHERE u.a > t.a) THEN b END FROM t ORDER BY id"
        ),
        "x, NULL, NULL"
    );
    assert_eq!(
        one(
            "SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM t AS u WHERE u.id > t.id) THEN 1 ELSE 0 END) FROM t"
        ),
        "2"
    );
    assert_eq!(
        one(
            "SELECT id FROM t WHERE CASE WHEN EXISTS (SELECT 1 FROM t WHERE id = 9) THEN id = 1 ELSE id = 2 END"
        ),
        "2"
    );
    assert_eq!(
        one("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.id = t.id + 1) = false"),
        "3"
    );
}

#[test]
fn in_is_a_value_of_three() {
    let connection = with_table();
    let one = |sql: &str| rows(&connection, sql).join(", ");
    assert_eq!(
        one(
            "SELECT 20 IN (SELECT a FROM t), 21 IN (SELECT a FROM t), 21 IN (SELECT a FROM t WHERE a > 0)"
        ),
        "true NULL false"
    );
    assert_eq!(
        one(
            "SELECT NULL IN (SELECT a FROM t), NULL IN (SELECT a FROM t WHERE id = 9), 1 NOT IN (SELECT id FROM t)"
        ),
        "NULL false false"
    );
    assert_eq!(
        one("SELECT a IN (SELECT u.a FROM t AS u WHERE u.id < 3) FROM t ORDER BY id"),
        "true, true, NULL"
    );
    assert_eq!(
        one("SELECT a NOT IN (SELECT u.a + 10 FROM t AS u WHERE u.id < t.id) FROM t ORDER BY id"),
        "true, false, NULL"
    );
    connection.execute("UPDATE t SET b = CASE WHEN EXISTS (SELECT 1 FROM t AS u WHERE u.id > t.id) THEN 'more' ELSE 'last' END", &[]).unwrap();
    assert_eq!(one("SELECT b FROM t ORDER BY id"), "more, more, last");
}

#[test]
fn a_column_around_has_the_type_that_its_query_gives_it() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a INT, b BIGINT, f BOOLEAN, x DOUBLE PRECISION)");
    run(&connection, "INSERT INTO t VALUES (1, 1, true, 1.5), (2, 3, NULL, 2.5)");
    let case = "(SELECT CASE WHEN f THEN a ELSE 0 END AS c FROM t) AS d";
    let union = "(SELECT a AS c FROM t UNION ALL SELECT x FROM t) AS d";
    for (sql, answer) in [
        (
            format!("SELECT c FROM {case} WHERE EXISTS (SELECT 1 FROM t AS m WHERE m.a >= d.c)"),
            "0 1",
        ),
        (
            format!(
                "SELECT c FROM {case} WHERE EXISTS (SELECT 1 FROM t AS m WHERE m.a = d.c AND m.b > d.c)"
            ),
            "",
        ),
        (
            format!(
                "SELECT c FROM {case} CROSS JOIN t AS y WHERE c IN (SELECT a FROM t AS m WHERE m.a = y.b)"
            ),
            "1",
        ),
        (format!("SELECT (SELECT max(m.b) FROM t AS m WHERE m.a + d.c > 1) FROM {case}"), "3 3"),
        (format!("SELECT (SELECT max(m.a) FROM t AS m WHERE m.a > d.c) FROM {case}"), "2 2"),
        (
            format!("SELECT c FROM {union} WHERE EXISTS (SELECT 1 FROM t AS m WHERE m.a = d.c)"),
            "1 2",
        ),
        (
            format!("SELECT c FROM {union} WHERE EXISTS (SELECT 1 FROM t AS m WHERE m.a < d.c)"),
            "1.5 2 2.5",
        ),
        (
            format!(
                "SELECT c FROM {union} WHERE c NOT IN (SELECT m.a FROM t AS m WHERE m.b < d.c)"
            ),
            "1 1.5 2 2.5",
        ),
        (
            format!(
                "SELECT c FROM {union} WHERE EXISTS (SELECT 1 FROM t AS m WHERE m.a < d.c AND EXISTS
                 (SELECT 1 FROM t AS n WHERE n.b > m.a))"
            ),
            "1.5 2 2.5",
        ),
    ] {
        let mut found = rows(&connection, &sql);
        found.sort();
        let found = found.join(" ").replace(".0", "");
        assert_eq!(found, answer, "{sql}");
    }
}

#[test]
fn a_query_that_finds_nothing_is_null() {
    let connection = with_table();
    for (sql, answer) in [
        ("SELECT (SELECT 1 FROM t WHERE id = 9)", "NULL"),
        ("SELECT (SELECT abs(3) FROM t WHERE id = 9 ORDER BY id LIMIT 1)", "NULL"),
        (
            "SELECT b, (SELECT abs(3) FROM t WHERE id IN (8, 9) ORDER BY id DESC LIMIT 1) FROM t WHERE id = 1",
            "x NULL",
        ),
        ("SELECT (SELECT id FROM t WHERE id = 9), (SELECT count(*) FROM t WHERE id = 9)", "NULL 0"),
        (
            "SELECT (SELECT 7 WHERE 1 = 2) IS NULL, coalesce((SELECT id FROM t WHERE id < 0 LIMIT 1), 8)",
            "true 8",
        ),
        ("SELECT id FROM t WHERE (SELECT 1 FROM t WHERE id = 9) IS NULL AND id < 2", "1"),
    ] {
        assert_eq!(rows(&connection, sql).join("; "), answer, "{sql}");
    }
    refused(&connection, "SELECT (SELECT id, a FROM t WHERE id = 1)");
}

/// A query that stands for a value is called as its column is, which another column may be, too.
#[test]
fn values_of_queries_stand_beside_columns_of_the_same_name() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a INT)");
    run(&connection, "INSERT INTO t VALUES (1), (2)");
    for (sql, expected) in [
        ("SELECT count(*), (SELECT count(*) FROM t WHERE a > 1) FROM t", "2 1"),
        ("SELECT 1, (SELECT 1)", "1 1"),
        ("SELECT a, (SELECT a FROM t ORDER BY a LIMIT 1) FROM t WHERE a = 2", "2 1"),
        (
            "SELECT (SELECT max(t.a) FROM t), a, (SELECT min(a) AS a FROM t) FROM t WHERE a = 2",
            "2 2 1",
        ),
        ("SELECT x FROM (SELECT (SELECT max(a) AS x FROM t)) AS s", "2"),
    ] {
        assert_eq!(rows(&connection, sql), [expected], "{sql}");
    }
}
