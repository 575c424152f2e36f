//! Verification finds what was damaged, and where.

use crate::files::Folder;
use gadus::{Database, ErrorKind, Options, check};
use std::collections::BTreeSet;
use std::path::Path;

fn fill(path: &Path) {
    let database = Database::open(path, Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)", &[]).unwrap();
    let insert = "INSERT INTO t SELECT value, 'name ' || value FROM range(70000)";
    assert_eq!(connection.execute(insert, &[]).unwrap(), 70_000);
    connection.execute("UPDATE t SET name = 'other' WHERE id % 1000 = 0", &[]).unwrap();
    connection.execute("DELETE FROM t WHERE id % 1000 = 1", &[]).unwrap();
}

#[test]
fn a_sound_database_has_no_problems_and_is_read_whole() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    fill(&path);
    let mut progress = (0, 0);
    let report = check(&path, |read, total| progress = (read, total)).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!((report.tables[0].rows, report.tables[0].rows_read), (69_930, 69_930));
    assert_eq!(progress, (3 * 69_930, 3 * 69_930));
}

#[test]
fn flipped_bytes_are_found_and_named() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    fill(&path);
    let sound = std::fs::read(&path).unwrap();
    let mut found = 0;
    for at in (16_384..sound.len()).step_by(40_009) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x40;
        std::fs::write(&path, &damaged).unwrap();
        let report = check(&path, |_, _| {}).unwrap();
        // A byte that nothing names may be anything.
        found += usize::from(!report.problems.is_empty());
        for problem in &report.problems {
            assert!(problem.to_string().contains("byte"), "{problem}");
        }
    }
    assert!(found > 0);
}

#[test]
fn all_damage_is_found_in_one_go() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    fill(&path);
    let sound = std::fs::read(&path).unwrap();
    let places = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let report = check(&path, |read, total| assert!(read <= total)).unwrap();
        let whole = report.tables.iter().all(|table| table.rows_read == table.rows);
        let columns: BTreeSet<_> =
            report.problems.into_iter().filter_map(|p| Some((p.segment?, p.column?))).collect();
        assert_eq!(whole, columns.is_empty(), "{columns:?}");
        columns
    };
    let (mut damaged, mut expected) = (sound.clone(), BTreeSet::new());
    for at in (16_384..sound.len()).step_by(100_003) {
        let mut once = sound.clone();
        once[at] ^= 0x40;
        let mut found = places(&once);
        if !found.is_empty() {
            damaged[at] ^= 0x40;
            expected.append(&mut found);
        }
    }
    assert!(expected.len() > 1, "{expected:?}");
    assert_eq!(places(&damaged), expected);
}

#[test]
fn what_is_not_there_or_in_use_is_not_verified() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    assert_eq!(check(&path, |_, _| {}).unwrap_err().kind(), ErrorKind::NotFound);
    let _database = Database::open(&path, Options::new()).unwrap();
    assert_eq!(check(&path, |_, _| {}).unwrap_err().kind(), ErrorKind::InUse);
}
