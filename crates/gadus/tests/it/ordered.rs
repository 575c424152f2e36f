//! What queries are ordered by, where their own columns are called as those of tables.

use crate::statement::{headings, refused, rows, run};
use gadus::{Connection, Database, Options};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE n (id INTEGER PRIMARY KEY, a INTEGER, v TEXT, took INTERVAL)");
    run(
        &connection,
        "INSERT INTO n VALUES (1, 10, 'x', '10 minutes'), (2, 9, 'y', '9 minutes'),
         (3, 100, 'x', '1 hour'), (4, NULL, 'z', NULL)",
    );
    connection
}

/// By the number: 9, 10, 100; by the text: 10, 100, 9.
const BY_NUMBER: [&str; 4] = ["9", "10", "100", "NULL"];

#[test]
fn a_cast_is_ordered_by_what_the_table_has() {
    let connection = connect();
    for query in [
        "SELECT a::text FROM n ORDER BY n.a",
        "SELECT a::text FROM n AS m ORDER BY m.a",
        "SELECT a::text AS a FROM n ORDER BY n.a",
        "SELECT a::text AS b FROM n ORDER BY a",
        "SELECT a::text FROM n ORDER BY a + 0",
        "SELECT a::text FROM n ORDER BY a * 2, v",
        "SELECT max(a)::text FROM n GROUP BY id ORDER BY max(a)",
        "SELECT max(a)::text FROM n GROUP BY id ORDER BY max(a) + 0",
        "SELECT (a + 0)::text FROM n ORDER BY a + 0",
    ] {
        assert_eq!(rows(&connection, query), BY_NUMBER, "{query}");
    }
    // A cast is called as what it casts, as in PostgreSQL: the name is that of the text.
    for query in [
        "SELECT a::text FROM n ORDER BY a",
        "SELECT DISTINCT a::text FROM n ORDER BY a",
        "SELECT CAST(a AS TEXT) FROM n ORDER BY a",
        "SELECT TRY_CAST(a AS TEXT) FROM n ORDER BY a",
        "SELECT a::bigint::text FROM n ORDER BY a",
        "SELECT n.a::text FROM n ORDER BY a",
        "SELECT a::text FROM n GROUP BY a ORDER BY a",
        "SELECT a FROM (SELECT a::text FROM n ORDER BY a LIMIT 10) AS m",
        "WITH m AS (SELECT a::text FROM n ORDER BY a LIMIT 10) SELECT a FROM m",
        "SELECT a::text FROM n WHERE id > 0 ORDER BY a ASC NULLS LAST LIMIT 4 OFFSET 0",
        "SELECT a::text FROM n ORDER BY 1",
        "SELECT a::text AS a FROM n ORDER BY a",
        "SELECT a::text AS b FROM n ORDER BY b",
        "SELECT a::text FROM n ORDER BY a::text",
    ] {
        assert_eq!(rows(&connection, query), ["10", "100", "9", "NULL"], "{query}");
    }
    let descending = "SELECT a::text, v FROM n ORDER BY n.a DESC NULLS LAST LIMIT 2";
    assert_eq!(rows(&connection, descending), ["100 x", "10 x"]);
    let intervals = "SELECT took::text FROM n WHERE took IS NOT NULL ORDER BY n.took";
    assert_eq!(rows(&connection, intervals), ["00:09:00", "00:10:00", "01:00:00"]);
}

