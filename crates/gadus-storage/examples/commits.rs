//! Commits per second, beside what the medium allows: a loop of writes and syncs on the same disk.
//!
//! `cargo run --release -p gadus-storage --example commits -- FOLDER [SYNC_MS]` measures on files
//! in FOLDER; with SYNC_MS, each sync takes that much longer, one after another.

#![allow(clippy::print_stdout, clippy::expect_used)] // a measuring program

use gadus_base::{CommitNumber, clock, spawn};
use gadus_block::{Delays, FileFolder, Folder, OpenMode, ThrottledFolder};
use gadus_storage::{Options, StorageError, Store};
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECONDS: u64 = 3;
/// About what one inserted row needs.
const PAYLOAD: [u8; 100] = [7; 100];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: commits FOLDER [SYNC_MS]")?;
    let sync_ms: u64 = arguments.next().map_or(Ok(0), |ms| ms.parse())?;
    let delays = Delays { sync: Duration::from_millis(sync_ms), ..Delays::default() };
    let files = Arc::new(FileFolder::new(path));
    let folder: Arc<dyn Folder> = match sync_ms {
        0 => files,
        _ => Arc::new(ThrottledFolder::new(files, delays)),
    };
    for _ in 0..2 {
        let bare = bare_syncs(&*folder)?;
        println!("bare write and sync:   {bare:>8} per second, {} µs each", 1_000_000 / bare);
        for threads in [1, 8, 64] {
            let (commits, syncs) = commits(&folder, threads)?;
            println!("{threads:>2} threads: {commits:>8} commits, {syncs:>6} syncs per second");
        }
    }
    Ok(())
}

/// Appends in a file that is written and synced before, as the log's zones are.
fn bare_syncs(folder: &dyn Folder) -> Result<u64, StorageError> {
    let device = folder.open("bare", OpenMode::Create)?;
    device.write_at(0, &[IoSlice::new(&vec![0; 8 << 20])])?;
    device.sync()?;
    let started = clock().now();
    let mut count = 0;
    while started.elapsed() < Duration::from_secs(1) {
        device.write_at(count * 152 % (8 << 20), &[IoSlice::new(&PAYLOAD)])?;
        device.sync()?;
        count += 1;
    }
    folder.remove("bare")?;
    Ok(count)
}

fn commits(folder: &Arc<dyn Folder>, threads: u64) -> Result<(u64, u64), StorageError> {
    let store = Arc::new(Store::create(Arc::clone(folder), "bench.gadus", Options::default())?);
    let next = Arc::new(Mutex::new(CommitNumber(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicU64::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let (store, next) = (Arc::clone(&store), Arc::clone(&next));
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            spawn("committer", move || {
                while !stop.load(Ordering::Relaxed) {
                    let end = {
                        let mut commit = next.lock().expect("no thread panics");
                        *commit = commit.next();
                        store.append(*commit, &[IoSlice::new(&PAYLOAD)])?
                    };
                    store.wait_durable(end)?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<(), StorageError>(())
            })
            .expect("a thread")
        })
        .collect();
    let started = clock().now();
    let mut checkpointed = 0;
    while started.elapsed() < Duration::from_secs(SECONDS) {
        std::thread::park_timeout(Duration::from_millis(50));
        // As an engine would: the log stays small, and its zones are used again.
        if store.log_bytes_since_checkpoint() > 16 << 20 {
            let (commit, up_to) = {
                let commit = next.lock().expect("no thread panics");
                (*commit, store.appended())
            };
            store.checkpoint(b"root", commit, up_to)?;
            checkpointed += 1;
        }
    }
    stop.store(true, Ordering::Relaxed);
    for handle in handles {
        handle.join().expect("no thread panics")?;
    }
    let statistics = store.statistics();
    assert_eq!(statistics.checkpoints, checkpointed);
    drop(store);
    for name in ["bench.gadus", "bench.gadus-wal", "bench.gadus-lck"] {
        folder.remove(name)?;
    }
    Ok((done.load(Ordering::Relaxed) / SECONDS, statistics.log_syncs / SECONDS))
}
