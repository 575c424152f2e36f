//! Disks that fail, fill up and lie, and files that are not what they should be.

use crate::history::History;
use crate::modify::modify_despite_faults;
use crate::reference::{State, compare, state_of, try_rows_of, verify};
use gadus_base::{ByteCount, Random};
use gadus_block::{
    ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, Folder, MemoryFolder, OpenMode,
    Operation, Repeat, TracedFolder,
};
use gadus_engine::{Engine, Error, ErrorKind, Options};
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

const NAME: &str = "x.gadus";
const LOG: &str = "x.gadus-wal";

fn options() -> Options {
    Options {
        log_zone: ByteCount(4096),
        checkpoint_log: ByteCount(20_000),
        cache: Some(ByteCount::mib(1)),
        threads: 1,
        ..Options::default()
    }
}

fn open(folder: &Arc<impl Folder + 'static>) -> Result<Engine, Error> {
    Engine::open(folder.clone(), NAME, options())
}

/// A history with everything in it, until something fails: then also the state that may have
/// become durable.
fn script(engine: &Engine, history: &mut History, state: &mut State) -> Result<(), (Error, State)> {
    for step in 0..12 {
        let mut next = state.clone();
        let mut transaction = engine.begin().unwrap();
        history.statements(&mut transaction, &mut next);
        if let Err(error) = transaction.commit() {
            return Err((error, next));
        }
        *state = next;
        let done = match step % 4 {
            1 => engine.fold(),
            3 => engine.checkpoint(),
            _ => Ok(()),
        };
        done.map_err(|error| (error, state.clone()))?;
    }
    Ok(())
}

#[test]
fn every_failing_write_and_sync_keeps_what_was_acknowledged() {
    for operation in [Operation::Write, Operation::Sync] {
        for (name, fault) in [
            (NAME, Fault::Error(BlockErrorKind::Io)),
            (LOG, Fault::Error(BlockErrorKind::Io)),
            (LOG, Fault::Partial(700, BlockErrorKind::Io)),
        ] {
            for nth in (1..60).step_by(6) {
                let (plan, memory) = (FaultPlan::new(), Arc::new(MemoryFolder::new()));
                let folder = Arc::new(FaultyFolder::new(memory.clone(), plan.clone()));
                let engine = open(&folder).unwrap();
                let first = plan.count_on(name, operation);
                plan.fail_on(name, operation, first + nth, Repeat::Once, fault);
                let place = format!("{operation:?} {nth} of {name}");
                let mut history = History::new(nth, 60);
                let mut state = State::new();
                let failed = script(&engine, &mut history, &mut state);
                drop(engine);
                plan.heal();
                let engine = open(&folder).unwrap_or_else(|error| panic!("{place}: {error}"));
                let found = state_of(&engine.snapshot().unwrap());
                let Err((error, maybe)) = failed else {
                    assert_eq!(found, state, "{place}");
                    continue;
                };
                let expected = [ErrorKind::Io, ErrorKind::Poisoned];
                assert!(expected.contains(&error.kind()), "{place}: {error}");
                assert!(found == state || found == maybe, "{place}");
                verify(&engine, &place);
            }
        }
    }
}

#[test]
fn a_full_disk_fails_its_statement_and_nothing_else() {
    for (operation, name) in
        [(Operation::Write, LOG), (Operation::Write, NAME), (Operation::SetLength, LOG)]
    {
        for nth in (1..40).step_by(3) {
            let (plan, memory) = (FaultPlan::new(), Arc::new(MemoryFolder::new()));
            let folder = Arc::new(FaultyFolder::new(memory.clone(), plan.clone()));
            let engine = open(&folder).unwrap();
            let first = plan.count_on(name, operation);
            let fault = Fault::Error(BlockErrorKind::NoSpace);
            plan.fail_on(name, operation, first + nth, Repeat::Forever, fault);
            let place = format!("{operation:?} {nth} of {name}");
            let mut history = History::new(nth, 60);
            let mut state = State::new();
            let Err((error, _)) = script(&engine, &mut history, &mut state) else { continue };
            if error.kind() == ErrorKind::Poisoned {
                // The header could not be written: nobody knows which one recovery would find.
                continue;
            }
            assert_eq!(error.kind(), ErrorKind::NoSpace, "{place}: {error}");
            compare(&engine.snapshot().unwrap(), &state, &mut history.random, &place);
            plan.heal();
            match script(&engine, &mut history, &mut state) {
                Ok(()) => {}
                Err((error, _)) if error.kind() == ErrorKind::Poisoned => continue,
                Err((error, _)) => panic!("{place}, space again: {error}"),
            }
            compare(&engine.snapshot().unwrap(), &state, &mut history.random, &place);
            verify(&engine, &place);
            drop(engine);
            let engine = open(&folder).unwrap();
            assert_eq!(state_of(&engine.snapshot().unwrap()), state, "{place}");
        }
    }
}

