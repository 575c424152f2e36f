//! Queries of every kind give what SQL says.

use super::shell;
use crate::support::Shell;
use gadus_engine::ErrorKind;
use gadus_sql::Value;

fn people() -> Shell {
    let shell = shell();
    shell.run(
        "CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT NOT NULL, born DATE, \
         pay DECIMAL(10,2), score DOUBLE, member BOOLEAN DEFAULT false)",
    );
    shell.run(
        "INSERT INTO people VALUES (1, 'Ada', DATE '1815-12-10', 10.50, 1.5, true), \
         (2, 'Grace', DATE '1906-12-09', 20.25, -0.5, false), (3, 'Zoë', NULL, NULL, NULL, NULL)",
    );
    shell
}

#[test]
fn every_type_comes_back_as_it_went_in() {
    let shell = shell();
    shell.run(
        "CREATE TABLE t (a BOOLEAN, b SMALLINT, c INTEGER, d BIGINT, e REAL, f DOUBLE, \
         g DECIMAL(5,2), h DECIMAL(38,3), i TEXT, j BYTEA, k DATE, l TIME, m TIMESTAMP, \
         n BIGINT UNSIGNED)",
    );
    shell.run(
        "INSERT INTO t VALUES (true, -7, 70000, -9223372036854775808, 1.5, -2.25, 1.10, \
         12345678901234567890123456789012345.678, 'it''s', X'00FF', DATE '2024-02-29', \
         TIME '23:59:59.123456', TIMESTAMP '2024-02-29 12:00:00.5', 18446744073709551615)",
    );
    shell.run("INSERT INTO t (a) VALUES (NULL)");
    assert_eq!(
        shell.run("SELECT * FROM t"),
        "true|-7|70000|-9223372036854775808|1.5|-2.25|1.10|\
         12345678901234567890123456789012345.678|it's|00ff|2024-02-29|23:59:59.123456|\
         2024-02-29T12:00:00.500|18446744073709551615\n\
         NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"
    );
    shell.engine().fold().unwrap();
    assert_eq!(shell.run("SELECT g, i, n FROM t WHERE b = -7"), "1.10|it's|18446744073709551615");
}

#[test]
fn columns_of_the_same_name_are_as_good_as_any() {
    let shell = people();
    shell.run("CREATE TABLE pairs (a BIGINT, b BIGINT, c TEXT)");
    shell.run("INSERT INTO pairs SELECT 1, 1, 'x'");
    shell.run("INSERT INTO pairs SELECT id, id, name FROM people WHERE id > 1");
    for (sql, rows) in [
        ("SELECT 1, 1, 1", "1|1|1"),
        ("SELECT a, pairs.a, A FROM pairs WHERE a = 2", "2|2|2"),
        ("SELECT b + 1, b + 1 FROM pairs WHERE a = 1", "2|2"),
        ("SELECT a AS x, b AS x FROM pairs WHERE a = 3 ORDER BY b", "3|3"),
        ("SELECT *, a FROM pairs WHERE a = 1", "1|1|x|1"),
        ("SELECT a, a FROM (SELECT a, -a AS a_1 FROM pairs) AS t ORDER BY a_1", "3|3\n2|2\n1|1"),
        ("SELECT a, a FROM pairs UNION ALL SELECT 7, 7 ORDER BY 1", "1|1\n2|2\n3|3\n7|7"),
        ("SELECT p.a, q.a FROM pairs p JOIN pairs q ON p.a = q.b ORDER BY q.a", "1|1\n2|2\n3|3"),
        ("SELECT count(*), count(*), a FROM pairs GROUP BY a ORDER BY a", "1|1|1\n1|1|2\n1|1|3"),
    ] {
        assert_eq!(shell.run(sql), rows, "{sql}");
    }
    let (_, message) = shell.fails("SELECT a FROM (SELECT a, b, b FROM pairs) AS t WHERE b > 2");
    assert_eq!(message, "column reference \"b\" is ambiguous");
}

