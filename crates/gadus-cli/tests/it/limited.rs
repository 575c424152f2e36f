//! The program in a control group that gives it one processor's time and little memory.

use crate::control_group::Group;
use crate::folder::{Folder, error_of};

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
        (512, "SELECT count(*) FROM w x JOIN w y ON x.b = y.b"),
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
