//! Which files statements reach.

use crate::files::Folder;
use crate::statement::rows;
use gadus::{Connection, Database, ErrorKind, FileAccess, Options, SessionOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn database() -> Database {
    Database::open_in_memory(Options::new()).unwrap()
}

#[test]
fn files_can_be_out_of_reach() {
    let database = database();
    let options = SessionOptions { files: FileAccess::None, ..SessionOptions::default() };
    let connection = database.connect_with(options);
    connection.execute("CREATE TABLE t (a TEXT)", &[]).unwrap();
    for sql in [
        "SELECT * FROM '/etc/hosts.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "INSERT INTO t SELECT * FROM read_csv('/proc/self/mem')",
        "CREATE TABLE u AS SELECT * FROM read_parquet('../../x.parquet')",
        "WITH a AS (SELECT * FROM read_json('/dev/zero')) SELECT * FROM a",
        "SELECT (SELECT count(*) FROM read_csv('/etc/passwd'))",
        "COPY t FROM '/etc/passwd'",
        "COPY t TO 'never.csv'",
        "EXPLAIN SELECT * FROM read_csv('/etc/passwd')",
    ] {
        let error = connection.execute(sql, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{sql}: {error}");
    }
}

/// A folder that is granted, with a file, links in it that lead out and in, and a file beside it.
fn granted() -> (Folder, Connection) {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name);
    std::fs::create_dir_all(path("in/deep")).unwrap();
    for (name, text) in
        [("out.csv", "a\n9\n"), ("in/one.csv", "a\n1\n"), ("in/deep/two.csv", "a\n2\n")]
    {
        std::fs::write(path(name), text).unwrap();
    }
    let link = |from: &str, to: &str| std::os::unix::fs::symlink(path(to), path(from)).unwrap();
    link("in/away.csv", "out.csv");
    link("in/up", "");
    link("in/deep/again.csv", "in/one.csv");
    let files = FileAccess::beneath(path("in")).unwrap();
    let connection = database().connect_with(SessionOptions { files, ..SessionOptions::default() });
    connection.execute("CREATE TABLE t (a BIGINT)", &[]).unwrap();
    (folder, connection)
}

#[test]
fn files_beneath_a_folder_are_within_reach() {
    let (folder, connection) = granted();
    let sum = |sql: &str| {
        let mut rows = connection.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.next().unwrap().unwrap().get::<i64>(0).unwrap()
    };
    assert_eq!(sum("SELECT a FROM 'one.csv'"), 1);
    assert_eq!(sum("SELECT a FROM read_csv('./deep/../one.csv')"), 1);
    let whole = folder.path("in/deep/two.csv").canonicalize().unwrap();
    assert_eq!(sum(&format!("SELECT a FROM '{}'", whole.display())), 2);
    assert_eq!(sum("SELECT CAST(sum(a) AS BIGINT) FROM read_csv('deep/*.csv')"), 3);
    assert_eq!(sum("SELECT CAST(sum(a) AS BIGINT) FROM read_csv('**/t*.csv')"), 2);
    // A link that stays within is followed, also one that is a folder.
    let (inner, link) = (folder.path("in/deep"), folder.path("in/inner"));
    std::os::unix::fs::symlink(inner, link).unwrap();
    assert_eq!(sum("SELECT a FROM 'inner/again.csv'"), 1);
    assert_eq!(sum("SELECT a FROM 'inn*/two.csv'"), 2);
    // A name that would be taken for a glob is reached by one.
    std::fs::create_dir(folder.path("in/odd")).unwrap();
    std::fs::write(folder.path("in/odd/[x]*.csv"), "a\n8\n").unwrap();
    assert_eq!(sum("SELECT a FROM read_csv('odd/*')"), 8);
    assert_eq!(connection.execute("COPY t FROM 'deep/two.csv'", &[]).unwrap(), 1);
    assert_eq!(connection.execute("COPY t TO 'deep/new.parquet'", &[]).unwrap(), 1);
    assert_eq!(sum("SELECT a FROM 'deep/new.parquet'"), 2);
    assert!(folder.path("in/deep/new.parquet").exists());
}

#[test]
fn no_path_leads_out_of_the_granted_folder() {
    let (folder, connection) = granted();
    let pipe = folder.path("in/deep/pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let out = folder.path("out.csv");
    for (path, kind) in [
        ("../out.csv", ErrorKind::PermissionDenied),
        ("../none.csv", ErrorKind::PermissionDenied),
        (out.to_str().unwrap(), ErrorKind::PermissionDenied),
        ("/etc/passwd.csv", ErrorKind::PermissionDenied),
        ("deep/../../out.csv", ErrorKind::PermissionDenied),
        ("away.csv", ErrorKind::PermissionDenied),
        ("up/out.csv", ErrorKind::PermissionDenied),
        ("*.csv", ErrorKind::PermissionDenied),
        ("up/*.csv", ErrorKind::PermissionDenied),
        ("../*.csv", ErrorKind::PermissionDenied),
        ("none.csv", ErrorKind::NotFound),
        ("none*.csv", ErrorKind::NotFound),
        ("deep/", ErrorKind::Input),
        ("up*/out.csv", ErrorKind::PermissionDenied),
        ("deep/pipe.csv", ErrorKind::Input),
        ("deep/p*.csv", ErrorKind::Input),
    ] {
        let error = connection.execute(&format!("SELECT * FROM read_csv('{path}')"), &[]);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), kind, "{path}: {error}");
        let error = connection.execute(&format!("COPY t FROM '{path}' (FORMAT csv)"), &[]);
        assert_eq!(error.unwrap_err().kind(), kind, "{path}");
    }
    let error = connection.execute("COPY t TO 'new*.csv'", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    let beside = folder.path("new.csv");
    for path in ["../new.csv", "up/new.csv", "away.csv", beside.to_str().unwrap()] {
        let error = connection.execute(&format!("COPY t TO '{path}'"), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{path}: {error}");
    }
    assert_eq!(std::fs::read_to_string(out).unwrap(), "a\n9\n");
    assert!(!beside.exists());
}

/// A user of the machine swaps a folder with a link that leads out, while statements read files in it.
#[test]
fn no_swap_of_folders_lets_a_statement_read_out() {
    let (folder, connection) = granted();
    let path = |name: &str| folder.path(name);
    std::fs::create_dir(path("secret")).unwrap();
    let copy = |value: i64, to: &str| {
        let from = format!("(SELECT CAST({value} AS BIGINT) AS a)");
        let connection = database().connect();
        for ending in ["csv", "parquet"] {
            let file = path(&format!("{to}/x.{ending}"));
            let sql = format!("COPY {from} TO '{}'", file.display());
            connection.execute(&sql, &[]).unwrap();
        }
    };
    copy(1, "in/deep");
    copy(666, "secret");
    std::os::unix::fs::symlink(path("secret"), path("in/swapped")).unwrap();
    let (inner, link, aside) = (path("in/deep"), path("in/swapped"), path("in/aside"));
    let ended = Arc::new(AtomicBool::new(false));
    let swapping = {
        let ended = ended.clone();
        let swap = move || {
            while !ended.load(Ordering::Relaxed) {
                for (from, to) in
                    [(&inner, &aside), (&link, &inner), (&inner, &link), (&aside, &inner)]
                {
                    std::fs::rename(from, to).unwrap();
                }
            }
        };
        gadus_base::spawn("swaps", swap).unwrap()
    };
    let statements = ["'deep/x.csv'", "'deep/x.parquet'", "'deep/*x.parquet'", "'d*p/x.csv'"];
    for round in 0..3_000 {
        let sql = format!("SELECT a FROM {}", statements[round % statements.len()]);
        // It fails while the link is there.
        let Ok(mut read) = connection.query(&sql, &[]) else { continue };
        if let Some(Ok(row)) = read.next() {
            assert_eq!(row.get::<i64>(0).unwrap_or(1), 1, "{sql}");
        }
    }
    ended.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}

#[test]
fn a_csv_file_is_read_as_it_looks() {
    let folder = Folder::new();
    let connection = database().connect();
    let read = |text: &str, options: &str| {
        let path = folder.path("x.csv");
        std::fs::write(&path, text).unwrap();
        rows(&connection, &format!("SELECT * FROM read_csv('{}'{options})", path.display()))
    };
    assert_eq!(read("id;price\n1;a,b\n2;c\n", ""), ["1 a,b", "2 c"]);
    assert_eq!(read("1|2024-01-02\n2|2024-01-03\n", ""), ["1 Date(19724)", "2 Date(19725)"]);
    assert_eq!(read("1|x\n2|y\n", ", header => true"), ["2 y"]);
    assert_eq!(read("a;b\nc;d\n", ", delimiter => ','"), ["c;d"]);
    assert_eq!(read("a;b\nc;d\n", ", header => false"), ["a b", "c d"]);
    assert_eq!(read("id;note\n1;\"a,\"\n2;\"b\n,\"\n", ""), ["1 a,", "2 b\n,"]);
    assert_eq!(read("\u{feff}id;price\n1;2\n", ""), ["1 2"]);
    let by_name = format!("SELECT max(price) FROM '{}'", folder.path("x.csv").display());
    read("id\tprice\n1\t2.5\n", "");
    assert_eq!(rows(&connection, &by_name), ["2.5"]);
}

#[test]
fn a_pipe_is_written_to_and_a_file_keeps_its_mode() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = Folder::new();
    let connection = database().connect();
    let copy = |path: &std::path::Path| {
        let sql = format!("COPY (SELECT 1 AS a) TO '{}' (FORMAT csv)", path.display());
        connection.execute(&sql, &[]).map(drop)
    };
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let from = pipe.clone();
    let reader = gadus_base::spawn("reader", move || std::fs::read_to_string(from).unwrap());
    copy(&pipe).unwrap();
    assert_eq!(reader.unwrap().join().unwrap(), "a\n1\n");
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    let secret = folder.path("own.csv");
    std::fs::write(&secret, "secret").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    copy(&secret).unwrap();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a\n1\n");
    assert_eq!(std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    // Nobody reads it: the statement waits until its time is over.
    connection.execute("SET statement_timeout = '100ms'", &[]).unwrap();
    let error = copy(&pipe).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
}
