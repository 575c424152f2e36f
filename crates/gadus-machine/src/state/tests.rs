//! What is left of machines, and what others have taken.

use super::*;
use crate::{Bound, MemoryNode, Request, partitions, place};

#[test]
fn this_machine_gives_some_of_itself() {
    let here = Topology::discover().unwrap();
    let state = State::observe(&here, Duration::from_millis(20)).unwrap();
    assert!(state.speeds.iter().all(|speed| (0.0..=1.0).contains(speed)));
    assert!(state.speeds.iter().any(|speed| *speed > 0.0));
    assert_eq!(state.free.len(), here.nodes.len());
}

#[test]
fn what_is_forbidden_gives_nothing() {
    let here = Topology::discover().unwrap();
    let mut state = State::idle(&here);
    let limits = Limits { allowed: CpuSet::from_list("0"), ..Limits::default() };
    state.forbid(&here, &limits);
    let able = state.speeds.iter().filter(|speed| **speed > 0.0).count();
    assert_eq!(able, 1);
}

#[test]
fn a_thread_gets_what_is_left_or_its_fair_share() {
    for (load, share) in [(0.0, 1.0), (0.25, 0.75), (0.75, 0.5), (1.0, 0.5), (3.0, 0.25)] {
        assert!((share_beside(load) - share).abs() < 1e-9, "{load}");
    }
}

/// A machine of some cores, and of nodes with numbers and GiB, beside none of them.
fn machine(cores: u32, nodes: &[(u32, Option<u64>)]) -> Topology {
    let core = |cpu| {
        let cpus = [cpu].into_iter().collect();
        crate::Core { cpus, socket: 0, node: None, capacity: 1024 }
    };
    let node = |&(number, gib): &(u32, Option<u64>)| {
        let (bytes, cpus) = (gib.map(ByteCount::gib), CpuSet::default());
        MemoryNode { number, bytes, cpus, pages: Vec::new() }
    };
    let (cores, nodes) = ((0..cores).map(core).collect(), nodes.iter().map(node).collect());
    Topology { cores, nodes, ..Topology::default() }
}

#[test]
fn no_more_cores_are_busy_than_a_group_has_time_for() {
    let machine = machine(64, &[]);
    for (cpus, count) in [(2.0, 2), (2.5, 3), (0.1, 1), (100.0, 64)] {
        let mut state = State::idle(&machine);
        state.forbid(&machine, &Limits { cpus: Some(cpus), ..Limits::default() });
        let found = partitions(&machine, &state, ByteCount::gib(7), Bound::Compute, None).unwrap();
        assert_eq!(found.count, count, "{cpus}: {}", found.reason);
        assert_eq!(found.reason.contains("control group"), count < 64, "{}", found.reason);
        let decided = crate::decide_partitions(&machine, &state, ByteCount::gib(7)).unwrap().1;
        assert_eq!(decided.alternatives[0].choice, count.to_string(), "{decided:?}");
    }
}

#[test]
fn all_nodes_together_give_no_more_than_a_group_may_have() {
    let machine = machine(4, &[(0, Some(8)), (1, Some(8)), (2, None)]);
    for limits in [
        Limits { memory: Some(ByteCount::gib(4)), ..Limits::default() },
        Limits {
            memory: Some(ByteCount::gib(32)),
            memory_high: Some(ByteCount::gib(4)),
            ..Limits::default()
        },
    ] {
        let mut state = State::idle(&machine);
        state.forbid(&machine, &limits);
        for (count, gib, fits) in [(4, 1, true), (2, 2, true), (4, 2, false), (1, 5, false)] {
            let request = Request::of_equal(count, ByteCount::gib(gib));
            let placed = place(&machine, &state, &request);
            assert_eq!(placed.is_ok(), fits, "{count} of {gib} GiB: {placed:?}");
            let naive = crate::naive(&machine, &state, ByteCount::gib(gib), count);
            assert_eq!(naive.is_ok(), fits, "{count} of {gib} GiB: {naive:?}");
        }
    }
}

#[test]
fn memory_is_taken_of_nodes_by_their_numbers() {
    let machine = machine(2, &[(0, Some(4)), (4, Some(1)), (5, Some(1)), (7, None)]);
    let mut state = State::idle(&machine);
    state.take(&machine, 0, ByteCount::gib(3)).unwrap();
    assert_eq!(state.free[0], Some(ByteCount::gib(1)));
    for (number, said) in [
        (4, "99.0 GiB cannot be taken of node 4, which has 1.0 GiB"),
        (9, "there is no memory node 9: there are 0,4-5,7"),
        (7, "99.0 GiB cannot be taken of node 7: nobody tells how much it has"),
    ] {
        let error = state.take(&machine, number, ByteCount::gib(99)).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
    let nowhere = Topology { nodes: Vec::new(), ..machine };
    let error = State::idle(&nowhere).take(&nowhere, 0, ByteCount(1)).unwrap_err();
    assert_eq!(error.to_string(), "there is no memory node 0: the machine tells of none");
}
