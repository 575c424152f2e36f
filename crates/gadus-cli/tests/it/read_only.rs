//! `--read-only`: beside writers where the process may take part, alone where it may not.

use crate::folder::{Folder, error_of};
use crate::served::Served;
use crate::shells::{Shell, User, may_change_user};
use rustix::process::Signal;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

const READS: &[&str] = &["--read-only"];

/// Has neither files nor rights.
const NOBODY: User = User { user: 65_534, group: 65_534 };

/// By how much the log may grow that is used again: where its records begin in a zone differs.
const ZONES_SPARE: u64 = 2 << 20;

fn log_bytes(folder: &Folder) -> u64 {
    fs::metadata(folder.path("x.gadus-wal")).unwrap().len()
}

/// Writes more than a zone of the log, which a checkpoint then makes superfluous.
fn write_zones(writer: &mut Shell, zones: u32) {
    for _ in 0..zones {
        writer.run("UPDATE big SET text = repeat('log', 400000)");
        writer.run("CHECKPOINT");
    }
}

#[test]
fn a_reader_follows_a_writer_and_keeps_its_snapshot() {
    let folder = Folder::new();
    let mut writer = Shell::open(&folder, &[]);
    writer.run("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (0)");
    let (mut follower, mut keeper) = (Shell::open(&folder, READS), Shell::open(&folder, READS));
    let newest = "SELECT max(n) AS n, count(*) AS rows FROM t";
    keeper.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(keeper.run(newest), "n,rows\n0,1\n");
    for n in 1..=40 {
        writer.run(&format!("DELETE FROM t; INSERT INTO t SELECT {n} FROM range({n})"));
        if n % 4 == 0 {
            writer.run("CHECKPOINT");
        }
        assert_eq!(follower.run(newest), format!("n,rows\n{n},{n}\n"));
    }
    assert_eq!(keeper.run(newest), "n,rows\n0,1\n");
    keeper.run("COMMIT");
    assert_eq!(keeper.run(newest), "n,rows\n40,40\n");
    let sessions = follower.run("SELECT count(DISTINCT pid) AS n FROM gadus.sessions");
    assert_eq!(sessions, "n\n3\n");
    // Readers that come and go leave the files as they are.
    let files = || ["x.gadus", "x.gadus-wal"].map(|name| fs::read(folder.path(name)).unwrap());
    let before = files();
    let rows = ["x.gadus", "--read-only", "--format", "csv", "-c", newest];
    assert_eq!(folder.printed(&rows), "n,rows\n40,40\n");
    drop((follower, keeper));
    assert!(files() == before, "a reader has written");
    drop(writer);
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}

#[test]
fn writers_come_and_go_while_a_reader_stays() {
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", "CREATE TABLE t (n BIGINT)"]);
    let mut reader = Shell::open(&folder, READS);
    let sum = "SELECT count(*) AS n FROM t";
    assert_eq!(reader.run(sum), "n\n0\n");
    for n in 1..=5 {
        folder.printed(&["x.gadus", "-c", "INSERT INTO t VALUES (1)"]);
        assert_eq!(reader.run(sum), format!("n\n{n}\n"));
    }
    let mut writer = Shell::open(&folder, &[]);
    writer.run("INSERT INTO t VALUES (1)");
    writer.kill();
    assert_eq!(reader.run(sum), "n\n6\n");
    drop(reader);
    let printed = folder.printed(&["x.gadus", "--read-only", "--format", "csv", "-c", sum]);
    assert_eq!(printed, "n\n6\n", "what was not closed is recovered");
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}

