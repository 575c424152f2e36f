//! Placements, looked at by what looks at nothing but the places.

use super::*;
use crate::topology::{CpuSet, LOCAL_DISTANCE};
use crate::{Cache, CacheKind, Core, MemoryNode};
use gadus_base::{Random, clock};

/// A machine of some sockets with a memory node each; `l2` cores share a cache.
fn machine(sockets: u32, cores_each: u32, l2: u32, gib: u64) -> Topology {
    let mut machine = Topology::default();
    for cpu in 0..sockets * cores_each {
        let cpus = [cpu].into_iter().collect::<CpuSet>();
        let socket = cpu / cores_each;
        machine.cores.push(Core { cpus, socket, node: Some(socket), capacity: 1024 });
        if cpu % l2 == 0 {
            let cpus = (cpu..cpu + l2).collect();
            let bytes = ByteCount::mib(1);
            machine.caches.push(Cache {
                level: 2,
                kind: CacheKind::Unified,
                bytes,
                line_bytes: 64,
                cpus,
            });
        }
    }
    for number in 0..sockets {
        let cpus = (number * cores_each..(number + 1) * cores_each).collect();
        let bytes = Some(ByteCount::gib(gib));
        machine.nodes.push(MemoryNode { number, bytes, cpus, pages: Vec::new() });
        let distance =
            |other: u32| if other == number { LOCAL_DISTANCE } else { 2 * LOCAL_DISTANCE };
        machine.distances.push((0..sockets).map(distance).collect());
    }
    machine
}

/// What a mapping takes and costs, from its places alone. Fails where something has no room.
fn verified(machine: &Topology, state: &State, request: &Request, mapping: &Mapping) -> (f64, f64) {
    assert_eq!(mapping.places.len(), request.partitions.len());
    let mut core_bytes = vec![0_u64; machine.cores.len()];
    let mut node_bytes = vec![0_u64; machine.nodes.len()];
    let mut cost = 0.0;
    for (place, bytes) in mapping.places.iter().zip(&request.partitions) {
        let node = place.node.unwrap();
        core_bytes[place.core] += bytes.0;
        node_bytes[node] += bytes.0;
        let near = machine.cores[place.core].node.unwrap() as usize;
        cost += f64::from(machine.distances[near][node] - LOCAL_DISTANCE);
    }
    for (bytes, free) in node_bytes.iter().zip(&state.free) {
        assert!(*bytes <= free.unwrap().0, "{mapping:?}");
    }
    if request.cache_sharing == CacheSharing::Avoid {
        for cache in machine.caches.iter().filter(|cache| cache.cpus.count() > 1) {
            let inside = |place: &&Place| machine.cores[place.core].cpus.is_within(&cache.cpus);
            let inside = mapping.places.iter().filter(inside).count();
            cost += 10.0 * inside.saturating_sub(1) as f64;
        }
    }
    let core_times =
        core_bytes.iter().zip(&state.speeds).map(|(bytes, speed)| *bytes as f64 / speed);
    let node_times = node_bytes.iter().map(|bytes| *bytes as f64);
    let slowest = match request.bound {
        Bound::Compute => core_times.fold(0.0, f64::max),
        Bound::Memory => node_times.fold(0.0, f64::max),
    };
    assert!((slowest - mapping.slowest).abs() <= slowest * 1e-9, "{slowest} {mapping:?}");
    (slowest, cost)
}

#[test]
fn the_paper_s_machine_has_a_partition_on_each_core_beside_its_memory() {
    let machine = machine(4, 4, 1, 4);
    let state = State::idle(&machine);
    let request = Request::of_equal(16, ByteCount::mib(448));
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    assert_eq!(mapping.proof, Proof::Exact);
    for (number, place) in mapping.places.iter().enumerate() {
        assert_eq!((place.core, place.node), (number, Some(number / 4)));
    }
    assert_eq!(verified(&machine, &state, &request, mapping).1, 0.0);
}

