//! Locks of several owners, none of whom waits.

use super::*;
use gadus_base::{RowId, SegmentId, TableId};

#[test]
fn what_excludes_is_refused_and_named() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    let row = Resource::row(TableId(7), RowId { segment: SegmentId(3), position: 5 });
    one.lock(row, Mode::Exclusive, Wait::No).unwrap();
    let error = other.lock(row, Mode::Shared, Wait::No).unwrap_err();
    assert_eq!((error.kind, error.resource), (LockErrorKind::Timeout, Some(row)));
    let holder = error.holder.clone().unwrap();
    assert_eq!((holder.connection, holder.mode), (one.number(), Mode::Exclusive));
    let text = error.to_string();
    for part in ["row 5 of segment 3 of table 7", &std::process::id().to_string(), "gadus_locks"] {
        assert!(text.contains(part), "{text}");
    }
    one.unlock(row).unwrap();
    other.lock(row, Mode::Shared, Wait::No).unwrap();
    table.check().unwrap();
}

#[test]
fn every_two_modes_meet_as_their_table_says() {
    let machine = Machine::new(4);
    let table = machine.open();
    for one in Mode::ALL {
        for other in Mode::ALL {
            let (mut a, mut b) = (table.register().unwrap(), table.register().unwrap());
            a.lock(name(1), one, Wait::No).unwrap();
            let granted = b.lock(name(1), other, Wait::No).is_ok();
            assert_eq!(granted, one.is_compatible_with(other), "{one} and {other}");
        }
    }
    assert_eq!(table.statistics().slots_used, 0);
}

#[test]
fn locking_again_covers_both_modes() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(name(1), Mode::Shared, Wait::No).unwrap();
    other.lock(name(1), Mode::IntentShared, Wait::No).unwrap();
    let grant = one.lock(name(1), Mode::IntentExclusive, Wait::No).unwrap();
    assert_eq!(grant.mode, Mode::SharedIntentExclusive);
    assert_eq!(one.lock(name(1), Mode::Shared, Wait::No).unwrap().mode, grant.mode);
    let error = one.convert(name(1), Mode::Exclusive, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout);
    assert_eq!(one.mode(name(1)), Some(Mode::SharedIntentExclusive), "what was held stays held");
    other.unlock(name(1)).unwrap();
    one.convert(name(1), Mode::Exclusive, Wait::No).unwrap();
    table.check().unwrap();
}

#[test]
fn lowering_lets_others_in() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let error = one.downgrade(name(1), Mode::SchemaModification).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::NotHeld);
    one.downgrade(name(1), Mode::Shared).unwrap();
    other.lock(name(1), Mode::Update, Wait::No).unwrap();
    one.downgrade(name(1), Mode::Null).unwrap();
    other.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    table.check().unwrap();
}

#[test]
fn what_is_not_held_is_not_released() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut owner = table.register().unwrap();
    assert_eq!(owner.unlock(name(1)).unwrap_err().kind, LockErrorKind::NotHeld);
    assert_eq!(owner.downgrade(name(1), Mode::Null).unwrap_err().kind, LockErrorKind::NotHeld);
    let error = owner.convert(name(1), Mode::Shared, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::NotHeld);
    assert_eq!(owner.value(name(1)).unwrap_err().kind, LockErrorKind::NotHeld);
}

#[test]
fn a_full_table_refuses_one_request_and_serves_the_others() {
    // Room for the header and 64 chunks.
    let machine = Machine::new(3);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    let mut number = 0;
    let error = loop {
        match one.lock(name(number), Mode::Exclusive, Wait::No) {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, LockErrorKind::NoSpace, "{error}");
    assert!(number > 100, "{number}");
    assert_eq!(table.register().map(drop), Ok(()), "the connections' chunk has room");
    let error = other.lock(name(0), Mode::Shared, Wait::No).unwrap_err();
    assert!(matches!(error.kind, LockErrorKind::Timeout | LockErrorKind::NoSpace));
    one.unlock(name(0)).unwrap();
    other.lock(name(0), Mode::Shared, Wait::No).unwrap();
    one.release_all().unwrap();
    assert_eq!(table.statistics().slots_used, 1);
    table.check().unwrap();
}

#[test]
fn two_thousand_owners_share_and_exclude() {
    let machine = Machine::new(8);
    let table = machine.open();
    let mut owners = (0..2000).map(|_| table.register().unwrap()).collect::<Vec<_>>();
    for (number, owner) in (0..).zip(&mut owners) {
        owner.lock(name(number), Mode::Exclusive, Wait::No).unwrap();
        owner.lock(Resource::database(), Mode::IntentExclusive, Wait::No).unwrap();
    }
    let error = owners[0].lock(Resource::database(), Mode::Exclusive, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout);
    table.check().unwrap();
    owners.truncate(1);
    owners[0].lock(Resource::database(), Mode::Exclusive, Wait::No).unwrap();
    drop(owners);
    assert_eq!(table.statistics().slots_used, 0);
    assert_eq!(table.connections().unwrap(), []);
    table.check().unwrap();
}

#[test]
fn a_million_locks_of_an_owner_are_held_and_released() {
    let count = 1_000_000;
    let machine = Machine::new(256);
    let table = machine.open();
    let mut owner = table.register().unwrap();
    let row = |position| RowId { segment: SegmentId(1), position };
    for position in 0..count {
        let resource = Resource::row(TableId(1), row(position));
        owner.lock(resource, Mode::Exclusive, Wait::No).unwrap();
    }
    assert_eq!(table.statistics().slots_used, u64::from(count));
    assert!(table.statistics().extents >= u64::from(count / (1 << 14)));
    owner.release_all().unwrap();
    assert_eq!(table.statistics().slots_used, 0);
    table.check().unwrap();
}

#[test]
fn values_are_kept_while_anybody_has_a_lock() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut writer, mut reader) = (table.register().unwrap(), table.register().unwrap());
    writer.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    assert_eq!(writer.value(name(1)), Ok(Value::Missing));
    writer.set_value(name(1), &[7; VALUE_BYTES]).unwrap();
    writer.set_value(name(1), &[8; VALUE_BYTES]).unwrap();
    writer.downgrade(name(1), Mode::Null).unwrap();
    reader.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let value = Value::Valid { sequence: 2, bytes: [8; VALUE_BYTES] };
    assert_eq!(reader.value(name(1)), Ok(value));
    let error = reader.set_value(name(1), &[9; VALUE_BYTES]).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::NotHeld);
    reader.unlock(name(1)).unwrap();
    assert_eq!(writer.value(name(1)), Ok(value), "one lock is left");
    table.check().unwrap();
    writer.unlock(name(1)).unwrap();
    reader.lock(name(1), Mode::Shared, Wait::No).unwrap();
    assert_eq!(reader.value(name(1)), Ok(Value::Missing));
    table.check().unwrap();
}