#[test]
fn a_reader_that_is_stopped_or_killed_keeps_nobody_from_writing() {
    let folder = Folder::new();
    let mut writer = Shell::open(&folder, &[]);
    writer.run("CREATE TABLE big (text TEXT); INSERT INTO big VALUES ('')");
    write_zones(&mut writer, 4);
    let mut reader = Shell::open(&folder, READS);
    reader.run("SELECT length(text) AS n FROM big");
    let before = log_bytes(&folder);
    // One that reads nothing just now.
    reader.send(Signal::STOP);
    write_zones(&mut writer, 12);
    assert!(log_bytes(&folder) <= before + ZONES_SPARE, "the log is used again");
    reader.send(Signal::CONT);
    reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT length(text) AS n FROM big");
    reader.send(Signal::STOP);
    write_zones(&mut writer, 12);
    assert!(log_bytes(&folder) > before + 2 * ZONES_SPARE, "a snapshot keeps the log");
    reader.kill();
    write_zones(&mut writer, 4);
    let after = log_bytes(&folder);
    write_zones(&mut writer, 12);
    assert_eq!(log_bytes(&folder), after, "the log is used again");
    let sessions = writer.run("SELECT count(DISTINCT pid) AS n FROM gadus.sessions");
    assert_eq!(sessions, "n\n1\n");
}

#[test]
fn a_reader_refuses_what_writes_or_keeps_others_from_writing() {
    let folder = Folder::new();
    let mut writer = Shell::open(&folder, &[]);
    writer.run("CREATE TABLE t (n BIGINT); CREATE SEQUENCE s; INSERT INTO t VALUES (1)");
    for statement in [
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET n = 2",
        "DELETE FROM t WHERE n = 5",
        "CREATE TABLE u (n BIGINT)",
        "DROP TABLE t",
        "SELECT nextval('s')",
        "SELECT * FROM t FOR UPDATE",
        "BEGIN; LOCK TABLE t",
        "CHECKPOINT",
    ] {
        let error = folder.refused(&["x.gadus", "--read-only", "-c", statement]);
        assert!(error.contains("was opened for reading only"), "{statement}: {error}");
    }
    let mut reader = Shell::open(&folder, READS);
    assert_eq!(reader.run("SHOW transaction_read_only"), "transaction_read_only\non\n");
    writer.run("UPDATE t SET n = 3");
    assert_eq!(reader.run("SELECT n FROM t"), "n\n3\n");
}

#[test]
fn a_server_that_only_reads_shows_its_clients_what_others_commit() {
    let folder = Folder::new();
    let mut writer = Shell::open(&folder, &[]);
    writer.run("CREATE TABLE t (n BIGINT)");
    let server = Served::start(&folder, READS);
    let mut client = server.client();
    for n in ["1", "2", "3"] {
        writer.run(&format!("INSERT INTO t VALUES ({n}); CHECKPOINT"));
        assert_eq!(client.query("SELECT max(n) FROM t").unwrap(), [n]);
    }
    for statement in ["INSERT INTO t VALUES (4)", "CREATE USER ada PASSWORD 'secret'", "CHECKPOINT"]
    {
        let refusal = client.query(statement).unwrap_err();
        assert_eq!(refusal.code, "25006", "{statement}: {refusal:?}");
    }
    assert_eq!(client.query("SHOW transaction_read_only").unwrap(), ["on"]);
    assert_eq!(client.query("SELECT max(n) FROM t").unwrap(), ["3"]);
    drop(client);
    server.stop();
}

/// A database of root's in a folder that all may search.
fn of_root(folder: &Folder) {
    folder.printed(&["x.gadus", "-c", "CREATE TABLE t AS SELECT 7 AS n"]);
}

#[test]
fn who_may_not_write_the_folder_reads_without_writers() {
    if !may_change_user() {
        return;
    }
    let folder = Folder::new();
    of_root(&folder);
    fs::set_permissions(folder.path(""), Permissions::from_mode(0o555)).unwrap();
    reads_without_writers(&folder);
}

#[test]
fn who_may_not_write_the_data_file_reads_without_writers() {
    if !may_change_user() {
        return;
    }
    let folder = Folder::new();
    of_root(&folder);
    for name in ["", "x.gadus", "x.gadus-wal", "x.gadus-lck"] {
        chown(folder.path(name), Some(NOBODY.user), Some(NOBODY.group)).unwrap();
    }
    fs::set_permissions(folder.path("x.gadus"), Permissions::from_mode(0o444)).unwrap();
    reads_without_writers(&folder);
}

