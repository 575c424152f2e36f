//! What a write does to the name that it is given, on a real file system.

use super::{Destination, OutputFolder, StagedFile};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

fn staged(path: &Path) -> StagedFile {
    match Destination::open(path).unwrap() {
        Destination::File(file) => file,
        Destination::Stream(_) => unreachable!("a regular file is staged"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>();
    names.sort();
    names
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let file = staged(&path);
    fs::write(file.path(), "half").unwrap();
    assert!(!path.exists());
    assert_eq!(mode(&file.folder()), 0o700);
    drop(file);
    assert!(names(folder.path()).is_empty());
    let file = staged(&path);
    fs::write(file.path(), "whole").unwrap();
    file.replace().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    assert_eq!(names(folder.path()), ["x.csv"]);
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target.csv"), folder.path().join("link.csv"));
    fs::write(&target, "before").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target.csv", &link).unwrap();
    let file = staged(&link);
    fs::write(file.path(), "after").unwrap();
    file.replace().unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "after");
    assert_eq!(mode(&target), 0o640);
}

#[test]
fn a_name_that_was_taken_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.gadus");
    let file = staged(&path);
    fs::write(file.folder().join(file.name()), "copy").unwrap();
    fs::write(&path, "another").unwrap();
    let error = file.appear_new(None, &[]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap(), "another");
}

#[test]
fn a_pipe_is_written_to_and_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let pipe = rustix::fs::CWD;
    rustix::fs::mknodat(pipe, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let Destination::Stream(mut stream) = Destination::open(&path).unwrap() else {
        unreachable!("a pipe is a stream")
    };
    let read_from = path.clone();
    // More than a pipe holds, so that the writer has to wait for room.
    let written = vec![b'x'; 1 << 20];
    let reader = gadus_base::spawn("reader", move || {
        let mut read = Vec::new();
        fs::File::open(read_from).unwrap().read_to_end(&mut read).map(|_| read)
    });
    stream.write_all(&written).unwrap();
    drop(stream);
    assert!(reader.unwrap().join().unwrap().unwrap() == written);
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn a_wait_for_a_reader_ends_when_the_caller_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let mode = 0o600.into();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let Destination::Stream(stream) = Destination::open(&path).unwrap() else {
        unreachable!("a pipe is a stream")
    };
    let mut stream = stream.asking(|| Err(io::ErrorKind::TimedOut.into()));
    assert_eq!(stream.write(b"x").unwrap_err().kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_folder_beneath_another_is_reached_without_links_or_not_at_all() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(root.path().join("in")).unwrap();
    symlink(outside.path(), root.path().join("out")).unwrap();
    let open = |path: &str| OutputFolder::open_beneath(root.path(), Path::new(path));
    for path in ["out", "..", "in/../..", "/tmp"] {
        assert!(open(path).is_err(), "{path}");
    }
    let Destination::File(file) =
        Destination::within(open("in").unwrap(), OsStr::new("x.csv")).unwrap()
    else {
        unreachable!("a name that is free is that of a file")
    };
    // The folder is another one by now; the write goes to the one that was opened.
    fs::rename(root.path().join("in"), root.path().join("moved")).unwrap();
    symlink(outside.path(), root.path().join("in")).unwrap();
    fs::write(file.path(), "1").unwrap();
    file.replace().unwrap();
    assert!(root.path().join("moved/x.csv").exists() && names(outside.path()).is_empty());
}

#[test]
fn a_name_that_leads_to_a_link_is_refused_once_its_folder_is_held() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/nowhere", folder.path().join("x.csv")).unwrap();
    let held = OutputFolder::open(folder.path()).unwrap();
    assert!(Destination::within(held, OsStr::new("x.csv")).is_err());
}
