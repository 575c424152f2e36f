//! Rows, segments and tables.

use super::*;
use gadus_base::{RowId, SegmentId, TableId};

const TABLE: TableId = TableId(7);

fn row(segment: u32, position: u32) -> RowId {
    RowId { segment: SegmentId(segment), position }
}

fn rows(table: &Arc<LockTable>, per_segment: u32, per_table: u32) -> RowLocks {
    let settings =
        EscalationSettings { rows_per_segment_max: per_segment, rows_per_table_max: per_table };
    RowLocks::new(table.register().unwrap(), settings)
}

#[test]
fn many_rows_become_a_segment_and_many_segments_a_table() {
    let machine = Machine::new(8);
    let table = machine.open();
    let mut rows = rows(&table, 100, 250);
    for segment in 0..2 {
        for position in 0..100 {
            let grant = rows.lock_row(TABLE, row(segment, position), Mode::Exclusive, Wait::No);
            let expected = if position == 99 { RowGrant::Segment } else { RowGrant::Row };
            assert_eq!(grant, Ok(expected));
        }
        let again = rows.lock_row(TABLE, row(segment, 5000), Mode::Exclusive, Wait::No);
        assert_eq!(again, Ok(RowGrant::Segment));
    }
    assert_eq!(rows.owner().held_count(), 3, "the table and two segments");
    let last = (0..50)
        .map(|position| rows.lock_row(TABLE, row(2, position), Mode::Exclusive, Wait::No).unwrap());
    assert_eq!(last.last(), Some(RowGrant::Table));
    assert_eq!(rows.owner().held_count(), 1);
    assert_eq!(rows.owner().mode(Resource::table(TABLE)), Some(Mode::Exclusive));
    assert_eq!(table.statistics().escalations, 3);
    rows.release_all().unwrap();
    assert_eq!(table.statistics().slots_used, 0);
}

#[test]
fn escalation_does_not_wait_and_is_tried_again() {
    let machine = Machine::new(8);
    let table = machine.open();
    let (mut rows, mut other) = (rows(&table, 10, 100_000), rows(&table, 10, 100_000));
    other.lock_row(TABLE, row(1, 77_777), Mode::Shared, Wait::No).unwrap();
    for position in 0..10 + RowLocks::RETRY_AFTER - 1 {
        let grant = rows.lock_row(TABLE, row(1, position), Mode::Exclusive, Wait::No);
        assert_eq!(grant, Ok(RowGrant::Row));
    }
    other.release_all().unwrap();
    let grant = rows.lock_row(TABLE, row(1, 50_000), Mode::Exclusive, Wait::No);
    assert_eq!(grant, Ok(RowGrant::Segment));
    assert_eq!(rows.owner().held_count(), 2);
}

#[test]
fn readers_share_a_segment_and_a_writer_in_it_locks_rows() {
    let machine = Machine::new(8);
    let table = machine.open();
    let (mut rows, mut other) = (rows(&table, 10, 1000), rows(&table, 10, 1000));
    for position in 0..10 {
        rows.lock_row(TABLE, row(1, position), Mode::Shared, Wait::No).unwrap();
        other.lock_row(TABLE, row(1, position), Mode::Shared, Wait::No).unwrap();
    }
    let segment = Resource::segment(TABLE, SegmentId(1));
    assert_eq!(rows.owner().mode(segment), Some(Mode::Shared));
    assert_eq!(other.owner().mode(segment), Some(Mode::Shared));
    let error = rows.lock_row(TABLE, row(1, 3), Mode::Exclusive, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout);
    other.release_all().unwrap();
    let grant = rows.lock_row(TABLE, row(1, 3), Mode::Exclusive, Wait::No);
    assert_eq!(grant, Ok(RowGrant::Row));
    assert_eq!(rows.owner().mode(segment), Some(Mode::SharedIntentExclusive));
    assert_eq!(rows.lock_row(TABLE, row(1, 4), Mode::Shared, Wait::No), Ok(RowGrant::Segment));
}
