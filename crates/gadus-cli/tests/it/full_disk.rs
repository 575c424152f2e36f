//! Disks that are full: what is committed stays, and deleting rows makes room again.

use crate::folder::{Folder, error_of};
use std::path::PathBuf;
use std::process::Command;

/// A small file system, gone when dropped.
struct FileSystem(PathBuf);

impl FileSystem {
    /// None, with the reason printed, where this process may not mount one.
    fn mount(folder: &Folder, size: &str) -> Option<Self> {
        let path = folder.path("full");
        std::fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "gadus-test"]).arg(&path);
        let mounted = mount.output().unwrap();
        if mounted.status.success() {
            return Some(Self(path));
        }
        println!("skipped: no file system can be mounted: {}", error_of(&mounted).trim());
        None
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

const FILE: &str = "full/x.gadus";

/// Inserts so many rows a statement until the disk is full; gives how many statements went well.
fn fill(folder: &Folder, rows: u32, row_bytes: u32) -> u32 {
    let insert = format!(
        "INSERT INTO t SELECT (SELECT coalesce(max(k), 0) FROM t) + i, \
         (random() * 1e15)::bigint::text || repeat('q', {row_bytes}) \
         FROM generate_series(1, {rows}) AS g(i)"
    );
    for done in 0..1_000 {
        let output = folder.run(&[FILE, "-c", &insert]);
        if !output.status.success() {
            let error = error_of(&output);
            assert!(error.contains("full") || error.contains("No space"), "{error}");
            return done;
        }
    }
    panic!("the disk never fills");
}

/// How many statements went well before the rows were deleted that `condition` names, and after.
fn fill_twice(rows: u32, row_bytes: u32, condition: &str) -> Option<(u32, u32)> {
    let folder = Folder::new();
    let file_system = FileSystem::mount(&folder, "16M")?;
    folder.printed(&[FILE, "-c", "CREATE TABLE t (k INT PRIMARY KEY, v TEXT)"]);
    let before = fill(&folder, rows, row_bytes);
    let count = || folder.printed(&[FILE, "--format", "csv", "-c", "SELECT count(*) FROM t"]);
    assert_eq!(count(), format!("count(*)\n{}\n", before * rows));
    let delete = format!("DELETE FROM t WHERE {condition}");
    let remaining = format!("SELECT count(*) FROM t WHERE NOT ({condition})");
    let remaining = folder.printed(&[FILE, "--format", "csv", "-c", &remaining]);
    for statement in [&delete, "CHECKPOINT", "VACUUM"] {
        folder.printed(&[FILE, "-c", statement]);
    }
    // What is already as short as it can be does not become longer.
    let bytes = || std::fs::metadata(folder.path(FILE)).unwrap().len();
    let vacuumed = bytes();
    folder.printed(&[FILE, "-c", "VACUUM"]);
    assert!(bytes() <= vacuumed, "{} bytes after {vacuumed}", bytes());
    assert_eq!(count(), remaining);
    let after = fill(&folder, rows, row_bytes);
    let checked = folder.printed(&["check", FILE]);
    assert!(checked.contains("sound"), "{checked}");
    drop(file_system);
    Some((before, after))
}

#[test]
fn deleting_all_rows_makes_room_for_as_many() {
    let Some((before, after)) = fill_twice(20, 40_000, "true") else { return };
    assert!(before > 2 && after + 1 >= before, "{after} statements after {before}");
}

#[test]
fn deleting_half_of_large_rows_makes_room() {
    let Some((before, after)) = fill_twice(20, 40_000, "k % 2 = 0") else { return };
    assert!(before > 2 && after > 0, "{after} statements after {before}");
}

#[test]
fn deleting_half_of_small_rows_makes_room() {
    let Some((before, after)) = fill_twice(10_000, 60, "k % 2 = 0") else { return };
    assert!(before > 2 && after > 0, "{after} statements after {before}");
}

/// A file that cannot be finished never appears, and the error is of the file, not of a library.
#[test]
fn files_that_the_disk_has_no_room_for_are_refused_by_name() {
    let folder = Folder::new();
    let Some(_file_system) = FileSystem::mount(&folder, "1M") else { return };
    for file in ["x.csv", "x.json", "x.parquet", "x.csv.gz"] {
        let copy = format!(
            "COPY (SELECT random() AS a, random() AS b FROM generate_series(1, 200000)) TO 'full/{file}'"
        );
        let output = folder.run(&["-c", &copy]);
        let error = error_of(&output);
        assert!(!output.status.success() && error.contains(file), "{error}");
        assert!(!error.contains("DataFusion") && !error.contains("nternal"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path("full")).unwrap().count(), 0, "{file}");
    }
}