#[test]
fn a_node_that_others_have_filled_holds_what_fits() {
    let machine = machine(4, 4, 1, 4);
    let mut state = State::idle(&machine);
    state.take(&machine, 1, ByteCount::gib(3)).unwrap();
    let request = Request::of_equal(16, ByteCount::mib(448));
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let there = mapping.places.iter().filter(|place| place.node == Some(1)).count();
    let (slowest, cost) = verified(&machine, &state, &request, mapping);
    assert_eq!(
        (there, cost),
        (2, 20.0),
        "two of the four that ran there have their memory elsewhere"
    );
    assert!((slowest - ByteCount::mib(448).0 as f64).abs() < 1.0);
}

#[test]
fn caches_are_shared_or_not_as_told() {
    let machine = machine(1, 8, 2, 4);
    let state = State::idle(&machine);
    let mut request = Request::of_equal(4, ByteCount::mib(1));
    request.cache_sharing = CacheSharing::Avoid;
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let mut pairs = mapping.places.iter().map(|place| place.core / 2).collect::<Vec<_>>();
    pairs.sort_unstable();
    assert_eq!(pairs, [0, 1, 2, 3]);
    request.cache_sharing = CacheSharing::Want;
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let cores = mapping.places.iter().map(|place| place.core).collect::<Vec<_>>();
    assert_eq!(cores, [0, 1, 2, 3]);
}

/// All ways to place a few partitions, by trying them.
fn tried(machine: &Topology, state: &State, request: &Request) -> Option<(f64, f64)> {
    let (cores, nodes) = (machine.cores.len(), machine.nodes.len());
    let cells = cores * nodes;
    let ways = (0..cells.pow(u32::try_from(request.partitions.len()).unwrap())).filter_map(|way| {
        let mut rest = way;
        let places = request.partitions.iter().map(|_| {
            let cell = rest % cells;
            rest /= cells;
            Place { core: cell / nodes, node: Some(cell % nodes) }
        });
        let places = places.collect::<Vec<_>>();
        let mut node_bytes = vec![0; nodes];
        let mut core_times = vec![0.0; cores];
        for (place, bytes) in places.iter().zip(&request.partitions) {
            node_bytes[place.node.unwrap()] += bytes.0;
            core_times[place.core] += bytes.0 as f64 / state.speeds[place.core];
        }
        let fits =
            node_bytes.iter().zip(&state.free).all(|(bytes, free)| *bytes <= free.unwrap().0);
        let slowest = match request.bound {
            Bound::Compute => core_times.iter().copied().fold(0.0, f64::max),
            Bound::Memory => node_bytes.iter().copied().max().unwrap_or(0) as f64,
        };
        let mapping = Mapping { places, slowest, cost: 0.0, proof: Proof::Exact };
        fits.then(|| verified(machine, state, request, &mapping))
    });
    ways.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)))
}

#[test]
fn no_way_that_can_be_tried_is_better() {
    let mut random = Random::seeded(7);
    for round in 0..200 {
        let machine = machine(2, 2, 2, 1);
        let mut state = State::idle(&machine);
        for core in 0..4 {
            #[allow(clippy::cast_precision_loss)]
            state.load(core, random.below(5) as f64 / 4.0).unwrap();
        }
        state.take(&machine, 0, ByteCount::mib(random.below(900))).unwrap();
        let count = 1 + usize::try_from(random.below(4)).unwrap();
        let sizes = if round % 2 == 0 { 1 } else { 4 };
        let partitions = (0..count).map(|_| ByteCount::mib(50 * (1 + random.below(sizes))));
        let request = Request {
            partitions: partitions.collect(),
            bound: Bound::Compute,
            cache_sharing: [CacheSharing::Any, CacheSharing::Avoid][round / 2 % 2],
            time: Duration::from_secs(60),
            ..Request::of_equal(0, ByteCount(0))
        };
        let best = tried(&machine, &state, &request);
        match place(&machine, &state, &request) {
            Ok(mappings) => {
                let (slowest, cost) = verified(&machine, &state, &request, &mappings[0]);
                let (best_slowest, best_cost) = best.unwrap();
                assert!(
                    slowest <= best_slowest * (1.0 + 1e-6),
                    "{round}: {slowest} {best_slowest}"
                );
                assert!(
                    cost <= best_cost + 1e-6,
                    "{round}: {cost} {best_cost} {request:?} {mappings:?}"
                );
                assert_eq!(mappings[0].proof, Proof::Exact);
            }
            Err(error) => assert!(best.is_none(), "{round}: {error}"),
        }
    }
}