/// A user without the right to write reads a database of one row, while no writer has it open.
fn reads_without_writers(folder: &Folder) {
    let mut reader =
        Shell::spawn(NOBODY.gadus(folder, &["x.gadus", "--read-only", "--format", "csv"]));
    assert_eq!(reader.run("SELECT n FROM t"), "n\n7\n");
    let refused = folder.refused(&["x.gadus", "-c", "INSERT INTO t VALUES (8)"]);
    assert!(refused.contains("open elsewhere for reading only"), "{refused}");
    // Who could take part reads as well, but alone.
    let read = ["x.gadus", "--read-only", "--format", "csv", "-c", "SELECT n FROM t"];
    assert_eq!(folder.printed(&read), "n\n7\n");
    drop(reader);
    let mut writer = Shell::open(folder, &[]);
    writer.run("INSERT INTO t VALUES (8)");
    let output = NOBODY.gadus(folder, &read).output().unwrap();
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains(&format!("process {}", writer.id())), "{error}");
    assert!(error.contains("takes the right to write"), "{error}");
    assert!(error.contains("Permission denied"), "{error}");
    drop(writer);
    let output = NOBODY.gadus(folder, &read).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n7\n8\n");
}

#[test]
fn a_reader_who_can_make_no_lock_file_reads_without_writers() {
    if !may_change_user() {
        return;
    }
    let folder = Folder::new();
    of_root(&folder);
    for name in ["x.gadus", "x.gadus-wal"] {
        fs::set_permissions(folder.path(name), Permissions::from_mode(0o666)).unwrap();
    }
    fs::remove_file(folder.path("x.gadus-lck")).unwrap();
    let query = ["x.gadus", "--read-only", "--format", "csv"];
    let mut reader = Shell::spawn(NOBODY.gadus(&folder, &query));
    assert_eq!(reader.run("SELECT n FROM t"), "n\n7\n");
    let refused = folder.refused(&["x.gadus", "-c", "INSERT INTO t VALUES (8)"]);
    assert!(refused.contains("open elsewhere for reading only"), "{refused}");
    drop(reader);
    // The mode of the data file is that of the lock file by then.
    let mut writer = Shell::open(&folder, &[]);
    // A writer that has answered is a writer before the reader opens.
    assert_eq!(writer.run("SELECT n FROM t"), "n\n7\n");
    let mut reader = Shell::spawn(NOBODY.gadus(&folder, &query));
    writer.run("INSERT INTO t VALUES (8)");
    assert_eq!(reader.run("SELECT n FROM t"), "n\n7\n8\n");
}

#[test]
fn a_database_on_a_read_only_mount_is_read() {
    let folder = Folder::new();
    of_root(&folder);
    fs::create_dir(folder.path("mount")).unwrap();
    let script = "mount -t tmpfs none mount && cp x.gadus x.gadus-wal mount && \
                  mount -o remount,ro mount && echo mounted && \
                  \"$0\" mount/x.gadus --read-only --format csv -c 'SELECT n FROM t' && \
                  \"$0\" mount/x.gadus -c 'SELECT n FROM t'";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_gadus")]);
    let output = command.current_dir(folder.path("")).output();
    let printed = output.as_ref().map(|output| String::from_utf8_lossy(&output.stdout));
    match (output.as_ref(), printed) {
        (Ok(output), Ok(printed)) if printed.starts_with("mounted\n") => {
            let error = error_of(output);
            assert_eq!(printed, "mounted\nn\n7\n", "{error}");
            assert!(error.contains("Read-only file system"), "{error}");
        }
        (Ok(output), _) => println!("skipped: nothing can be mounted: {}", error_of(output)),
        (Err(error), _) => println!("skipped: there is no unshare: {error}"),
    }
}
