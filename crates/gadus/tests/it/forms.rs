//! What clauses may say beside the usual: as PostgreSQL 15 answers.

use crate::statement::{headings, refused, rows, run, with_table};
use gadus::{Connection, Database, ErrorKind, Options, Value};

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'new', c INTEGER DEFAULT 7)");
    connection
}

#[test]
fn values_go_to_the_first_columns_where_none_is_named() {
    let connection = connect();
    for sql in [
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2, 'two'), (3, DEFAULT)",
        "INSERT INTO t SELECT 4",
        "INSERT INTO t SELECT a + 4, b FROM t WHERE a = 1",
        "INSERT INTO t VALUES (6) ON CONFLICT DO NOTHING",
        "MERGE INTO t USING (SELECT 7 AS k) AS s ON t.a = s.k WHEN NOT MATCHED THEN INSERT VALUES (s.k)",
    ] {
        run(&connection, sql);
    }
    connection.execute("INSERT INTO t VALUES (?, ?)", &[Value::Integer(8), "x".into()]).unwrap();
    assert_eq!(
        rows(&connection, "SELECT * FROM t ORDER BY a").join("; "),
        "1 new 7; 2 two 7; 3 new 7; 4 new 7; 5 new 7; 6 new 7; 7 new 7; 8 x 7"
    );
    let error = refused(&connection, "INSERT INTO t VALUES (1, 'x', 3, 4)");
    assert!(error.message().contains("more expressions than target columns"), "{error}");
    for sql in [
        "INSERT INTO t (a, b) VALUES (1)",
        "INSERT INTO t (a, b) SELECT 1",
        "INSERT INTO t VALUES (1), (2, 'x')",
    ] {
        refused(&connection, sql);
    }
    run(&connection, "CREATE TABLE n (v TEXT, id INT GENERATED ALWAYS AS IDENTITY)");
    run(&connection, "INSERT INTO n SELECT 'x'");
    run(&connection, "INSERT INTO n VALUES ('y')");
    refused(&connection, "INSERT INTO n SELECT 'z', 9");
    assert_eq!(rows(&connection, "SELECT * FROM n ORDER BY id"), ["x 1", "y 2"]);
}

#[test]
fn ranks_have_a_sign() {
    let connection = with_table();
    let sql = "SELECT - row_number() OVER (ORDER BY id), rank() OVER (ORDER BY id DESC) - 2, \
               dense_rank() OVER (ORDER BY a), ntile(2) OVER (ORDER BY id) FROM t ORDER BY id";
    assert_eq!(rows(&connection, sql), ["-1 1 1 1", "-2 0 2 1", "-3 -1 3 2"]);
    run(&connection, "CREATE TABLE r AS SELECT id, row_number() OVER (ORDER BY id) AS n FROM t");
    let types = "SELECT data_type FROM information_schema.columns WHERE table_name = 'r'";
    assert_eq!(rows(&connection, types), ["Int64", "Int64"]);
    let first = "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM t) AS x WHERE n <= 2 ORDER BY 1";
    assert_eq!(rows(&connection, first), ["2", "3"]);
}

#[test]
fn all_rows_are_one_group() {
    let connection = with_table();
    for (sql, answer) in [
        ("SELECT count(*) FROM t GROUP BY ()", "3"),
        ("SELECT count(*) FROM t WHERE false GROUP BY ()", "0"),
        ("SELECT 5 FROM t WHERE false GROUP BY ()", "5"),
        ("SELECT max(id) FROM t GROUP BY () HAVING count(*) > 3", ""),
        ("SELECT b, count(*) FROM t GROUP BY b, () ORDER BY b", "x 1; y 1; z 1"),
    ] {
        assert_eq!(rows(&connection, sql).join("; "), answer, "{sql}");
    }
}

#[test]
fn a_series_gives_its_column_its_name() {
    let connection = with_table();
    for (sql, answer) in [
        ("SELECT i FROM generate_series(1, 3) AS i ORDER BY i", "1; 2; 3"),
        ("SELECT n.n FROM generate_series(1, 2) n ORDER BY 1", "1; 2"),
        ("SELECT x FROM generate_series(1, 2) AS n (x) ORDER BY 1", "1; 2"),
        ("SELECT \"I\" FROM generate_series(5, 5) AS \"I\"", "5"),
        ("SELECT id, i FROM t JOIN generate_series(2, 9) AS i ON i = id ORDER BY 1", "2 2; 3 3"),
    ] {
        assert_eq!(rows(&connection, sql).join("; "), answer, "{sql}");
    }
    assert_eq!(headings(&connection, "SELECT * FROM generate_series(1, 2) AS i"), ["i"]);
}

#[test]
fn what_would_be_ignored_is_refused() {
    let connection = with_table();
    for sql in [
        "SELECT * FROM t TABLESAMPLE SYSTEM (1)",
        "WITH n AS (SELECT 1) SELECT * FROM n TABLESAMPLE BERNOULLI (50)",
        "SELECT * FROM t WITH ORDINALITY",
        "DELETE FROM t WHERE id IN (SELECT id FROM t TABLESAMPLE SYSTEM (1))",
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{sql}: {error}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["3"]);
}

#[test]
fn orders_by_expressions_over_what_is_ordered_by_before() {
    let connection = with_table();
    for (sql, answer) in [
        ("SELECT id FROM t ORDER BY a, abs(id - a)", "1; 2; 3"),
        (
            "SELECT id, row_number() OVER (PARTITION BY b ORDER BY abs(id - a), id) FROM t ORDER BY 1",
            "1 1; 2 1; 3 1",
        ),
        ("SELECT id, sum(id) OVER (ORDER BY a, abs(id - a)) FROM t ORDER BY 1", "1 1; 2 3; 3 6"),
        (
            "SELECT b AS c, b AS d FROM t UNION ALL SELECT b, 'a' FROM t ORDER BY 1, 2",
            "x a; x x; y a; y y; z a; z z",
        ),
    ] {
        assert_eq!(rows(&connection, sql).join("; "), answer, "{sql}");
    }
}