#[test]
fn filters_answer_alike_before_and_after_encoding() {
    let shell = people();
    let queries = [
        ("SELECT name FROM people WHERE id = 2", "Grace"),
        ("SELECT name FROM people WHERE name >= 'Grace' ORDER BY id", "Grace\nZoë"),
        ("SELECT id FROM people WHERE name LIKE 'Zo%'", "3"),
        ("SELECT id FROM people WHERE born IS NULL", "3"),
        ("SELECT id FROM people WHERE born < DATE '1900-01-01'", "1"),
        ("SELECT id FROM people WHERE pay = 20.25", "2"),
        ("SELECT id FROM people WHERE score < 0", "2"),
        ("SELECT id FROM people WHERE member", "1"),
        ("SELECT id FROM people WHERE NOT member", "2"),
        ("SELECT id FROM people WHERE member IS NOT TRUE ORDER BY id", "2\n3"),
        ("SELECT id FROM people WHERE id IN (3, 1) ORDER BY id", "1\n3"),
        ("SELECT count(*), sum(id), min(name), max(born) FROM people", "3|6|Ada|1906-12-09"),
        ("SELECT count(*) FROM people WHERE id BETWEEN 2 AND 9", "2"),
        ("SELECT count(pay), sum(pay), avg(id) FROM people", "2|30.75|2.0000000000000000"),
        ("SELECT count(*) FROM people WHERE name <> 'Ada'", "2"),
        ("SELECT sum(id) FROM people WHERE id > 99", "NULL"),
        ("SELECT count(*) FROM people WHERE pay > 10.505", "1"),
        ("SELECT a.name FROM people a JOIN people b ON a.id = b.id + 1 ORDER BY 1", "Grace\nZoë"),
        (
            "SELECT name, row_number() OVER (ORDER BY name DESC) FROM people WHERE id < 3 ORDER BY 2",
            "Grace|1\nAda|2",
        ),
    ];
    for (query, expected) in queries {
        assert_eq!(shell.run(query), expected, "{query}");
    }
    shell.engine().fold().unwrap();
    for (query, expected) in queries {
        assert_eq!(shell.run(query), expected, "after folding: {query}");
    }
}

#[test]
fn parameters_of_both_forms_are_bound() {
    let shell = people();
    let name = |text: &str, values: &[Value]| shell.try_run(text, values).unwrap();
    assert_eq!(name("SELECT name FROM people WHERE id = $1", &[1.into()]), "Ada");
    assert_eq!(name("SELECT name FROM people WHERE id = ?", &[2.into()]), "Grace");
    assert_eq!(
        name(
            "SELECT name FROM people WHERE born < ? OR id = ? ORDER BY id",
            &[Value::Date(-40_000), 3.into()]
        ),
        "Ada\nZoë"
    );
    let missing = shell.try_run("SELECT name FROM people WHERE id = $2", &[1.into()]).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Input);
}

#[test]
fn point_statements_are_compiled() {
    let shell = people();
    for (statement, plan) in [
        ("EXPLAIN SELECT name FROM people WHERE id = 1", "look up one row"),
        ("EXPLAIN UPDATE people SET name = 'x' WHERE id = 1", "update one row"),
        ("EXPLAIN DELETE FROM people WHERE id = 1", "delete one row"),
        ("EXPLAIN INSERT INTO people (id, name, member) VALUES (9, 'x', true)", "insert 1 rows"),
        ("EXPLAIN SELECT sum(id) FROM people WHERE name = 'x' AND id < 7", "fold sum"),
        ("EXPLAIN SELECT id FROM people WHERE name = 'x'", "rows expected"),
    ] {
        let text = shell.run(statement);
        assert!(text.starts_with("Compiled: ") && text.contains(plan), "{statement}: {text}");
    }
    assert!(shell.run("EXPLAIN SELECT name FROM people ORDER BY name").contains("GadusScan"));
}

#[test]
fn literals_that_no_key_equals_find_nothing_or_convert() {
    let shell = people();
    assert_eq!(shell.run("SELECT name FROM people WHERE id = 1.0"), "Ada");
    assert_eq!(shell.run("SELECT name FROM people WHERE id = 1.5"), "");
    assert_eq!(shell.run("SELECT name FROM people WHERE id = NULL"), "");
    assert_eq!(shell.run("SELECT name FROM people WHERE id = 99999999999999999999"), "");
}

#[test]
fn the_catalog_shows_tables_and_columns() {
    let shell = people();
    assert_eq!(shell.run("SHOW TABLES"), "people");
    assert!(shell.run("DESCRIBE people").starts_with("id|"));
    assert_eq!(
        shell.run("SELECT count(*) FROM information_schema.columns WHERE table_name = 'people'"),
        "6"
    );
}

