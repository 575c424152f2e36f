//! Answers by what a kernel was found to do, and what is assumed where nothing is known of it.

use super::{choices, process};
use crate::questions::{
    Reached, Temperature, Wait, decide_announcing, decide_cache_scope, decide_client_transport,
    decide_gathering, decide_io_path, decide_latch_looks, decide_scan_helpers, decide_sharing,
    decide_wait,
};
use crate::{Facts, Limits, Source};
use gadus_base::ByteCount;
use std::time::Duration;

fn facts(known: &[(&str, f64, &str)]) -> Facts {
    let mut facts = Facts::default();
    for (name, value, unit) in known {
        facts.note(("kernel", name), *value, unit, Source::Measured);
    }
    facts
}

#[test]
fn files_are_read_as_takes_the_least_time() {
    let measured = facts(&[
        ("cold scan by read, 64 KiB", 300_000.0, "ns/MiB"),
        ("cold scan by mapped", 450_000.0, "ns/MiB"),
        ("cold scan by O_DIRECT, io_uring, 8 at a time", 200_000.0, "ns/MiB"),
        ("warm scan by mapped", 50_000.0, "ns/MiB"),
    ]);
    let (path, decision) = decide_io_path(&measured, Temperature::Cold);
    assert_eq!(path, "O_DIRECT, io_uring, 8 at a time");
    assert_eq!(decision.facts.len(), 3);
    assert_eq!(choices(&decision), [path.as_str(), "read, 64 KiB", "mapped"]);
    assert!(decision.reason.ends_with("read, 64 KiB takes 1.50 times as long"), "{decision:?}");
    assert_eq!(decide_io_path(&measured, Temperature::Warm).0, "mapped");
    let (path, decision) = decide_io_path(&Facts::default(), Temperature::Cold);
    assert_eq!(path, "read, 64 KiB");
    assert!(decision.reason.starts_with("assumed") && decision.facts.is_empty());
}

/// By the size that was measured which is nearest.
#[test]
fn messages_go_as_takes_the_least_time_for_their_size() {
    let measured = facts(&[
        ("message of 64 bytes by pipe", 9_000.0, "ns"),
        ("message of 64 bytes by Unix stream", 8_000.0, "ns"),
        ("message of 262144 bytes by pipe", 90_000.0, "ns"),
        ("message of 262144 bytes by Unix stream", 120_000.0, "ns"),
    ]);
    for (bytes, way) in
        [(1, "Unix stream"), (4000, "Unix stream"), (5000, "pipe"), (1 << 30, "pipe")]
    {
        let (decided, decision) =
            decide_client_transport(&measured, ByteCount(bytes), Reached::Process);
        assert_eq!((decided.as_str(), decision.facts.len()), (way, 2), "{bytes}: {decision:?}");
        // A server has no pipes.
        let (decided, decision) =
            decide_client_transport(&measured, ByteCount(bytes), Reached::Server);
        assert_eq!((decided.as_str(), decision.facts.len()), ("Unix stream", 1));
    }
    let faster = facts(&[
        ("message of 4096 bytes by TCP", 9_000.0, "ns"),
        ("message of 4096 bytes by Unix stream", 10_000.0, "ns"),
    ]);
    let (decided, decision) = decide_client_transport(&faster, ByteCount::kib(4), Reached::Server);
    assert_eq!((decided.as_str(), choices(&decision)), ("TCP", vec!["TCP", "Unix stream"]));
    let (decided, decision) =
        decide_client_transport(&Facts::default(), ByteCount(64), Reached::Process);
    assert_eq!(decided, "Unix stream");
    assert!(decision.reason.starts_with("assumed"));
}

/// A call stays in its process, and memory is shared with those whom one trusts.
#[test]
fn messages_to_another_process_do_not_go_by_a_call_nor_by_memory_unsaid() {
    let call = ("message of 64 bytes by call with copy", 30.0, "ns");
    let shared = ("message of 64 bytes by shared memory, spinning", 300.0, "ns");
    let stream = ("message of 64 bytes by Unix stream", 8_000.0, "ns");
    let tcp = ("message of 64 bytes by TCP", 12_000.0, "ns");
    let decide = |known: &[(&str, f64, &str)], reached| {
        decide_client_transport(&facts(known), ByteCount(64), reached)
    };
    let (way, decision) = decide(&[call, shared, tcp, stream], Reached::Process);
    assert_eq!(way, "shared memory, spinning");
    assert_eq!(choices(&decision), ["shared memory, spinning", "Unix stream", "TCP"]);
    assert!(decision.reason.contains("for those who trust each other"), "{decision:?}");
    assert!(decision.reason.ends_with("for others it is Unix stream"), "{decision:?}");
    let (way, decision) = decide(&[call, tcp, stream], Reached::Process);
    assert!(way == "Unix stream" && !decision.reason.contains("trust"), "{decision:?}");
    let (way, decision) = decide(&[call, shared, tcp, stream], Reached::Server);
    assert_eq!((way.as_str(), choices(&decision)), ("Unix stream", vec!["Unix stream", "TCP"]));
    assert!(!decision.reason.contains("trust"), "{decision:?}");
    let (way, decision) = decide(&[call], Reached::Process);
    assert!(way == "Unix stream" && decision.reason.starts_with("assumed"), "{decision:?}");
}