/// A closed database with segments, overlays, key runs and a tail of the log.
fn sample() -> (MemoryFolder, State) {
    let (folder, [_, state]) = sample_with_states();
    (folder, state)
}

/// The state that the sample's checkpoint holds.
fn before_the_tail() -> State {
    let (_, [checkpointed, _]) = sample_with_states();
    checkpointed
}

fn sample_with_states() -> (MemoryFolder, [State; 2]) {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder).unwrap();
    let mut history = History::new(5, 200);
    let mut state = State::new();
    while state.len() < 3 || state.values().any(|table| table.rows.len() < 100) {
        let mut transaction = engine.begin().unwrap();
        history.statements(&mut transaction, &mut state);
        transaction.commit().unwrap();
        engine.fold().unwrap();
    }
    let mut transaction = engine.begin().unwrap();
    history.statements(&mut transaction, &mut state);
    transaction.commit().unwrap();
    engine.checkpoint().unwrap();
    let checkpointed = state.clone();
    let mut transaction = engine.begin().unwrap();
    history.statements(&mut transaction, &mut state);
    transaction.commit().unwrap();
    // As found after a kill: the tail is not checkpointed.
    (folder.copy(), [checkpointed, state])
}

fn flip(folder: &MemoryFolder, name: &str, offset: usize, bit: usize) {
    let device = folder.open(name, OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    device.read_at(offset as u64, &mut byte).unwrap();
    device.write_at(offset as u64, &[IoSlice::new(&[byte[0] ^ 1 << bit])]).unwrap();
}

/// Each table reads as it should or fails with an error that names file and place.
fn check_damaged(folder: MemoryFolder, state: &State, place: &str) -> bool {
    let engine = match open(&Arc::new(folder)) {
        Ok(engine) => engine,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{place}: {error}");
            assert!(error.to_string().contains(NAME), "{place}: {error}");
            return true;
        }
    };
    let snapshot = engine.snapshot().unwrap();
    let mut failed = 0;
    for table in snapshot.tables() {
        match try_rows_of(&table, Vec::new()) {
            Ok(rows) => {
                let rows = rows.into_iter().map(|(first, (_, row))| (first, row));
                assert_eq!(
                    rows.collect::<std::collections::BTreeMap<_, _>>(),
                    state[&table.schema().name].rows,
                    "{place}"
                );
            }
            Err(error) => {
                failed += 1;
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{place}: {error}");
                let text = error.to_string();
                assert!(text.contains(NAME) && text.contains("at byte"), "{place}: {text}");
            }
        }
    }
    assert!(failed <= 1, "{place}: one bit damages one table");
    let problems = engine.verify(&mut |_, _| {}).unwrap().problems;
    for problem in &problems {
        assert!(problem.offset.is_some(), "{place}: {problem}");
    }
    assert!(failed == 0 || !problems.is_empty(), "{place}: verification overlooks it");
    failed > 0 || !problems.is_empty() || !engine.statistics().warnings.is_empty()
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let (folder, state) = sample();
    let length = folder.snapshot()[NAME].len();
    // Odd, so that every kind of place is met.
    for (index, offset) in (0..length).step_by((length / 150) | 1).enumerate() {
        let image = folder.copy();
        flip(&image, NAME, offset, index % 8);
        check_damaged(image, &state, &format!("byte {offset}"));
    }
    for (index, range) in read_of(&folder).into_iter().enumerate() {
        let image = folder.copy();
        let place = format!("of {range:?}");
        let offset = range.start + index * 37 % range.len();
        flip(&image, NAME, offset, index % 8);
        assert!(check_damaged(image, &state, &place), "{place}: byte {offset} is not noticed");
    }
}

/// What is read of the data file until all of it has been verified.
fn read_of(folder: &MemoryFolder) -> Vec<Range<usize>> {
    let (traced, trace) = TracedFolder::new(Arc::new(folder.copy()));
    let engine = open(&Arc::new(traced)).unwrap();
    verify(&engine, "undamaged");
    let reads = trace.reads(NAME).into_iter();
    let mut reads = reads.map(|range| range.start as usize..range.end as usize).collect::<Vec<_>>();
    reads.sort_by_key(|range| (range.start, range.end));
    reads.dedup();
    assert!(reads.len() > 10, "a sample with more in it");
    reads
}

