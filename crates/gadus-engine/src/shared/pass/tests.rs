//! Workers that leave a pass before its end, and others that go on.

use super::*;
use crate::engine::test_tables::{LOADED_ROWS as SEGMENT_ROWS, load_ids, of_ids};
use crate::shared::Wanted;
use crate::{Aggregate, Datum, Engine, Options};
use std::cell::Cell;
use std::num::NonZero;

const SEGMENTS: i64 = 4;

/// A count of the rows of a table that were loaded segment after segment.
fn pass(engine: &Engine, parts: usize) -> Pass {
    let mut transaction = engine.begin().unwrap();
    let schema = of_ids(&mut transaction);
    for segment in 0..SEGMENTS {
        load_ids(&mut transaction, &schema, segment * SEGMENT_ROWS).unwrap();
    }
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    let wanted = Wanted::Fold(vec![Aggregate::CountRows]);
    let question = Question { predicates: Vec::new(), wanted };
    Pass::new(table, vec![question], NonZero::new(parts).map_or(Deal::ToAll, Deal::Divided))
        .unwrap()
}

/// Works at so many segments at most.
fn work(pass: &Pass, work: Option<Work>, number: usize, segments: usize) -> Work {
    let left = Cell::new(segments);
    let goes_on = || left.replace(left.get().saturating_sub(1)) > 0;
    pass.work(work.unwrap_or_else(|| pass.begin()), number, &|_| false, &goes_on)
}

fn assert_counted(pass: &Pass, works: Vec<Work>) {
    assert!(pass.dealing().is_over());
    let answer = pass.finish(works).remove(0).unwrap();
    let Answer::Folded(values) = answer else { panic!("a count was asked for") };
    assert_eq!(values, [Datum::Integer(SEGMENTS * SEGMENT_ROWS)]);
}

#[test]
fn who_goes_on_where_another_left_misses_no_segment_and_counts_none_twice() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let pass = pass(&engine, 0);
    let first = work(&pass, None, 0, 1);
    assert!(!pass.dealing().is_over());
    let nothing = work(&pass, None, 1, 0);
    let resumed = work(&pass, Some(first), 3, usize::MAX);
    assert_counted(&pass, vec![resumed, nothing]);
}

#[test]
fn each_part_is_done_by_its_own_worker() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let pass = pass(&engine, 2);
    let second = work(&pass, None, 1, usize::MAX);
    assert!(!pass.dealing().is_over() && !pass.dealing().has_more_for(1));
    let both = work(&pass, Some(second), 0, usize::MAX);
    assert_counted(&pass, vec![both]);
}
