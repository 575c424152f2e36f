//! NOT IN of values that are none of the row: as PostgreSQL 15 answers.

use crate::support::Shell;

#[test]
fn nulls_among_the_values_and_as_the_value_are_unknown() {
    let shell = Shell::new();
    for text in [
        "CREATE TABLE t (a INT, s TEXT)",
        "INSERT INTO t VALUES (1, 'x'), (2, NULL)",
        "CREATE TABLE u (b INT, s TEXT)",
        "INSERT INTO u VALUES (7, 'x'), (NULL, NULL)",
    ] {
        shell.run(text);
    }
    for (condition, answer) in [
        ("5 NOT IN (SELECT b FROM u)", ""),
        ("7 NOT IN (SELECT b FROM u)", ""),
        ("NULL NOT IN (SELECT b FROM u)", ""),
        ("CAST(NULL AS TEXT) NOT IN (SELECT s FROM u WHERE s LIKE 'x%')", ""),
        ("a > 0 AND 5 NOT IN (SELECT b FROM u WHERE b IS NULL OR b > 0)", ""),
        ("a * NULL NOT IN (SELECT b FROM u)", ""),
        ("nullif(a, a) NOT IN (SELECT b FROM u WHERE b > 0)", ""),
        ("5 NOT IN (SELECT b FROM u WHERE b > 0)", "1\n2"),
        ("NULL NOT IN (SELECT b FROM u WHERE b > 100)", "1\n2"),
        ("a * NULL NOT IN (SELECT b FROM u WHERE b > 100)", "1\n2"),
        ("a + 5 NOT IN (SELECT b FROM u WHERE b > 0)", "1"),
        ("a + 5 NOT IN (SELECT b FROM u)", ""),
        ("7 IN (SELECT b FROM u)", "1\n2"),
        ("NULL IN (SELECT b FROM u)", ""),
        ("7 NOT IN (SELECT u.b FROM u WHERE u.s = t.s)", "2"),
        ("NOT (5 IN (SELECT b FROM u) OR a = 1)", ""),
    ] {
        let text = format!("SELECT a FROM t WHERE {condition} ORDER BY a");
        for _ in 0..3 {
            assert_eq!(shell.run(&text), answer, "{text}");
        }
    }
    let together = "SELECT a FROM t WHERE 5 NOT IN (SELECT b FROM u) UNION ALL SELECT 8 ORDER BY 1";
    assert_eq!(shell.run(together), "8");
    let derived = "SELECT * FROM (SELECT 5 AS a FROM t) AS d WHERE d.a NOT IN (SELECT b FROM u)";
    assert_eq!(shell.run(derived), "");
}
