//! Definitions of tables, views and schemas, beside PostgreSQL's answers.

use crate::bound_changes::compare;
use crate::support::Shell;

const ANSWERS: &str = include_str!("definitions/answers.txt");

#[test]
fn answers_are_postgresqls() {
    compare(&Shell::new(), ANSWERS);
}

#[test]
fn a_change_in_with_can_be_explained() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT)");
    shell.run("INSERT INTO t VALUES (1), (2)");
    let change = "WITH gone AS (DELETE FROM t WHERE a = 1 RETURNING a) SELECT count(*) FROM gone";
    let explained = shell.run(&format!("EXPLAIN {change}"));
    assert!(explained.contains("changes in WITH"), "{explained}");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "2");
    shell.run(&format!("EXPLAIN ANALYZE {change}"));
    assert_eq!(shell.run("SELECT a FROM t"), "2");
}

#[test]
fn a_change_in_with_can_be_prepared() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a INT)");
    shell.run("INSERT INTO t VALUES (1), (2), (3)");
    shell.run(
        "PREPARE p (int) AS WITH gone AS (DELETE FROM t WHERE a = $1 RETURNING a) SELECT a FROM gone",
    );
    assert_eq!(shell.run("SELECT count(*) FROM t"), "3");
    assert_eq!(shell.run("EXECUTE p (2)"), "2");
    assert_eq!(shell.run("EXECUTE p (2)"), "");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "2");
}
