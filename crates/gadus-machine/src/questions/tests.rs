//! What is decided of processes and machines that are made up.

use super::*;
use crate::{CacheKind, Core, CpuSet, Decision, FactValue, Facts, Limits, State, Topology};
use gadus_base::ByteCount;
use std::time::Duration;

fn process(processors: &str, cpus: Option<f64>) -> Limits {
    Limits { allowed: CpuSet::from_list(processors), cpus, ..Limits::default() }
}

fn choices(decision: &Decision) -> Vec<&str> {
    decision.alternatives.iter().map(|alternative| alternative.choice.as_str()).collect()
}

#[test]
fn threads_are_as_many_as_processors_or_as_the_time_that_a_group_has() {
    for (processors, cpus, count) in [
        ("0-15", None, 16),
        ("3", None, 1),
        ("0-15", Some(4.0), 4),
        ("0-15", Some(64.0), 16),
        // A third thread would be stopped for a sixth of its time, and the others with it.
        ("0-2", Some(2.5), 2),
        // A second one is worth it.
        ("0-2", Some(1.9), 2),
        ("0-15", Some(0.1), 1),
    ] {
        let (decided, decision) = decide_scan_threads(&process(processors, cpus));
        assert_eq!(decided, count, "{processors} {cpus:?}: {decision:?}");
        assert_eq!(decision.choice, count.to_string());
        assert_eq!(choices(&decision)[0], decision.choice);
        assert!(decision.alternatives.is_sorted_by(|one, other| one.cost <= other.cost));
        assert_eq!(decision.facts[0].value, FactValue::from(processors));
    }
    let (_, decision) = decide_scan_threads(&process("0-15", Some(2.5)));
    assert_eq!(choices(&decision), ["2", "3", "1", "16"]);
}

#[test]
fn what_was_told_stands_and_says_what_would_have_been() {
    let (_, decision) = decide_scan_threads(&process("0-1", None));
    let told = decision.clone().told("7", "threads = 7");
    assert_eq!((told.choice.as_str(), told.overridden.as_deref()), ("7", Some("threads = 7")));
    assert!(told.reason.contains("otherwise 2: one for each of 2 processors"), "{}", told.reason);
    assert_eq!(told.alternatives, decision.alternatives);
}

#[test]
fn memory_is_half_of_the_least_that_is_given() {
    let limits = Limits {
        memory_of_machine: Some(ByteCount::gib(8)),
        memory: Some(ByteCount::gib(2)),
        ..Limits::default()
    };
    let (limit, decision) = decide_memory_limit(&limits);
    assert_eq!((limit, decision.choice.as_str()), (ByteCount::gib(1), "1 GiB"));
    assert_eq!(decision.alternatives[0].cost, 0.0);
    let other = decision.alternatives[1].to_string();
    assert_eq!(other, "4.0 GiB, half of what the machine has: 6.0 GiB that are not given");
    assert!(decision.reason.contains("2.0 GiB that the control group may have"));
    let (cache, decision) = decide_cache(&limits);
    assert_eq!((cache, decision.question.as_str()), (ByteCount::mib(256), "cache"));
    assert!(decision.reason.starts_with("an eighth of the 2.0 GiB that the control group"));
    let (beside, same) = decide_cache_beside_plans(&limits, ByteCount::gib(2));
    assert_eq!((beside, same.reason), (cache, decision.reason));
    let (beside, decision) = decide_cache_beside_plans(&limits, ByteCount::mib(256));
    assert_eq!((beside, decision.choice.as_str()), (ByteCount::mib(32), "32 MiB"));
    let why = "an eighth of the 256.0 MiB that gadus.memory_limit gives plans; otherwise 256 MiB: an eighth";
    assert!(decision.reason.starts_with(why), "{}", decision.reason);
    let (limit, decision) = decide_memory_limit(&Limits::default());
    assert_eq!(limit, ByteCount::mib(512));
    assert!(decision.alternatives.is_empty() && decision.reason.contains("nobody tells"));
}

#[test]
fn of_caches_that_differ_the_smallest_is_taken() {
    let mut machine = Topology::default();
    for (cpu, size) in [(0, 512), (1, 256)] {
        let cpus = CpuSet::from_iter([cpu]);
        let (kind, bytes) = (CacheKind::Unified, ByteCount::kib(size));
        let cache = crate::Cache { level: 2, kind, bytes, line_bytes: 64, cpus: cpus.clone() };
        machine.caches.push(cache);
        machine.cores.push(Core { cpus, socket: 0, node: None, capacity: 1024 });
    }
    let decision = decide_cache_sizes(&machine).unwrap();
    assert_eq!(decision.choice, "L2 256.0 KiB");
    assert_eq!(choices(&decision), ["L2 256.0 KiB", "L2 512.0 KiB"]);
    assert_eq!(decision.facts[0].subject, "cache L2 unified of 1");
    assert!(decide_cache_sizes(&Topology::default()).is_none());
}

