//! EXPLAIN and EXPLAIN ANALYZE: what is told is what happened.

use crate::support::Shell;
use gadus_engine::ErrorKind;
use gadus_sql::Value;
use serde_json::Value as Json;

/// Three segments of `t`, in the order of their ids, and few rows of `o`.
fn filled() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT, s TEXT)");
    shell.run("INSERT INTO t SELECT i, i % 7, 'text ' || i FROM range(300000) AS r(i)");
    shell.run("CREATE TABLE o AS SELECT i AS k, 'name ' || i AS name FROM range(5) AS r(i)");
    shell
}

fn json(shell: &Shell, text: &str) -> Json {
    let printed = shell.run(&format!("EXPLAIN (ANALYZE, FORMAT JSON) {text}"));
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// The operators of a plan whose names begin so.
fn named<'a>(operator: &'a Json, name: &str) -> Vec<&'a Json> {
    let own = operator["operator"].as_str().unwrap().starts_with(name).then_some(operator);
    let inputs = operator["inputs"].as_array().into_iter().flatten();
    own.into_iter().chain(inputs.flat_map(|input| named(input, name))).collect()
}

#[test]
fn operators_tell_their_rows_and_the_whole_tells_the_same() {
    let shell = filled();
    let text = "SELECT name, count(*) AS n FROM t JOIN o ON t.k = o.k WHERE t.id % 3 = 0 \
                GROUP BY name ORDER BY n, name LIMIT 4";
    let told = json(&shell, text);
    assert_eq!(told["rows"], 4);
    assert_eq!(shell.run(text).lines().count(), 4);
    let plan = &told["plan"];
    let scans = named(plan, "GadusScan");
    assert_eq!(scans.len(), 2);
    for scan in &scans {
        let is_t = scan["details"].as_str().unwrap().contains("table=t,");
        assert!(scan["rows"].as_u64().unwrap() <= if is_t { 300_000 } else { 5 }, "{scan}");
        assert_eq!(scan["segments_read"], scan["segments"], "{scan}");
        assert!(scan["time_ms"].as_f64().unwrap() > 0.0);
    }
    let joins = named(plan, "HashJoin");
    // Of 100,000 rows five remainders of seven are joined.
    let joined = shell.run("SELECT count(*) FROM t WHERE id % 3 = 0 AND k < 5");
    assert_eq!(joins[0]["rows"].as_u64().unwrap().to_string(), joined);
    assert!(joins[0]["memory_bytes"].as_u64().unwrap() > 0);
    assert!(!named(plan, "Aggregate").is_empty() && named(plan, "GadusPaced").is_empty());
    assert!(told["execution_ms"].as_f64().unwrap() > 0.0);
    assert!(told["memory_bytes"].as_u64().unwrap() > 0);
    assert_eq!(told["spilled_bytes"], 0);
}

#[test]
fn a_scan_tells_which_segments_it_left_out_and_what_the_cache_had() {
    let shell = filled();
    let few = json(&shell, "SELECT upper(s) FROM t WHERE id < 10 AND s LIKE '%7'");
    let scan = named(&few["plan"], "GadusScan")[0].clone();
    let (read, pruned) = (&scan["segments_read"], scan["segments_pruned"].as_u64().unwrap());
    assert!(read.as_u64().unwrap() >= 1 && pruned >= 1, "{scan}");
    let all = |shell: &Shell| {
        let told = json(shell, "SELECT sum(length(s)) FROM t");
        let scan = named(&told["plan"], "GadusScan")[0].clone();
        assert_eq!(scan["read_bytes"], told["read_bytes"]);
        (scan["cache_hits"].as_u64().unwrap(), scan["cache_reads"].as_u64().unwrap())
    };
    let (hits, reads) = all(&shell);
    let (hits_again, reads_again) = all(&shell);
    assert_eq!((hits_again, reads_again), (hits + reads, 0), "what was read is in the cache");
    assert!(hits_again > 0);
}

/// Each round of a recursion begins its scans anew.
#[test]
fn a_scan_tells_all_of_its_rounds() {
    let shell = filled();
    let text = "WITH RECURSIVE r(n) AS (SELECT 0::BIGINT UNION ALL SELECT o.k + 1 FROM o JOIN r ON o.k = r.n) \
                SELECT count(*) FROM r";
    assert_eq!(shell.run(text), "6");
    let told = json(&shell, text);
    let scans = named(&told["plan"], "GadusScan");
    assert_eq!(scans.len(), 1, "{told}");
    assert!(scans[0]["rows"].as_u64().unwrap() >= 5, "{told}");
}

