//! Files are as their room says.

use super::methods::{Room, file_with};
use rustix::fs::{OFlags, fstat};

#[test]
fn files_are_as_their_room_says() {
    let folder = tempfile::tempdir().unwrap();
    let facts = |room: Room| {
        let path = folder.path().join(room.word());
        let file = file_with(&path, OFlags::empty(), 65536, room).unwrap();
        let facts = fstat(&file).unwrap();
        (facts.st_size, facts.st_blocks > 0)
    };
    assert_eq!(facts(Room::Overwritten), (65536, true));
    assert_eq!(facts(Room::Appended), (0, false));
    assert_eq!(facts(Room::Preallocated).0, 65536);
}
