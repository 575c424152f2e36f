//! Scans whose times can be told by hand.

use super::*;
use crate::placement::{Request, place};

/// A gigabyte a second of a core, two of a thread, four of a node.
const COST: ScanCost =
    ScanCost { seconds_per_byte: 1e-9, bandwidth: Bandwidth { thread: 2e9, node: 4e9 } };
const GB: ByteCount = ByteCount(1_000_000_000);

fn machine(name: &str) -> Topology {
    // Tests run in the folder of their crate.
    let path = format!("topologies/{name}");
    Topology::from_xml(&std::fs::read_to_string(path).unwrap(), name).unwrap()
}

fn at(core: usize, node: usize) -> Place {
    Place { core, node: Some(node) }
}

fn seconds(simulated: &Simulated) -> Vec<f64> {
    simulated.partitions.iter().map(|seconds| (seconds * 1e3).round() / 1e3).collect()
}

#[test]
fn a_thread_alone_takes_what_it_costs() {
    let machine = machine("shanghai.xml");
    let state = State::idle(&machine);
    let scan = |places: &[Place]| simulate(&machine, &state, GB, places, COST).unwrap();
    assert_eq!(seconds(&scan(&[at(0, 0)])), [1.0]);
    assert_eq!(seconds(&scan(&[at(0, 0), at(4, 1)])), [1.0, 1.0]);
    // Two on a core share its time.
    assert_eq!(seconds(&scan(&[at(0, 0), at(0, 0)])), [2.0, 2.0]);
    let traffic = scan(&[at(0, 0), at(1, 0)]).traffic;
    assert!((traffic[0] - 2e9).abs() < 1e3 && traffic[1].abs() < 1e-9, "{traffic:?}");
}

#[test]
fn memory_is_shared_by_those_who_want_it() {
    let machine = machine("shanghai.xml");
    let state = State::idle(&machine);
    let narrow = ScanCost { bandwidth: Bandwidth { thread: 2e9, node: 1e9 }, ..COST };
    let places = [at(0, 0), at(1, 0), at(4, 1)];
    let simulated = simulate(&machine, &state, GB, &places, narrow).unwrap();
    assert_eq!(seconds(&simulated), [2.0, 2.0, 1.0]);
    let mut wants = [3.0, 1.0, 9.0];
    share(&mut wants, vec![0, 1, 2], 9.0);
    assert_eq!(wants, [3.0, 1.0, 5.0]);
}

#[test]
fn who_is_done_leaves_its_part_to_the_others() {
    let machine = machine("shanghai.xml");
    let mut state = State::idle(&machine);
    state.load(0, 1.0).unwrap();
    // Half a core beside a whole one.
    let places = [at(0, 0), at(1, 0)];
    let simulated = simulate(&machine, &state, GB, &places, COST).unwrap();
    assert_eq!(seconds(&simulated), [2.0, 1.0]);
    assert!((simulated.seconds - 2.0).abs() < 1e-6);
}

