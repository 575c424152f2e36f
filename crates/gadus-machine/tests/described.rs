//! Machines that we do not own: each described file is read, and asked all questions.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail at any line; the lint sees only test functions"
)]

use gadus_base::ByteCount;
use gadus_machine::{
    Bound, CacheSharing, Mapping, Proof, Request, State, Topology, cache_size, partitions, place,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

fn folder() -> PathBuf {
    // Tests run in the folder of their crate.
    std::env::current_dir().unwrap().join("topologies")
}

fn described(name: &str) -> Topology {
    Topology::from_xml(&fs::read_to_string(folder().join(name)).unwrap(), name).unwrap()
}

/// Partitions by core, and bytes by node; fails where a node has not so much.
fn taken(machine: &Topology, request: &Request, mapping: &Mapping) -> (Vec<usize>, Vec<u64>) {
    let mut cores = vec![0; machine.cores.len()];
    let mut nodes = vec![0; machine.nodes.len()];
    for (place, bytes) in mapping.places.iter().zip(&request.partitions) {
        cores[place.core] += 1;
        nodes[place.node.unwrap()] += bytes.0;
    }
    for (taken, node) in nodes.iter().zip(&machine.nodes) {
        assert!(*taken <= node.bytes.unwrap().0, "{mapping:?}");
    }
    (cores, nodes)
}

#[test]
fn every_machine_answers_every_question() {
    let expected = BTreeMap::from([
        ("arm-clusters.xml", (16, 1)),
        ("asymmetric.xml", (16, 4)),
        ("cache-pairs.xml", (8, 1)),
        ("chiplets.xml", (32, 1)),
        ("hybrid.xml", (8, 1)),
        ("memory-only.xml", (8, 3)),
        ("one-by-two.xml", (2, 1)),
        ("shanghai.xml", (16, 4)),
        ("sixty-four.xml", (64, 2)),
        ("sub-numa.xml", (24, 4)),
        ("two-sockets-smt.xml", (16, 2)),
    ]);
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(files.count(), expected.len());
    for (name, (cores, nodes)) in expected {
        let machine = described(name);
        assert_eq!((machine.cores.len(), machine.nodes.len()), (cores, nodes), "{name}");
        let state = State::idle(&machine);
        assert!(cache_size(&machine, 2).unwrap() >= ByteCount::kib(256), "{name}");
        let all = ByteCount::gib(2);
        for bound in [Bound::Compute, Bound::Memory] {
            let count = partitions(&machine, &state, all, bound, None).unwrap().count;
            for cache_sharing in [CacheSharing::Any, CacheSharing::Avoid, CacheSharing::Want] {
                let each = ByteCount(all.0.div_ceil(count as u64));
                // Enough for a busy machine: that the answer is exact is what is tested.
                let time = Duration::from_secs(60);
                let request =
                    Request { bound, cache_sharing, time, ..Request::of_equal(count, each) };
                let mappings = place(&machine, &state, &request).unwrap();
                let (by_core, _) = taken(&machine, &request, &mappings[0]);
                assert_eq!(mappings[0].proof, Proof::Exact, "{name}");
                if bound == Bound::Compute {
                    assert!(by_core.iter().all(|count| *count <= 1), "{name}: {by_core:?}");
                }
            }
        }
    }
}

#[test]
fn slow_cores_are_left_out_where_all_would_wait_for_them() {
    let machine = described("hybrid.xml");
    let capacities = machine.cores.iter().map(|core| core.capacity).collect::<Vec<_>>();
    assert_eq!(capacities, [614, 614, 614, 614, 1024, 1024, 1024, 1024]);
    let state = State::idle(&machine);
    // Eight at 0.6 are more than four at 1.
    let all = ByteCount::gib(1);
    assert_eq!(partitions(&machine, &state, all, Bound::Compute, None).unwrap().count, 8);
    let four = place(&machine, &state, &Request::of_equal(4, ByteCount::mib(256))).unwrap();
    let mut cores = four[0].places.iter().map(|place| place.core).collect::<Vec<_>>();
    cores.sort_unstable();
    assert_eq!(cores, [4, 5, 6, 7]);
}

#[test]
fn memory_beside_no_core_is_for_what_fits_nowhere_else() {
    let machine = described("memory-only.xml");
    let state = State::idle(&machine);
    let small = Request::of_equal(8, ByteCount::gib(8));
    let (_, nodes) = taken(&machine, &small, &place(&machine, &state, &small).unwrap()[0]);
    assert_eq!(nodes, [32 << 30, 32 << 30, 0]);
    let large = Request::of_equal(8, ByteCount::gib(12));
    let (_, nodes) = taken(&machine, &large, &place(&machine, &state, &large).unwrap()[0]);
    assert_eq!(nodes, [24 << 30, 24 << 30, 48 << 30]);
}

#[test]
fn chiplets_are_told_apart_by_their_caches() {
    let machine = described("chiplets.xml");
    let state = State::idle(&machine);
    let chiplets = |cache_sharing| {
        let request = Request { cache_sharing, ..Request::of_equal(4, ByteCount::mib(64)) };
        let places = place(&machine, &state, &request).unwrap().remove(0).places;
        let mut chiplets = places.iter().map(|place| place.core / 4).collect::<Vec<_>>();
        chiplets.sort_unstable();
        chiplets.dedup();
        chiplets.len()
    };
    assert_eq!(chiplets(CacheSharing::Avoid), 4);
    assert_eq!(chiplets(CacheSharing::Want), 1);
}

#[test]
fn of_equal_nodes_the_nearer_one_takes_what_is_too_much() {
    let machine = described("asymmetric.xml");
    let state = State::idle(&machine);
    // Four for each node's cores; the last has room for two of them.
    let request = Request::of_equal(16, ByteCount::mib(500));
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let (cores, nodes) = taken(&machine, &request, mapping);
    assert!(cores.iter().all(|count| *count == 1));
    let counts = nodes.iter().map(|bytes| bytes / (500 << 20)).collect::<Vec<_>>();
    assert_eq!(counts.iter().sum::<u64>(), 16);
    assert_eq!(
        (counts[3], counts[0]),
        (2, 4),
        "two of its own, and none as far as node 0: {counts:?}"
    );
}