#[test]
fn what_is_written_out_is_told() {
    let shell = filled();
    shell.run("SET gadus.memory_limit = '16MiB'");
    let text = "SELECT s, k, s || 'x', row_number() OVER (ORDER BY s DESC) FROM t \
                CROSS JOIN range(2) AS r(i) ORDER BY s || i, k";
    let told = json(&shell, text);
    assert_eq!(told["rows"], 600_000);
    let spilled = |operator: &&Json| operator["spilled_bytes"].as_u64().unwrap_or_default();
    let of = |name: &str| named(&told["plan"], name).iter().map(spilled).sum::<u64>();
    assert!(of("Sort") > 0, "{told}");
    // Batches between partitions are written out as well, if their readers are late.
    assert_eq!(told["spilled_bytes"], of(""), "{told}");
    assert!(shell.run(&format!("EXPLAIN ANALYZE {text}")).contains("spilled"));
}

#[test]
fn as_text_columns_of_figures_stand_before_the_operators() {
    let shell = filled();
    let printed = shell.run("EXPLAIN ANALYZE SELECT k, max(s) FROM t AS u GROUP BY k");
    let lines = printed.lines().collect::<Vec<_>>();
    let place = lines[0].find("operator").unwrap();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["time", "share", "rows", "memory", "operator"]
    );
    for line in lines[1..].iter().take_while(|line| !line.is_empty()) {
        assert_eq!(&line[place - 2..place], "  ", "{line}");
    }
    assert!(printed.contains("segments read, 0 pruned; cache: "), "{printed}");
    assert!(lines.last().unwrap().contains(": 7 rows; "), "{printed}");
    // Without figures: the tree alone.
    let plan = shell.run("EXPLAIN SELECT k, max(s) FROM t AS u GROUP BY k");
    assert!(plan.contains("GadusScan: table=t") && !plan.contains("time"), "{plan}");
}

#[test]
fn a_page_is_whole_and_escaped() {
    let shell = filled();
    let page =
        shell.run("EXPLAIN (ANALYZE, FORMAT html) SELECT s, '<b>' FROM t WHERE s < '&<' || k");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("GadusScan") && page.contains("&lt;b&gt;") && !page.contains("<b>"));
    assert!(!page.contains("http") && !page.contains("<script"));
    assert_eq!(page.matches("<div").count(), page.matches("</div>").count());
}

#[test]
fn compiled_statements_and_writes_run_as_they_always_do() {
    let shell = filled();
    for (text, begins, rows) in [
        ("SELECT s FROM t WHERE id = 7", "Compiled", 1),
        ("SELECT count(*) FROM t WHERE k = 3", "Compiled", 1),
        ("INSERT INTO o VALUES (77, 'x')", "Compiled", 1),
        ("UPDATE o SET name = 'y' WHERE k = 77", "Compiled", 1),
        ("UPDATE o SET name = upper(name) WHERE k < 3", "UPDATE", 3),
        ("INSERT INTO o SELECT k + 100, name FROM o WHERE k < 2 RETURNING k", "INSERT", 2),
        ("DELETE FROM o USING t WHERE o.k = t.id + 100", "DELETE", 2),
        ("CREATE TABLE made AS SELECT * FROM o", "CREATE TABLE AS", 6),
        ("SELECT * FROM o WHERE k = 1 FOR UPDATE", "SELECT FOR UPDATE", 1),
    ] {
        shell.run("BEGIN");
        let told = json(&shell, text);
        assert_eq!(told["rows"], rows, "{text}");
        let name = told["plan"]["operator"].as_str().unwrap();
        assert!(name.starts_with(begins), "{text}: {name}");
        shell.run("COMMIT");
    }
    assert_eq!(shell.run("SELECT count(*), min(name) FROM o"), "6|NAME 0");
    // As it was meant, not as its text might be read again.
    shell.run(r"EXPLAIN ANALYZE INSERT INTO o VALUES (500 - 2 * (3 - 1), E'it''s\n' || $$a'b$$)");
    assert_eq!(shell.run("SELECT k, length(name) FROM o WHERE k > 400"), "496|8");
    shell.run("DELETE FROM o WHERE k > 400");
    assert_eq!(shell.run("SELECT count(*) FROM made"), "6");
}