/// The experiments of the paper: memory's traffic even over all nodes instead of two, and a busy core that
/// 15 informed threads leave alone.
#[test]
fn informed_scans_are_even_where_naive_ones_are_not() {
    let machine = machine("shanghai.xml");
    let state = State::idle(&machine);
    let each = ByteCount::gib(7).0.div_ceil(16);
    let cost = ScanCost { bandwidth: Bandwidth { thread: 3e9, node: 3e9 }, ..COST };
    let request = Request::of_equal(16, ByteCount(each));
    let informed = place(&machine, &state, &request).unwrap().remove(0).places;
    let informed = simulate(&machine, &state, ByteCount(each), &informed, cost).unwrap();
    let naive_places = naive(&machine, &state, ByteCount(each), 16).unwrap();
    let naive_scan = simulate(&machine, &state, ByteCount(each), &naive_places, cost).unwrap();
    let busy = |traffic: &[f64]| traffic.iter().filter(|one| **one > 0.0).count();
    assert_eq!((busy(&informed.traffic), busy(&naive_scan.traffic)), (4, 2));
    assert!(informed.seconds * 1.5 < naive_scan.seconds);

    let mut state = State::idle(&machine);
    state.load(0, 1.0).unwrap();
    let small = ByteCount(ByteCount::gib(2).0 / 16);
    let naive_places = naive(&machine, &state, small, 16).unwrap();
    let naive_scan = simulate(&machine, &state, small, &naive_places, COST).unwrap();
    let each = ByteCount(ByteCount::gib(2).0.div_ceil(15));
    let request = Request::of_equal(15, each);
    let informed = place(&machine, &state, &request).unwrap().remove(0).places;
    let informed = simulate(&machine, &state, each, &informed, COST).unwrap();
    assert!(informed.seconds < naive_scan.seconds * 0.6, "{informed:?} {naive_scan:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let machine = machine("shanghai.xml");
    let mut state = State::idle(&machine);
    let wrong = ScanCost { seconds_per_byte: 0.0, ..COST };
    assert!(simulate(&machine, &state, GB, &[at(0, 0)], wrong).is_err());
    assert!(naive(&machine, &state, ByteCount::gib(5), 1).is_err());
    state.speeds[3] = 0.0;
    assert!(simulate(&machine, &state, GB, &[at(3, 0)], COST).is_err());
    assert!(simulate(&machine, &state, GB, &[], COST).unwrap().seconds.abs() < 1e-9);
}

#[test]
fn memory_is_near_where_nobody_tells_how_far_other_memory_is() {
    let mut machine = machine("shanghai.xml");
    machine.distances.clear();
    machine.cores[0].node = Some(1);
    let places = naive(&machine, &State::idle(&machine), GB, 1).unwrap();
    assert_eq!(places, [at(0, 1)]);
}

#[test]
fn what_the_machine_has_not_is_refused() {
    let (machine, other) = (machine("shanghai.xml"), machine("one-by-two.xml"));
    let state = State::idle(&machine);
    let refused = |state: &State, places: &[Place]| {
        simulate(&machine, state, GB, places, COST).unwrap_err().to_string()
    };
    assert_eq!(refused(&state, &[at(16, 0)]), "the machine has no core 16");
    assert_eq!(refused(&state, &[at(0, 4)]), "the machine has no memory node at place 4");
    assert_eq!(refused(&State::idle(&other), &[]), "the state is another machine's");
    assert!(naive(&machine, &State::idle(&other), GB, 1).is_err());
    let nothing = Topology { cores: Vec::new(), ..machine.clone() };
    assert!(naive(&nothing, &state, GB, 1).unwrap_err().to_string().ends_with("no cores"));
}

/// The same as placement counts it: twice as far.
#[test]
fn what_is_not_local_is_further_where_nobody_tells_how_far() {
    let mut machine = machine("shanghai.xml");
    machine.distances.clear();
    let state = State::idle(&machine);
    let narrow = ScanCost { bandwidth: Bandwidth { thread: 1e9, node: 4e9 }, ..COST };
    let scan = |places: &[Place]| simulate(&machine, &state, GB, places, narrow).unwrap();
    assert_eq!(seconds(&scan(&[at(0, 0), at(1, 1)])), [1.0, 2.0]);
    let nowhere = Place { core: 0, node: None };
    assert_eq!(seconds(&scan(&[nowhere])), [1.0]);
}

#[test]
fn naive_threads_are_on_cores_that_have_time() {
    let machine = machine("shanghai.xml");
    let mut state = State::idle(&machine);
    (0..14).for_each(|core| state.speeds[core] = 0.0);
    let places = naive(&machine, &state, GB, 3).unwrap();
    assert_eq!(places, [at(14, 3), at(15, 3), at(14, 3)], "their own memory is the first");
    assert!(simulate(&machine, &state, GB, &places, COST).is_ok());
    state.speeds.fill(0.0);
    assert!(naive(&machine, &state, GB, 1).unwrap_err().to_string().contains("no core has time"));
}
