//! Devices on a disk of a chosen size.

use super::SmallFolder;
use crate::{ErrorKind, Folder, MemoryFolder, OpenMode};
use std::io::IoSlice;
use std::sync::Arc;

#[test]
fn devices_share_the_space_and_give_it_back() {
    let folder = SmallFolder::new(Arc::new(MemoryFolder::new()), 10 * 4096);
    let [a, b] = ["a", "b"].map(|name| folder.open(name, OpenMode::Create).unwrap());
    a.write_at(4 * 4096, &[IoSlice::new(&[1; 4096])]).unwrap();
    b.reserve(0..5 * 4096).unwrap();
    for full in [a.write_at(5 * 4096, &[IoSlice::new(&[1])]), b.reserve(0..5 * 4096 + 1)] {
        assert_eq!(full.unwrap_err().kind, ErrorKind::NoSpace);
    }
    assert_eq!(a.length().unwrap(), 5 * 4096, "nothing of what did not fit is written");
    b.set_length(3 * 4096).unwrap();
    a.write_at(5 * 4096, &[IoSlice::new(&[1; 2 * 4096])]).unwrap();
    folder.remove("b").unwrap();
    a.reserve(0..10 * 4096).unwrap();
    assert!(a.reserve(0..11 * 4096).is_err());
}
