//! Threads on processors of this machine, and the order of those of others.

use super::*;
use gadus_base::clock;

fn described(name: &str) -> Topology {
    // Tests run in the folder of their crate.
    let xml = std::fs::read_to_string(format!("../gadus-machine/topologies/{name}")).unwrap();
    Topology::from_xml(&xml, name).unwrap()
}

#[test]
fn each_thread_has_a_core_before_two_share_one() {
    let machine = described("two-sockets-smt.xml");
    let first = Machine::of(&machine, &machine.cpus());
    let cores = first.cpus[..machine.cores.len()].iter().map(|cpu| machine.core_of(*cpu));
    assert_eq!(cores.collect::<std::collections::BTreeSet<_>>().len(), machine.cores.len());
    assert_eq!(first.cpus.len(), machine.cpus().count());
    assert!(first.is_uneven);
    assert_eq!(first.nodes.len(), machine.cpus().count());
    let few = Machine::of(&machine, &CpuSet::from_list("1").unwrap());
    assert_eq!(few.cpus, [1]);
}

#[test]
fn a_thread_that_was_moved_runs_there_and_comes_back() {
    let layout = Layout::new(None, 1);
    let (began, mut pinned) = (clock().now(), None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            layout.settle(0, 0, Pinning::Off, &mut pinned);
            assert_eq!((pinned, layout.threads()[0].moves), (None, 0));
            while pinned.is_none() {
                assert!(began.elapsed() < Duration::from_secs(60), "it was never moved");
                layout.settle(0, 0, Pinning::On, &mut pinned);
                std::thread::yield_now();
            }
            assert_eq!(Some(this_cpu()), pinned);
            layout.worked(0, Duration::from_millis(3), Duration::from_millis(2));
            layout.settle(0, 0, Pinning::Off, &mut pinned);
        });
    });
    let thread = layout.threads()[0];
    assert_eq!((pinned, thread.pinned, thread.moves), (None, None, 2));
    assert_eq!(thread.processor_time, Duration::from_millis(2));
}

#[test]
fn processors_are_told_before_anything_was_scanned() {
    let places = Layout::new(None, 2).places(2, 0, Pinning::On);
    assert!(places.len() == 2 && places.iter().all(|(cpu, _)| cpu.is_some()), "{places:?}");
}

/// On a machine that is described, with all its processors.
fn layout_of(name: &str, threads: usize) -> Layout {
    let (layout, machine) = (Layout::new(None, threads), described(name));
    layout.is_asked.store(true, Ordering::Relaxed);
    layout.machine.set(Some(Machine::of(&machine, &machine.cpus()))).unwrap();
    layout
}

#[test]
fn processes_that_scan_one_file_begin_at_other_processors() {
    let layout = layout_of("one-by-two.xml", 2);
    let places = |first: usize| {
        let places = layout.places(2, first, Pinning::On);
        places.into_iter().map(|(cpu, _)| cpu.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!([places(0), places(1), places(2)], [[0, 1], [1, 0], [0, 1]]);
}

/// Each has the segments of its own first; where the system moves threads about, nobody knows whose they are.
#[test]
fn segments_are_dealt_by_the_memory_nodes_of_threads() {
    let layout = layout_of("shanghai.xml", 16);
    let Deal::ByNode(nodes, of_threads) = layout.deal(16, 0, Pinning::Auto) else {
        panic!("four nodes make a difference");
    };
    assert_eq!(nodes.get(), 4);
    let near = layout.places(16, 0, Pinning::Auto).into_iter().map(|(_, node)| node.unwrap());
    assert_eq!(of_threads, near.map(|node| node as usize).collect::<Vec<_>>());
    assert_eq!(layout.deal(16, 0, Pinning::Off), Deal::ToAll);
    // Fewer threads, as other processes scan, change nothing for the segments of theirs.
    let Deal::ByNode(nodes, of_few) = layout.deal(3, 0, Pinning::Auto) else { panic!("as well") };
    assert_eq!((nodes.get(), &of_few[..]), (4, &of_threads[..3]));
    assert_eq!(layout_of("one-by-two.xml", 2).deal(2, 0, Pinning::On), Deal::ToAll);
}

#[test]
fn who_has_had_more_of_its_processor_is_better_placed() {
    let layout = layout_of("one-by-two.xml", 3);
    let millis = Duration::from_millis;
    assert_eq!(layout.placed(0, 1), Placed::NoBetter, "the system places them");
    for number in 0..3 {
        layout.state.lock().threads[number].pinned = Some(u32::try_from(number).unwrap());
    }
    assert_eq!(layout.placed(0, 1), Placed::NoBetter, "nothing is known");
    layout.worked(0, millis(100), millis(90));
    layout.worked(1, millis(100), millis(15));
    layout.worked(2, millis(100), millis(50));
    assert_eq!([layout.placed(0, 1), layout.placed(0, 2)], [Placed::FarBetter, Placed::Better]);
    assert_eq!([layout.placed(1, 0), layout.placed(0, 0)], [Placed::NoBetter; 2]);
    layout.worked(1, millis(1), millis(1));
    assert_eq!(layout.placed(0, 1), Placed::FarBetter, "that was too short to tell");
    for _ in 0..4 {
        layout.worked(1, millis(100), millis(90));
    }
    assert_eq!(layout.placed(0, 1), Placed::NoBetter);
}