#[test]
fn a_shortened_data_file_is_refused_or_whole() {
    let (folder, state) = sample();
    let length = folder.snapshot()[NAME].len() as u64;
    for shorter in (0..length).step_by(5_000).skip(1) {
        let image = folder.copy();
        image.open(NAME, OpenMode::ReadWrite).unwrap().set_length(shorter).unwrap();
        match open(&Arc::new(image)) {
            Ok(engine) => assert_eq!(state_of(&engine.snapshot().unwrap()), state, "{shorter}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{shorter}: {error}"),
        }
    }
}

#[test]
fn a_damaged_log_never_gives_another_state() {
    let (folder, state) = sample();
    let checkpointed = before_the_tail();
    let length = folder.snapshot()[LOG].len();
    for offset in (0..length).step_by((length / 150) | 1) {
        let image = folder.copy();
        flip(&image, LOG, offset, offset % 8);
        match open(&Arc::new(image)) {
            // Damage of the last record looks like a torn write; what is before it is whole.
            Ok(engine) => {
                let found = state_of(&engine.snapshot().unwrap());
                assert!(found == state || found == checkpointed, "byte {offset}");
                verify(&engine, &format!("byte {offset}"));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{offset}: {error}"),
        }
    }
}

#[test]
fn the_log_of_another_database_is_refused() {
    let (folder, _) = sample();
    let (other, _) = sample();
    let bytes = other.snapshot()[LOG].clone();
    let log = folder.open(LOG, OpenMode::ReadWrite).unwrap();
    log.set_length(bytes.len() as u64).unwrap();
    log.write_at(0, &[IoSlice::new(&bytes)]).unwrap();
    let error = open(&Arc::new(folder)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("database"), "{error}");
}

#[test]
fn a_failed_read_fails_its_query_only() {
    let (image, state) = sample();
    drop(open(&Arc::new(image.clone())).unwrap());
    for fault in [Fault::Error(BlockErrorKind::Io), Fault::FlipBit(77)] {
        for nth in 0..12 {
            let plan = FaultPlan::new();
            let folder = Arc::new(FaultyFolder::new(Arc::new(image.copy()), plan.clone()));
            let engine = open(&folder).unwrap();
            let next = plan.count_on(NAME, Operation::Read) + 1 + nth;
            plan.fail_on(NAME, Operation::Read, next, Repeat::Once, fault);
            let snapshot = engine.snapshot().unwrap();
            let failed = snapshot
                .tables()
                .iter()
                .filter_map(|table| try_rows_of(table, Vec::new()).err())
                .collect::<Vec<_>>();
            assert!(failed.len() <= 1);
            for error in failed {
                assert!([ErrorKind::Io, ErrorKind::Corrupt].contains(&error.kind()), "{error}");
                assert!(error.to_string().contains(NAME), "{error}");
            }
            assert_eq!(state_of(&snapshot), state, "the same query succeeds now");
        }
    }
}

#[test]
fn modifications_whose_reads_fail_change_nothing() {
    let (image, state) = sample();
    drop(open(&Arc::new(image.clone())).unwrap());
    let mut failed = 0;
    for nth in 0..60 {
        let plan = FaultPlan::new();
        let folder = Arc::new(FaultyFolder::new(Arc::new(image.copy()), plan.clone()));
        // Nothing is cached: whatever is read may fail.
        let options = Options { cache: Some(ByteCount(0)), ..options() };
        let engine = Engine::open(folder.clone(), NAME, options).unwrap();
        let next = plan.count_on(NAME, Operation::Read) + 1 + nth * 7;
        let fault = Fault::Error(BlockErrorKind::Io);
        plan.fail_on(NAME, Operation::Read, next, Repeat::Once, fault);
        let mut state = state.clone();
        let (mut random, table) = (Random::seeded(nth), nth as usize % state.len());
        let table = state.values_mut().nth(table).unwrap();
        failed += modify_despite_faults(&engine, table, &mut random);
        // Where fewer reads were made, the rest is read by whoever looks.
        plan.heal();
        assert_eq!(state_of(&engine.snapshot().unwrap()), state, "read {nth}");
    }
    assert!(failed > 20, "few modifications failed: {failed}");
}

#[test]
fn a_second_opener_is_refused_and_a_reader_writes_nothing() {
    let (image, state) = sample();
    let folder = Arc::new(image);
    let engine = open(&folder).unwrap();
    let error = open(&folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InUse);
    assert!(error.to_string().contains("process"), "the holder is named: {error}");
    drop(engine);
    let before = folder.snapshot();
    let reading = Options { read_only: true, ..options() };
    let engine = Engine::open(folder.clone(), NAME, reading).unwrap();
    assert_eq!(state_of(&engine.snapshot().unwrap()), state);
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table(state.keys().next().unwrap()).unwrap();
    for error in [transaction.commit().map(|_| ()).unwrap_err(), engine.checkpoint().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    }
    drop(engine);
    assert!(folder.snapshot() == before);
}
