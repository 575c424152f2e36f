//! Facts about the description of a holder.

use super::*;
use gadus_block::MemoryFolder;
use gadus_locks::Trust;

#[test]
fn the_holder_is_described() {
    let folder = MemoryFolder::new();
    assert_eq!(describe(&folder, "x-lck"), None);
    record_alone(&folder, "x-lck");
    let described = describe(&folder, "x-lck").unwrap();
    assert!(described.starts_with(&format!("process {} (", std::process::id())));
}

#[test]
fn a_shared_place_is_read_as_it_was_written() {
    let folder = MemoryFolder::new();
    let place = tempfile::tempdir().unwrap();
    let memory = Memory::create(&place.path().join("m"), 1 << 20, Trust::this_user()).unwrap();
    let turn = OpenersTurn::take(&folder, "x-lck", true).unwrap();
    let place = SharedPlace::of(&memory).unwrap();
    let all = [
        Recorded::Shared(place.clone()),
        Recorded::Opening(None),
        Recorded::Opening(Some(place.clone())),
        Recorded::Making(place.path),
        Recorded::Exclusive,
    ];
    for sharing in all {
        turn.record(&sharing).unwrap();
        assert_eq!(turn.read().unwrap().sharing, sharing);
    }
}

#[test]
fn nonsense_is_no_holder() {
    let folder = MemoryFolder::new();
    let device = folder.open("x-lck", OpenMode::Create).unwrap();
    device.write_at(0, &[IoSlice::new(&[0xFF; 100])]).unwrap();
    assert_eq!(describe(&folder, "x-lck"), None);
}
