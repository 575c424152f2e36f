//! Statements that are long or deep: answered or refused, and no stack overflows.

use crate::support::Shell;
use gadus_engine::ErrorKind;

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a BIGINT, b BIGINT, s TEXT)");
    shell.run("INSERT INTO t VALUES (1, 2, 'x'), (3, 4, 'y')");
    shell
}

/// The same part again and again.
fn chain(part: &str, operator: &str, count: usize) -> String {
    vec![part; count].join(operator)
}

/// Tables under names of their own.
fn tables(separator: &str, count: usize) -> String {
    let tables = (0..count).map(|number| format!("t AS t{number}"));
    tables.collect::<Vec<_>>().join(separator)
}

/// Names of which each reads the one before twice.
fn names(count: usize) -> String {
    let more = (1..count).map(|number| {
        let before = number - 1;
        format!(", w{number} AS (SELECT x.a FROM w{before} AS x JOIN w{before} AS y ON x.a = y.a)")
    });
    format!("WITH w0 AS (SELECT a FROM t){}", more.collect::<String>())
}

fn doubled(count: usize) -> String {
    format!("{} SELECT count(*) FROM w{}", names(count), count - 1)
}

#[test]
fn long_chains_are_answered() {
    let shell = shell();
    let joins = (0..60).map(|number| format!("JOIN t AS t{number} ON t{number}.a = t.a"));
    let joins = joins.collect::<Vec<_>>().join(" ");
    for (text, answer) in [
        (format!("SELECT count(*) FROM t WHERE {}", chain("a * 1 = 3", " OR ", 3_000)), "1"),
        (format!("SELECT count(*) FROM t WHERE {}", chain("a * 1 < b", " AND ", 3_000)), "2"),
        (format!("SELECT {} FROM t WHERE a = 3", chain("a", " + ", 100)), "300"),
        (format!("SELECT length({}) FROM t WHERE a = 1", chain("s", " || ", 240)), "240"),
        (format!("SELECT {}a{} FROM t WHERE b = 4", "(".repeat(50), ")".repeat(50)), "3"),
        (format!("SELECT sum(a) FROM ({})", chain("SELECT a FROM t", " UNION ALL ", 180)), "720"),
        (format!("SELECT count(*) FROM t {joins} WHERE t0.a = 1"), "1"),
        (doubled(6), "2"),
        // A name is read where it stands.
        (format!("{} SELECT count(*) FROM w1", names(13)), "2"),
    ] {
        // The second and third run would have a kept plan.
        for _ in 0..3 {
            assert_eq!(shell.run(&text), answer, "{text:.200}");
        }
    }
    let list = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(shell.run(&format!("SELECT count(*) FROM t WHERE a IN ({list})")), "2");
    // Groups of a chain keep their order of evaluation and their meaning.
    let mixed = format!("{} AND b = 4 OR a = 1", chain("a = 3", " AND ", 40));
    assert_eq!(shell.run(&format!("SELECT count(*) FROM t WHERE {mixed}")), "2");
    assert_eq!(shell.run(&format!("SELECT count(*) FROM t WHERE NOT ({mixed})")), "0");
}

#[test]
fn chains_too_long_for_a_stack_are_refused() {
    let shell = shell();
    for (text, message) in [
        (format!("SELECT 1 FROM t WHERE {}", chain("a = 1", " AND ", 100_000)), "without a comma"),
        (format!("SELECT {} FROM t", chain("a", " + ", 4_000)), "levels"),
        (format!("SELECT a{} FROM t", "::bigint".repeat(300)), "levels"),
        (format!("SELECT a{} FROM t", " IS NULL".repeat(4_000)), "levels"),
        (format!("SELECT 1 FROM {}", tables(" CROSS JOIN ", 20_000)), "queries, joins and tables"),
        (format!("SELECT 1 FROM {}", tables(", ", 20_000)), "queries, joins and tables"),
        (chain("VALUES (1)", " UNION ALL ", 20_000), "queries, joins and tables"),
        (format!("SELECT {}1{}", "(".repeat(1_000_000), ")".repeat(1_000_000)), "too deeply"),
        (doubled(12), "more than 1000 tables, where a name that WITH gives"),
        (doubled(80), "more than 1000 tables, where a name that WITH gives"),
        (format!("{} UPDATE t SET a = 1 WHERE a IN (SELECT a FROM w11)", names(12)), "WITH gives"),
        (format!("SELECT {} 1", "NOT ".repeat(1_000_000)), "without a comma"),
        (format!("SELECT {}1", "-".repeat(9_000).replace('-', "- ")), "too deeply"),
    ] {
        let (kind, error) = shell.fails(&text);
        assert!(kind == ErrorKind::Limit && error.contains(message), "{error}: {text:.100}");
        assert_eq!(shell.run("SELECT a FROM t WHERE b = 4"), "3");
    }
    // What was read before a mistake is released, however long.
    let (kind, _) = shell.fails(&format!("SELECT {} FROM t WHERE )", chain("a", " + ", 4_900)));
    assert_eq!(kind, ErrorKind::Input);
}
