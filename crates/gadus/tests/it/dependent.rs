//! Queries that depend on the row around them in any way: as PostgreSQL 15 answers.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Options, Reason};

/// Customers, and what they ordered; one has ordered nothing, and one order is nobody's.
fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)");
    run(
        &connection,
        "INSERT INTO c VALUES (1, 'ann', 1), (2, 'bob', NULL), (3, 'cid', 2), (4, 'dan', 9)",
    );
    run(&connection, "CREATE TABLE o (id INTEGER, c INTEGER, v INTEGER, s TEXT)");
    run(
        &connection,
        "INSERT INTO o VALUES (1, 1, 10, 'a'), (2, 1, 30, NULL), (3, 1, 20, 'b'), (4, 3, 5, 'a'), \
         (5, 2, NULL, 'c'), (6, NULL, 7, 'd')",
    );
    connection
}

fn asked(connection: &Connection, value: &str) -> String {
    rows(connection, &format!("SELECT id, {value} FROM c ORDER BY id")).join("; ")
}

#[test]
fn the_first_of_several_rows_is_a_value() {
    let connection = connect();
    for (value, answer) in [
        ("(SELECT v FROM o WHERE o.c = c.id ORDER BY o.id LIMIT 1)", "1 10; 2 NULL; 3 5; 4 NULL"),
        ("(SELECT v FROM o WHERE o.c = c.id ORDER BY v DESC LIMIT 1)", "1 30; 2 NULL; 3 5; 4 NULL"),
        (
            "(SELECT v FROM o WHERE o.c = c.id ORDER BY o.id LIMIT 1 OFFSET 1)",
            "1 30; 2 NULL; 3 NULL; 4 NULL",
        ),
        (
            "(SELECT s FROM o WHERE o.id > c.id ORDER BY o.id FETCH FIRST 1 ROW ONLY)",
            "1 NULL; 2 b; 3 a; 4 c",
        ),
        (
            "(SELECT c.name || coalesce(s, '-') FROM o WHERE o.c = c.id ORDER BY v DESC LIMIT 1)",
            "1 ann-; 2 bobc; 3 cida; 4 NULL",
        ),
        (
            "(SELECT v FROM o WHERE o.c = c.id AND v > 15 AND v < 25 LIMIT 1)",
            "1 20; 2 NULL; 3 NULL; 4 NULL",
        ),
        ("(SELECT v FROM o WHERE o.c = c.id LIMIT 0)", "1 NULL; 2 NULL; 3 NULL; 4 NULL"),
        ("(SELECT c.n + 1)", "1 2; 2 NULL; 3 3; 4 10"),
        ("(SELECT o.v FROM o ORDER BY abs(o.id - c.n), o.id LIMIT 1)", "1 10; 2 10; 3 30; 4 7"),
        (
            "(SELECT v FROM o WHERE o.c = c.id ORDER BY o.id LIMIT 1), row_number() OVER (ORDER BY id DESC)",
            "1 10 4; 2 NULL 3; 3 5 2; 4 NULL 1",
        ),
        (
            "(SELECT DISTINCT ON (s) v FROM o WHERE o.c = c.id ORDER BY s, v LIMIT 1)",
            "1 10; 2 NULL; 3 5; 4 NULL",
        ),
    ] {
        assert_eq!(asked(&connection, value), answer, "{value}");
    }
}

#[test]
fn several_rows_are_an_error_for_the_row_that_asks() {
    let connection = connect();
    let value = "(SELECT v FROM o WHERE o.c = c.id)";
    let several = format!("SELECT id, {value} FROM c");
    let error = refused(&connection, &several);
    assert_eq!(error.reason(), Some(Reason::SeveralRows), "{error}");
    assert_eq!(error.message(), "more than one row returned by a subquery used as an expression");
    // Of the others, nobody asks what there are several of.
    for (sql, answer) in [
        (format!("SELECT id, {value} FROM c WHERE id > 1 ORDER BY id"), "2 NULL; 3 5; 4 NULL"),
        (format!("SELECT id FROM c WHERE id > 1 AND {value} = 5"), "3"),
        (format!("SELECT id FROM c WHERE id > 1 AND {value} IS NULL ORDER BY id"), "2; 4"),
        (
            format!(
                "SELECT x.id FROM (SELECT * FROM c WHERE id > 1) AS x WHERE {} > 0",
                value.replace("c.id", "x.id")
            ),
            "3",
        ),
    ] {
        assert_eq!(rows(&connection, &sql).join("; "), answer, "{sql}");
    }
    refused(&connection, "SELECT (SELECT v, id FROM o WHERE o.id = c.id) FROM c");
    let error = refused(&connection, "SELECT (SELECT v FROM o)");
    assert_eq!(error.reason(), Some(Reason::SeveralRows), "{error}");
}

