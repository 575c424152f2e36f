//! Copies of the files made while they are written, one after the other and piece by piece.

use crate::crash::{Run, run};
use crate::ledger::{Ledger, NAME, options};
use gadus_base::Random;
use gadus_block::{CrashPolicy, Folder, MemoryFolder, OpenMode};
use gadus_storage::ErrorKind;
use std::io::IoSlice;
use std::sync::Arc;

const LOG: &str = "x.gadus-wal";

/// What came of a copy.
#[derive(Debug, Default)]
struct Outcomes {
    whole: usize,
    refused: usize,
    /// Opened, and what cannot be read is refused where it is read.
    damaged: usize,
}

impl Outcomes {
    fn count(&mut self, run: &Run, data: &[u8], log: &[u8], place: &str) {
        let copy = MemoryFolder::new();
        for (name, bytes) in [(NAME, data), (LOG, log)] {
            let device = copy.open(name, OpenMode::Create).unwrap();
            device.write_at(0, &[IoSlice::new(bytes)]).unwrap();
        }
        let ledger = match Ledger::open(Arc::new(copy), options()) {
            Ok(ledger) => ledger,
            Err(error) => {
                let clear = [ErrorKind::Corrupt, ErrorKind::Unfinished, ErrorKind::NotADatabase];
                assert!(clear.contains(&error.kind), "{place}: {error}");
                self.refused += 1;
                return;
            }
        };
        let found = ledger.state.commit;
        assert_eq!(Some(&ledger.state), run.states.get(&found), "{place}: a mixture");
        let blobs = ledger.state.keys.values().flatten();
        let errors = blobs.filter_map(|blob| ledger.store.read_blob(blob).err());
        let errors = errors.collect::<Vec<_>>();
        assert!(errors.iter().all(|error| error.kind == ErrorKind::Corrupt), "{place}: {errors:?}");
        if errors.is_empty() {
            ledger.verify();
            self.whole += 1;
        } else {
            self.damaged += 1;
        }
    }
}

/// The files as they are after so many operations.
fn files_at(run: &Run, at: usize) -> [Vec<u8>; 2] {
    let mut files = run.trace.image(at, CrashPolicy::KeepAll).snapshot();
    [NAME, LOG].map(|name| files.remove(name).unwrap_or_default())
}

#[test]
fn a_copy_of_one_file_after_the_other_is_one_state_or_refused() {
    for seed in 40..42 {
        let run = run(seed, 60, options());
        let moments = (run.created_at..=run.trace.len()).step_by(5);
        let images = moments.map(|at| files_at(&run, at)).collect::<Vec<_>>();
        let mut outcomes = Outcomes::default();
        for (first, [data, _]) in images.iter().enumerate() {
            for (second, [_, log]) in images.iter().enumerate() {
                outcomes.count(&run, data, log, &format!("{seed}: {first}, {second}"));
            }
        }
        println!("{outcomes:?} of {}", images.len() * images.len());
        assert!(outcomes.whole >= images.len() && outcomes.refused > 0, "{outcomes:?}");
    }
}

#[test]
fn a_copy_made_piece_by_piece_is_one_state_or_refused() {
    let mut random = Random::seeded(7);
    for seed in 50..52 {
        let run = run(seed, 60, options());
        let mut outcomes = Outcomes::default();
        for copy in 0..300 {
            let mut at = run.created_at as u64;
            let mut files = [Vec::new(), Vec::new()];
            for (index, bytes) in files.iter_mut().enumerate() {
                // Some operations pass between two reads; seldom many.
                loop {
                    let image = files_at(&run, usize::try_from(at).unwrap())[index].clone();
                    let end = image.len().min(bytes.len() + 4096);
                    let Some(piece) = image.get(bytes.len()..end).filter(|piece| !piece.is_empty())
                    else {
                        break;
                    };
                    bytes.extend_from_slice(piece);
                    let passed = if random.chance(0.1) { random.below(60) } else { 0 };
                    at = (at + passed).min(run.trace.len() as u64);
                }
            }
            outcomes.count(&run, &files[0], &files[1], &format!("{seed}: copy {copy}"));
        }
        println!("{outcomes:?}");
        assert!(outcomes.whole > 0 && outcomes.refused > 0, "{outcomes:?}");
    }
}
