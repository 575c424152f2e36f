//! Two mappings of one file, and offsets that cannot be.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn word(memory: &Memory, bytes: usize) -> &AtomicU64 {
    memory.at(Offset::new(bytes)).unwrap()
}

#[test]
fn two_mappings_of_a_file_are_one_memory_also_where_one_of_them_grew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let one = Memory::create(&path, 4 * EXTENT_BYTES, Trust::this_user()).unwrap();
    let identity = one.file().unwrap().1;
    let other = Memory::open(&path, 4 * EXTENT_BYTES, identity, Trust::this_user()).unwrap();
    word(&one, 8).store(7, Ordering::Relaxed);
    assert_eq!(word(&other, 8).load(Ordering::Relaxed), 7);

    let far = Offset::<AtomicU64>::new(3 * EXTENT_BYTES);
    assert_eq!(other.at(far).unwrap_err().kind, MemoryErrorKind::Damaged);
    one.ensure(3 * EXTENT_BYTES + 8).unwrap();
    one.at(far).unwrap().store(9, Ordering::Relaxed);
    other.ensure(3 * EXTENT_BYTES + 8).unwrap();
    assert_eq!(other.at(far).unwrap().load(Ordering::Relaxed), 9);
    assert_eq!(other.ensure(4 * EXTENT_BYTES + 1).unwrap_err().kind, MemoryErrorKind::NoSpace);
}

#[test]
fn another_file_under_the_path_is_refused_and_an_existing_one_is_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let identity =
        Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap().file().unwrap().1;
    assert_eq!(
        Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap_err().kind,
        MemoryErrorKind::System
    );
    std::fs::rename(&path, folder.path().join("kept")).unwrap();
    let gone = Memory::open(&path, EXTENT_BYTES, identity, Trust::this_user()).unwrap_err();
    assert_eq!(gone.kind, MemoryErrorKind::Unreachable);
    let _other = Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap();
    let replaced = Memory::open(&path, EXTENT_BYTES, identity, Trust::this_user()).unwrap_err();
    assert_eq!(replaced.kind, MemoryErrorKind::Unreachable);
}

#[test]
fn a_value_that_is_kept_keeps_its_memory_and_stays_where_it_is_when_that_grows() {
    let memory = Arc::new(Memory::private(2 * EXTENT_BYTES).unwrap());
    let kept = memory.keep(Offset::<AtomicU64>::new(8)).unwrap();
    memory.ensure(2 * EXTENT_BYTES).unwrap();
    word(&memory, 8).store(7, Ordering::Relaxed);
    drop(memory);
    assert_eq!(kept.load(Ordering::Relaxed), 7);
}

#[test]
fn offsets_that_cannot_be_are_errors() {
    let memory = Arc::new(Memory::private(EXTENT_BYTES).unwrap());
    for bytes in [4, EXTENT_BYTES - 4, EXTENT_BYTES, usize::MAX - 7] {
        let error = memory.at(Offset::<AtomicU64>::new(bytes)).unwrap_err();
        assert_eq!(error.kind, MemoryErrorKind::Damaged, "{bytes}");
        let error = memory.keep(Offset::<AtomicU64>::new(bytes)).unwrap_err();
        assert_eq!(error.kind, MemoryErrorKind::Damaged, "{bytes}");
    }
    let whole = memory.slice(Offset::<AtomicU64>::new(0), EXTENT_BYTES / 8).unwrap();
    assert!(whole.iter().all(|word| word.load(Ordering::Relaxed) == 0));
    assert!(memory.slice(Offset::<AtomicU64>::new(8), EXTENT_BYTES / 8).is_err());
    assert!(memory.slice(Offset::<AtomicU64>::new(8), usize::MAX / 4).is_err());
}