#[test]
fn whatever_stands_within_may_depend() {
    let connection = connect();
    for (value, answer) in [
        // Groups, and what nothing is counted as.
        (
            "(SELECT count(*) FROM (SELECT DISTINCT s FROM o WHERE o.c = c.id) AS d)",
            "1 3; 2 1; 3 1; 4 0",
        ),
        (
            "(SELECT max(m) FROM (SELECT sum(v) AS m FROM o WHERE o.c = c.id GROUP BY s) AS g)",
            "1 30; 2 NULL; 3 5; 4 NULL",
        ),
        (
            "(SELECT count(*) FROM (SELECT s FROM o WHERE o.c <= c.id GROUP BY s HAVING count(*) >= c.n) AS g)",
            "1 3; 2 0; 3 1; 4 0",
        ),
        (
            "(SELECT count(*) + c.id FROM o WHERE o.c = c.id HAVING count(*) > 0)",
            "1 4; 2 3; 3 4; 4 NULL",
        ),
        ("(SELECT sum(o.v + c.n) FROM o WHERE o.c = c.id)", "1 63; 2 NULL; 3 7; 4 NULL"),
        // Set operations, windows, joins.
        (
            "(SELECT sum(x) FROM (SELECT c.n AS x UNION ALL SELECT v FROM o WHERE o.c = c.id) AS u)",
            "1 61; 2 NULL; 3 7; 4 9",
        ),
        (
            "(SELECT count(*) FROM (SELECT v FROM o WHERE o.c = c.id EXCEPT SELECT 10 * c.n) AS u)",
            "1 2; 2 0; 3 1; 4 0",
        ),
        (
            "(SELECT max(r) FROM (SELECT rank() OVER (ORDER BY v) AS r FROM o WHERE o.c = c.id) AS w)",
            "1 3; 2 1; 3 1; 4 NULL",
        ),
        (
            "(SELECT count(p.id) FROM o LEFT JOIN o AS p ON p.s = o.s AND p.id > c.n WHERE o.c = c.id)",
            "1 2; 2 0; 3 1; 4 0",
        ),
        (
            "(SELECT count(*) FROM o RIGHT JOIN c AS d ON o.c = d.id AND d.id = c.id)",
            "1 6; 2 4; 3 4; 4 4",
        ),
        (
            "(SELECT count(*) FROM (SELECT * FROM o WHERE o.c = c.id) AS p JOIN (SELECT * FROM o WHERE o.v > c.n) AS q ON p.id = q.id)",
            "1 3; 2 0; 3 1; 4 0",
        ),
        // Two levels, each of which depends on the one around it.
        (
            "(SELECT (SELECT max(p.v) FROM o AS p WHERE p.c = o.c) FROM o WHERE o.c = c.id ORDER BY o.id LIMIT 1)",
            "1 30; 2 NULL; 3 5; 4 NULL",
        ),
        (
            "(WITH w AS (SELECT v FROM o WHERE o.c = c.id) SELECT min(v) FROM w)",
            "1 10; 2 NULL; 3 5; 4 NULL",
        ),
    ] {
        assert_eq!(asked(&connection, value), answer, "{value}");
    }
}

