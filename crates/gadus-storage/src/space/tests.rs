//! Facts about allocation and reuse.

use super::*;
use gadus_base::Random;
use gadus_block::{Folder, MemoryFolder, OpenMode};

const UNIT: u64 = EXTENT_UNIT_BYTES;

fn file() -> DataFile {
    let device = MemoryFolder::new().open("x", OpenMode::Create).unwrap();
    DataFile { device, described: "x".to_owned() }
}

fn recovering(file_bytes: u64, next_id: u64, checkpoint: u64) -> Arc<Space> {
    Space::recovering(
        Arc::new(Peers::alone("test").unwrap()),
        file(),
        file_bytes,
        next_id,
        checkpoint,
    )
}

fn empty() -> Arc<Space> {
    let space = recovering(0, 1, 0);
    space.finish_recovery(true);
    space
}

fn checkpoint(space: &Space, sequence: u64) {
    space.checkpoint_begins(sequence);
    space.checkpoint_completes(sequence);
    space.find_free(|| true);
}

#[test]
fn a_dropped_extent_is_reused_after_two_checkpoints() {
    let space = empty();
    let extent = space.allocate(1).unwrap();
    let offset = extent.reference().offset;
    drop(extent);
    for sequence in 1..=2 {
        let other = space.allocate(1).unwrap();
        assert_ne!(other.reference().offset, offset);
        space.named([other.reference()]);
        std::mem::forget(other);
        checkpoint(&space, sequence);
    }
    assert_eq!(space.allocate(1).unwrap().reference().offset, offset);
}

#[test]
fn a_drop_during_a_checkpoint_waits_for_two_more() {
    let space = empty();
    space.checkpoint_begins(1);
    drop(space.allocate(1).unwrap());
    space.checkpoint_completes(1);
    checkpoint(&space, 2);
    let last = space.allocate(1).unwrap();
    space.named([last.reference()]);
    checkpoint(&space, 2);
    assert_eq!(space.pending_at(2).len(), 1);
    assert_eq!(space.figures().free, 0);
    checkpoint(&space, 3);
    assert_eq!(space.figures().free, UNIT);
}

#[test]
fn ids_are_never_given_twice_and_leave_room_for_blobs() {
    let space = empty();
    let first = space.allocate(UNIT).unwrap().reference();
    let second = space.allocate(UNIT).unwrap().reference();
    assert_eq!(second.id, first.id + 1 + UNIT / 64);
    let recovered = recovering(second.end(), 1, 0);
    let kept = recovered.adopt(second).unwrap();
    recovered.finish_recovery(true);
    let third = recovered.allocate(UNIT).unwrap();
    assert!(third.reference().id >= second.ids_end());
    assert_eq!(third.reference().offset, first.offset, "what nobody adopted is free");
    drop(kept);
}

#[test]
fn damaged_references_are_refused() {
    let space = recovering(DATA_START + 10 * UNIT, 1, 0);
    let extent = |offset, bytes, id| ExtentRef { offset, bytes, id };
    let kept = space.adopt(extent(DATA_START + UNIT, 2 * UNIT, 5)).unwrap();
    let same = space.adopt(kept.reference()).unwrap();
    assert!(Arc::ptr_eq(&kept, &same));
    let refused = |reference| space.adopt(reference).unwrap_err();
    assert_eq!(refused(extent(0, UNIT, 9)), Misplaced::Malformed);
    assert_eq!(refused(extent(DATA_START + 1, UNIT, 9)), Misplaced::Malformed);
    assert_eq!(refused(extent(DATA_START, 0, 9)), Misplaced::Malformed);
    assert_eq!(refused(extent(DATA_START, 1 << 63, 9)), Misplaced::PastEnd);
    assert_eq!(refused(extent(DATA_START + 9 * UNIT, 2 * UNIT, 9)), Misplaced::PastEnd);
    assert_eq!(refused(extent(DATA_START, 2 * UNIT, 9)), Misplaced::Overlapping);
    assert_eq!(refused(extent(DATA_START + 2 * UNIT, UNIT, 9)), Misplaced::Overlapping);
    assert_eq!(refused(extent(DATA_START + UNIT, 2 * UNIT, 6)), Misplaced::Overlapping);
}

