//! The table grows while others use it.

use super::*;
use crate::Trust;
use crate::table::chunks::Use;
use crate::table::layout::Request;

#[test]
fn two_that_need_the_first_slots_of_a_partition_get_them() {
    let play = |resources: [Resource; 2]| {
        let machine = Machine::new(4);
        let tables = vec![machine.open(), machine.open()];
        let mut stage = Stage::bare(machine, tables, &resources);
        let owners = [stage.owner(0), stage.owner(1)];
        for ((which, owner), resource) in ["one", "other"].into_iter().zip(owners).zip(resources) {
            stage.thread(which, owner, move |actor| {
                actor.take(resource, Mode::Exclusive);
                actor.unlock(resource);
            });
        }
        stage.play(|_| ())
    };
    let rules = Rules { preemptions: 1, ..Rules::default() };
    explore("growth of a partition", rules, || play([name(1), name(1)]));
    explore("growth of two partitions", rules, || play([name(1), name(2)]));
}

#[test]
fn two_that_register_at_once_get_records_of_their_own() {
    let play = || {
        let mut stage = Stage::new(2, &[name(1)]);
        for (which, table) in ["one", "other"].into_iter().zip(stage.tables.clone()) {
            stage.other_thread(which, move || {
                let mut owner = table.register().unwrap();
                owner.lock(name(1), Mode::Shared, Wait::Forever).unwrap();
                assert!(table.connection_of(owner.holder).is_some());
            });
        }
        stage.play(|outcome| assert_eq!(outcome.table.connections().unwrap(), []))
    };
    explore("two connections", Rules { preemptions: 1, ..Rules::default() }, play);
}

#[test]
fn memory_that_another_has_let_grow_is_mapped_where_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let play = || {
        let path = folder.path().join("memory");
        let created = Memory::create(&path, 4 * EXTENT_BYTES, Trust::this_user()).unwrap();
        let opened =
            Memory::open(&path, 4 * EXTENT_BYTES, created.file().unwrap().1, Trust::this_user())
                .unwrap();
        std::fs::remove_file(&path).unwrap();
        let here = Machine { memory: Arc::new(created), alive: Arc::default() };
        let there = Machine { memory: Arc::new(opened), alive: here.alive.clone() };
        let tables = vec![here.open(), there.open()];
        let mut stage = Stage::bare(here, tables, &[name(1), name(2)]);
        let owners = [stage.owner(0), stage.owner(1)];
        // The next chunk is the first of an extent that nobody has mapped.
        let per_extent = (EXTENT_BYTES / layout::CHUNK_BYTES) as u64;
        while stage.tables[0].header().chunks.load(Ordering::Relaxed) < per_extent {
            stage.tables[0].claim_chunk::<Request>(Use::Requests(63)).unwrap();
        }
        stage.thread("one", owners[0], |actor| {
            actor.take(name(1), Mode::Exclusive);
            actor.unlock(name(1));
        });
        stage.thread("other", owners[1], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.take(name(2), Mode::Shared);
            actor.unlock(name(1));
            actor.unlock(name(2));
        });
        stage.play(|outcome| assert_eq!(outcome.table.statistics().extents, 3))
    };
    explore("growth of memory", Rules { preemptions: 1, random: 30, ..Rules::default() }, play);
}
