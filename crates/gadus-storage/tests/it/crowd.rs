//! Many more processes than cores.

use crate::child::{Child, await_word, say, task};
use crate::place::{Place, append};
use gadus_base::clock;

const COMMITS: usize = 2000;

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let (store, _) = Place::at(&path).open();
    say("ready");
    await_word();
    for _ in 0..task.parse().unwrap() {
        store.wait_durable(append(&store, b"one of many")).unwrap();
    }
    say("done");
    await_word();
}

/// Commits in each second.
fn rate(processes: usize) -> f64 {
    let place = Place::new();
    let each = (COMMITS / processes).to_string();
    let spawn = |_| Child::spawn("crowd", &each, place.path());
    let mut children = (0..processes).map(spawn).collect::<Vec<_>>();
    children.iter_mut().for_each(|child| child.hear("ready"));
    let began = clock().now();
    children.iter_mut().for_each(|child| child.tell("begin"));
    children.iter_mut().for_each(|child| child.hear("done"));
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(place.open().0.instances().len(), processes + 1);
    assert!(children.iter_mut().all(|child| child.end().success()));
    assert_eq!(place.open().1.records.len(), COMMITS);
    assert_eq!(place.memories(), 0);
    COMMITS as f64 / seconds
}

#[test]
fn fifty_processes_on_few_cores_all_come_to_their_end() {
    let [few, many] = [4, 50].map(rate);
    // How fast depends on the machine and on what else it does.
    println!("{few:.0} commits/s of 4 processes, {many:.0} of 50: {:.2}", many / few);
}
