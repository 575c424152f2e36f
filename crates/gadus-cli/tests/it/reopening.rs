//! `gadus serve` after a failed sync, which strace gives to running processes.

use crate::folder::Folder;
use crate::served::Served;
use crate::shells::Shell;
use crate::wire_client::WireClient;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Lets every sync of a process fail, until it is dropped.
struct FailingSyncs(Child);

impl FailingSyncs {
    /// None, with the reason printed, where the system does not allow it.
    fn of(pid: u32) -> Option<Self> {
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO"]);
        command.args(["-o", "/dev/null", "-p", &pid.to_string()]);
        let mut child = match command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                println!("skipped: there is no strace to let a sync fail: {error}");
                return None;
            }
        };
        let (mut log, mut line) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        log.read_line(&mut line).unwrap();
        if !line.contains("attached") {
            println!("skipped: strace may not let a sync fail: {line}");
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        // Drained, so that the server never blocks on a full pipe.
        gadus_base::spawn("strace-log", move || std::io::copy(&mut log, &mut std::io::sink()))
            .unwrap();
        Some(Self(child))
    }
}

impl Drop for FailingSyncs {
    fn drop(&mut self) {
        // It lets go of the process then.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_reopens_its_database_after_a_failed_sync() {
    let folder = Folder::new();
    let mut server = Served::start(&folder, &[]);
    let (mut client, idle) = (server.client(), server.client());
    client.query("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1)").unwrap();
    let Some(failing) = FailingSyncs::of(server.id()) else { return };
    let refusal = client.query("INSERT INTO t VALUES (2)").unwrap_err();
    assert_eq!(refusal.code, "58030", "{refusal:?}");
    assert!(refusal.hint.contains("is being reopened"), "{refusal:?}");
    let line = server.hears("is closed, to be reopened");
    assert!(line.contains("x.gadus"), "{line}");
    for client in [client, idle] {
        let ending = client.ending();
        assert_eq!((&ending.code[..], &ending.severity[..]), ("57P01", "FATAL"), "{ending:?}");
        assert!(ending.message.contains("is being reopened"), "{ending:?}");
    }
    // Recovery syncs, too.
    let line = server.hears("cannot be reopened yet");
    assert!(line.contains("Input/output error"), "{line}");
    let refused = WireClient::connect(server.address()).map(drop).unwrap_err();
    assert_eq!((&refused.code[..], &refused.severity[..]), ("57P03", "FATAL"), "{refused:?}");
    assert!(refused.message.contains("is being reopened"), "{refused:?}");
    drop(failing);
    server.hears("the database is reopened");
    let mut client = server.client();
    let rows = client.query("SELECT n FROM t ORDER BY n").unwrap();
    // Of what was not acknowledged, nothing is known.
    assert!(rows == ["1"] || rows == ["1", "2"], "{rows:?}");
    client.query("INSERT INTO t VALUES (3)").unwrap();
    assert_eq!(client.query("SELECT max(n) FROM t").unwrap(), ["3"]);
    drop(client);
    server.stop();
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}

#[test]
fn a_server_that_is_idle_learns_of_a_sync_that_failed_elsewhere_and_waits_for_others() {
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", "CREATE TABLE t (n BIGINT)"]);
    let mut server = Served::start(&folder, &[]);
    let (failing, mut other) = (Shell::open(&folder, &[]), Shell::open(&folder, &[]));
    other.run("INSERT INTO t VALUES (1)");
    let Some(syncs) = FailingSyncs::of(failing.id()) else { return };
    let error = failing.fails("INSERT INTO t VALUES (2)");
    assert!(error.contains("Input/output error"), "{error}");
    drop(syncs);
    server.hears("is closed, to be reopened");
    let line = server.hears("cannot be reopened yet");
    assert!(line.contains(&format!("process {} ", other.id())), "{line}");
    drop(other);
    server.hears("the database is reopened");
    let mut client = server.client();
    client.query("INSERT INTO t VALUES (3)").unwrap();
    assert_eq!(client.query("SELECT min(n) FROM t").unwrap(), ["1"]);
    drop(client);
    server.stop();
}

#[test]
fn a_client_that_takes_nothing_does_not_keep_the_database_from_being_reopened() {
    let folder = Folder::new();
    let mut server = Served::start(&folder, &[]);
    let (mut client, mut stuck) = (server.client(), server.client());
    client.query("CREATE TABLE t (n BIGINT)").unwrap();
    stuck.send("SELECT repeat('x', 1000) AS x FROM range(10000000)");
    let Some(failing) = FailingSyncs::of(server.id()) else { return };
    client.query("INSERT INTO t VALUES (2)").unwrap_err();
    drop(failing);
    server.hears("is closed, to be reopened");
    server.hears("the database is reopened");
    server.client().query("INSERT INTO t VALUES (3)").unwrap();
    server.stop();
    drop(stuck);
}
