//! Conditions hold for the rows of where they stand: as PostgreSQL 15 answers.

use crate::support::Shell;

const ONE: &str = "(SELECT count(*) AS c FROM t) AS d";
const NONE: &str = "";

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT, s TEXT)");
    shell.run("INSERT INTO t VALUES (1, 'x'), (2, NULL)");
    shell
}

#[test]
fn a_row_of_nothing_is_given_or_not_as_a_condition_says() {
    let shell = shell();
    for (text, answer) in [
        (format!("SELECT c FROM {ONE} WHERE c = NULL"), NONE),
        (format!("SELECT c FROM {ONE} WHERE c = NULL AND c >= 0"), NONE),
        (format!("SELECT c FROM {ONE} WHERE false"), NONE),
        (format!("SELECT 7 FROM {ONE} WHERE (SELECT max(a) FROM t) > 3"), NONE),
        (format!("SELECT c FROM {ONE} WHERE (SELECT max(a) FROM t) < 3"), "2"),
        (format!("SELECT c FROM {ONE} WHERE c >= 0 AND random() < 0"), NONE),
        ("SELECT count(*) FROM t HAVING count(*) = NULL AND count(*) >= 0".to_owned(), NONE),
        (format!("SELECT n.a FROM {ONE} JOIN t AS n ON n.s = CAST(NULL AS TEXT)"), NONE),
        (format!("SELECT n.a FROM {ONE}, t AS n WHERE n.s = NULL"), NONE),
        (format!("SELECT a, c FROM {ONE} CROSS JOIN t WHERE c = NULL AND c >= 0"), NONE),
        (format!("SELECT a, c FROM t LEFT JOIN {ONE} ON false ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM t LEFT JOIN {ONE} ON s = NULL ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM t LEFT JOIN {ONE} ON c = NULL ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM t LEFT JOIN {ONE} ON a IN (NULL) ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM t LEFT JOIN {ONE} ON random() < 0 ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM {ONE} RIGHT JOIN t ON c = NULL AND c > 0 ORDER BY a"), "1|NULL\n2|NULL"),
        (format!("SELECT a, c FROM {ONE} RIGHT JOIN t ON c = a ORDER BY a"), "1|NULL\n2|2"),
        (format!("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM {ONE} WHERE c = NULL AND c >= 0)"), NONE),
        (
            format!("SELECT a, EXISTS (SELECT 1 FROM {ONE} WHERE c = NULL AND c >= 0 AND t.a > 0) FROM t ORDER BY a"),
            "1|false\n2|false",
        ),
        ("SELECT * FROM (SELECT a, count(*) AS c FROM t GROUP BY CUBE (a, s)) WHERE a = NULL AND c >= 0".to_owned(), NONE),
        ("SELECT * FROM (SELECT a, count(*) AS c FROM t GROUP BY ROLLUP (a)) WHERE a = 1".to_owned(), "1|1"),
        (
            "SELECT * FROM (SELECT a, count(*) AS c FROM t GROUP BY GROUPING SETS ((a), ())) WHERE a IS NULL".to_owned(),
            "NULL|2",
        ),
        ("SELECT * FROM (SELECT count(*) AS c, count(*) OVER () AS w FROM t) WHERE c = NULL AND c >= 0".to_owned(), NONE),
    ] {
        for _ in 0..3 {
            assert_eq!(shell.run(&text), answer, "{text}");
        }
    }
}

#[test]
fn what_is_another_condition_each_time_is_one_for_the_rows_where_it_stands() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT)");
    shell.run("INSERT INTO t SELECT i % 10 FROM generate_series(1, 10000) AS g (i)");
    for (text, answer) in [
        (
            "SELECT count(*) FROM (SELECT a, count(*) OVER () AS w FROM t) WHERE random() < 0.5 AND w < 10000",
            "0",
        ),
        (
            "SELECT count(*) FROM (SELECT a, count(*) AS c FROM t GROUP BY a) WHERE random() < 0.5 AND c < 1000",
            "0",
        ),
        (
            "SELECT count(DISTINCT c) FROM (SELECT count(*) AS c FROM t WHERE random() < 1 GROUP BY a)",
            "1",
        ),
        // One of ten pairs is kept, not all or none of a row's.
        (
            "SELECT count(*) BETWEEN 1 AND 9999 FROM (SELECT 1 FROM (VALUES (1)) AS o (x) JOIN t ON o.x < 2 AND random() < 0.5)",
            "true",
        ),
        (
            "SELECT count(*) BETWEEN 1 AND 9999 FROM (VALUES (1)) AS o (x) CROSS JOIN t WHERE random() < 0.5",
            "true",
        ),
        (
            "SELECT count(*) BETWEEN 1 AND 9999 FROM (VALUES (1)) AS o (x) LEFT JOIN t ON random() < 0.5",
            "true",
        ),
    ] {
        for _ in 0..3 {
            assert_eq!(shell.run(text), answer, "{text}");
        }
    }
}

#[test]
fn columns_of_two_tables_that_are_called_the_same_are_told_apart() {
    let shell = Shell::new();
    for text in [
        "CREATE TABLE t (a INT, b INT, s TEXT, f BOOLEAN)",
        "CREATE TABLE u (a INT, b INT, s TEXT, f BOOLEAN)",
        "INSERT INTO t VALUES (1, NULL, 'ba', NULL), (2, 3, 'x', true)",
        "INSERT INTO u VALUES (1, 1, 'zz', true), (2, 2, 'y', true)",
    ] {
        shell.run(text);
    }
    let from = "FROM u JOIN t ON u.a = t.a AND t.s NOT LIKE '_'";
    for (condition, answer) in [
        ("t.b < (SELECT max(a) + 20 FROM t) OR u.f::INT IS DISTINCT FROM t.b", "ba|NULL"),
        ("t.b + u.b < (SELECT max(a) + 20 FROM t) OR u.f::INT IS DISTINCT FROM t.b % 6", "ba|NULL"),
        ("u.b < (SELECT max(a) FROM t) AND u.f IS DISTINCT FROM t.f", "ba|NULL"),
        ("t.b < (SELECT max(a) FROM t) OR t.f IS DISTINCT FROM t.f", NONE),
    ] {
        let text = format!("SELECT t.s, t.f::INT {from} WHERE {condition}");
        for _ in 0..3 {
            assert_eq!(shell.run(&text), answer, "{text}");
        }
    }
}

/// Also where a part of it that comes twice is a column of its own in the plan.
#[test]
fn a_value_that_is_given_stands_on_either_side() {
    let shell = shell();
    for condition in [
        "case when c <> 'b' then c end = lower(c) and c = lower(c)",
        "'a' = lower(c) and lower(c) = 'a'",
        "c = lower(c) and lower(c) <= 'a' and 'a' <= lower(c)",
    ] {
        let text = format!("SELECT count(*) FROM (SELECT 'a' AS c FROM t) AS n WHERE {condition}");
        assert_eq!(shell.run(&text), "2", "{text}");
    }
}