/// Large machines, whose every core has a cache, and every eight share one.
#[test]
fn large_machines_have_an_answer_in_time() {
    for (sockets, cores, partitions) in
        [(8, 64, 512), (8, 64, 4096), (16, 64, 4096), (1000, 2, 2000)]
    {
        let mut machine = machine(sockets, cores, 1, 64);
        for first in (0..sockets * cores).step_by(8) {
            let (cpus, bytes) = ((first..first + 8).collect(), ByteCount::mib(32));
            let kind = CacheKind::Unified;
            machine.caches.push(Cache { level: 3, kind, bytes, line_bytes: 64, cpus });
        }
        let state = State::idle(&machine);
        for cache_sharing in [CacheSharing::Any, CacheSharing::Avoid, CacheSharing::Want] {
            let equal = Request::of_equal(partitions, ByteCount::mib(1));
            let request = Request { cache_sharing, ..equal };
            let begun = clock().now();
            let mapping = &place(&machine, &state, &request).unwrap()[0];
            let taken = begun.elapsed();
            let each = (partitions / machine.cores.len()).max(1) as f64;
            assert!(
                (mapping.slowest - each * ByteCount::mib(1).0 as f64).abs() < 1.0,
                "{}",
                mapping.slowest
            );
            // Memory is near and no cache counts: nothing is better, whoever has found it.
            if cache_sharing == CacheSharing::Any {
                assert_eq!((mapping.proof, mapping.cost), (Proof::Exact, 0.0));
            }
            // Half a second is asked for; a busy machine without optimisation takes longer.
            assert!(taken < Duration::from_secs(10), "{taken:?}");
        }
    }
}

/// Two cores each are near little and much memory, and the most is beside none; nobody tells how far it is.
#[test]
fn memory_beside_no_core_is_last_however_far_it_is() {
    let mut machine = Topology::default();
    for (number, cpus, gib) in [(0, 0..0, 64), (4, 0..2, 1), (7, 2..4, 64)] {
        for cpu in cpus.clone() {
            let cpus = [cpu].into_iter().collect();
            machine.cores.push(Core { cpus, socket: 0, node: Some(number), capacity: 1024 });
        }
        let (cpus, bytes) = (cpus.collect(), Some(ByteCount::gib(gib)));
        machine.nodes.push(MemoryNode { number, bytes, cpus, pages: Vec::new() });
    }
    let state = State::idle(&machine);
    for bound in [Bound::Compute, Bound::Memory] {
        let request = Request { bound, ..Request::of_equal(4, ByteCount::gib(2)) };
        let mapping = &place(&machine, &state, &request).unwrap()[0];
        assert_eq!(mapping.proof, Proof::Exact);
        assert!(mapping.places.iter().all(|place| place.node == Some(2)), "{mapping:?}");
    }
    let request = Request::of_equal(4, ByteCount::gib(24));
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let last = mapping.places.iter().filter(|place| place.node == Some(0)).count();
    assert_eq!(last, 2, "what fits nowhere else: {mapping:?}");
}

