//! Checkpoints of instances that take turns, of which one has trouble with its disk.

use super::super::test_tables::{LOADED_ROWS, loaded};
use crate::{Datum, Durability, Engine, ErrorKind, Options, RowChange, Sharing, TableSchema};
use gadus_block::{
    ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, FileFolder, Folder, Operation,
    Repeat,
};
use gadus_storage::ExtentRef;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const NAME: &str = "x.gadus";

fn open(folder: Arc<dyn Folder>, memory: &Path) -> Engine {
    let sharing = Sharing::Shared { memory: memory.to_owned() };
    Engine::open(folder, NAME, Options { sharing, ..Options::default() }).unwrap()
}

/// Deletes a row and writes a checkpoint.
fn change(engine: &Engine, schema: &TableSchema, id: i64) {
    let key = [Datum::Integer(id)];
    let deleted = engine.change_row(schema, &key, Durability::Sync, |_| Ok(RowChange::Delete));
    assert_eq!(deleted.unwrap(), 1);
    engine.checkpoint().unwrap();
}

/// Files with a loaded table.
struct Place {
    root: TempDir,
    folder: Arc<FileFolder>,
    schema: Arc<TableSchema>,
}

impl Place {
    /// New files, and the instance that made them.
    fn new() -> (Self, Engine) {
        let root = tempfile::tempdir().unwrap();
        let folder = Arc::new(FileFolder::new(root.path()));
        let busy = open(folder.clone(), root.path());
        let mut transaction = busy.begin().unwrap();
        let schema = loaded(&mut transaction, false);
        transaction.commit().unwrap();
        (Self { root, folder, schema }, busy)
    }

    /// Another instance.
    fn open(&self) -> Engine {
        open(self.folder.clone(), self.root.path())
    }
}

#[test]
fn a_checkpoint_that_could_not_be_read_is_read_again_before_the_next() {
    let (place, steady) = Place::new();
    let schema = &place.schema;
    steady.checkpoint().unwrap();
    let plan = FaultPlan::new();
    let shaky =
        open(Arc::new(FaultyFolder::new(place.folder.clone(), plan.clone())), place.root.path());
    drop(shaky.inner().alone().unwrap());
    // Overlays of one and the same segment: each takes the place of the one before.
    change(&steady, schema, 0);
    change(&steady, schema, 1);
    let named = steady.inner().alone().unwrap().extents();
    // Neither the headers, nor the manifest, nor all of what it names can be read, and at last all.
    let mut failed = 0;
    loop {
        let read = plan.count_on(NAME, Operation::Read);
        let fault = Fault::Error(BlockErrorKind::Io);
        plan.fail_on(NAME, Operation::Read, read + failed + 1, Repeat::Once, fault);
        let alone = shaky.inner().alone().map(drop);
        plan.heal();
        let Err(error) = alone else { break };
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        failed += 1;
    }
    assert!(failed > 5, "only {failed} reads");
    let same = |mut extents: Vec<ExtentRef>| {
        extents.sort_by_key(|extent| extent.offset);
        extents
    };
    assert_eq!(same(shaky.inner().alone().unwrap().extents()), same(named));
}

/// An instance that opened after a checkpoint has the same bases and key runs as those that followed
/// the log: what one of them drops, none goes on reading, and none names again.
#[test]
fn what_an_instance_began_with_is_what_others_have() {
    let (place, busy) = Place::new();
    let schema = &place.schema;
    let insert = |id: i64| {
        let row = Arc::from([Datum::Integer(id), Datum::Integer(1)]);
        busy.insert_rows(schema, vec![row], Durability::Sync).unwrap();
        busy.checkpoint().unwrap();
    };
    (100_000..100_010).for_each(insert);
    let other = place.open();
    for id in 100_010..100_040 {
        insert(id);
        // It follows by the log, and goes on with what it began with.
        other.snapshot().unwrap();
    }
    let sound = |engine: &Engine| {
        let problems = engine.verify(&mut |_, _| {}).unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}");
    };
    sound(&other);
    change(&other, schema, 1);
    (100_040..100_050).for_each(insert);
    sound(&place.open());
    drop((busy, other));
    sound(&place.open());
}

