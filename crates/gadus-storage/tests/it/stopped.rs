//! Processes that are stopped, or whose disk does not answer: nobody takes them for dead, and the others
//! do without them what can be done.

use crate::child::{Child, await_word, say, task};
use crate::place::{Place, append, follow};
use gadus_block::{Delays, ThrottledFolder};
use gadus_storage::{ErrorKind, Stage, Store};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MODULE: &str = "stopped";

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let place = Place::at(&path);
    match task.as_str() {
        "commit" => {
            let (store, _) = place.open();
            let turn = store.turn();
            say("ready");
            await_word();
            drop(turn);
            say("gone on");
            await_word();
        }
        "checkpoint" => {
            let (store, _) = place.open();
            let turn = store.checkpoint_turn().unwrap();
            say("ready");
            await_word();
            drop(turn);
            say("gone on");
            await_word();
        }
        "pin" => {
            let (store, recovered) = place.open();
            let mut end = recovered.end;
            assert!(store.pin(end.commit(), end.position()));
            say("ready");
            await_word();
            say(&follow(&store, &mut end).len().to_string());
        }
        "sync" => {
            // Longer than any test runs.
            let delays = Delays { sync: Duration::from_secs(3600), ..Delays::default() };
            let slow = Arc::new(ThrottledFolder::new(place.folder.clone(), delays));
            let (store, _) = place.open_through(slow).unwrap();
            let end = append(&store, b"of the slow one");
            say("ready");
            store.wait_durable(end).unwrap();
        }
        task => panic!("what is {task}?"),
    }
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Stops a child, and returns when the system says that it is stopped.
fn stop(child: &Child) {
    send(child, Signal::STOP);
    let is_stopped = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        // Behind the name, which may hold anything.
        status.rsplit(')').next().unwrap().starts_with(" T")
    };
    while !is_stopped() {
        std::thread::yield_now();
    }
}

fn commit(store: &Store) {
    store.wait_durable(append(store, b"of another")).unwrap();
}

/// Writes a checkpoint, in a turn that was taken before.
fn checkpoint(store: &Store) {
    let end = store.log_end();
    store.wait_durable(end.position()).unwrap();
    store.checkpoint(b"root", end.commit(), end.position()).unwrap();
    store.find_free_space(|| true);
}

/// Whose turn something is, as anybody can see.
fn is_busy(store: &Store, stage: Stage, pid: u32) -> bool {
    store.busy().iter().any(|(one, its)| *its == stage && one.pid == pid)
}

#[test]
fn who_is_stopped_in_its_turn_to_append_is_named_waited_for_and_not_robbed() {
    let place = Place::new();
    let (store, recovered) = place.open();
    commit(&store);
    let mut holder = Child::spawn(MODULE, "commit", place.path());
    holder.hear("ready");
    stop(&holder);
    let has_appended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let appending = scope.spawn(|| {
            commit(&store);
            has_appended.store(true, Ordering::SeqCst);
        });
        // Others read, join, pin and leave meanwhile.
        for _ in 0..50 {
            assert!(is_busy(&store, Stage::Commit, holder.id()));
            let (joiner, found) = place.open();
            assert_eq!(found.records.len(), 1);
            assert_eq!(joiner.instances().len(), 3);
            assert_eq!(follow(&joiner, &mut recovered.end.clone()).len(), 1);
            assert!(joiner.pin(found.end.commit(), found.end.position()));
        }
        assert!(!has_appended.load(Ordering::SeqCst), "nothing is taken from the living");
        // Who does not want to wait for ever is told for whom he waits.
        let late = store.turn_within(Duration::from_millis(20)).unwrap_err();
        assert_eq!(late.kind, ErrorKind::InUse);
        assert!(late.message.contains(&format!("process {} (", holder.id())), "{}", late.message);
        assert_eq!(store.statistics().takeovers.commit, 0);
        send(&holder, Signal::CONT);
        holder.tell("go on");
        holder.hear("gone on");
        appending.join().unwrap();
    });
    assert_eq!(place.open().1.records.len(), 2);
    assert!(holder.end().success());
}

#[test]
fn who_is_stopped_in_its_turn_to_checkpoint_keeps_nobody_from_committing() {
    let place = Place::new();
    let (store, _) = place.open();
    let mut holder = Child::spawn(MODULE, "checkpoint", place.path());
    holder.hear("ready");
    stop(&holder);
    (0..50).for_each(|_| commit(&store));
    assert!(is_busy(&store, Stage::Fold, holder.id()));
    std::thread::scope(|scope| {
        let checkpointing = scope.spawn(|| {
            let _turn = store.checkpoint_turn().unwrap();
            checkpoint(&store);
        });
        (0..50).for_each(|_| commit(&store));
        assert_eq!(store.statistics().checkpoints, 0);
        assert_eq!(place.open().1.records.len(), 100);
        send(&holder, Signal::CONT);
        holder.tell("go on");
        holder.hear("gone on");
        checkpointing.join().unwrap();
    });
    assert_eq!(store.statistics().checkpoints, 1);
    assert_eq!(store.statistics().takeovers.fold, 0);
}

#[test]
fn who_is_stopped_with_a_pin_keeps_what_it_reads_and_nothing_else_stands_still() {
    let place = Place::new();
    let (store, _) = place.open();
    let mut reader = Child::spawn(MODULE, "pin", place.path());
    reader.hear("ready");
    stop(&reader);
    for _ in 0..5 {
        append_and_checkpoint(&store);
        let (joiner, found) = place.open();
        assert_eq!(found.root.as_deref(), Some(&b"root"[..]));
        assert_eq!(joiner.instances().len(), 3);
    }
    let kept = store.statistics().log_file_bytes;
    assert!(kept >= 200_000, "what it pins is kept: {kept} bytes of log");
    send(&reader, Signal::CONT);
    reader.tell("read");
    reader.hear("200");
    assert!(reader.end().success());
    // What it kept is used again, as soon as the next checkpoint has given it back.
    append_and_checkpoint(&store);
    let kept = store.statistics().log_file_bytes;
    (0..8).for_each(|_| append_and_checkpoint(&store));
    assert_eq!(store.statistics().log_file_bytes, kept);
}

fn append_and_checkpoint(store: &Store) {
    (0..40).for_each(|_| {
        append(store, &[3; 1000]);
    });
    let _turn = store.checkpoint_turn().unwrap();
    checkpoint(store);
}

#[test]
fn who_waits_for_its_disk_is_not_dead_and_others_do_not_wait_for_it() {
    let place = Place::new();
    let (store, recovered) = place.open();
    let mut slow = Child::spawn(MODULE, "sync", place.path());
    slow.hear("ready");
    while !is_busy(&store, Stage::Sync, slow.id()) {
        std::thread::yield_now();
    }
    // Also many at once: each syncs for itself, or has others sync for it.
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..5).for_each(|_| commit(&store)));
        }
    });
    let (joiner, found) = place.open();
    assert_eq!(found.records.len(), 81);
    assert_eq!(joiner.instances().len(), 3, "it lives");
    assert!(is_busy(&store, Stage::Sync, slow.id()));
    assert_eq!(store.statistics().takeovers.sync, 0);
    slow.kill();
    // Whoever leads the next sync follows the dead one.
    commit(&store);
    assert_eq!(follow(&store, &mut recovered.end.clone()).len(), 82);
    assert!(!is_busy(&store, Stage::Sync, slow.id()));
    assert_eq!(store.statistics().takeovers.sync, 1);
}