#[test]
fn without_analyze_nothing_runs() {
    let shell = filled();
    for text in [
        "INSERT INTO o VALUES (1, 'x')",
        "INSERT INTO o SELECT id, s FROM t",
        "UPDATE o SET name = upper(name)",
        "DELETE FROM o USING t WHERE o.k = t.id",
        "CREATE TABLE made AS SELECT * FROM o",
        "SELECT * FROM o FOR UPDATE",
    ] {
        for form in ["EXPLAIN", "EXPLAIN (FORMAT JSON)", "EXPLAIN (ANALYZE false, COSTS off)"] {
            assert!(!shell.run(&format!("{form} {text}")).is_empty(), "{form} {text}");
        }
    }
    assert_eq!(shell.run("SELECT count(*), min(name) FROM o"), "5|name 0");
    assert!(shell.fails("SELECT * FROM made").1.contains("made"));
    let below = shell.run("EXPLAIN DELETE FROM o USING t WHERE o.k = t.id");
    assert!(below.starts_with("DELETE\n") && below.contains("HashJoin"), "{below}");
}

/// As deep as statements may be, on a small stack.
#[test]
fn deep_statements_are_explained() {
    let shell = filled();
    let deep = (0..2_000).map(|number| format!(" OR k = {number}")).collect::<String>();
    let within = || {
        for statement in [
            format!("SELECT count(*) FROM o AS u WHERE k = 0{deep}"),
            format!(
                "DELETE FROM o USING t WHERE o.k = t.id AND (t.id < 0{})",
                deep.replace('k', "t.k")
            ),
        ] {
            for form in ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN (FORMAT JSON)"] {
                let printed = shell.run(&format!("{form} {statement}"));
                assert!(["GadusScan", "DELETE"].iter().any(|name| printed.contains(name)));
            }
        }
    };
    std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(2 << 20);
        small.spawn_scoped(scope, within).unwrap().join().unwrap();
    });
}

#[test]
fn values_are_taken_and_columns_described() {
    let shell = filled();
    let session = shell.session();
    for form in ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN (FORMAT JSON)"] {
        for text in ["SELECT s FROM t WHERE id = $1", "SELECT upper(s) FROM t AS u WHERE k = $1"] {
            let prepared = session.prepare(&format!("{form} {text}")).unwrap();
            let described = shell.runtime.block_on(session.describe(&prepared)).unwrap();
            assert_eq!(described.columns.as_ref().unwrap().field(0).name(), "plan");
            assert_eq!(described.parameters.len(), 1);
            let run = session.execute_prepared(&prepared, &[Value::Integer(3)]);
            assert!(shell.runtime.block_on(run).is_ok(), "{form} {text}");
            let run = session.execute_prepared(&prepared, &[]);
            assert!(shell.runtime.block_on(run).is_err());
        }
    }
}

#[test]
fn what_it_does_not_take_is_said() {
    let shell = filled();
    for (text, kind, said) in [
        ("EXPLAIN (ANALYZE, COLOURS) SELECT 1", ErrorKind::Input, "colours"),
        ("EXPLAIN (FORMAT yaml) SELECT 1", ErrorKind::Input, "text, json or html"),
        ("EXPLAIN (ANALYZE maybe) SELECT 1", ErrorKind::Input, "on or off"),
        ("EXPLAIN ANALYZE DROP TABLE o", ErrorKind::Input, "EXPLAIN takes"),
        ("EXPLAIN ANALYZE BEGIN", ErrorKind::Input, "EXPLAIN takes"),
        ("EXPLAIN ANALYZE SELECT * FROM nowhere", ErrorKind::Input, "nowhere"),
        ("EXPLAIN ANALYZE SELECT 1 / (k - k) FROM t", ErrorKind::OutOfRange, "zero"),
    ] {
        let (found, message) = shell.fails(text);
        assert!(found == kind && message.contains(said), "{text}: {found:?} {message}");
    }
    assert_eq!(shell.run("SELECT count(*) FROM o"), "5");
    shell.run("BEGIN READ ONLY");
    assert_eq!(shell.fails("EXPLAIN ANALYZE DELETE FROM o").0, ErrorKind::ReadOnly);
    shell.run("ROLLBACK");
}