#[test]
fn each_connection_has_a_cache_where_all_of_them_fit() {
    let limits = Limits { memory: Some(ByteCount::gib(8)), ..process("0-3", None) };
    for (connections, mib, scope) in
        [(1, 10, "process"), (8, 128, "connection"), (8, 129, "process"), (u64::MAX, 1, "process")]
    {
        let (decided, decision) = decide_cache_scope(&limits, connections, ByteCount::mib(mib));
        assert_eq!(decided, scope, "{connections} of {mib} MiB: {decision:?}");
        assert_eq!(choices(&decision)[0], scope);
    }
}

/// What is measured and seen counts; what is not is assumed, and said to be.
#[test]
fn scans_are_shared_where_they_take_longer_than_two_wake_ups() {
    let (rows, decision) = decide_sharing(&Facts::default(), None);
    assert_eq!(rows, 100_000);
    assert!(decision.facts.is_empty() && decision.reason.matches(" is assumed").count() == 2);
    let measured = facts(&[("wake-up on another processor", 10_000.0, "ns")]);
    for (rate, expected) in [(1e9, 20_000), (4e9, 80_000), (1.0, 10_000), (1e15, 1_000_000)] {
        let (rows, decision) = decide_sharing(&measured, Some(rate));
        assert_eq!((rows, decision.facts.len()), (expected, 2), "{rate}: {decision:?}");
        assert!(!decision.reason.contains("assumed"));
        let is_bound = decision.reason.contains("; fewer are never")
            || decision.reason.contains("; so many always");
        assert_eq!(is_bound, [10_000, 1_000_000].contains(&rows), "{decision:?}");
    }
}

/// The kept fact itself is named, which tells how old it is.
#[test]
fn what_was_kept_of_a_wake_up_keeps_its_age() {
    let mut measured = facts(&[("wake-up on another processor", 50_000.0, "ns")]);
    let mut fact = measured.iter().next().unwrap().clone();
    fact.seconds -= 3_600;
    measured.set(fact);
    let micros = Duration::from_micros;
    let limits = process("0-1", None);
    let (wait, decision) = decide_wait(&limits, &measured, Some(micros(1)), micros(20));
    assert_eq!(wait, Wait::Spin);
    assert_eq!(decision.facts[0].name, "wake-up on another processor");
    assert!(decision.facts[0].age_seconds() >= 3_600, "{decision:?}");
    let (wait, decision) = decide_wait(&limits, &Facts::default(), None, micros(30));
    assert!(wait == Wait::Sleep && decision.reason.ends_with("wake-up is assumed"), "{decision:?}");
}

#[test]
fn what_nothing_can_take_is_not_believed() {
    for wrong in [0.0, -5.5, 1e28, f64::INFINITY, f64::NAN] {
        let measured = facts(&[
            ("cold scan by mapped", wrong, "ns/MiB"),
            ("message of 64 bytes by pipe", wrong, "ns"),
            ("wake-up on another processor", wrong, "ns"),
        ]);
        let (path, decision) = decide_io_path(&measured, Temperature::Cold);
        assert!(path == "read, 64 KiB" && decision.facts.is_empty(), "{decision:?}");
        let (way, decision) = decide_client_transport(&measured, ByteCount(64), Reached::Process);
        assert!(way == "Unix stream" && decision.facts.is_empty(), "{decision:?}");
        let (rows, decision) = decide_sharing(&measured, (wrong < 1.0).then_some(wrong));
        assert!(rows == 100_000 && decision.facts.is_empty(), "{decision:?}");
        let limits = process("0-1", None);
        let (_, decision) = decide_wait(&limits, &measured, None, Duration::from_micros(1));
        assert!(decision.reason.ends_with("is assumed"), "{decision:?}");
    }
}

