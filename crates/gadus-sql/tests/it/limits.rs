//! Settings of shared scans, and how long statements may take.

use crate::scanning::{ROWS, filled};
use crate::support::Shell;
use gadus_engine::ErrorKind;
use std::time::Duration;

#[test]
fn settings_read_back() {
    let shell = Shell::new();
    assert_eq!(shell.run("SHOW gadus.sharing"), "auto");
    shell.run("SET gadus.sharing = 'never'");
    assert_eq!(shell.run("SHOW gadus.sharing"), "never");
    shell.run("SET gadus.batch_queries = 4096");
    assert_eq!(shell.run("SHOW gadus.batch_queries"), "4096");
    shell.run("SET gadus.batch_updates = 512");
    assert_eq!(shell.run("SHOW gadus.batch_updates"), "512");
    for (name, value) in [
        ("gadus.latency_target", "200ms"),
        ("gadus.late_statements", "refuse"),
        ("gadus.pin_threads", "on"),
        ("gadus.divide_scans", "on"),
        ("statement_timeout", "1500ms"),
    ] {
        shell.run(&format!("SET {name} = '{value}'"));
        assert_eq!(shell.run(&format!("SHOW {name}")), value);
    }
    let usual = shell.run("SHOW gadus.memory_limit");
    shell.run("SET gadus.memory_limit = '3GiB'");
    assert_eq!(shell.run("SHOW gadus.memory_limit"), "3 GiB");
    shell.run("RESET gadus.memory_limit");
    assert_eq!(shell.run("SHOW gadus.memory_limit"), usual);
    for (name, usual) in [("gadus.pin_threads", "auto"), ("gadus.batch_queries", "2048")] {
        shell.run(&format!("RESET {name}"));
        assert_eq!(shell.run(&format!("SHOW {name}")), usual);
    }
    for wrong in [
        "SET gadus.cache = 'much'",
        "SET gadus.memory_limit = 'much'",
        "SET gadus.late_statements = never",
        "SET gadus.pin_threads = some",
        "SET gadus.divide_scans = 7",
        "SET gadus.latency_target = 'soon'",
        "SET gadus.sharing = sometimes",
        "SET gadus.batch_queries = 0",
        "SET gadus.batch_updates = some",
    ] {
        assert_eq!(shell.fails(wrong).0, ErrorKind::Input, "{wrong}");
    }
    assert_eq!(shell.run("SELECT passes, questions FROM gadus.clock"), "0|0");
}

/// As in PostgreSQL: of the session's settings, and of those that clients set for themselves.
#[test]
fn what_a_transaction_sets_is_taken_back_with_it() {
    let shell = Shell::new();
    for (name, [first, second, third]) in [
        ("statement_timeout", ["1000ms", "2000ms", "3000ms"]),
        ("lock_timeout", ["1000ms", "2000ms", "3000ms"]),
        ("idle_in_transaction_session_timeout", ["1000ms", "2000ms", "3000ms"]),
        ("gadus.sharing", ["always", "never", "auto"]),
        ("gadus.durability", ["off", "relaxed", "sync"]),
        ("gadus.statement_memory", ["1 MiB", "2 MiB", "3 MiB"]),
        ("default_transaction_isolation", ["read committed", "snapshot", "read committed"]),
        ("application_name", ["one", "two", "three"]),
    ] {
        let set = |how: &str, value: &str| shell.run(&format!("{how} {name} = '{value}'"));
        let is = |value: &str| assert_eq!(shell.run(&format!("SHOW {name}")), value, "{name}");
        let usual = shell.run(&format!("SHOW {name}"));
        set("SET", first);
        set("SET LOCAL", second);
        is(first);
        shell.run("BEGIN");
        set("SET", second);
        shell.run("SAVEPOINT s");
        set("SET", third);
        is(third);
        shell.run("ROLLBACK TO s");
        is(second);
        shell.run("ROLLBACK");
        is(first);
        shell.run("BEGIN");
        set("SET LOCAL", second);
        is(second);
        shell.run("COMMIT");
        is(first);
        shell.run("BEGIN");
        set("SET", second);
        set("SET LOCAL", third);
        is(third);
        shell.run("COMMIT");
        is(second);
        shell.run("BEGIN");
        shell.run(&format!("RESET {name}"));
        is(&usual);
        shell.run("ROLLBACK");
        is(second);
        shell.run("BEGIN");
        shell.run("RESET ALL");
        shell.run("COMMIT");
        is(&usual);
    }
}

