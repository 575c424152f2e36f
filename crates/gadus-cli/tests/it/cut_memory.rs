//! Shared memory that is cut off while processes have the database open.

use crate::folder::{Folder, error_of};
use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A shell that has run a statement and waits for the next one.
fn idle_shell(folder: &Folder) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut command = folder.gadus(&["x.gadus"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = command.spawn().unwrap();
    let mut input = shell.stdin.take().unwrap();
    let mut output = BufReader::new(shell.stdout.take().unwrap());
    input.write_all(b"INSERT INTO t VALUES (1);\nSELECT 'ready' AS said;\n").unwrap();
    let mut said = String::new();
    while !said.contains("ready") {
        assert!(output.read_line(&mut said).unwrap() > 0, "the shell has ended: {said}");
    }
    (shell, input, output)
}

#[test]
fn each_process_stops_with_the_reason_and_nothing_is_lost() {
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", "CREATE TABLE t (a INT)"]);
    let shells = [(); 3].map(|()| idle_shell(&folder));
    let record = read_to_string(folder.path("x.gadus-lck")).unwrap();
    let memory = record.lines().find_map(|line| line.strip_prefix("memory ")).unwrap();
    File::options().write(true).open(memory).unwrap().set_len(0).unwrap();
    for (shell, mut input, _output) in shells {
        // A shell that has ended by itself does not read it.
        let _ = input.write_all(b"INSERT INTO t VALUES (2);\n");
        drop(input);
        let ended = shell.wait_with_output().unwrap();
        let error = error_of(&ended);
        assert_eq!(ended.status.code(), Some(1), "{}: {error}", ended.status);
        assert!(error.contains("was cut off or overwritten from outside"), "{error}");
    }
    let rows = folder.printed(&["x.gadus", "--format", "csv", "-c", "SELECT sum(a) AS n FROM t"]);
    assert_eq!(rows, "n\n3\n");
}
