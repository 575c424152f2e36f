//! What only files of the file system can get wrong.

use gadus_block::{Device, ErrorKind, FileFolder, Folder, MemoryFolder, OpenMode};
use rustix::fs::{FileType, Mode};
use std::io::IoSlice;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_missing_folder_is_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("absent");
    let error = FileFolder::new(&path).open("x.gadus", OpenMode::Create).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    let expected =
        format!("cannot create {}: there is no such folder; check the path", path.display());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_is_not_a_file_is_refused_without_waiting() {
    let root = tempfile::tempdir().unwrap();
    let folder = FileFolder::new(root.path());
    std::fs::create_dir(root.path().join("folder")).unwrap();
    std::fs::write(root.path().join("file"), b"").unwrap();
    let pipe = root.path().join("pipe");
    // Not by a child process: one that another test forks holds copies of this process's files
    // until it executes, and with them their ownership.
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
    for mode in [OpenMode::Read, OpenMode::ReadWrite] {
        for name in ["folder", "pipe"] {
            assert_eq!(folder.open(name, mode).unwrap_err().kind, ErrorKind::NotAFile);
        }
    }
    let inside_file = FileFolder::new(root.path().join("file"));
    let error = inside_file.open("x", OpenMode::Create).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotAFolder);
}

#[test]
fn a_full_medium_is_no_space_and_names_the_place() {
    let folder = FileFolder::new("/dev");
    // The one file of every Linux that is always full; it is no regular file, hence refused.
    assert_eq!(folder.open("full", OpenMode::ReadWrite).unwrap_err().kind, ErrorKind::NotAFile);
    let root = tempfile::tempdir().unwrap();
    let device = FileFolder::new(root.path()).open("x", OpenMode::Create).unwrap();
    let error = device.write_at(i64::MAX as u64 - 1, &[IoSlice::new(b"four")]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::NoSpace | ErrorKind::Invalid), "{error}");
    assert!(error.to_string().contains("/x at byte 9223372036854775806"), "{error}");
}

#[test]
fn ownership_is_seen_by_other_processes_and_not_inherited() {
    let root = tempfile::tempdir().unwrap();
    let folder = FileFolder::new(root.path());
    let device: Arc<dyn Device> = folder.open("x", OpenMode::Create).unwrap();
    assert!(device.try_own().unwrap());
    // A child that outlives the owner must not keep the lock: descriptors close on exec.
    let mut child = Command::new("sleep").arg("30").spawn().unwrap();
    drop(device);
    let next = folder.open("x", OpenMode::ReadWrite).unwrap();
    assert!(next.try_own().unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    drop(next);
    // Nor while children are being spawned: each has copies of all descriptors for a moment.
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                assert!(Command::new("true").status().unwrap().success());
            }
        });
        let owned = (0..300).all(|_| {
            let device = folder.open("x", OpenMode::ReadWrite).unwrap();
            std::thread::yield_now();
            device.try_own().unwrap()
        });
        is_over.store(true, Ordering::Release);
        assert!(owned, "a child keeps what its parent has closed");
    });
}

#[test]
fn unrelated_code_that_opens_and_closes_the_file_frees_nothing() {
    let root = tempfile::tempdir().unwrap();
    let folder = FileFolder::new(root.path());
    let owner = folder.open("x", OpenMode::Create).unwrap();
    assert!(owner.try_own().unwrap());
    std::fs::read(root.path().join("x")).unwrap();
    let other = folder.open("x", OpenMode::ReadWrite).unwrap();
    assert!(!other.try_own().unwrap());
}

#[test]
fn a_location_leads_to_the_device_until_another_is_there() {
    let root = tempfile::tempdir().unwrap();
    let folder = FileFolder::new(root.path());
    let device = folder.open("x", OpenMode::Create).unwrap();
    let location = device.location().unwrap();
    assert!(location.is_absolute());
    assert_eq!(FileFolder::identity_at(&location).unwrap(), Some(device.identity()));
    std::fs::rename(&location, root.path().join("kept")).unwrap();
    assert_eq!(FileFolder::identity_at(&location).unwrap(), None);
    assert_eq!(FileFolder::identity_at(&location.join("y")).unwrap(), None);
    std::fs::write(&location, b"").unwrap();
    let there = FileFolder::identity_at(&location).unwrap();
    assert!(there.is_some_and(|there| there != device.identity()));
    // A file where the folder was.
    assert_eq!(FileFolder::identity_at(&location.join("y")).unwrap(), None);
    assert!(MemoryFolder::new().open("x", OpenMode::Create).unwrap().location().is_none());
}