#[test]
fn a_name_given_to_another_value_hides_no_column_of_a_table() {
    let connection = connect();
    let rows = |query: &str| rows(&connection, query);
    assert_eq!(rows("SELECT -a AS a FROM n ORDER BY n.a"), ["-9", "-10", "-100", "NULL"]);
    assert_eq!(rows("SELECT -a AS a FROM n ORDER BY a"), ["-100", "-10", "-9", "NULL"]);
    assert_eq!(
        rows("SELECT -a AS a, id FROM n ORDER BY n.a DESC, a, id LIMIT 2"),
        ["NULL 4", "-100 3"]
    );
    for query in [
        "SELECT -a AS a FROM n ORDER BY -a DESC NULLS LAST",
        "SELECT -a AS a FROM n ORDER BY a + 0",
        "SELECT -a AS a FROM (SELECT a FROM n) AS m ORDER BY a + 0",
        "SELECT -a AS a FROM (SELECT id, a FROM n) AS m (i, a) ORDER BY a + 0",
        "SELECT -max(a) AS a FROM n GROUP BY id ORDER BY max(a)",
        "SELECT -max(a) AS a FROM n GROUP BY id ORDER BY max(a), n.id",
        "SELECT -n.a AS a FROM n JOIN n AS m USING (id) ORDER BY abs(n.a)",
    ] {
        assert_eq!(rows(query), ["-9", "-10", "-100", "NULL"], "{query}");
    }
    // Both columns are called so.
    refused(&connection, "SELECT CAST(a AS TEXT), -id AS a FROM n ORDER BY a LIMIT 2");
    // What is no column of a table is the alias, also within.
    assert_eq!(rows("SELECT -a AS x FROM n ORDER BY x * 2"), ["-100", "-10", "-9", "NULL"]);
    assert_eq!(rows("SELECT -a AS x, 1 AS a FROM n ORDER BY x * 2 LIMIT 1"), ["-100 1"]);
    assert_eq!(
        rows("SELECT sum(a) AS m, max(a) + 1 AS a FROM n GROUP BY v ORDER BY max(a) LIMIT 1"),
        ["9 10"]
    );
    let joined = "FROM n JOIN n AS m ON n.id = 5 - m.id ORDER BY";
    assert_eq!(rows(&format!("SELECT m.a AS a {joined} n.a")), ["100", "NULL", "9", "10"]);
    assert_eq!(rows(&format!("SELECT m.a AS a {joined} m.a")), BY_NUMBER);
    assert_eq!(rows(&format!("SELECT m.a AS a {joined} a")), BY_NUMBER);
    assert_eq!(
        rows(&format!("SELECT m.a::text, n.a {joined} m.a")),
        ["9 100", "10 NULL", "100 9", "NULL 10"]
    );
}

#[test]
fn numbers_mean_columns_also_where_these_are_values_of_aggregates() {
    let connection = connect();
    let rows = |query: &str| rows(&connection, query);
    assert_eq!(rows("SELECT max(a), -max(a) FROM n GROUP BY id ORDER BY 2")[0], "100 -100");
    assert_eq!(rows("SELECT abs(max(a)) FROM n GROUP BY id ORDER BY 1"), BY_NUMBER);
    assert_eq!(
        rows("SELECT v, count(*) + 1 FROM n GROUP BY v ORDER BY 2 DESC, 1 DESC"),
        ["x 3", "z 2", "y 2"]
    );
    assert_eq!(rows("SELECT a + 1, a + 1 FROM n WHERE a < 50 ORDER BY 2, 1"), ["10 10", "11 11"]);
    assert_eq!(rows("SELECT DISTINCT a + 1 FROM n ORDER BY 1"), ["10", "11", "101", "NULL"]);
    assert_eq!(
        rows("SELECT * FROM (SELECT abs(max(a)) FROM n GROUP BY id ORDER BY 1 LIMIT 2) AS m"),
        ["9", "10"]
    );
}

#[test]
fn columns_keep_their_headings() {
    let connection = connect();
    let names = |query: &str| headings(&connection, query);
    assert_eq!(names("SELECT a::text, id, -id FROM n ORDER BY a"), ["a::TEXT", "id", "-id"]);
    assert_eq!(names("SELECT -a AS a, id FROM n ORDER BY n.a"), ["a", "id"]);
    assert_eq!(
        names("SELECT max(a), -max(a) FROM n GROUP BY id ORDER BY 2"),
        ["max(a)", "-max(a)"]
    );
    run(&connection, "CREATE VIEW w AS SELECT a::text, -id AS id FROM n ORDER BY a, n.id");
    assert_eq!(names("SELECT * FROM w"), ["a", "id"]);
    run(&connection, "CREATE TABLE o AS SELECT a::text, id FROM n ORDER BY a");
    assert_eq!(names("SELECT * FROM o"), ["a", "id"]);
    assert_eq!(rows(&connection, "SELECT a FROM o"), ["10", "100", "9", "NULL"]);
}

#[test]
fn what_cannot_be_ordered_is_refused() {
    let connection = connect();
    refused(&connection, "SELECT DISTINCT a::text FROM n ORDER BY n.a");
    refused(&connection, "SELECT a::text FROM n ORDER BY 3");
    refused(&connection, "SELECT a::text FROM n ORDER BY b");
}