#[test]
fn an_extent_named_again_during_recovery_is_kept() {
    let space = recovering(DATA_START + UNIT, 1, 7);
    let reference = ExtentRef { offset: DATA_START, bytes: UNIT, id: 3 };
    drop(space.adopt(reference).unwrap());
    let again = space.adopt(reference).unwrap();
    space.finish_recovery(true);
    assert_eq!(space.figures().pending, 0);
    drop(again);
    assert_eq!(space.figures().pending, UNIT);
}

#[test]
fn random_use_never_overlaps_and_always_merges() {
    let space = empty();
    let mut random = Random::seeded(1);
    let mut held: Vec<Arc<Extent>> = Vec::new();
    for sequence in 1..400 {
        for _ in 0..4 {
            let extent = space.allocate(random.below(5 * UNIT)).unwrap();
            let (start, end) = (extent.reference().offset, extent.reference().end());
            for other in &held {
                let other = other.reference();
                assert!(end <= other.offset || other.end() <= start);
            }
            // Some are named at once, some never.
            if random.below(2) == 0 {
                space.named([extent.reference()]);
            }
            held.push(extent);
        }
        while held.len() > 50 {
            let index = usize::try_from(random.below(held.len() as u64)).unwrap();
            held.swap_remove(index);
        }
        checkpoint(&space, sequence);
    }
    let last = held.iter().max_by_key(|extent| extent.reference().offset).unwrap().clone();
    held.clear();
    space.named([last.reference()]);
    (400..403).for_each(|sequence| checkpoint(&space, sequence));
    assert_eq!(space.figures().free, last.reference().offset - DATA_START);
    assert_eq!(space.shared().ranges(true).len(), 1, "neighbours are merged");
}

#[test]
fn an_extent_that_the_file_ends_within_is_refused() {
    let extent = |units| ExtentRef { offset: DATA_START, bytes: units * UNIT, id: 1 };
    let space = recovering(DATA_START + 2 * UNIT - 1, 1, 0);
    assert!(space.adopt(extent(2)).is_err());
    space.adopt(extent(1)).unwrap();
}

#[test]
fn what_others_have_reserved_or_named_is_not_found_free() {
    let peers = Arc::new(Peers::alone("test").unwrap());
    let one = Space::recovering(peers.clone(), file(), 0, 1, 0);
    one.finish_recovery(true);
    // Two instances in one slot, whose local knowledge differs.
    let other = Space::opened(peers, file(), 0);
    other.finish_recovery(false);
    let (unnamed, named) = (one.allocate(1).unwrap(), one.allocate(400 << 10).unwrap());
    one.named([named.reference()]);
    let mut adopted = None;
    other.find_free(|| {
        adopted = Some(other.adopt(named.reference()).unwrap());
        true
    });
    assert_eq!(other.figures().free, 0);
    one.named([unnamed.reference()]);
    let unnamed_too = other.adopt(unnamed.reference()).unwrap();
    one.find_free(|| true);
    other.find_free(|| true);
    let mine = other.allocate(UNIT).unwrap().reference();
    for theirs in [unnamed_too.reference(), named.reference()] {
        assert!(mine.end() <= theirs.offset || theirs.end() <= mine.offset);
    }
}

#[test]
fn nothing_is_given_away_where_catching_up_failed() {
    let space = empty();
    let (gone, last) = (space.allocate(1).unwrap(), space.allocate(1).unwrap());
    space.named([gone.reference(), last.reference()]);
    drop(gone);
    (1..=3).for_each(|sequence| {
        space.checkpoint_begins(sequence);
        space.checkpoint_completes(sequence);
    });
    space.find_free(|| false);
    assert_eq!(space.shared().ranges(true), []);
    space.find_free(|| true);
    assert_eq!(space.figures().free, UNIT);
}
