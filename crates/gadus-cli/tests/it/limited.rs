//! The program in a control group that gives it one processor's time and little memory.

use crate::control_group::Group;
use crate::folder::{Folder, error_of};
use crate::served::Served;
use gadus_base::clock;
use std::fs;
use std::time::Duration;

/// Of memory, in bytes: much less than the statements hold.
const MEMORY: u64 = 192 << 20;

/// The answers of the same statements without a group, and what was chosen in it by which facts.
#[test]
fn statements_succeed_with_little_memory_and_decisions_say_why() {
    let group = match Group::make(MEMORY, Some(100_000)) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    folder.printed(&[
        "x.gadus",
        "-c",
        "CREATE TABLE t AS SELECT i AS id, repeat('x', 40) || ((i * 7919) % 1000000) AS label \
         FROM range(1000000) AS r(i)",
    ]);
    let answers = |text: &str, limited: bool| {
        let program = folder.gadus(&["x.gadus", "-c", text]);
        let output = if limited { group.start(&program) } else { program }.output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, error_of(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let sorted = "SELECT sum(place * (id % 1000)) FROM \
                  (SELECT id, row_number() OVER (ORDER BY label DESC) AS place FROM t)";
    let grouped =
        "SELECT count(*), max(n) FROM (SELECT label, count(*) AS n FROM t GROUP BY label)";
    for text in [sorted, grouped] {
        assert_eq!(answers(text, true), answers(text, false), "{text}");
    }
    let spilled = format!("{sorted}; SELECT spilled_bytes_total > 0 AS spilled FROM gadus.memory");
    assert!(answers(&spilled, true).contains("true"));
    let chosen = answers("SELECT question, choice, reason FROM gadus.decisions", true);
    for expected in [
        "the control group gives the time of 1 of",
        "half of the 192.0 MiB that the control group may have",
        "an eighth of the 192.0 MiB that the control group may have",
    ] {
        assert!(chosen.contains(expected), "{expected}: {chosen}");
    }
}

/// Texts of a megabyte, of which there are more than a group may have: most are spilled. What the program holds beside what
/// its plans count fits between `gadus.memory_limit` and the group's memory.
#[test]
fn statements_on_long_texts_stay_near_the_limit() {
    let folder = Folder::new();
    let table = "CREATE TABLE w AS SELECT i AS a, i || repeat('wide', 250000) AS b FROM range(1200) AS r(i)";
    folder.printed(&["x.gadus", "-c", table]);
    for (mebibytes, text) in [
        (300, "SELECT count(*), sum(n) FROM (SELECT b, count(*) AS n FROM w GROUP BY b) x"),
        (300, "SELECT count(*), sum(length(m)) FROM (SELECT a, max(b) AS m FROM w GROUP BY a) x"),
        (300, "SELECT count(DISTINCT b), min(a) FROM w"),
        (
            300,
            "SELECT count(*), sum(length(v)) FROM (SELECT lag(b, 3) OVER (ORDER BY a) AS v FROM w) x",
        ),
        (400, "SELECT count(*) FROM w x JOIN w y ON x.b = y.b"),
    ] {
        let group = match Group::make(mebibytes << 20, None) {
            Ok(group) => group,
            Err(error) => return println!("skipped: no control group can be made here: {error}"),
        };
        let text = format!("SET gadus.memory_limit = '256MiB'; {text}");
        let output = group.start(&folder.gadus(&["x.gadus", "-c", &text])).output().unwrap();
        assert!(output.status.success(), "{text}: {}: {}", output.status, error_of(&output));
        let answer = String::from_utf8(output.stdout).unwrap();
        assert!(answer.contains(" 1200 "), "{text}: {answer}");
    }
}

/// One partition has all rows of one side, and is slower than the other: what waits for it is written out. It took 260 to
/// 340 MiB before.
#[test]
fn batches_that_wait_for_a_slow_partition_stay_near_the_limit() {
    let group = match Group::make(200 << 20, None) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    let tables = "CREATE TABLE l AS SELECT 1 AS k, lpad(i::text, 200, 'x') AS t FROM range(600000) AS r(i); \
                  CREATE TABLE r AS SELECT i AS k, lpad(i::text, 200, 'y') AS t FROM range(1500000) AS r(i)";
    folder.printed(&["x.gadus", "-c", tables]);
    let text = "SET gadus.memory_limit = '64MiB'; \
                SELECT count(*), sum(length(l.t)), sum(length(r.t)) FROM l JOIN r ON l.k = r.k";
    let output = group.start(&folder.gadus(&["x.gadus", "-c", text])).output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, error_of(&output));
    let answer = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answer.matches("120000000").count(), 2, "{answer}");
}

/// Beside its cache, of 32 MiB, the server keeps little of what a join held: an allocator that keeps blocks of buffers for
/// the few that the cache has taken of each kept 60 to 80 MiB, and more with each such statement of more memory.
#[test]
fn memory_that_statements_held_is_given_back() {
    let group = match Group::make(400 << 20, None) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    let table = "CREATE TABLE t AS SELECT i AS a, (i * 7919) % 2000000 AS b, i % 100 AS c, repeat('x', 20) || i AS s \
                 FROM range(2000000) AS r(i)";
    folder.printed(&["x.gadus", "-c", table]);
    let server = Served::start_in(&group, &folder, &[]);
    let mut client = server.client();
    client.query("SET gadus.memory_limit = '256MiB'").unwrap();
    for _ in 0..3 {
        let counted = "SELECT count(*) FROM \
                       (SELECT x.s, count(*), sum(y.c) FROM t x JOIN t y ON x.a = y.b GROUP BY x.s) q";
        assert_eq!(client.query(counted).unwrap(), ["2000000"]);
    }
    let spilled = client.query("SELECT spilled_bytes_total > 100000000 FROM gadus.memory").unwrap();
    assert_eq!(spilled, ["t"]);
    let ended = clock().now();
    let mut kept = anonymous_mebibytes(server.id());
    while kept >= 72 {
        assert!(ended.elapsed() < Duration::from_secs(30), "{kept} MiB are kept");
        client.query("SELECT 1").unwrap();
        kept = anonymous_mebibytes(server.id());
    }
    server.stop();
}

/// Returns the memory of a process, without files and what it shares.
fn anonymous_mebibytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
}