/// Others follow, or do not look at the database at all; neither keeps what is replaced.
#[test]
fn space_is_used_again_while_several_instances_have_the_file_open() {
    let (place, busy) = Place::new();
    let schema = &place.schema;
    let (follower, idle) = (place.open(), place.open());
    let rewrite = |id: i64| {
        let row = Arc::from([Datum::Integer(id), Datum::Integer(1)]);
        busy.insert_rows(schema, vec![row], Durability::Sync).unwrap();
        change(&busy, schema, id - 100_000);
        busy.fold().unwrap();
        follower.snapshot().unwrap();
        busy.statistics().store.data_file_bytes
    };
    let settled = (100_000..100_010).map(rewrite).max().unwrap();
    let later = (100_010..100_050).map(rewrite).max().unwrap();
    // Each round writes a base of 8,192 rows and keys: without reuse, forty times as much again.
    assert!(later < 2 * settled, "{later} bytes after {settled}");
    for engine in [&busy, &follower, &idle] {
        let problems = engine.verify(&mut |_, _| {}).unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}");
    }
}

/// A cache holds what is in use: not what was replaced, however much room there is.
#[test]
fn blobs_of_replaced_bases_leave_the_cache() {
    let (place, busy) = Place::new();
    let (schema, other) = (&place.schema, place.open());
    let cached = |engine: &Engine| engine.statistics().cached.0;
    let read = |engine: &Engine| {
        let table = engine.snapshot().unwrap().table("t").unwrap();
        let row = table.find_key(&[Datum::Integer(LOADED_ROWS - 1)]).unwrap().unwrap();
        table.row(row).unwrap().unwrap();
    };
    let rewrite = |id: i64| {
        let change = |_: &[Datum]| Ok(RowChange::Update(vec![(1, Datum::Integer(-id))]));
        let key = [Datum::Integer(id)];
        assert_eq!(busy.change_row(schema, &key, Durability::Sync, change).unwrap(), 1);
        busy.fold().unwrap();
        read(&busy);
        read(&other);
        [cached(&busy), cached(&other)]
    };
    let first = rewrite(1);
    for id in 2..40 {
        let now = rewrite(id);
        for (first, now) in first.into_iter().zip(now) {
            assert!(first > 0 && now < 2 * first, "{now} bytes after {first}, change {id}");
        }
    }
}

/// Who reads an older version goes on reading it, and what was replaced meanwhile stays as long.
#[test]
fn what_another_instance_reads_is_kept_while_it_does() {
    let (place, busy) = Place::new();
    let schema = &place.schema;
    let reader = place.open();
    let snapshot = reader.snapshot().unwrap();
    for id in 0..20 {
        change(&busy, schema, id);
        busy.fold().unwrap();
    }
    let table = snapshot.table("t").unwrap();
    assert_eq!(table.rows().unwrap(), u64::try_from(LOADED_ROWS).unwrap());
    for id in 0..LOADED_ROWS {
        let row = table.find_key(&[Datum::Integer(id)]).unwrap().expect("it was there");
        let values = table.row(row).unwrap().unwrap();
        assert_eq!(values, [Datum::Integer(id), Datum::Integer(id)]);
    }
}

/// Rows can be deleted and checkpoints written where nothing can be added.
#[test]
fn on_a_full_disk_rows_go_and_none_come() {
    let (place, busy) = Place::new();
    drop(busy);
    let plan = FaultPlan::new();
    let faulty = Arc::new(FaultyFolder::new(place.folder.clone(), plan.clone()));
    let engine = open(faulty, place.root.path());
    let full = Fault::Error(BlockErrorKind::NoSpace);
    let next = plan.count_on(NAME, Operation::Reserve) + 1;
    plan.fail_on(NAME, Operation::Reserve, next, Repeat::Forever, full);
    let insert = || {
        let row = Arc::from([Datum::Integer(100_000), Datum::Integer(1)]);
        engine.insert_rows(&place.schema, vec![row], Durability::Sync)
    };
    for id in 0..3 {
        assert_eq!(insert().unwrap_err().kind(), ErrorKind::NoSpace);
        change(&engine, &place.schema, id);
    }
    plan.heal();
    insert().unwrap();
    assert!(engine.verify(&mut |_, _| {}).unwrap().problems.is_empty());
}
