//! Extents of many megabytes, which are written in pieces.

use crate::ledger::{NAME, options};
use gadus_block::MemoryFolder;
use gadus_storage::Store;
use std::cell::Cell;
use std::sync::Arc;

#[test]
fn an_extent_that_is_stopped_at_any_piece_gives_its_space_back() {
    let store = Store::create(Arc::new(MemoryFolder::new()), NAME, options()).unwrap();
    let blobs = [11 << 20, 1, 0, (5 << 20) + 3].map(|length| {
        (0..length).map(|byte: u32| byte.to_le_bytes()[byte as usize % 3]).collect::<Vec<_>>()
    });
    let slices = blobs.each_ref().map(Vec::as_slice);
    let size_of = |store: &Store| store.statistics().data_file_bytes;
    let asked = Cell::new(0);
    let written = |most: u32| {
        asked.set(0);
        let goes_on = || {
            asked.set(asked.get() + 1);
            asked.get() <= most
        };
        store.write_extent_while(&slices, goes_on).unwrap()
    };
    assert!(written(0).is_none());
    let size = size_of(&store);
    assert!((1..4).all(|most| written(most).is_none()));
    let (extent, references) = written(u32::MAX).expect("nothing stops it");
    assert_eq!(asked.get(), 4, "16 MiB are written in pieces");
    assert_eq!(size_of(&store), size, "what was stopped left its space to the next");
    for (blob, reference) in slices.iter().zip(&references) {
        assert_eq!(store.read_blob(reference).unwrap()[..], **blob);
    }
    drop(extent);
}
