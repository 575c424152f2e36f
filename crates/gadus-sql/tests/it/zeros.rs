//! Zeros with a sign and NaN, which DataFusion takes for other values at times.

use crate::support::Shell;

#[test]
fn joins_find_either_zero_in_a_table() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT, d DOUBLE, r REAL)");
    shell.run("INSERT INTO t VALUES (1, 0, 0), (2, '-0', '-0'), (3, 1, 1)");
    for column in ["d", "r"] {
        for zero in ["'-0'::double precision", "0::double precision"] {
            for join in ["JOIN", "LEFT JOIN"] {
                let text = format!(
                    "SELECT t.a FROM (VALUES ({zero}), (1000)) AS x (v) {join} t ON x.v = t.{column} \
                     WHERE x.v < 1000 ORDER BY t.a"
                );
                assert_eq!(shell.run(&text), "1\n2", "{text}");
            }
        }
    }
}

#[test]
fn joins_find_zeros_that_are_computed() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT, d DOUBLE)");
    shell.run("INSERT INTO t VALUES (1, 0), (2, '-0'), (3, 1)");
    let text = "SELECT t.a FROM (SELECT DISTINCT d * 1::double precision AS v FROM t) AS x \
                JOIN (SELECT a, d * 1::double precision AS d FROM t) t ON x.v = t.d ORDER BY t.a";
    assert_eq!(shell.run(text), "1\n2\n3");
}

#[test]
fn limits_of_different_values_count_nan_once() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (d DOUBLE)");
    shell.run("INSERT INTO t VALUES ('NaN'), (1), ('NaN'), ('-NaN'), (0), ('-0')");
    let text = "SELECT DISTINCT d + 0 FROM t ORDER BY 1 DESC LIMIT 3";
    assert_eq!(shell.run(text), "NaN\n1.0\n0.0");
    let text = "SELECT max(d) FROM t GROUP BY d ORDER BY max(d) DESC LIMIT 2";
    assert_eq!(shell.run(text), "NaN\n1.0");
}
