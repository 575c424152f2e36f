//! Statements that take long to plan: each ends soon after its time is over, and the session goes on.
//!
//! - Builds without optimisation are slow and machines busy: what counts is that nothing goes on for the time that it
//!   would take to the end, which is minutes for some of them.

use crate::support::Shell;
use gadus_base::{clock, spawn};
use gadus_engine::ErrorKind;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What no statement takes with a timeout of a fifth of a second.
const PATIENCE: Duration = Duration::from_secs(15);

/// So many times a text with `#` in the place of the number.
fn numbered(text: &str, separator: &str, count: usize) -> String {
    let mut all = String::new();
    for number in 0..count {
        let part = text.replace('#', &number.to_string());
        let separator = if number == 0 { "" } else { separator };
        write!(all, "{separator}{part}").unwrap();
    }
    all
}

fn select(item: &str, count: usize) -> String {
    format!("SELECT {} FROM t", numbered(item, ", ", count))
}

fn nested_cases() -> String {
    let inner = "CASE a WHEN 1 THEN 2 WHEN 3 THEN # END";
    select(&format!("CASE WHEN a > # THEN {inner} WHEN a < # THEN a * # ELSE NULL END"), 1600)
}

fn statements() -> Vec<String> {
    let joins = numbered("JOIN t AS t# ON t#.a = t.a", " ", 60);
    vec![
        select("#", 1600),
        nested_cases(),
        select("sum(a + #)", 1600),
        select("row_number() OVER (ORDER BY a + #)", 190),
        select("sum(a) OVER (PARTITION BY a + # ORDER BY b)", 190),
        select("sum(a + #) OVER (ORDER BY a)", 1600),
        format!("{} GROUP BY {}", select("a + #", 1600), numbered("a + #", ", ", 1600)),
        format!("SELECT DISTINCT {}", &select("a + #", 1600)["SELECT ".len()..]),
        format!("SELECT a FROM t ORDER BY {}", numbered("a + #", ", ", 1600)),
        format!("SELECT count(*) FROM (VALUES {}) v (a)", numbered("(#)", ", ", 100_000)),
        format!("SELECT a FROM t WHERE a IN ({})", numbered("#", ", ", 100_000)),
        format!("SELECT a FROM t WHERE a IN ({})", numbered("a + #", ", ", 10_000)),
        format!("SELECT a FROM t WHERE {}", numbered("a = # + b", " OR ", 2_400)),
        format!("SELECT a FROM t WHERE {}", numbered("a <> # + b", " AND ", 2_400)),
        format!("SELECT a FROM t WHERE {}", numbered("a = #", " OR ", 10_000)),
        format!("SELECT cardinality([{}])", numbered("#", ", ", 100_000)),
        format!("SELECT coalesce({}) FROM t", numbered("a + #", ", ", 10_000)),
        numbered("SELECT #", " UNION ALL ", 500),
        numbered("SELECT #", " UNION ", 190),
        format!("SELECT count(*) FROM t {joins}"),
        format!("SELECT count(*) FROM t {}", joins.replace("JOIN", "LEFT JOIN")),
        format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000)),
    ]
}

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (a BIGINT, b BIGINT)");
    shell.run("INSERT INTO t VALUES (1, 2), (3, 4)");
    shell
}

#[test]
fn no_planning_outlives_its_timeout() {
    let shell = shell();
    for text in statements() {
        shell.run("SET statement_timeout = '200ms'");
        let began = clock().now();
        let outcome = shell.try_run(&text, &[]);
        let took = began.elapsed();
        if let Err(error) = outcome {
            let expected = [ErrorKind::Cancelled, ErrorKind::Limit];
            assert!(expected.contains(&error.kind()), "{text:.80}: {error}");
        }
        assert!(took < PATIENCE, "{text:.80} took {took:?}");
        shell.run("SET statement_timeout = 0");
        assert_eq!(shell.run("SELECT count(*) FROM t"), "2");
    }
}

#[test]
fn windows_of_a_statement_have_a_limit() {
    let shell = shell();
    let (kind, message) = shell.fails(&select("row_number() OVER (ORDER BY a + #)", 201));
    assert_eq!(kind, ErrorKind::Limit);
    assert!(message.contains("more than 200 windows"), "{message}");
    // Those of one order run together, whatever their frames are.
    let frames = select("sum(b) OVER (ORDER BY a ROWS # PRECEDING)", 300);
    assert_eq!(shell.run(&frames).lines().count(), 2);
}

#[test]
fn a_description_ends_with_its_timeout_and_when_it_is_cancelled() {
    let shell = shell();
    let session = Arc::new(shell.instances[0].session());
    let prepared = session.prepare(&nested_cases()).unwrap();
    shell.runtime.block_on(session.execute("SET statement_timeout = 100", &[])).unwrap();
    let error = shell.runtime.block_on(session.describe(&prepared)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.message().contains("statement timeout (100 ms)"), "{error}");
    shell.runtime.block_on(session.execute("SET statement_timeout = 0", &[])).unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let cancelling = {
        let (session, ended) = (session.clone(), ended.clone());
        let cancel = move || {
            while !ended.load(Ordering::SeqCst) {
                session.cancel();
            }
        };
        spawn("cancels", cancel).unwrap()
    };
    let error = shell.runtime.block_on(session.describe(&prepared)).unwrap_err();
    ended.store(true, Ordering::SeqCst);
    cancelling.join().unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(shell.runtime.block_on(session.execute("SELECT 1", &[])).is_ok());
}

#[test]
fn files_with_a_million_columns_are_refused() {
    let (shell, folder) = (shell(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let names = numbered("c#", ",", 1_000_000);
    std::fs::write(path("wide.csv"), format!("{names}\n{names}\n")).unwrap();
    std::fs::write(path("wide.json"), format!("{{{}}}\n", numbered("\"c#\":1", ",", 1_000_000)))
        .unwrap();
    std::fs::write(path("narrow.csv"), format!("a,b\n1,\"{names}\n\"\n")).unwrap();
    for name in ["wide.csv", "wide.json"] {
        let (kind, message) = shell.fails(&format!("SELECT count(*) FROM '{}'", path(name)));
        assert_eq!(kind, ErrorKind::Limit, "{message}");
        assert!(message.contains("1000000 columns"), "{message}");
    }
    assert_eq!(shell.run(&format!("SELECT a FROM '{}'", path("narrow.csv"))), "1");
}