/// A database has two of the ways that are measured, and changes nothing for a gain that is noise.
#[test]
fn reads_are_announced_where_that_takes_a_tenth_less() {
    let usual = ("cold scan by read, 64 KiB", 300_000.0, "ns/MiB");
    let other = ("cold scan by O_DIRECT, io_uring, 8 at a time", 100_000.0, "ns/MiB");
    for (cost, expected) in [(200_000.0, true), (290_000.0, false), (400_000.0, false)] {
        let announced = ("cold scan by read, all of it announced", cost, "ns/MiB");
        let (decided, decision) = decide_announcing(&facts(&[usual, other, announced]));
        assert_eq!(decided, expected, "{decision:?}");
        assert_eq!(decision.facts.len(), 2);
        assert_eq!(decision.choice == "read, 64 KiB", !expected);
    }
    for too_little in [vec![], vec![usual, other], vec![other]] {
        let (decided, decision) = decide_announcing(&facts(&too_little));
        assert!(!decided && decision.reason.starts_with("assumed"), "{decision:?}");
        assert_eq!(decision.choice, "read, 64 KiB");
    }
}

#[test]
fn a_latch_is_looked_at_for_as_long_as_a_thread_takes_to_wake() {
    let look = Some(Duration::from_nanos(25));
    let many = process("0-3", None);
    let wake = |nanoseconds| facts(&[("wake-up on another processor", nanoseconds, "ns")]);
    for (nanoseconds, looks) in [(10_000.0, 400), (40_000.0, 1_600), (1e9, 10_000)] {
        let (decided, decision) = decide_latch_looks(&many, &wake(nanoseconds), look);
        assert_eq!(decided, looks, "{decision:?}");
        assert_eq!(decision.facts[0].name, "wake-up on another processor");
        assert_eq!(choices(&decision), [&looks.to_string(), "100", "1"]);
        assert!(decision.alternatives.is_sorted_by(|one, other| one.cost <= other.cost));
    }
    // Whoever has it needs the only processor.
    assert_eq!(decide_latch_looks(&process("0", None), &wake(10_000.0), look).0, 1);
    for (measured, look) in [(Facts::default(), look), (wake(10_000.0), None)] {
        let (decided, decision) = decide_latch_looks(&process("0", None), &measured, look);
        assert!(decided == 100 && decision.reason.starts_with("assumed"), "{decision:?}");
        assert!(decision.facts.is_empty() && decision.alternatives.is_empty());
    }
}

/// Who is there after the work is done has helped nobody.
#[test]
fn others_help_with_scans_that_take_longer_than_they_take_to_come() {
    let (from, decision) = decide_scan_helpers(&Facts::default());
    assert!(from.is_none() && decision.choice == "with every scan", "{decision:?}");
    assert!(decision.reason.starts_with("assumed") && decision.facts.is_empty());
    let wake = |nanoseconds| ("wake-up on another processor", nanoseconds, "ns");
    let made = |nanoseconds| ("thread made and ended", nanoseconds, "ns");
    for (known, micros, counted, said) in [
        (vec![wake(9_000.0)], 9, 1, "a thread wakes in 9.0 µs: less"),
        (vec![wake(9_000.0), made(25_000.0)], 25, 2, "is made, and ends, in 25.0 µs: less"),
        (vec![wake(30_000.0), made(25_000.0)], 30, 2, "a thread wakes in 30.0 µs: less"),
        (vec![wake(1e9)], 500, 1, "always worth help"),
        (vec![wake(9_000.0), made(f64::NAN)], 9, 1, "a thread wakes"),
    ] {
        let (from, decision) = decide_scan_helpers(&facts(&known));
        assert_eq!(from, Some(Duration::from_micros(micros)), "{decision:?}");
        assert_eq!(decision.choice, format!("from {micros} µs of work on"));
        assert_eq!(decision.facts.len(), counted, "{decision:?}");
        assert!(decision.reason.contains(said), "{decision:?}");
        assert_eq!(choices(&decision), ["alone", "with one more thread"]);
        assert!(decision.alternatives.is_sorted_by(|one, other| one.cost < other.cost));
    }
    // Without the time of a wake-up nobody knows when another is there.
    assert!(decide_scan_helpers(&facts(&[made(25_000.0)])).0.is_none());
}

#[test]
fn leaders_of_syncs_wait_where_a_sync_takes_many_wake_ups() {
    let (least, decision) = decide_gathering(&Facts::default());
    assert_eq!(least, Duration::from_millis(1), "as without anybody who measures");
    assert!(decision.reason.ends_with("is assumed") && decision.facts.is_empty(), "{decision:?}");
    for (wake, micros) in [(4_000.0, 200), (1_000.0, 100), (60_000.0, 3_000), (1e9, 10_000)] {
        let measured = facts(&[
            ("wake-up on another processor", wake, "ns"),
            ("sync of a record", 1_000_000.0, "ns"),
        ]);
        let (least, decision) = decide_gathering(&measured);
        assert_eq!(least, Duration::from_micros(micros), "{decision:?}");
        assert_eq!(decision.facts.len(), 2);
        let waits = decision.reason.ends_with("so leaders wait");
        assert_eq!(waits, micros <= 1_000, "{decision:?}");
    }
}
