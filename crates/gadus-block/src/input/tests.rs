//! Opens and refusals, also beside concurrent renames.

use super::{InputFolder, InputKind, open_input};
use gadus_base::spawn;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn text(folder: &InputFolder, path: &str) -> io::Result<String> {
    let mut text = String::new();
    folder.open_file(Path::new(path))?.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn only_regular_files_are_opened_and_none_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    fs::write(folder.path().join("x"), "1").unwrap();
    let held = InputFolder::open(folder.path()).unwrap();
    assert_eq!(text(&held, "x").unwrap(), "1");
    assert!(text(&held, "pipe").unwrap_err().to_string().contains("pipe"));
    assert!(text(&held, "socket").is_err());
    assert!(open_input(&pipe).unwrap_err().to_string().contains("pipe"));
    assert!(open_input(Path::new("/dev/null")).unwrap_err().to_string().contains("device"));
    assert_eq!(open_input(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    let names = held.names(Path::new(""), 3).unwrap();
    let kinds = names.iter().map(|(name, kind)| (name.to_str().unwrap(), *kind));
    let expected =
        [("pipe", InputKind::Other), ("socket", InputKind::Other), ("x", InputKind::File)];
    assert!(kinds.eq(expected));
    assert!(held.names(Path::new(""), 2).is_err());
}

#[test]
fn no_path_leaves_a_folder_or_passes_a_link() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("x"), "secret").unwrap();
    fs::create_dir(root.path().join("in")).unwrap();
    fs::write(root.path().join("in/x"), "1").unwrap();
    symlink(outside.path(), root.path().join("out")).unwrap();
    symlink("in", root.path().join("again")).unwrap();
    let held = InputFolder::open(root.path()).unwrap();
    assert_eq!(text(&held, "in/x").unwrap(), "1");
    let absolute = outside.path().join("x");
    for path in ["out/x", "again/x", "../x", "in/../../x", absolute.to_str().unwrap()] {
        assert!(text(&held, path).is_err(), "{path}");
    }
    assert!(held.names(Path::new("out"), 10).is_err());
    // The folder is the one that was opened, wherever it is by now.
    fs::rename(root.path().join("in"), outside.path().join("moved")).unwrap();
    let moved = InputFolder::open(&outside.path().join("moved")).unwrap();
    fs::rename(outside.path().join("moved"), root.path().join("in")).unwrap();
    assert_eq!(text(&moved, "x").unwrap(), "1");
}

/// Another user of the machine swaps a folder with a link while files in it are read.
#[test]
fn no_swap_of_a_folder_with_a_link_lets_a_read_out() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("x"), "secret").unwrap();
    let (inner, link) = (root.path().join("in"), root.path().join("link"));
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("x"), "1").unwrap();
    symlink(outside.path(), &link).unwrap();
    let held = InputFolder::open(root.path()).unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let swapping = {
        let ended = ended.clone();
        let swap = move || {
            while !ended.load(Ordering::Relaxed) {
                renameat_with(CWD, &inner, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        };
        spawn("swaps", swap).unwrap()
    };
    let (mut read, mut refused) = (0_u32, 0_u32);
    while read + refused < 20_000 {
        match text(&held, "in/x") {
            Ok(text) => {
                assert_eq!(text, "1");
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    ended.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}