#[test]
fn what_cannot_be_met_is_refused_with_its_reason() {
    let machine = machine(2, 2, 1, 1);
    let state = State::idle(&machine);
    for (partitions, bytes, said) in [
        (0, ByteCount::mib(1), "at least one"),
        (1, ByteCount::gib(2), "fits on no memory node"),
        (5, ByteCount::mib(500), "2.4"),
        (3, ByteCount::mib(600), "holds 2"),
    ] {
        let error = place(&machine, &state, &Request::of_equal(partitions, bytes)).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// Who has no time at all has an answer, and it says how it was found.
#[test]
fn without_time_the_largest_go_where_they_end_first() {
    let machine = machine(4, 4, 2, 4);
    let mut state = State::idle(&machine);
    state.take(&machine, 0, ByteCount::gib(3)).unwrap();
    state.load(5, 1.0).unwrap();
    for bound in [Bound::Compute, Bound::Memory] {
        let equal = Request::of_equal(16, ByteCount::mib(448));
        let request = Request { bound, time: Duration::ZERO, ..equal };
        let mappings = place(&machine, &state, &request).unwrap();
        assert_eq!((mappings.len(), mappings[0].proof), (1, Proof::Greedy));
        let (slowest, _) = verified(&machine, &state, &request, &mappings[0]);
        let exact = Request { time: Duration::from_secs(60), ..request };
        let exact = &place(&machine, &state, &exact).unwrap()[0];
        assert_eq!((exact.proof, exact.slowest), (Proof::Exact, slowest), "{bound:?}");
    }
}

/// Costs are looked at while there is time: each partition is beside its memory then.
#[test]
fn the_answer_without_a_solver_looks_at_costs_while_it_has_time() {
    let machine = machine(4, 8, 2, 64);
    let state = State::idle(&machine);
    for bound in [Bound::Compute, Bound::Memory] {
        let request = Request {
            bound,
            cache_sharing: CacheSharing::Avoid,
            ..Request::of_equal(16, ByteCount::gib(1))
        };
        let model = Model::new(&machine, &state, &request).unwrap();
        let later = clock().now().plus(Duration::from_secs(3_600));
        let counts = greedy::counts(&model, later).unwrap();
        let mapping = model.mapping(&counts, Proof::Greedy);
        let (slowest, cost) = verified(&machine, &state, &request, &mapping);
        assert_eq!(cost, 0.0, "{bound:?}: beside its memory, no cache is shared: {mapping:?}");
        let each = if bound == Bound::Memory { 4 } else { 1 };
        assert_eq!(slowest, (each * ByteCount::gib(1).0) as f64);
    }
}

/// Sixteen cores have 64 partitions of different sizes: no solver has the best in the time, and by how much another
/// might be better is known all the same.
#[test]
fn what_no_solver_has_found_has_a_bound_where_it_costs_nothing() {
    let machine = machine(1, 16, 1, 64);
    let state = State::idle(&machine);
    let sizes = (0..64).map(|number| ByteCount(1_000_000 + 1_000 * (number % 5)));
    let equal = Request::of_equal(1, ByteCount(1));
    let request = Request { partitions: sizes.collect(), time: Duration::ZERO, ..equal };
    let mapping = &place(&machine, &state, &request).unwrap()[0];
    let (slowest, cost) = verified(&machine, &state, &request, mapping);
    let all = request.partitions.iter().map(|bytes| bytes.0).sum::<u64>() as f64;
    let Proof::Within(part) = mapping.proof else { panic!("{mapping:?}") };
    assert!((slowest / (1.0 + part) - all / 16.0).abs() < 1.0 && cost == 0.0, "{mapping:?}");
    assert!(part > 0.0 && part < 0.01, "{part}");
}

#[test]
fn no_more_partitions_are_placed_than_the_limit() {
    let machine = machine(2, 2, 1, 1);
    let state = State::idle(&machine);
    let place = |count| place(&machine, &state, &Request::of_equal(count, ByteCount(1)));
    assert_eq!(place(PARTITIONS_MAX).unwrap()[0].places.len(), PARTITIONS_MAX);
    let error = place(PARTITIONS_MAX + 1).unwrap_err().to_string();
    assert!(error.contains("at most 16384"), "{error}");
}
