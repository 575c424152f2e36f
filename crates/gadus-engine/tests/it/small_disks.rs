//! Disks that fill up: rows can be deleted, and their space comes back, whatever the sizes of the disk,
//! of the rows and of the transactions that filled it.

use crate::reference::integer;
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use gadus_base::{ByteCount, Random, RowId};
use gadus_block::{MemoryFolder, SmallFolder};
use gadus_engine::{
    ColumnDefinition, ColumnType, Datum, Durability, Engine, ErrorKind, Options, Result,
    ScanRequest, TableSchema, array_from_datums, datum_from_array,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Trials and their first seed; others by `GADUS_SMALL_DISKS` and `GADUS_SMALL_DISKS_SEED`.
const TRIALS: u64 = 12;
const SEED: u64 = 1;

/// Transactions with at least so many rows write segments.
const BULK_ROWS: usize = 8_192;

const TYPES: [ColumnType; 2] = [ColumnType::Int64, ColumnType::Text];

/// A database on a small disk, and what it should hold.
struct Trial {
    random: Random,
    folder: Arc<SmallFolder>,
    log_zone: ByteCount,
    row_bytes: usize,
    /// Rows of a transaction.
    many: usize,
    keys: Vec<i64>,
    next_key: i64,
    /// None only while it is closed.
    engine: Option<Engine>,
    described: String,
}

impl Trial {
    fn new(seed: u64) -> (Self, Arc<TableSchema>) {
        let mut random = Random::seeded(seed);
        let disk = (2 << 20) + random.below(6 << 20);
        let log_zone = ByteCount::kib(256 << random.below(3));
        let row_bytes_max = 1 << (4 + random.below(12));
        let row_bytes = 20 + random.below(row_bytes_max) as usize;
        let many = 1 + random.below((disk / 4) / (row_bytes as u64 + 50)) as usize;
        let described = format!(
            "seed {seed}: a disk of {disk} bytes, zones of {log_zone}, rows of {row_bytes} bytes, {many} at a time"
        );
        let folder = Arc::new(SmallFolder::new(Arc::new(MemoryFolder::new()), disk));
        let (keys, next_key, engine) = (Vec::new(), 0, None);
        let mut trial =
            Self { random, folder, log_zone, row_bytes, many, keys, next_key, engine, described };
        trial.reopen();
        let mut transaction = trial.engine().begin().unwrap();
        let key = ColumnDefinition { nullable: false, ..ColumnDefinition::new("k", TYPES[0]) };
        let columns = vec![key, ColumnDefinition::new("v", TYPES[1])];
        let schema = TableSchema::new("t", columns, vec![0]).unwrap();
        let schema = transaction.create_table(&schema).unwrap();
        transaction.commit().unwrap();
        (trial, schema)
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.engine = None;
        let options = Options {
            cache: Some(ByteCount::mib(4)),
            threads: 1,
            log_zone: self.log_zone,
            ..Options::default()
        };
        let opened = Engine::open(self.folder.clone(), "x.gadus", options);
        self.engine = Some(opened.expect(&self.described));
    }

    /// Rows that no encoding makes much shorter.
    fn rows(&mut self) -> Vec<Vec<Datum>> {
        let keys = self.next_key..self.next_key + self.many as i64;
        self.next_key = keys.end;
        let row = |key| {
            let mut text = String::with_capacity(self.row_bytes + 16);
            while text.len() < self.row_bytes {
                write!(text, "{:016x}", self.random.next_u64()).unwrap();
            }
            text.truncate(self.row_bytes);
            vec![Datum::Integer(key), Datum::text(&text)]
        };
        keys.map(row).collect()
    }

    fn insert(&self, schema: &Arc<TableSchema>, rows: Vec<Vec<Datum>>) -> Result<()> {
        if rows.len() < BULK_ROWS {
            let rows = rows.into_iter().map(Arc::from).collect();
            return self.engine().insert_rows(schema, rows, Durability::Sync).map(drop);
        }
        let column = |column: usize| {
            array_from_datums(TYPES[column], rows.iter().map(|row| &row[column])).unwrap()
        };
        let batch = RecordBatch::try_new(schema.arrow(), vec![column(0), column(1)]).unwrap();
        let mut transaction = self.engine().begin()?;
        let mut bulk = transaction.bulk(schema)?;
        bulk.push(&batch)?;
        transaction.finish_bulk(bulk)?;
        transaction.commit().map(drop)
    }

    /// Inserts until the disk is full.
    fn fill(&mut self, schema: &Arc<TableSchema>) {
        let reopens = self.random.chance(0.3);
        loop {
            let first = self.next_key;
            let rows = self.rows();
            match self.insert(schema, rows) {
                Ok(()) => self.keys.extend(first..self.next_key),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NoSpace, "{}: {error}", self.described);
                    return;
                }
            }
            if reopens {
                self.reopen();
            }
        }
    }

    /// Deletes some rows: at random, every n-th, or all of some transactions.
    fn delete(&mut self, schema: &Arc<TableSchema>) {
        let (part, many) = (2 + self.random.below(9) as i64, self.many as i64);
        let (kind, mut random) = (self.random.below(3), self.random.child(2));
        let keys = self.keys.iter().copied();
        let (gone, kept) = keys.partition::<Vec<_>, _>(|key| match kind {
            0 => random.below(part as u64) != 0,
            1 => key % part != 0,
            _ => key / many % part != 0,
        });
        self.keys = kept;
        loop {
            let places = self.places();
            let rows = gone.iter().map(|key| places[key]).collect::<Vec<_>>();
            let mut transaction = self.engine().begin().unwrap();
            let deleted = transaction.delete(schema, &rows).and_then(|_| transaction.commit());
            match deleted {
                Ok(_) => return,
                // Rows have been moved meanwhile.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => panic!("{}: DELETE: {error}", self.described),
            }
        }
    }

    /// All rows by their keys.
    fn places(&self) -> BTreeMap<i64, RowId> {
        let table = self.engine().snapshot().unwrap().table("t").unwrap();
        let request = ScanRequest {
            projection: vec![0],
            predicates: Vec::new(),
            with_row_ids: true,
            together: true,
        };
        let scan = table.scan(request).unwrap();
        let mut places = BTreeMap::new();
        for morsel in 0..scan.morsels() {
            let gathered = scan.morsel(morsel, |batch| {
                for row in 0..batch.num_rows() {
                    let key = datum_from_array(TYPES[0], batch.column(0), row).unwrap();
                    let id = batch.column(1).as_primitive::<UInt64Type>().value(row);
                    places.insert(integer(&key), RowId::from_u64(id));
                }
                ControlFlow::Continue(())
            });
            gathered.unwrap();
        }
        places
    }

    /// Gives back the space of what was deleted, which must not fail.
    fn give_back(&mut self) {
        for reopens in [self.random.chance(0.3), self.random.chance(0.3)] {
            self.engine()
                .checkpoint()
                .unwrap_or_else(|error| panic!("{}: CHECKPOINT: {error}", self.described));
            let vacuumed = self.engine().vacuum(None, &|| Ok(()));
            vacuumed.unwrap_or_else(|error| panic!("{}: VACUUM: {error}", self.described));
            if reopens {
                self.reopen();
            }
        }
    }

    fn check(&self) {
        let there = self.places().into_keys().collect::<Vec<_>>();
        assert_eq!(there, self.keys, "{}", self.described);
        let problems = self.engine().verify(&mut |_, _| {}).unwrap().problems;
        assert!(problems.is_empty(), "{}: {problems:?}", self.described);
    }
}

#[test]
fn what_is_deleted_on_a_full_disk_makes_room() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |n| n.parse().unwrap());
    let first = number("GADUS_SMALL_DISKS_SEED", SEED);
    let trials = number("GADUS_SMALL_DISKS", TRIALS);
    for seed in first..first + trials {
        let (mut trial, schema) = Trial::new(seed);
        trial.fill(&schema);
        trial.check();
        trial.delete(&schema);
        trial.give_back();
        trial.check();
        trial.fill(&schema);
        trial.check();
        trial.delete(&schema);
        trial.give_back();
        trial.check();
    }
}
