//! What is known of the machine, and what was decided by it, as tables.

use crate::support::Shell;

#[test]
fn facts_are_rows() {
    let shell = Shell::new();
    let cores = "SELECT count(*) FROM gadus.facts WHERE subject = 'machine' AND name = 'cores' \
                 AND number >= 1 AND source = 'discovered' AND unit IS NULL";
    assert_eq!(shell.run(cores), "1");
    let contradictions =
        "SELECT count(*) FROM gadus.facts WHERE (value IS NULL) <> (why_unknown IS NOT NULL)";
    assert_eq!(shell.run(contradictions), "0");
    let text = "SELECT number FROM gadus.facts WHERE subject = 'kernel' AND name = 'release'";
    assert_eq!(shell.run(text), "NULL");
}

#[test]
fn decisions_say_what_was_chosen_and_by_whom() {
    let shell = Shell::new();
    let threads = "SELECT choice, overridden, changes FROM gadus.decisions \
                   WHERE question = 'scan threads'";
    assert_eq!(shell.run(threads), "2|threads = 2|0");
    let usual = shell.run("SHOW gadus.memory_limit");
    let memory = "SELECT choice, overridden, changes FROM gadus.decisions \
                  WHERE question = 'memory limit'";
    assert_eq!(shell.run(memory), format!("{usual}|NULL|0"));
    shell.run("SET gadus.memory_limit = '3000000001'");
    assert_eq!(shell.run(memory), "3000000001 B|gadus.memory_limit = '3000000001 B'|1");
    shell.run("RESET gadus.memory_limit");
    assert_eq!(shell.run(memory), format!("{usual}|NULL|2"));
    let batches = "SELECT choice FROM gadus.decisions WHERE question = 'batch rows'";
    shell.run("SET gadus.memory_limit = '96MiB'");
    assert_eq!(shell.run(batches), "512");
    shell.run("RESET gadus.memory_limit");
    let reasons = "SELECT count(*) FROM gadus.decisions WHERE length(reason) > 0 \
                   AND facts LIKE '%process%' AND would_change IS NOT NULL AND inputs IS NULL";
    assert_eq!(shell.run(reasons), "3");
}

/// By what was seen of scans, and what is known of waking threads: nothing, unless somebody has measured it.
#[test]
fn who_shares_scans_is_decided_where_tables_are_large() {
    let shell = Shell::new();
    shell.run("CREATE TABLE c AS SELECT i AS id FROM range(9999) AS r(i)");
    let decided = "SELECT choice LIKE 'from % rows on', reason LIKE '%to another thread and back%' \
                   FROM gadus.decisions WHERE question = 'sharing'";
    shell.run("SELECT count(*) FROM c WHERE id = 7");
    assert_eq!(shell.run(decided), "", "nobody shares so few rows");
    shell.run("INSERT INTO c VALUES (10000)");
    shell.run("SELECT count(*) FROM c WHERE id = 7");
    assert_eq!(shell.run(decided), "true|true");
}

#[test]
fn what_is_cached_is_as_much_as_is_told() {
    let shell = Shell::new();
    shell.run("CREATE TABLE c AS SELECT i AS id, i * 7919 AS n FROM range(200000) AS r(i)");
    let sum = "SELECT sum(n) FROM c";
    let (expected, usual) = (shell.run(sum), shell.run("SHOW gadus.cache"));
    let cached = || shell.run("SELECT cached_bytes FROM gadus.memory").parse::<u64>().unwrap();
    let all = cached();
    assert!(all > 200_000, "{all}");
    shell.run("SET gadus.cache = '64KiB'");
    assert!(cached() <= 64 << 10, "{} of {all}", cached());
    assert_eq!(
        (shell.run(sum), shell.run("SHOW gadus.cache")),
        (expected.clone(), "64 KiB".into())
    );
    assert!(cached() <= 64 << 10, "{} of {all}", cached());
    shell.run("RESET gadus.cache");
    assert_eq!((shell.run(sum), shell.run("SHOW gadus.cache")), (expected, usual));
    assert_eq!(cached(), all);
}
