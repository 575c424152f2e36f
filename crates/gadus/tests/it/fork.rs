//! Children that are forked and execute nothing: they have no part in what their parent has open.

#![allow(unsafe_code)] // there is no safe call that forks

use crate::files::Folder;
use gadus::{Database, ErrorKind, Options};
use std::io::{Read, Write, pipe};
use std::process::{Command, Stdio};

/// Set for the process that forks, to the folder of its database.
const FOLDER: &str = "GADUS_FORK_TEST_FOLDER";

/// Runs `body` in a forked child; gives its process id.
fn fork(body: impl FnOnce()) -> i32 {
    // SAFETY: the child runs `body` alone and ends without returning.
    match unsafe { libc::fork() } {
        0 => {
            body();
            // SAFETY: ends the child without running what the parent has registered for its own end.
            unsafe { libc::_exit(0) }
        }
        child => {
            assert!(child > 0, "{}", std::io::Error::last_os_error());
            child
        }
    }
}

/// How a child ended.
fn wait_for(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is there for the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

/// Waits until the test closes what it writes to.
fn await_end() {
    let mut byte = 0_u8;
    // SAFETY: there is room for the one byte that is asked for.
    unsafe { libc::read(0, (&raw mut byte).cast(), 1) };
}

/// The process that forks: one thread of a test alone could be forked in the middle of another's work.
#[test]
fn parent() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let path = std::path::Path::new(&folder).join("x.gadus");
    let database = Database::open(&path, Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
    connection.execute("INSERT INTO t VALUES (1, 1), (2, 2)", &[]).unwrap();
    connection.execute("BEGIN", &[]).unwrap();
    connection.execute("UPDATE t SET n = 10 WHERE id = 1", &[]).unwrap();
    let (mut told, tell) = pipe().unwrap();
    let mut open = Some((connection, database));
    let child = fork(|| {
        let (connection, database) = open.take().expect("it is open");
        let refused = connection.execute("UPDATE t SET n = 20 WHERE id = 2", &[]).unwrap_err();
        let closed = database.checkpoint().unwrap_err();
        let kinds = [refused.kind(), closed.kind()];
        // What it drops was the parent's.
        drop((connection, database));
        let again = Database::open(&path, Options::new()).unwrap().connect();
        again.execute("UPDATE t SET n = 30 WHERE id = 2", &[]).unwrap();
        drop(again);
        let line = if kinds == [ErrorKind::Forked; 2] { "refused" } else { "not refused" };
        writeln!(&tell, "{line}").unwrap();
        drop(tell);
        // Lives on, with nothing of its parent's, until the test ends.
        await_end();
    });
    let mut line = String::new();
    while !line.ends_with('\n') {
        let mut byte = [0];
        assert_eq!(told.read(&mut byte).unwrap(), 1, "the child broke off: {}", wait_for(child));
        line.push(char::from(byte[0]));
    }
    println!("child: {line}");
    std::io::stdout().flush().unwrap();
    // Stays with its transaction until it is killed.
    await_end();
    drop(open);
}

#[test]
fn a_forked_child_has_no_part_in_its_parents_database() {
    let folder = Folder::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "fork::parent", "--nocapture"]).env(FOLDER, folder.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let _until_the_end = parent.stdin.take();
    let mut output = parent.stdout.take().unwrap();
    let mut printed = String::new();
    while !printed.contains("child: ") || !printed.ends_with('\n') {
        let mut byte = [0];
        assert_eq!(output.read(&mut byte).unwrap(), 1, "the parent broke off: {printed}");
        printed.push(char::from(byte[0]));
    }
    assert!(printed.ends_with("child: refused\n"), "{printed}");
    let path = folder.path("x.gadus");
    let connection = Database::open(&path, Options::new()).unwrap().connect();
    // The child has ended its transaction neither way: the row is the parent's.
    connection.execute("SET lock_timeout = 1", &[]).unwrap();
    let kept = connection.execute("UPDATE t SET n = 0 WHERE id = 1", &[]).unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    // It lives on, and keeps nothing of what its parent had.
    connection.execute("SET lock_timeout = '20s'", &[]).unwrap();
    connection.execute("UPDATE t SET n = 40 WHERE id = 1", &[]).unwrap();
    let mut rows = connection.query("SELECT sum(n) FROM t", &[]).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), 70);
    drop((rows, connection));
    assert!(gadus::check(&path, |_, _| ()).unwrap().problems.is_empty());
}