#[test]
fn a_file_goes_when_it_is_dead_and_nobody_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let one = Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap();
    let other =
        Memory::open(&path, EXTENT_BYTES, one.file().unwrap().1, Trust::this_user()).unwrap();
    word(&one, 0).store(7, Ordering::Relaxed);
    let is_dead = |bytes: &[u8; 8]| *bytes == 7_u64.to_ne_bytes();
    assert!(!Memory::remove_unused(&path, is_dead));
    drop(one);
    assert!(!Memory::remove_unused(&path, is_dead), "the other one uses it");
    drop(other);
    assert!(!Memory::remove_unused(&path, |_: &[u8; 8]| false));
    std::fs::hard_link(&path, folder.path().join("link")).unwrap();
    assert!(!Memory::remove_unused(&path, is_dead), "it has another name");
    std::fs::remove_file(folder.path().join("link")).unwrap();
    assert!(Memory::remove_unused(&path, is_dead));
    assert!(!path.exists());
    assert!(!Memory::remove_unused(&path, is_dead));
}

#[test]
fn what_is_no_file_stays_and_what_is_empty_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty"), b"").unwrap();
    std::fs::write(path("target"), [0; 8]).unwrap();
    assert!(!Memory::remove_unused(&path("target"), |_: &[u8; 9]| true), "so much is not there");
    std::os::unix::fs::symlink(path("target"), path("link")).unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), kind, 0o600.into(), 0).unwrap();
    for name in ["empty", "link", "folder", "pipe"] {
        assert!(!Memory::remove_unused(&path(name), |_: &[u8; 0]| true), "{name}");
        assert!(path(name).exists(), "{name}");
    }
    assert!(Memory::remove_unused(&path("target"), |_: &[u8; 8]| true));
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let empty = std::fs::OpenOptions::new().write(true).open(path("empty")).unwrap();
    empty.set_modified(long_ago).unwrap();
    empty.lock_shared().unwrap();
    assert!(!Memory::remove_unused(&path("empty"), |_: &[u8; 8]| false), "somebody fills it");
    empty.unlock().unwrap();
    assert!(Memory::remove_unused(&path("empty"), |_: &[u8; 8]| false));
}

#[test]
fn nobody_begins_to_use_a_file_while_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let identity =
        Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap().file().unwrap().1;
    let looks = std::cell::Cell::new(0);
    let removed = Memory::remove_unused(&path, |_: &[u8; 8]| {
        looks.set(looks.get() + 1);
        let joined = Memory::open(&path, EXTENT_BYTES, identity, Trust::this_user()).map(drop);
        // At first it is only looked at, and may be used.
        assert_eq!(joined.is_ok(), looks.get() == 1);
        true
    });
    assert!(removed);
    assert_eq!(looks.get(), 2);
    let gone = Memory::open(&path, EXTENT_BYTES, identity, Trust::this_user()).unwrap_err();
    assert_eq!(gone.kind, MemoryErrorKind::Unreachable);
}

#[test]
fn what_is_made_or_joined_beside_those_who_remove_stays_until_its_last_user_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    let joined = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
                        Memory::remove_unused(&entry.path(), |_: &[u8; 8]| true);
                    }
                }
            });
        }
        let rounds = scope.spawn(|| (0..300).filter(|round| joins(folder.path(), *round)).count());
        let joined = rounds.join();
        is_over.store(true, Ordering::Release);
        joined.unwrap()
    });
    assert!(joined >= 150);
}

/// Makes a memory that another joins, every other time while its maker is there still; gives whether the
/// other could.
fn joins(folder: &Path, round: u32) -> bool {
    let path = folder.join(round.to_string());
    let one = Memory::create(&path, EXTENT_BYTES, Trust::this_user()).unwrap();
    assert!(path.exists());
    let identity = one.file().unwrap().1;
    let stays = round.is_multiple_of(2).then_some(one);
    match Memory::open(&path, EXTENT_BYTES, identity, Trust::this_user()) {
        Ok(other) => {
            drop(stays);
            std::thread::yield_now();
            assert!(path.exists());
            drop(other);
            true
        }
        Err(error) => {
            assert!(stays.is_none());
            assert_eq!(error.kind, MemoryErrorKind::Unreachable, "{error}");
            false
        }
    }
}
