//! Statements as deep and as wide as the grammar allows: bound, or refused with an error.

use crate::provider::Tables;
use gadus_binder::bind_statement;
use gadus_syntax::parse_statement;

/// Levels that the grammar allows for each construct, about.
const DEPTH: usize = 950;

/// Wraps a text in so many levels.
fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

fn statements() -> Vec<String> {
    let expr =
        |open: &str, close: &str| format!("SELECT {} FROM t", nested(open, "a", close, DEPTH));
    let chain = |part: &str| format!("SELECT a{} FROM t", part.repeat(DEPTH));
    let joins = (0..DEPTH).map(|at| format!(" JOIN u AS u{at} ON u{at}.id = t.a"));
    let using = (0..DEPTH).map(|at| format!(" JOIN t AS t{at} USING (id)"));
    vec![
        expr("(", ")"),
        expr("abs(", ")"),
        expr("- ", ""),
        expr("CASE WHEN a = 1 THEN ", " END"),
        expr("coalesce(", ", 1)"),
        expr("(SELECT ", ")"),
        expr("ARRAY[", "]"),
        expr("ROW(", ")"),
        expr("sum(", ")"),
        expr("NOT ", ""),
        chain(" + 1"),
        chain("::int8::int4"),
        chain(" AND a = 1"),
        chain(" || 'x'"),
        format!("SELECT * FROM {}", nested("(SELECT * FROM ", "t", ") AS x", 300)),
        format!("SELECT * FROM t{}", joins.collect::<String>()),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(DEPTH)),
        format!("SELECT {} FROM t", vec!["a"; 1_600].join(", ")),
        format!("SELECT {} FROM t", vec!["a"; 1_700].join(", ")),
        format!("SELECT a FROM t WHERE a IN ({})", vec!["1"; 20_000].join(", ")),
        format!("SELECT a, count(*) FROM t GROUP BY {}", nested("abs(", "a", ")", DEPTH)),
        format!("SELECT count(*) FROM t GROUP BY CUBE ({})", vec!["a"; 13].join(", ")),
        format!(
            "SELECT count(*) FROM t GROUP BY CUBE ({0}), CUBE ({0})",
            "a, b, c, d, v, ts, tz, id, a + 1, a + 2, a + 3"
        ),
        format!("SELECT count(*) FROM t AS x{}", using.collect::<String>()),
        format!(
            "WITH {} SELECT 1",
            (0..500).map(|at| format!("w{at} AS (SELECT 1)")).collect::<Vec<_>>().join(", ")
        ),
        "SELECT nothing".to_owned() + &" + 1".repeat(DEPTH),
        format!("INSERT INTO t (a) VALUES {}", vec!["(1)"; 20_000].join(", ")),
        format!("INSERT INTO t (a) SELECT {}", nested("(SELECT ", "a", ")", DEPTH)),
        format!("UPDATE t SET a = {}", nested("abs(", "a", ")", DEPTH)),
        format!("DELETE FROM t WHERE {}", nested("NOT ", "a = 1", "", DEPTH)),
        format!(
            "WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT {} FROM x) SELECT * FROM x",
            nested("abs(", "n", ")", DEPTH)
        ),
        format!("SELECT '{}'::jsonb", nested("[", "1", "]", 100_000)),
        format!("SELECT '{}'::int[]", nested("{", "1", "}", 100_000)),
        format!("SELECT '{}'::numeric", "1".repeat(100_000)),
    ]
}

/// Stack that users of the crate provide: copies and comparisons of trees are recursive.
const STACK_BYTES: usize = 128 << 20;

#[test]
fn deep_and_wide_statements_are_bound_or_refused() {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(bind_all);
    thread.expect("there is a thread").join().expect("it returns");
}

fn bind_all() {
    let tables = Tables::new();
    let mut bound = 0;
    for text in statements() {
        let Ok(parsed) = parse_statement(&text) else { continue };
        if let Ok(statement) = bind_statement(&tables, &parsed.statement, &[]) {
            // Copied, compared, printed: each goes through the whole tree.
            assert_eq!(statement.clone(), statement);
            assert!(!statement.query.to_string().is_empty());
            bound += 1;
        }
    }
    assert!(bound >= 18, "{bound} were bound");
}
