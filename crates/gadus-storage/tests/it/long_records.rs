//! Records that do not go through the ring, whose statements are cancelled while they are written.

use crate::ledger::{NAME, options};
use gadus_base::{CommitNumber, Interrupt, LogPosition, interruptible};
use gadus_block::{Folder, MemoryFolder, OpenMode};
use gadus_storage::{ErrorKind, Store, Terms};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Above a quarter of the ring, and over many zones.
const LONG: usize = 300 << 10;

/// Requests an interrupt at the check after so many others.
#[derive(Debug)]
struct AfterChecks(AtomicU32);

impl Interrupt for AfterChecks {
    fn is_requested(&self) -> bool {
        let checks = &self.0;
        checks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rest| rest.checked_sub(1))
            .is_err()
    }
}

fn append(store: &Store, commit: CommitNumber, payload: &[u8]) -> Result<LogPosition, ErrorKind> {
    let terms = Terms { will_wait: true, ..Terms::default() };
    let appended = store.append_record(&store.turn(), commit, &[IoSlice::new(payload)], terms);
    appended.map_err(|error| error.kind)
}

/// Opens a copy of the files as they are now, and returns what its log has.
fn recovered(folder: &MemoryFolder) -> Vec<Vec<u8>> {
    let copy = MemoryFolder::new();
    for (name, bytes) in folder.snapshot() {
        let device = copy.open(&name, OpenMode::Create).unwrap();
        device.write_at(0, &[IoSlice::new(&bytes)]).unwrap();
    }
    let (_, recovered) = Store::open(Arc::new(copy), NAME, options()).unwrap();
    recovered.records.iter().map(|record| record.payload.to_vec()).collect()
}

#[test]
fn a_record_that_is_cancelled_at_any_check_leaves_the_log_as_it_was() {
    let folder = MemoryFolder::new();
    let store = Store::create(Arc::new(folder.clone()), NAME, options()).unwrap();
    let mut expected = Vec::<Vec<u8>>::new();
    let mut checks = 0;
    loop {
        let commit = CommitNumber(expected.len() as u64 + 1);
        let long = vec![b'l'; LONG + checks as usize];
        let source = Arc::new(AfterChecks(AtomicU32::new(checks)));
        match interruptible(Some(source), || append(&store, commit, &long)) {
            Ok(end) => {
                store.wait_durable(end).unwrap();
                expected.push(long);
                break;
            }
            Err(kind) => assert_eq!(kind, ErrorKind::Cancelled),
        }
        // What comes next lies where the record began.
        if checks % 3 == 0 {
            let short = checks.to_le_bytes().to_vec();
            store.wait_durable(append(&store, commit, &short).unwrap()).unwrap();
            expected.push(short);
        }
        assert_eq!(recovered(&folder), expected, "{checks}");
        checks += 1;
    }
    assert!(checks as usize > LONG / 4096, "a check for each zone");
    assert_eq!(recovered(&folder), expected);
}
