//! Resources as keys and as words.

use super::*;
use crate::table::layout::PARTITIONS;
use crate::table::partition::Place;
use std::collections::{BTreeSet, HashMap};

#[test]
fn messages_name_the_resource() {
    let row = RowId { segment: SegmentId(3), position: 5 };
    assert_eq!(Resource::database().to_string(), "the database");
    assert_eq!(Resource::table(TableId(7)).to_string(), "table 7");
    assert_eq!(Resource::segment(TableId(7), SegmentId(3)).to_string(), "segment 3 of table 7");
    assert_eq!(Resource::row(TableId(7), row).to_string(), "row 5 of segment 3 of table 7");
    assert_eq!(Resource::transaction(CommitNumber(9)).to_string(), "transaction 9");
    let key = Resource::key(TableId(7), 1, 0xAB);
    assert_eq!(key.to_string(), "key 00000000000000ab of index 1 of table 7");
    assert_eq!(Resource::named("a lock").to_string(), "'a lock'");
    assert_eq!(Resource::named("a\nlock").to_string(), "'a\\nlock'");
    let long = Resource::named("a name that is too long").to_string();
    assert!(long.starts_with("the named lock "), "{long}");
}

#[test]
fn different_things_have_different_keys() {
    let row = |position| RowId { segment: SegmentId(0), position };
    let mut all = vec![
        Resource::database(),
        Resource::table(TableId(0)),
        Resource::table(TableId(1)),
        Resource::segment(TableId(0), SegmentId(0)),
        Resource::segment(TableId(0), SegmentId(1)),
        Resource::row(TableId(0), row(0)),
        Resource::row(TableId(0), row(1)),
        Resource::transaction(CommitNumber(0)),
        Resource::key(TableId(0), 0, 0),
        Resource::key(TableId(0), 1, 0),
    ];
    let names = ["", "a", "b", "fifteen letters", "sixteen letters!", "sixteen letters?", "a\0"];
    all.extend(names.map(Resource::named));
    let keys = all.iter().map(|one| one.words()).collect::<BTreeSet<_>>();
    assert_eq!(keys.len(), all.len());
    for one in all {
        assert_eq!(Resource::from_words(one.high, one.low), Some(one));
    }
    assert_eq!(Resource::from_words(0, 0), None);
    assert_eq!(Resource::from_words(u64::MAX, 0), None);
}

#[test]
fn tables_are_recognised() {
    assert_eq!(Resource::table(TableId(9)).as_table(), Some(TableId(9)));
    assert_eq!(Resource::segment(TableId(9), SegmentId(0)).as_table(), None);
    assert!(Resource::table(TableId(9)).may_have_value());
    assert!(!Resource::transaction(CommitNumber(9)).may_have_value());
}

#[test]
fn what_is_locked_together_spreads_over_the_table() {
    const COUNT: u32 = 1 << 16;
    let row = |table, segment, position| {
        Resource::row(TableId(table), RowId { segment: SegmentId(segment), position })
    };
    let kinds: [(&str, &dyn Fn(u32) -> Resource); 6] = [
        ("rows of a segment", &|at| row(3, 7, at)),
        ("every 64th row", &|at| row(3, 7, at * 64)),
        ("first rows of segments", &|at| row(3, at, 0)),
        ("rows of tables", &|at| row(at, 1, 1)),
        ("tables", &|at| Resource::table(TableId(at))),
        ("commits", &|at| Resource::transaction(CommitNumber(u64::from(at)))),
    ];
    for (name, resource) in kinds {
        let mut chains = HashMap::<_, u32>::new();
        let mut partitions = [0_u32; PARTITIONS];
        for place in (0..COUNT).map(|at| Place::of(resource(at))) {
            *chains.entry((place.partition, place.bucket)).or_default() += 1;
            partitions[place.partition] += 1;
        }
        let mean = COUNT / u32::try_from(PARTITIONS).unwrap();
        let uneven = partitions.iter().find(|count| count.abs_diff(mean) > mean / 4);
        assert_eq!(uneven, None, "{name}");
        // There are twice as many chains. Thrown at random, about seven would meet in the longest.
        let longest = chains.values().max().unwrap();
        assert!(*longest <= 9, "{name}: {longest}");
    }
}
