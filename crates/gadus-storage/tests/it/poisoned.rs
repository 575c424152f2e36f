//! A sync that fails in one process is the end of writing for all, until all have closed the database.

use crate::child::{Child, await_word, say, task};
use crate::place::{Place, append, follow, try_append};
use gadus_block::{ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, Operation};
use gadus_storage::{ErrorKind, StorageError, Store};
use std::sync::Arc;

const MODULE: &str = "poisoned";
const LOG: &str = "x.gadus-wal";

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((_, path)) = task() else { return };
    let (place, plan) = (Place::at(&path), FaultPlan::new());
    let folder = Arc::new(FaultyFolder::new(place.folder.clone(), plan.clone()));
    let (store, _) = place.open_through(folder).unwrap();
    store.wait_durable(append(&store, b"acknowledged")).unwrap();
    say("ready");
    await_word();
    plan.fail_next(LOG, Operation::Sync, Fault::Error(BlockErrorKind::Io));
    let end = append(&store, b"unknown");
    say(&format!("{:?}", store.wait_durable(end).unwrap_err().kind));
    await_word();
}

fn refusals(store: &Store) -> [StorageError; 4] {
    let end = store.log_end();
    [
        try_append(store, b"refused").unwrap_err(),
        store.wait_durable(end.position()).unwrap_err(),
        store.write_extent(&[b"refused"]).unwrap_err(),
        store.checkpoint(b"refused", end.commit(), end.position()).unwrap_err(),
    ]
}

#[test]
fn a_sync_that_fails_in_one_process_ends_writing_in_all_until_they_have_closed() {
    for is_killed in [false, true] {
        let place = Place::new();
        let (store, recovered) = place.open();
        let mut failing = Child::spawn(MODULE, "fail", place.path());
        failing.hear("ready");
        store.wait_durable(append(&store, b"acknowledged")).unwrap();
        failing.tell("fail");
        failing.hear("Io");
        let refused = |store: &Store| {
            assert!(store.is_poisoned());
            for error in refusals(store) {
                assert_eq!(error.kind, ErrorKind::Poisoned, "{error}");
                assert!(error.message.contains("reopen"), "{error}");
            }
        };
        refused(&store);
        if is_killed {
            failing.kill();
        }
        // Who is there goes on reading; who comes cannot know what it may show, and does not wait.
        assert!(follow(&store, &mut recovered.end.clone()).len() >= 2);
        for _ in 0..3 {
            let joined = place.open_through(place.folder.clone()).map(drop).unwrap_err();
            assert_eq!(joined.kind, ErrorKind::Poisoned, "{joined}");
        }
        refused(&store);
        drop(store);
        if !is_killed {
            assert!(failing.end().success());
        }
        let (store, found) = place.open();
        assert!(!store.is_poisoned());
        let payloads = found.records.iter().map(|record| &record.payload[..]);
        assert_eq!(Vec::from_iter(payloads.take(2)), [b"acknowledged"; 2]);
        store.wait_durable(append(&store, b"goes on")).unwrap();
    }
}