#[test]
fn such_values_stand_in_every_clause() {
    let connection = connect();
    let first = "(SELECT v FROM o WHERE o.c = c.id ORDER BY o.id LIMIT 1)";
    for (sql, answer) in [
        (format!("SELECT id FROM c WHERE {first} < 8"), "3"),
        (format!("SELECT id FROM c ORDER BY {first} DESC NULLS LAST, id"), "1; 3; 2; 4"),
        (format!("SELECT {first} AS f, count(*) FROM c GROUP BY 1 ORDER BY 1"), "5 1; 10 1; NULL 2"),
        (format!("SELECT sum({first}) FROM c"), "15"),
        (format!("SELECT id FROM c GROUP BY id HAVING {first} > 8"), "1"),
        (
            format!("SELECT id, rank() OVER (ORDER BY {first} NULLS LAST) FROM c ORDER BY id"),
            "1 2; 2 3; 3 1; 4 3",
        ),
        (format!("SELECT c.id FROM c JOIN c AS d ON c.id = d.id WHERE {first} = 10"), "1"),
        (
            "SELECT count(*) FROM c GROUP BY EXISTS (SELECT 1 FROM o WHERE o.c = c.id) ORDER BY 1".to_owned(),
            "1; 3",
        ),
        (
            "SELECT id FROM c ORDER BY EXISTS (SELECT 1 FROM o WHERE o.v = 10 * c.id) DESC, id DESC".to_owned(),
            "3; 2; 1; 4",
        ),
    ] {
        assert_eq!(rows(&connection, &sql).join("; "), answer, "{sql}");
    }
    // Rows that tie at a limit are the same each time that they are asked for.
    let values = (10..2_000).map(|id| format!("({id}, 'x', {id})")).collect::<Vec<_>>().join(", ");
    run(&connection, &format!("INSERT INTO c VALUES {values}"));
    for limited in
        ["SELECT * FROM c ORDER BY name DESC LIMIT 5", "SELECT * FROM c WHERE n > 9 LIMIT 5"]
    {
        let sql = format!(
            "SELECT count((SELECT c.n FROM o WHERE o.id <> c.id ORDER BY o.id LIMIT 1)) FROM ({limited}) AS c"
        );
        for _ in 0..5 {
            assert_eq!(rows(&connection, &sql), ["5"], "{sql}");
        }
    }
    // Random rows around a query are made once.
    let random = "SELECT count(*) FROM (SELECT x.r, (SELECT max(x.r + 0 * o.v) FROM o WHERE o.v > x.r) AS s FROM (SELECT random() AS r FROM c) AS x) AS y WHERE r IS DISTINCT FROM s";
    assert_eq!(rows(&connection, random), ["0"]);
    run(&connection, "DELETE FROM c WHERE id > 9");
    run(&connection, &format!("UPDATE c SET n = {first}"));
    assert_eq!(rows(&connection, "SELECT n FROM c ORDER BY id"), ["10", "NULL", "5", "NULL"]);
    run(&connection, &format!("DELETE FROM c WHERE {first} IS NULL"));
    assert_eq!(rows(&connection, "SELECT id FROM c ORDER BY id"), ["1", "3"]);
}

#[test]
fn lateral_queries_may_do_what_others_do() {
    let connection = connect();
    for (sql, answer) in [
        (
            "SELECT c.id, l.v FROM c, LATERAL (SELECT v FROM o WHERE o.c = c.id ORDER BY v DESC LIMIT 2) AS l ORDER BY 1, 2",
            "1 20; 1 30; 2 NULL; 3 5",
        ),
        (
            "SELECT c.id, l.v FROM c LEFT JOIN LATERAL (SELECT v FROM o WHERE o.c = c.id ORDER BY v DESC LIMIT 1) AS l ON true ORDER BY 1",
            "1 30; 2 NULL; 3 5; 4 NULL",
        ),
        (
            "SELECT c.id, l.n FROM c CROSS JOIN LATERAL (SELECT count(*) AS n FROM o WHERE o.v > c.n) AS l ORDER BY 1",
            "1 5; 2 0; 3 5; 4 3",
        ),
        (
            "SELECT c.id, l.v, m.w FROM c, LATERAL (SELECT c.n + 1 AS v) AS l, LATERAL (SELECT l.v * 2 AS w) AS m ORDER BY 1",
            "1 2 4; 2 NULL NULL; 3 3 6; 4 10 20",
        ),
        (
            "SELECT c.id, l.v FROM c JOIN LATERAL (SELECT * FROM o WHERE o.id <= c.id) AS l ON l.c = c.id ORDER BY 1, 2",
            "1 10",
        ),
        (
            "SELECT c.id, l.v FROM c LEFT JOIN LATERAL (SELECT v FROM o WHERE o.c = c.id) AS l ON l.v > 10 ORDER BY 1, 2",
            "1 20; 1 30; 2 NULL; 3 NULL; 4 NULL",
        ),
    ] {
        assert_eq!(rows(&connection, sql).join("; "), answer, "{sql}");
    }
}
