//! Many threads on one database, with folds, checkpoints and compaction under them.

use crate::reference::{folded_values, verify};
use crate::waiting::{alone, transact};
use arrow::array::RecordBatch;
use gadus_base::{ByteCount, Random};
use gadus_block::{FileFolder, MemoryFolder};
use gadus_engine::{
    Aggregate, Autocommit, ColumnDefinition, ColumnType, Datum, Durability, Engine, Options,
    RowChange, Sharing, Snapshot, TableSchema, array_from_datums,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const NAME: &str = "x.gadus";
const ACCOUNTS: i64 = 64;
const BALANCE: i64 = 1_000;
const THREADS: u64 = 8;
const STEPS: u64 = 150;

fn options() -> Options {
    Options {
        log_zone: ByteCount(1 << 16),
        checkpoint_log: ByteCount(1 << 16),
        cache: Some(ByteCount::mib(2)),
        threads: 2,
        ..Options::default()
    }
}

pub(crate) fn schema(name: &str) -> TableSchema {
    let column = |name: &str| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, ColumnType::Int64)
    };
    TableSchema::new(name, vec![column("id"), column("amount")], vec![0]).unwrap()
}

pub(crate) fn row(id: i64, amount: i64) -> Arc<[Datum]> {
    Arc::from([Datum::Integer(id), Datum::Integer(amount)])
}

fn amount(row: &[Datum]) -> i64 {
    let Datum::Integer(amount) = row[1] else { panic!("an amount is a number") };
    amount
}

/// Rows and sum of a table.
pub(crate) fn total(snapshot: &Snapshot, name: &str) -> [i128; 2] {
    let table = snapshot.table(name).unwrap();
    let wanted = vec![Aggregate::CountRows, Aggregate::Sum(1)];
    let folded = folded_values(&table, Vec::new(), wanted, 1);
    [0, 1].map(|index| folded[index].as_wide().unwrap_or(0))
}

/// Moves an amount from one account to another; false when another transaction was first.
pub(crate) fn transfer(
    engine: &Engine,
    schema: &TableSchema,
    accounts: u64,
    random: &mut Random,
) -> bool {
    let from = random.below(accounts);
    let to = (from + 1 + random.below(accounts - 1)) % accounts;
    let [from, to] = [from, to].map(|id| id as i64);
    let amount_moved = random.below(10) as i64;
    let moved = transact(engine, |transaction| {
        let table = transaction.snapshot().table(&schema.name).unwrap();
        for (id, change) in [(from, -amount_moved), (to, amount_moved)] {
            let place = table.find_key(&[Datum::Integer(id)]).unwrap().unwrap();
            let old = amount(&table.row(place).unwrap().unwrap());
            let new = vec![Datum::Integer(old + change)];
            assert_eq!(transaction.update(schema, &[1], &[place], &[new])?, 1);
        }
        Ok(())
    });
    moved.is_some()
}

/// One thread's transfers, counts, inserts and deletes; returns how many transfers committed.
fn write(
    engine: &Engine,
    accounts: &Arc<TableSchema>,
    counters: &Arc<TableSchema>,
    thread: u64,
) -> u64 {
    let mut random = Random::seeded(thread);
    let mut moved = 0;
    for step in 0..STEPS {
        moved += u64::from(transfer(engine, accounts, ACCOUNTS as u64, &mut random));
        let key = [Datum::Integer(-1)];
        let changed = engine.change_row(counters, &key, Durability::Sync, |row| {
            Ok(RowChange::Update(vec![(1, Datum::Integer(amount(row) + 1))]))
        });
        assert_eq!(changed.unwrap(), 1);
        let id = i64::try_from(thread * 1_000 + step).unwrap();
        engine.insert_rows(counters, vec![row(id, 0)], Durability::Relaxed).unwrap();
        if step % 3 == 0 {
            let key = [Datum::Integer(id)];
            let deleted =
                engine.change_row(counters, &key, Durability::Off, |_| Ok(RowChange::Delete));
            assert_eq!(deleted.unwrap(), 1, "own writes are seen");
        }
    }
    moved
}

