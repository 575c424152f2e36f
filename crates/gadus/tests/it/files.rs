//! Databases in files: opening, closing, refusing.

use gadus::{Database, ErrorKind, Options};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gadus-api-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kind(path: &Path, options: Options) -> ErrorKind {
    Database::open(path, options).unwrap_err().kind()
}

#[test]
fn what_was_committed_is_there_after_opening_again() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    for round in 0..3 {
        let connection = Database::open(&path, Options::new()).unwrap().connect();
        connection.execute("CREATE TABLE IF NOT EXISTS t (n BIGINT)", &[]).unwrap();
        assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), round);
        connection.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    }
}

#[test]
fn a_file_that_excludes_others_is_closed_with_its_last_user() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let exclusive = || Options::new().exclusive(true);
    let connection = Database::open(&path, exclusive()).unwrap().connect();
    connection.execute("CREATE TABLE t (n BIGINT)", &[]).unwrap();
    assert_eq!(kind(&path, Options::new()), ErrorKind::InUse);
    assert_eq!(kind(&path, exclusive()), ErrorKind::InUse);
    assert_eq!(kind(&path, Options::new().read_only(true)), ErrorKind::InUse);
    let rows = connection.query("SELECT * FROM t", &[]).unwrap();
    drop((connection, rows));
    let _sharing = Database::open(&path, Options::new()).unwrap();
    assert_eq!(kind(&path, exclusive()), ErrorKind::InUse);
}

#[test]
fn a_database_is_removed_when_nobody_has_it_open() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let database = Database::open(&path, Options::new()).unwrap();
    assert_eq!(Database::remove(&path).unwrap_err().kind(), ErrorKind::InUse);
    drop(database);
    Database::remove(&path).unwrap();
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
    assert_eq!(Database::remove(&path).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_link_means_the_database_that_it_leads_to() {
    let folder = Folder::new();
    let (real, elsewhere) = (folder.path("x.gadus"), folder.path("elsewhere"));
    std::fs::create_dir(&elsewhere).unwrap();
    let (link, dangling) = (elsewhere.join("link.gadus"), elsewhere.join("dangling.gadus"));
    std::os::unix::fs::symlink("../x.gadus", &link).unwrap();
    std::os::unix::fs::symlink("../missing.gadus", &dangling).unwrap();
    {
        let database = Database::open(&real, Options::new()).unwrap();
        database.connect().execute("CREATE TABLE t (id BIGINT)", &[]).unwrap();
        let same = Database::open(&link, Options::new()).unwrap();
        assert_eq!(same.tables().unwrap(), ["t"]);
    }
    assert_eq!(Database::open(&link, Options::new()).unwrap().tables().unwrap(), ["t"]);
    assert_eq!(kind(&dangling, Options::new()), ErrorKind::NotFound);
    // A descriptor of the process means the file by the name that it has.
    let descriptor = std::fs::File::open(&real).unwrap();
    let by_number = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    {
        let database = Database::open(&real, Options::new()).unwrap();
        let same = Database::open(&by_number, Options::new()).unwrap();
        database.connect().execute("INSERT INTO t VALUES (1)", &[]).unwrap();
        assert_eq!(same.connect().execute("SELECT * FROM t", &[]).unwrap(), 1);
    }
    // A second name of the file has no log beside it.
    let hard = elsewhere.join("hard.gadus");
    std::fs::hard_link(&real, &hard).unwrap();
    assert_eq!(kind(&hard, Options::new()), ErrorKind::Corrupt);
    assert_eq!(Database::open(&real, Options::new()).unwrap().tables().unwrap(), ["t"]);
    let left = std::fs::read_dir(&elsewhere).unwrap().count();
    assert_eq!(left, 3, "nothing was made beside the links");
    // With the log it is the same database, and whoever has it open by the other name is met.
    std::fs::hard_link(folder.path("x.gadus-wal"), elsewhere.join("hard.gadus-wal")).unwrap();
    let database = Database::open(&real, Options::new()).unwrap();
    assert_eq!(kind(&hard, Options::new()), ErrorKind::InUse);
    assert_eq!(kind(&hard, Options::new().exclusive(true)), ErrorKind::InUse);
    drop(database);
    let database = Database::open(&hard, Options::new()).unwrap();
    assert_eq!(kind(&real, Options::new()), ErrorKind::InUse);
    database.connect().execute("INSERT INTO t VALUES (2)", &[]).unwrap();
    drop(database);
    let connection = Database::open(&real, Options::new()).unwrap().connect();
    assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), 2);
}

#[test]
fn readers_share_a_file_and_change_nothing() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    Database::open(&path, Options::new())
        .unwrap()
        .connect()
        .execute("CREATE TABLE t (n INT)", &[])
        .unwrap();
    let one = Database::open(&path, Options::new().read_only(true)).unwrap().connect();
    let two = Database::open(&path, Options::new().read_only(true)).unwrap().connect();
    assert_eq!(one.execute("SELECT * FROM t", &[]).unwrap(), 0);
    let error = two.execute("INSERT INTO t VALUES (1)", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let folder = Folder::new();
    let missing = folder.path("no/such/folder/x.gadus");
    let error = Database::open(&missing, Options::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("no such folder"), "{error}");
    assert_eq!(kind(&folder.path("x.gadus"), Options::new().create(false)), ErrorKind::NotFound);
    assert!(!folder.path("x.gadus").exists(), "nothing was made");
    assert_eq!(kind(&folder.path(""), Options::new()), ErrorKind::Input);
    assert_eq!(kind(Path::new("/"), Options::new()), ErrorKind::Input);
    std::fs::write(folder.path("letter.txt"), "Dear Ada,".repeat(2000)).unwrap();
    assert_eq!(kind(&folder.path("letter.txt"), Options::new()), ErrorKind::Corrupt);
}
