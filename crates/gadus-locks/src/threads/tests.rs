//! Facts about threads: living ones, ones that are over, and those of processes that die.

use super::*;
use std::process::{Command, Stdio};
use std::sync::mpsc;

#[test]
fn a_living_thread_is_never_taken_for_one_that_is_over() {
    let me = Process::this();
    assert!(me.namespace != 0 && me.started != 0, "{me:?}");
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let thread = gadus_base::spawn("other", move || {
        tell.send(this_thread()).unwrap();
        let _ = ended.recv();
    })
    .unwrap();
    let other = told.recv().unwrap();
    assert_ne!(other, this_thread());
    assert!(!me.has_lost(other, &me) && !me.has_lost(this_thread(), &me));
    drop(end);
    thread.join().unwrap();
    // Its process lives: what is not shown may be a thread of another one.
    assert!(!me.has_lost(other, &me));
}

#[test]
fn a_killed_process_has_lost_its_threads_before_it_is_waited_for() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let me = Process::this();
    let status = Status::of(&format!("/proc/{}/stat", child.id())).unwrap();
    let process = Process { pid: child.id(), started: status.started, ..me };
    assert!(!process.has_lost(child.id(), &me));
    child.kill().unwrap();
    while !process.has_lost(child.id(), &me) {
        std::thread::yield_now();
    }
    assert!(process.has_lost(u32::MAX, &me), "a thread that is not shown any more");
    let elsewhere = Process { namespace: me.namespace + 1, ..me };
    assert!(!process.has_lost(child.id(), &elsewhere), "who sees other processes knows nothing");
    let later = Process { started: process.started + 1, ..process };
    assert!(!later.has_lost(child.id(), &me), "another process of the same number");
    child.wait().unwrap();
    assert!(!process.has_lost(child.id(), &me), "nothing is known of what is not there");
}

#[test]
fn names_with_parentheses_are_no_fields() {
    let fields = |state, flags| {
        format!("7 (a) b) (c) {state} 1 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0")
    };
    let status = Status::read(&fields("S", 0x40_0000)).unwrap();
    assert!(!status.is_over);
    assert_eq!(status.started, 4711);
    assert!(Status::read(&fields("R", 0x40_0004)).unwrap().is_over);
    assert!(Status::read(&fields("Z", 0x40_0000)).unwrap().is_over);
    assert!(Status::read("7 (a").is_none() && Status::read("").is_none());
}
