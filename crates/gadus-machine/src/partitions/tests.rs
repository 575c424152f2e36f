//! How many, and why.

use super::*;
use crate::{Cache, CacheKind, Core};

/// Sixteen cores with caches of their own.
fn sixteen() -> Topology {
    let mut machine = Topology::default();
    for cpu in 0..16 {
        let cpus = [cpu].into_iter().collect::<CpuSet>();
        let bytes = ByteCount::kib(512);
        let cache =
            Cache { level: 2, kind: CacheKind::Unified, bytes, line_bytes: 64, cpus: cpus.clone() };
        machine.caches.push(cache);
        machine.cores.push(Core { cpus, socket: cpu / 4, node: None, capacity: 1024 });
    }
    machine
}

#[test]
fn as_many_as_cores_without_those_that_all_would_wait_for() {
    let machine = sixteen();
    let mut state = State::idle(&machine);
    let count = |state: &State| {
        partitions(&machine, state, ByteCount::gib(7), Bound::Compute, None).unwrap().count
    };
    assert_eq!(count(&state), 16);
    state.load(0, 1.0).unwrap();
    assert_eq!(count(&state), 15);
    for core in 1..16 {
        state.load(core, 1.0).unwrap();
    }
    assert_eq!(count(&state), 16, "where all are busy, each gives the same");
}

#[test]
fn small_data_is_not_divided_into_crumbs() {
    let machine = sixteen();
    let state = State::idle(&machine);
    let small = partitions(&machine, &state, ByteCount::mib(1), Bound::Compute, None).unwrap();
    assert_eq!(small.count, 2, "{}", small.reason);
    assert!(partitions(&machine, &state, ByteCount(0), Bound::Compute, None).is_err());
}

#[test]
fn memory_is_busy_with_fewer_than_all_cores() {
    let machine = sixteen();
    let state = State::idle(&machine);
    let bandwidth = Some(Bandwidth { thread: 10e9, node: 45e9 });
    let found = partitions(&machine, &state, ByteCount::gib(7), Bound::Memory, bandwidth).unwrap();
    assert_eq!(found.count, 5, "{}", found.reason);
}

#[test]
fn caches_have_sizes_by_level() {
    let machine = sixteen();
    assert_eq!(cache_size(&machine, 2).unwrap(), ByteCount::kib(512));
    let error = cache_size(&machine, 9).unwrap_err();
    assert!(error.to_string().contains("there are levels 2"), "{error}");
}
