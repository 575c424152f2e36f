//! Two mappings of one file, and offsets that cannot be.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn word(memory: &Memory, bytes: usize) -> &AtomicU64 {
    memory.at(Offset::new(bytes)).unwrap()
}

#[test]
fn two_mappings_of_a_file_are_one_memory_also_where_one_of_them_grew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let one = Memory::create(&path, 4 * EXTENT_BYTES, 0o600).unwrap();
    let identity = one.file().unwrap().1;
    let other = Memory::open(&path, 4 * EXTENT_BYTES, identity).unwrap();
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
    let identity = Memory::create(&path, EXTENT_BYTES, 0o600).unwrap().file().unwrap().1;
    assert_eq!(
        Memory::create(&path, EXTENT_BYTES, 0o600).unwrap_err().kind,
        MemoryErrorKind::System
    );
    std::fs::rename(&path, folder.path().join("kept")).unwrap();
    let gone = Memory::open(&path, EXTENT_BYTES, identity).unwrap_err();
    assert_eq!(gone.kind, MemoryErrorKind::Unreachable);
    let _other = Memory::create(&path, EXTENT_BYTES, 0o600).unwrap();
    let replaced = Memory::open(&path, EXTENT_BYTES, identity).unwrap_err();
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