#[test]
fn wrong_statements_say_what_is_wrong() {
    let shell = people();
    for (text, kind, part) in [
        ("SELEC 1", ErrorKind::Input, "syntax error"),
        ("SELECT * FROM nobody", ErrorKind::Input, "nobody"),
        ("SELECT nothing FROM people", ErrorKind::Input, "nothing"),
        ("SELECT 1 / 0", ErrorKind::OutOfRange, "zero"),
        ("SELECT 9223372036854775807 + id FROM people", ErrorKind::OutOfRange, "bigint out of range"),
        ("INSERT INTO people (id, name) VALUES (1)", ErrorKind::Input, "more target columns"),
        ("INSERT INTO people (id, name) VALUES (1, 'x')", ErrorKind::UniqueViolation, "(id) = (1)"),
        ("INSERT INTO people (id) VALUES (7)", ErrorKind::NotNullViolation, "name"),
        ("INSERT INTO people (id, name) VALUES ('x', 'y')", ErrorKind::Input, "id"),
        ("UPDATE people SET nothing = 1", ErrorKind::Input, "nothing"),
        ("SET gadus.nothing = 1", ErrorKind::Input, "gadus.durability"),
        ("CREATE TABLE people (id INT)", ErrorKind::AlreadyExists, "people"),
        ("CREATE TABLE x (a INT, a INT)", ErrorKind::Input, "more than once"),
        ("DROP TABLE nobody", ErrorKind::NotFound, "nobody"),
        ("VACUUM ANALYZE nobody", ErrorKind::NotFound, "nobody"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1", ErrorKind::Unsupported, "materialized view"),
        ("COMMIT", ErrorKind::Input, "BEGIN"),
    ] {
        let (found, message) = shell.fails(text);
        assert!(message.contains(part), "{text}: {message}");
        assert_eq!(found, kind, "{text}: {message}");
    }
    assert_eq!(shell.run("SELECT count(*) FROM people"), "3");
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let shell = shell();
    for text in [
        format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("SELECT {}1", "-".to_owned() + &"NOT ".repeat(50_000)),
    ] {
        let (kind, _) = shell.fails(&text);
        assert!(matches!(kind, ErrorKind::Limit | ErrorKind::Input));
    }
}

#[test]
fn headings_are_what_was_written() {
    let shell = people();
    let names = |text: &str| -> Vec<String> {
        shell.runtime.block_on(async {
            match shell.session().execute(text, &[]).await.unwrap() {
                gadus_sql::Outcome::Rows(rows) => {
                    let schema = rows.schema().clone();
                    let batches = rows.collect().await.unwrap();
                    assert!(batches.iter().all(|batch| batch.schema() == schema));
                    schema.fields().iter().map(|field| field.name().clone()).collect()
                }
                other => panic!("{other:?}"),
            }
        })
    };
    assert_eq!(names("SELECT max(id), count(*) AS n FROM people"), ["max(id)", "n"]);
    assert_eq!(
        names("SELECT name, max(id), 1 + 2 FROM people GROUP BY people.name ORDER BY max(id)"),
        ["name", "max(id)", "1 + 2"]
    );
    assert_eq!(names("SELECT * FROM people WHERE id = 1").len(), 6);
    assert_eq!(
        names("SELECT id, name, people.id, 1, 1, name AS id FROM people"),
        ["id", "name", "id", "1", "1", "id"]
    );
}

#[test]
fn a_sum_that_does_not_fit_is_an_error_whatever_plans_it() {
    let shell = shell();
    shell.run("CREATE TABLE t (g BIGINT, n BIGINT, u BIGINT UNSIGNED, d DECIMAL(38, 0))");
    shell.run(
        "INSERT INTO t VALUES (1, 9223372036854775807, 18446744073709551615, \
         99999999999999999999999999999999999999), (1, 1, 1, 1), (2, 5, 5, 5)",
    );
    for column in ["n", "u", "d"] {
        for query in [
            format!("SELECT sum({column}) FROM t WHERE g < 2"),
            format!("SELECT sum({column}) FROM t WHERE g * 1 = 1"),
            format!("SELECT g, sum({column}) FROM t GROUP BY g ORDER BY g"),
            format!("SELECT sum({column}) OVER (PARTITION BY g) FROM t"),
            format!("SELECT sum({column}) OVER (ORDER BY {column} ROWS 1 PRECEDING) FROM t"),
            format!("SELECT sum(DISTINCT {column}), count({column}) FROM t"),
        ] {
            let (kind, message) = shell.fails(&query);
            assert_eq!(kind, ErrorKind::OutOfRange, "{query}: {message}");
        }
    }
    // What overflows on the way and fits in the end is no error.
    shell.run("INSERT INTO t VALUES (1, -9223372036854775807, 0, -5)");
    assert_eq!(shell.run("SELECT sum(n) FROM t WHERE g * 1 = 1"), "1");
    assert_eq!(shell.run("SELECT g, sum(n) FROM t GROUP BY g ORDER BY g"), "1|1\n2|5");
    assert_eq!(shell.run("SELECT sum(n), sum(DISTINCT n) FROM t WHERE g = 7"), "NULL|NULL");
}

#[test]
fn a_session_tells_how_far_its_statement_has_come() {
    let shell = people();
    shell.engine().fold().unwrap();
    shell.run("SELECT upper(name), count(*) FROM people GROUP BY 1");
    assert_eq!(shell.last().progress().fraction, Some(1.0));
    shell.run("CREATE TABLE copied AS SELECT * FROM people");
    assert_eq!(shell.last().progress().rows_written, 3);
    shell.run("SELECT 1");
    assert_eq!(shell.last().progress().rows_written, 0);
}
