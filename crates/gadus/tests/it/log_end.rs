//! Logs that were cut off or shifted, as a copy that broke off or a bad tool leaves them.
//!
//! The commits were acknowledged, and no crash removes them: the database is refused, with the place.

use crate::files::Folder;
use gadus::{Database, ErrorKind, Options};
use std::fs;
use std::path::{Path, PathBuf};

/// A zone of the log.
const ZONE: u64 = 1 << 20;

/// The files of a database whose process was killed after many commits.
fn killed(folder: &Folder) -> PathBuf {
    let path = folder.path("x.gadus");
    let database = Database::open(&path, Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v TEXT)", &[]).unwrap();
    database.checkpoint().unwrap();
    let insert = connection.prepare("INSERT INTO t SELECT $1, repeat('abc', 1500) || $1").unwrap();
    for key in 0..600_i64 {
        insert.execute(&[key.into()]).unwrap();
    }
    let copy = folder.path("copy.gadus");
    for ending in ["", "-wal"] {
        let of = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        fs::copy(of(&path), of(&copy)).unwrap();
    }
    copy
}

fn log_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

fn count(path: &Path) -> gadus::Result<i64> {
    let database = Database::open(path, Options::new())?;
    let mut rows = database.connect().query("SELECT count(*) FROM t", &[])?;
    rows.next().unwrap()?.get::<i64>(0)
}

#[test]
fn a_whole_log_has_all_commits() {
    let folder = Folder::new();
    assert_eq!(count(&killed(&folder)).unwrap(), 600);
}

#[test]
fn a_log_without_its_last_zones_is_refused() {
    for zones in [1, 2] {
        let folder = Folder::new();
        let path = killed(&folder);
        let log = fs::OpenOptions::new().write(true).open(log_of(&path)).unwrap();
        let length = log.metadata().unwrap().len();
        // Zones are used in their order here, and some of the last are not used yet.
        let used = fs::read(log_of(&path)).unwrap();
        let end = used.iter().rposition(|byte| *byte != 0).unwrap() as u64;
        log.set_len((end / ZONE + 1 - zones) * ZONE).unwrap();
        let error = count(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{zones} of {length} bytes: {error}");
    }
}

#[test]
fn a_log_whose_last_zones_are_zeros_is_refused() {
    let folder = Folder::new();
    let path = killed(&folder);
    let mut bytes = fs::read(log_of(&path)).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let zone = usize::try_from(ZONE).unwrap();
    bytes[end / zone * zone..].fill(0);
    fs::write(log_of(&path), bytes).unwrap();
    assert_eq!(count(&path).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_log_with_bytes_inserted_or_removed_is_refused() {
    for is_inserted in [true, false] {
        let folder = Folder::new();
        let path = killed(&folder);
        let mut bytes = fs::read(log_of(&path)).unwrap();
        let place = 1_248_576;
        match is_inserted {
            true => drop(bytes.splice(place..place, [7; 512])),
            false => drop(bytes.drain(place..place + 512)),
        }
        fs::write(log_of(&path), bytes).unwrap();
        let error = count(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}
