//! Filters that scans are given by joins and sorts while a plan runs.

use crate::support::Shell;
use gadus_sql::Value;
use serde_json::Value as Json;

/// Several segments of `t`, and few rows of `o`.
fn filled() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id BIGINT, k BIGINT, v BIGINT)");
    shell.run("INSERT INTO t SELECT i, i % 1000, i % 13 FROM range(200000) AS r(i)");
    shell.run("CREATE TABLE o AS SELECT i AS k, i % 10 AS n FROM range(1000) AS r(i)");
    shell
}

/// Rows that the scan of a table gave, and how it is shown.
fn scanned(plan: &Json, table: &str) -> Option<(u64, String)> {
    let detail = plan["details"].as_str().unwrap_or_default();
    if detail.contains(&format!("table={table},")) {
        return Some((plan["rows"].as_u64().unwrap(), detail.to_owned()));
    }
    plan["inputs"].as_array()?.iter().find_map(|input| scanned(input, table))
}

fn explained(shell: &Shell, text: &str) -> Json {
    let printed = shell.run(&format!("EXPLAIN (ANALYZE, FORMAT JSON) {text}"));
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

#[test]
fn rows_that_no_join_takes_are_not_read_on() {
    let shell = filled();
    for (text, most) in [
        ("SELECT count(*) FROM t JOIN o ON t.k = o.k WHERE o.n = 3 AND o.k < 100", 3_000),
        // Through groups, and behind a join.
        (
            "SELECT count(*) FROM o JOIN (SELECT k, sum(v) AS s FROM t GROUP BY k) AS g ON g.k = o.k WHERE o.k < 10",
            3_000,
        ),
    ] {
        let told = explained(&shell, text);
        let (rows, detail) = scanned(&told["plan"], "t").unwrap();
        assert!(detail.contains("dynamic filters=1"), "{text}: {detail}");
        assert!(rows <= most, "{text}: {rows} rows");
    }
}

#[test]
fn each_run_of_a_kept_plan_has_filters_of_its_own() {
    let shell = filled();
    let text = "SELECT count(*), sum(t.v) FROM t JOIN o ON t.k = o.k WHERE o.n = ? AND o.k < ?";
    let alone = "SELECT count(*), sum(v) FROM t WHERE k % 10 = ? AND k < ?";
    for round in 0..4 {
        for n in [3, 7, 0, 3, 12] {
            let values = [Value::Integer(n), Value::Integer(100 + 50 * round)];
            let (joined, plain) =
                (shell.try_run(text, &values).unwrap(), shell.try_run(alone, &values).unwrap());
            assert_eq!(joined, plain, "n = {n}, round {round}");
        }
        shell.run("UPDATE t SET v = v + 1 WHERE k % 10 = 3");
        shell.run("INSERT INTO t VALUES (900000, 3, 5)");
    }
}

#[test]
fn joins_that_keep_all_rows_of_a_side_keep_them() {
    let shell = filled();
    for (join, rows) in [
        ("LEFT JOIN", 200_000),
        ("RIGHT JOIN", 2_000 + 990),
        ("FULL JOIN", 200_000 + 990),
        ("JOIN", 2_000),
    ] {
        let text = format!(
            "SELECT count(*) FROM t {join} (SELECT k FROM o WHERE k < 10 UNION ALL SELECT k + 5000 FROM o WHERE k >= 10) AS p ON t.k = p.k"
        );
        assert_eq!(shell.run(&text), rows.to_string(), "{text}");
    }
    for (condition, rows) in [
        ("EXISTS (SELECT 1 FROM o WHERE o.k = t.k AND o.n = 3)", 20_000),
        ("NOT EXISTS (SELECT 1 FROM o WHERE o.k = t.k AND o.n = 3)", 180_000),
        ("k IN (SELECT k FROM o WHERE k > 990)", 1_800),
        ("k NOT IN (SELECT k FROM o WHERE k > 990)", 198_200),
        ("k NOT IN (SELECT nullif(k, 995) FROM o WHERE k > 990)", 0),
    ] {
        let text = format!("SELECT count(*) FROM t WHERE {condition}");
        assert_eq!(shell.run(&text), rows.to_string(), "{text}");
    }
    let first = "SELECT id FROM t JOIN o ON t.k = o.k WHERE o.n = 1 ORDER BY t.v DESC, id LIMIT 2";
    assert_eq!(shell.run(first), "51\n181");
}
