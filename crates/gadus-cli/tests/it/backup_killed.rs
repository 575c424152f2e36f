//! A backup that is killed at any moment.

use crate::folder::Folder;
use gadus_base::Random;
use std::fs;
use std::process::Stdio;

/// Moments at which it is killed.
const KILLS: usize = 12;

/// Bytes of the copy before it is killed, at most: about all of them.
const BYTES_MAX: u64 = 8 << 20;

/// Returns the bytes that a backup has written so far, to its private folder.
fn staged_bytes(folder: &Folder) -> u64 {
    let entries = fs::read_dir(folder.path("")).unwrap().flatten();
    let staged = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".partial"));
    let files = staged.filter_map(|entry| fs::read_dir(entry.path()).ok()).flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|facts| facts.len()).sum()
}

#[test]
fn nothing_stands_under_the_final_name_and_the_next_backup_succeeds() {
    let folder = Folder::new();
    folder.printed(&["bookings", "x.gadus", "--rows", "200000"]);
    let mut random = Random::seeded(7);
    let mut killed = 0;
    for _ in 0..KILLS {
        let mut backup = folder.gadus(&["backup", "x.gadus", "y.gadus"]);
        let mut child = backup.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let bytes = random.below(BYTES_MAX);
        while child.try_wait().unwrap().is_none() && staged_bytes(&folder) < bytes {
            std::thread::yield_now();
        }
        // One that has ended by itself is not there to be killed.
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        // One that was killed at its very end is complete, too.
        if folder.path("y.gadus").exists() {
            assert!(folder.printed(&["check", "y.gadus"]).contains("200000 of 200000 rows"));
        }
        for name in ["y.gadus", "y.gadus-wal", "y.gadus-lck"] {
            let _ = fs::remove_file(folder.path(name));
        }
    }
    assert!(killed > 0, "no backup was killed before its end");
    for entry in fs::read_dir(folder.path("")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".partial") {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    folder.printed(&["backup", "x.gadus", "y.gadus"]);
    folder.printed(&["check", "y.gadus"]);
}