/// Where a database lies, and how many instances of this process share it.
pub(crate) enum Place {
    /// In memory, of one instance.
    Memory(Arc<MemoryFolder>),
    /// In files, of several.
    Files(tempfile::TempDir, usize),
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemoryFolder::new()))
    }

    pub(crate) fn files(instances: usize) -> Self {
        Self::Files(tempfile::tempdir().unwrap(), instances)
    }

    pub(crate) fn open(&self) -> Vec<Engine> {
        self.open_with(|options| options)
    }

    pub(crate) fn open_with(&self, change: impl Fn(Options) -> Options) -> Vec<Engine> {
        let options = change(options());
        match self {
            Self::Memory(folder) => vec![Engine::open(folder.clone(), NAME, options).unwrap()],
            Self::Files(root, instances) => {
                let folder = Arc::new(FileFolder::new(root.path()));
                let sharing = Sharing::Shared { memory: root.path().to_owned() };
                let options = Options { sharing, ..options };
                let open = |_| Engine::open(folder.clone(), NAME, options.clone()).unwrap();
                (0..*instances).map(open).collect()
            }
        }
    }

    /// The database as a kill would leave it, where that can be had.
    fn killed(&self) -> Vec<Self> {
        match self {
            Self::Memory(folder) => vec![Self::Memory(Arc::new(folder.copy()))],
            Self::Files(..) => Vec::new(),
        }
    }
}

#[test]
fn threads_keep_sums_while_folds_and_checkpoints_run() {
    keep_sums(Place::memory());
}

#[test]
fn instances_keep_sums_while_folds_and_checkpoints_run() {
    keep_sums(Place::files(3));
}

fn keep_sums(place: Place) {
    let engines = place.open();
    let of = |thread: u64| &engines[thread as usize % engines.len()];
    let engine = of(0);
    let mut transaction = engine.begin().unwrap();
    let accounts = transaction.create_table(&schema("accounts")).unwrap();
    let counters = transaction.create_table(&schema("counters")).unwrap();
    let all = (0..ACCOUNTS).map(|id| row(id, BALANCE)).collect();
    transaction.insert(&accounts, all).unwrap();
    transaction.insert(&counters, vec![row(-1, 0)]).unwrap();
    transaction.commit().unwrap();
    let (stop, moved) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let writers = (0..THREADS).map(|thread| {
            let (engine, accounts, counters) = (of(thread), &accounts, &counters);
            let moved = &moved;
            scope.spawn(move || {
                moved.fetch_add(write(engine, accounts, counters, thread), Ordering::Relaxed);
            })
        });
        let writers = writers.collect::<Vec<_>>();
        let running = &stop;
        for (index, work) in [(0, Engine::fold as fn(&_) -> _), (1, Engine::checkpoint)] {
            let engine = of(index);
            scope.spawn(move || {
                while !running.load(Ordering::Relaxed) {
                    work(engine).unwrap();
                    std::thread::yield_now();
                }
            });
        }
        let engine = of(2);
        scope.spawn(move || {
            while !running.load(Ordering::Relaxed) {
                let snapshot = engine.snapshot().unwrap();
                let expected = [i128::from(ACCOUNTS), i128::from(ACCOUNTS * BALANCE)];
                assert_eq!(total(&snapshot, "accounts"), expected);
                std::thread::yield_now();
            }
        });
        let results = writers.into_iter().map(|writer| writer.join()).collect::<Vec<_>>();
        stop.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
    assert!(moved.load(Ordering::Relaxed) > 0);
    let expected = [i128::from(1 + THREADS * 100), i128::from(THREADS * STEPS)];
    for engine in &engines {
        assert_eq!(total(&engine.snapshot().unwrap(), "counters"), expected);
        verify(engine, "before closing");
    }
    // As found after a kill, and as closed.
    let mut places = place.killed();
    drop(engines);
    places.push(place);
    for place in places {
        let engine = place.open().swap_remove(0);
        let snapshot = engine.snapshot().unwrap();
        let whole = [i128::from(ACCOUNTS), i128::from(ACCOUNTS * BALANCE)];
        assert_eq!(total(&snapshot, "accounts"), whole);
        assert_eq!(total(&snapshot, "counters"), expected);
        verify(&engine, "reopened");
    }
}

/// Loads, deletes that leave segments sparse, and updates by key and by place, while compaction moves
/// the rows under them.
#[test]
fn no_update_is_lost_while_compaction_runs() {
    lose_no_update(Place::memory());
}

#[test]
fn no_instance_loses_an_update_while_another_compacts() {
    lose_no_update(Place::files(3));
}