#[test]
fn settings_are_reset_to_what_the_session_began_with() {
    let shell = Shell::new();
    shell.run("SET statement_timeout = '7s'");
    shell.run("SET application_name = 'mine'");
    shell.last().keep_settings();
    for reset in ["RESET statement_timeout; RESET application_name", "RESET ALL", "DISCARD ALL"] {
        shell.run("SET statement_timeout = 0");
        shell.run("SET application_name = 'another'");
        reset.split("; ").for_each(|one| drop(shell.run(one)));
        assert_eq!(shell.run("SHOW statement_timeout"), "7000ms");
        assert_eq!(shell.run("SHOW application_name"), "mine");
    }
}

#[test]
fn who_would_be_answered_too_late_waits_or_is_refused() {
    let shell = filled(1);
    shell.run("SET gadus.sharing = always");
    let limits = shell.engine().scan_limits();
    // No pass is as fast.
    limits.set_latency_target(Some(Duration::from_nanos(1)));
    let text = "SELECT count(*) FROM bookings WHERE origin = 'AB'";
    let explain = format!("EXPLAIN {text}");
    assert!(shell.run(&explain).contains("not known to hold"));
    let count = shell.run(text);
    assert!(shell.run(&explain).contains("does not hold: it would wait"));
    assert_eq!(shell.run(text), count);
    shell.run("SET gadus.late_statements = refuse");
    assert!(shell.run(&explain).contains("does not hold: it would be refused"));
    let (kind, message) = shell.fails(text);
    assert_eq!(kind, ErrorKind::Limit);
    assert!(message.contains("gadus.latency_target"), "{message}");
    let update = "UPDATE bookings SET note = '' WHERE origin = 'AB'";
    assert_eq!(shell.fails(update).0, ErrorKind::Limit);
    limits.set_latency_target(Some(Duration::from_secs(100)));
    assert!(shell.run(&explain).contains("latency target of 100000 ms holds"));
    assert_eq!(shell.run(text), count);
}

#[test]
fn a_statement_ends_with_its_time() {
    let shell = filled(1);
    let other = shell.another();
    let late = |(kind, message): (ErrorKind, String)| {
        assert_eq!(kind, ErrorKind::Cancelled);
        assert!(message.contains("statement timeout"), "{message}");
    };
    shell.run("SET statement_timeout = 20");
    // One that computes, one that scans again and again, one that waits for a lock.
    late(shell.fails("SELECT count(*) FROM generate_series(1, 100000000000)"));
    late(
        shell.fails(
            "SELECT sum(a.fare) FROM bookings a, bookings b, bookings c WHERE a.fare < b.fare",
        ),
    );
    other.run("BEGIN");
    other.run("UPDATE bookings SET note = 'held' WHERE id = 1");
    late(shell.fails("UPDATE bookings SET note = 'late' WHERE id = 1"));
    shell.run("SET gadus.sharing = always");
    late(shell.fails("UPDATE bookings SET note = 'late' WHERE passenger = 7919"));
    other.run("ROLLBACK");
    // Its time begins anew with each.
    shell.run("SET statement_timeout = '1h'");
    shell.run("UPDATE bookings SET note = 'now' WHERE passenger = 7919");
    assert_eq!(shell.run("SELECT note FROM bookings WHERE id = 1"), "now");
    shell.run("SET statement_timeout = 0");
    assert_eq!(shell.run("SELECT count(*) FROM bookings"), ROWS.to_string());
}
