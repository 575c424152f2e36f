//! Shared memory that is cut off at each step of a process that opens, commits, checkpoints and leaves.

use crate::child::{Child, say, task};
use crate::deaths::{verified, work};
use crate::ledger::NAME;
use crate::place::Place;
use gadus_block::HookedFolder;
use std::fs::{File, read, read_dir, remove_file};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

const MODULE: &str = "cut_memory";

/// Bytes of the data file and of the log.
type Contents = [Vec<u8>; 2];

/// Runs the task of a child; does nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let step = task.parse::<u64>().unwrap();
    let place = Place::at(&path);
    let (was_cut, at_cut) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::new()));
    let (cuts, kept) = (was_cut.clone(), at_cut.clone());
    let folder = HookedFolder::before_each(place.folder.clone(), move |before| {
        if before == step {
            cut(&path.join("memory"));
            cuts.store(true, Ordering::SeqCst);
        } else if before > step {
            // The operation at which it was cut may be a change.
            kept.get_or_init(|| contents(&path));
        }
    });
    let worked = place.open_through(Arc::new(folder)).and_then(|(store, _)| work(&store));
    if let (Some(at_cut), Err(_)) = (at_cut.get(), &worked) {
        assert!(*at_cut == contents(place.path()), "changed after the memory was cut off");
    }
    say(match (was_cut.load(Ordering::SeqCst), worked) {
        (false, worked) => worked.map(|()| "not cut").unwrap(),
        (true, Ok(())) => "done",
        (true, Err(_)) => "refused",
    });
}

fn contents(folder: &Path) -> Contents {
    [NAME, "x.gadus-wal"].map(|name| read(folder.join(name)).unwrap())
}

/// Cuts off all memory that is there.
fn cut(folder: &Path) {
    let paths = read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.collect::<Vec<PathBuf>>() {
        File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    }
}

#[test]
fn nothing_is_changed_behind_a_cut_and_nothing_is_lost() {
    let mut refusals = 0;
    for step in 0.. {
        let place = Place::new();
        let mut child = Child::spawn(MODULE, &step.to_string(), place.path());
        let (mut durable, mut ended) = (0, String::new());
        while let Some(said) = child.try_hear() {
            match said.parse() {
                Ok(commit) => durable = commit,
                Err(_) => ended = said,
            }
        }
        let status = child.end();
        assert!(status.success(), "cut at operation {step}: {status}");
        for left in read_dir(place.memory()).unwrap() {
            remove_file(left.unwrap().path()).unwrap();
        }
        let (store, recovered) = place.open();
        let last = verified(&recovered);
        assert!(last >= durable, "cut at operation {step}: {last} of {durable}");
        drop(store);
        refusals += u32::from(ended == "refused");
        if ended == "not cut" {
            break;
        }
    }
    assert!(refusals > 40, "only {refusals} cuts were noticed");
}