fn lose_no_update(place: Place) {
    let engines = place.open();
    let of = |thread: u64| &engines[thread as usize % engines.len()];
    let engine = of(0);
    let mut transaction = engine.begin().unwrap();
    let table = transaction.create_table(&schema("counters")).unwrap();
    transaction.commit().unwrap();
    let (loaded, counted) = (AtomicU64::new(0), AtomicU64::new(0));
    let (rounds, places) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (table, loaded, rounds) = (&table, &loaded, &rounds);
        let (counted, places) = (&counted, &places);
        let is_loaded = move || loaded.load(Ordering::Acquire) == LOADS;
        let writers = (0..3).map(|thread| {
            let engine = of(thread);
            scope.spawn(move || {
                let mut random = Random::seeded(thread);
                while !is_loaded() {
                    count_up(engine, table, &mut random, loaded, counted);
                    // A pause in which a move may succeed.
                    let round = rounds.load(Ordering::Relaxed);
                    while rounds.load(Ordering::Relaxed) < round + 2 && !is_loaded() {
                        std::thread::yield_now();
                    }
                }
            })
        });
        let writers = writers.collect::<Vec<_>>();
        let engine = of(1);
        scope.spawn(move || {
            let mut last = None;
            while !is_loaded() {
                engine.compact().unwrap();
                rounds.fetch_add(1, Ordering::Relaxed);
                let now = engine.snapshot().unwrap().table("counters").unwrap();
                let now = now.find_key(&[Datum::Integer(0)]).unwrap();
                places.fetch_add(u64::from(now != last), Ordering::Relaxed);
                last = now;
            }
        });
        for load in 0..LOADS {
            load_sparse(of(load), table, load);
            loaded.store(load + 1, Ordering::Release);
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    let (counted, places) = (counted.into_inner(), places.into_inner());
    assert!(counted > 0 && places > 2, "{counted} counted, {places} places");
    engine.compact().unwrap();
    let expected = [i128::from(LOADS) * i128::from(LOAD / SPARSE), i128::from(counted)];
    for engine in &engines {
        verify(engine, "before closing");
        assert_eq!(total(&engine.snapshot().unwrap(), "counters"), expected);
    }
    let mut places = place.killed();
    drop(engines);
    places.push(place);
    for place in places {
        let engine = place.open().swap_remove(0);
        assert_eq!(total(&engine.snapshot().unwrap(), "counters"), expected);
        verify(&engine, "reopened");
    }
}

const LOADS: u64 = 10;
/// The fewest rows that a load writes as a segment.
const LOAD: i64 = 8_192;
/// One row of so many is kept.
const SPARSE: i64 = 64;

/// A segment of which few rows are left; the deletes are tried until no compaction is in the way.
fn load_sparse(engine: &Engine, schema: &Arc<TableSchema>, load: u64) {
    let first = i64::try_from(load).unwrap() * LOAD;
    let ids = (first..first + LOAD).map(Datum::Integer).collect::<Vec<_>>();
    let zeros = ids.iter().map(|_| Datum::Integer(0)).collect::<Vec<_>>();
    let column = |values: &[Datum]| array_from_datums(ColumnType::Int64, values.iter()).unwrap();
    let columns = vec![column(&ids), column(&zeros)];
    let mut transaction = engine.begin().unwrap();
    let mut bulk = transaction.bulk(schema).unwrap();
    bulk.push(&RecordBatch::try_new(schema.arrow(), columns).unwrap()).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    loop {
        let deleted = transact(engine, |transaction| {
            let table = transaction.snapshot().table("counters").unwrap();
            let gone = ids.iter().zip(0..LOAD).filter(|(_, index)| index % SPARSE != 0);
            let place = |(id, _): (&Datum, _)| table.find_key(std::slice::from_ref(id)).unwrap();
            let gone = gone.filter_map(place).collect::<Vec<_>>();
            transaction.delete(schema, &gone)
        });
        if deleted.is_some() {
            return;
        }
    }
}

/// A burst of updates of rows that are there for good.
fn count_up(
    engine: &Engine,
    schema: &Arc<TableSchema>,
    random: &mut Random,
    loaded: &AtomicU64,
    counted: &AtomicU64,
) {
    for _ in 0..40 {
        let loads = loaded.load(Ordering::Acquire);
        if loads == 0 {
            return;
        }
        let row = random.below(loads * (LOAD / SPARSE) as u64);
        let key = [Datum::Integer(i64::try_from(row).unwrap() * SPARSE)];
        if random.chance(0.5) {
            let changed = alone(engine, |locker| {
                let how = Autocommit { durability: Durability::Off, locker };
                engine.change_row(schema, &key, how, |row| {
                    Ok(RowChange::Update(vec![(1, Datum::Integer(amount(row) + 1))]))
                })
            });
            assert_eq!(changed.unwrap(), 1);
            counted.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let done = transact(engine, |transaction| {
            let table = transaction.snapshot().table("counters").unwrap();
            let place = table.find_key(&key).unwrap().unwrap();
            let more = amount(&table.row(place).unwrap().unwrap()) + 1;
            transaction.update(schema, &[1], &[place], &[vec![Datum::Integer(more)]])
        });
        counted.fetch_add(u64::from(done.is_some()), Ordering::Relaxed);
    }
}