#[test]
fn parts_are_as_many_as_are_done_first() {
    let mut machine = Topology::default();
    for cpu in 0..4 {
        let cpus = CpuSet::from_iter([cpu]);
        machine.cores.push(Core { cpus, socket: 0, node: None, capacity: 1024 });
    }
    let mut state = State::idle(&machine);
    let (count, decision) = decide_partitions(&machine, &state, ByteCount::gib(4)).unwrap();
    assert_eq!((count, choices(&decision)), (4, vec!["4", "2", "1"]));
    state.load(1, 4.0).unwrap();
    let (count, decision) = decide_partitions(&machine, &state, ByteCount::gib(4)).unwrap();
    assert_eq!((count, choices(&decision)[0]), (3, "3"));
    let loaded = decision.facts.iter().map(|fact| fact.subject.as_str()).collect::<Vec<_>>();
    assert_eq!(loaded, ["machine", "core 1"]);
    let (count, _) = decide_partitions(&machine, &state, ByteCount(1)).unwrap();
    assert_eq!(count, 1);
    assert!(decide_partitions(&machine, &state, ByteCount(0)).is_err());
}

#[test]
fn as_many_rows_are_in_hand_as_the_first_cache_of_all_holds() {
    let cache = |cpu: u32, level: u32, kind: CacheKind, kibibytes: u64| crate::Cache {
        level,
        kind,
        bytes: ByteCount::kib(kibibytes),
        line_bytes: 64,
        cpus: CpuSet::from_iter([cpu]),
    };
    let of = |data: &[u64]| {
        let mut caches =
            vec![cache(0, 1, CacheKind::Instruction, 1), cache(0, 2, CacheKind::Unified, 1)];
        caches.extend((0..).zip(data).map(|(cpu, size)| cache(cpu, 1, CacheKind::Data, *size)));
        let (rows, decision) = decide_chunk_rows(&caches, 2_048);
        assert_eq!(decision.choice, rows.to_string());
        (rows, decision)
    };
    for (data, rows) in [(&[32][..], 2_048), (&[48, 64], 2_048), (&[32, 16], 1_024), (&[1], 256)] {
        assert_eq!(of(data).0, rows, "{data:?} KiB");
    }
    let (_, decision) = of(&[16]);
    assert_eq!(choices(&decision), ["1024", "512", "256", "2048"]);
    assert_eq!(decision.facts[0].subject, "cache L1 data of 0");
    let (rows, decision) = of(&[]);
    assert!(rows == 2_048 && decision.facts.is_empty() && decision.reason.contains("nobody tells"));
}

#[test]
fn with_less_memory_fewer_rows_are_passed_on_at_a_time() {
    for (limit, rows) in [(1, 256), (96, 512), (512, 4_096), (1_024, 8_192), (65_536, 8_192)] {
        let limit = ByteCount::mib(limit);
        let (decided, decision) = decide_batch_rows(limit);
        assert_eq!((decided, batch_rows(limit)), (rows, rows), "{limit}");
        assert_eq!(choices(&decision)[0], decision.choice);
        assert_eq!(decision.choice, rows.to_string());
    }
    let (_, decision) = decide_batch_rows(ByteCount::mib(96));
    assert_eq!(choices(&decision), ["512", "256", "1024"]);
}

#[test]
fn who_waits_for_less_than_a_wake_takes_spins_where_there_are_two_processors() {
    let micros = Duration::from_micros;
    for (processors, cpus, expected, wait) in [
        ("0-1", None, 10, Wait::Spin),
        ("0-1", None, 60, Wait::Sleep),
        ("1", None, 10, Wait::Sleep),
        ("0-1", Some(1.0), 10, Wait::Sleep),
        ("0-1", Some(1.5), 10, Wait::Spin),
    ] {
        let limits = process(processors, cpus);
        let (decided, decision) =
            decide_wait(&limits, &Facts::default(), Some(micros(50)), micros(expected));
        assert_eq!(decided, wait, "{processors} {cpus:?} {expected}");
        assert_eq!(choices(&decision)[0], decision.choice);
        assert_eq!(decision.facts[0].to_string(), "machine wake-up: 50 µs");
    }
}

mod measured;
