//! Processes that keep others from opening a database without sharing it.

use crate::folder::Folder;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Locks the byte by which openers take turns, for reading, until its input ends.
const STRANGER: &str = "
import fcntl, struct, sys
file = open(sys.argv[1], 'rb')
F_OFD_SETLK = 37
fcntl.fcntl(file, F_OFD_SETLK, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 1 << 62, 1 << 20, 0))
print('locked', flush=True)
sys.stdin.read()
";

#[test]
fn a_stranger_who_locks_a_file_for_reading_is_named() {
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", "CREATE TABLE t (a INT)"]);
    let mut stranger = Command::new("python3");
    stranger.args(["-c", STRANGER]).arg(folder.path("x.gadus"));
    let started = stranger.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut stranger = match started {
        Ok(stranger) => stranger,
        Err(error) => return println!("skipped: there is no python3 to lock the file: {error}"),
    };
    let mut line = String::new();
    BufReader::new(stranger.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    let error = folder.refused(&["x.gadus", "-c", "SELECT 1"]);
    assert!(error.contains("a process has locked the file for reading"), "{error}");
    assert!(error.contains(&format!("process {}", stranger.id())), "{error}");
    drop(stranger.stdin.take());
    stranger.wait().unwrap();
    folder.printed(&["x.gadus", "-c", "SELECT 1"]);
}
