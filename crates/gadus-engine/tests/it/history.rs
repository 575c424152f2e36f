//! Random statements, done to a transaction and to the reference alike.

use crate::reference::{
    Row, State, TableState, batch_of, integer, random_row, random_value, rows_of, schema,
};
use gadus_base::Random;
use gadus_engine::{
    Datum, Durability, Engine, Error, ErrorKind, RowChange, Snapshot, TableSchema, Transaction,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Source of statements; values of first columns are given once.
pub(crate) struct History {
    pub(crate) random: Random,
    next: i64,
    /// Rows of the largest bulk load.
    pub(crate) load_rows_max: u64,
    /// Why statements were not done.
    refused: HashSet<ErrorKind>,
}

/// Rows that a transaction changed or deleted, by table and first column.
pub(crate) type Touched = BTreeSet<(String, i64)>;

/// Commits; false when compaction moved a row that the transaction changed, which is then as it was.
///
/// `old` shows what the transaction began with.
pub(crate) fn commit(
    engine: &Engine,
    transaction: Transaction,
    old: &Snapshot,
    touched: &Touched,
    place: &str,
) -> bool {
    match transaction.commit() {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{place}: {error}");
            assert!(is_moved(old, &engine.snapshot().unwrap(), touched), "{place}: {error}");
            false
        }
    }
}

/// Whether one of the rows is at another place.
pub(crate) fn is_moved(old: &Snapshot, new: &Snapshot, touched: &Touched) -> bool {
    old.tables().iter().any(|table| {
        let name = &table.schema().name;
        let Some(now) = new.find_table(name) else { return false };
        let (then, now) = (rows_of(table, Vec::new()), rows_of(&now, Vec::new()));
        let place = |(first, (row, _)): (&i64, &(_, Row))| (*first, *row);
        let now = now.iter().map(place).collect::<BTreeMap<_, _>>();
        then.iter().map(place).any(|(first, row)| {
            touched.contains(&(name.clone(), first)) && now.get(&first).is_some_and(|at| *at != row)
        })
    })
}

impl History {
    pub(crate) fn new(seed: u64, load_rows_max: u64) -> Self {
        Self { random: Random::seeded(seed), next: 0, load_rows_max, refused: HashSet::new() }
    }

    /// Whether a statement was done; what others have locked, or moved, it may refuse.
    fn is_done<T>(&mut self, done: Result<T, Error>) -> bool {
        let Err(error) = done else { return true };
        let kind = error.kind();
        assert!(matches!(kind, ErrorKind::Locked | ErrorKind::Conflict), "{error}");
        self.refused.insert(kind);
        false
    }

    /// What statements were refused for since the last call.
    pub(crate) fn take_refused(&mut self) -> HashSet<ErrorKind> {
        std::mem::take(&mut self.refused)
    }

    pub(crate) fn fresh(&mut self) -> i64 {
        self.next += 1;
        // Neither in order nor dense, but unique.
        (self.next * 7_919) % 1_000_003 - 500_000
    }

    fn fresh_rows(&mut self, table: &TableState, count: u64) -> Vec<Row> {
        (0..count)
            .map(|_| {
                let first = self.fresh();
                random_row(&mut self.random, &table.schema, first)
            })
            .collect()
    }

    fn table(&mut self, state: &State) -> Option<String> {
        let index = self.random.below(1 + state.len() as u64) as usize;
        state.keys().nth(index.min(state.len().saturating_sub(1))).cloned()
    }

    fn some_of(&mut self, table: &TableState) -> Vec<i64> {
        // Now and then nearly all, so that segments become sparse.
        if self.random.chance(0.1) {
            return table.rows.keys().copied().filter(|_| self.random.chance(0.97)).collect();
        }
        let share = [0.01, 0.1, 0.6][self.random.below(3) as usize];
        table.rows.keys().copied().filter(|_| self.random.chance(share)).take(2_000).collect()
    }

    /// One statement in a transaction.
    pub(crate) fn statement(
        &mut self,
        transaction: &mut Transaction,
        state: &mut State,
        touched: &mut Touched,
    ) {
        let choice = self.random.below(20);
        let Some(name) = self.table(state).filter(|_| choice > 0) else {
            return self.create(transaction, state);
        };
        let table = state.get_mut(&name).unwrap();
        let schema = table.schema.clone();
        match choice {
            1 if self.random.chance(0.2) => {
                if self.is_done(transaction.drop_table(&name)) {
                    state.remove(&name);
                }
            }
            1..8 => {
                let count = [1, 1, 3, 40, 300][self.random.below(5) as usize];
                let rows = self.fresh_rows(table, count);
                let inserted = rows.iter().map(|row| Arc::from(row.clone())).collect();
                if !self.is_done(transaction.insert(&schema, inserted)) {
                    return;
                }
                table.rows.extend(rows.into_iter().map(|row| (integer(&row[0]), row)));
            }
            8 if self.random.chance(0.3) && !transaction.has_written(&schema) => {
                let mut after = schema.as_ref().clone();
                match after.indexes.pop() {
                    Some(_) if self.random.chance(0.5) => {}
                    _ => {
                        after = schema.as_ref().clone();
                        self.add_index(&mut after, u64::from(schema.next_index));
                    }
                }
                let altered = transaction.alter_table(&after, &[]);
                match altered {
                    Ok(altered) => table.schema = altered,
                    refused => _ = self.is_done(refused),
                }
            }
            8 => {
                let count = self.random.below(self.load_rows_max);
                self.load(transaction, table, count);
            }
            9..12 => {
                let chosen = self.some_of(table);
                let there = rows_of(&transaction.snapshot().table(&name).unwrap(), Vec::new());
                let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
                if !self.is_done(transaction.delete(&schema, &ids)) {
                    return;
                }
                for first in chosen {
                    table.rows.remove(&first);
                    touched.insert((name.clone(), first));
                }
            }
            _ => self.update(transaction, table, touched),
        }
    }

    /// A bulk load.
    pub(crate) fn load(
        &mut self,
        transaction: &mut Transaction,
        table: &mut TableState,
        count: u64,
    ) {
        let rows = self.fresh_rows(table, count);
        let mut bulk = transaction.bulk(&table.schema).unwrap();
        for part in rows.chunks(1 + self.random.below(3_000) as usize) {
            bulk.push(&batch_of(&table.schema, part)).unwrap();
        }
        if !self.is_done(transaction.finish_bulk(bulk)) {
            return;
        }
        table.rows.extend(rows.into_iter().map(|row| (integer(&row[0]), row)));
    }

    /// An index over columns of which not all differ, or over the first, which does.
    fn add_index(&mut self, shape: &mut TableSchema, number: u64) {
        let columns: [&[usize]; 6] = [&[0], &[1], &[2], &[3], &[2, 1], &[1, 3, 0]];
        let columns = columns[self.random.below(6) as usize];
        let unique = columns.contains(&0);
        let name = format!("{}_{number}_index", shape.name);
        if shape.index_named(&name).is_none() {
            shape.add_index(&name, columns, (unique, false));
        }
    }

    fn create(&mut self, transaction: &mut Transaction, state: &mut State) {
        if state.len() >= 4 {
            return;
        }
        let name = format!("t{}", self.random.below(6));
        let key = [vec![], vec![0], vec![0, 2]][self.random.below(3) as usize].clone();
        let mut shape = schema(&name, key);
        for number in 0..self.random.below(3) {
            self.add_index(&mut shape, number);
        }
        match transaction.create_table(&shape) {
            Ok(schema) => {
                state.insert(name, TableState { schema, rows: Default::default() });
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::AlreadyExists);
                assert!(state.contains_key(&name));
            }
        }
    }

    fn update(
        &mut self,
        transaction: &mut Transaction,
        table: &mut TableState,
        touched: &mut Touched,
    ) {
        let schema = table.schema.clone();
        let chosen = self.some_of(table);
        let there = rows_of(&transaction.snapshot().table(&schema.name).unwrap(), Vec::new());
        let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
        let first_column = u64::from(!self.random.chance(0.15));
        let mut columns = (0..1 + self.random.below(2))
            .map(|_| (first_column + self.random.below(5 - first_column)) as usize)
            .collect::<Vec<_>>();
        columns.sort_unstable();
        columns.dedup();
        let values = (0..chosen.len())
            .map(|_| {
                columns
                    .iter()
                    .map(|&column| match column {
                        0 => Datum::Integer(self.fresh()),
                        _ => {
                            let nullable = schema.columns[column].nullable;
                            random_value(&mut self.random, column, nullable)
                        }
                    })
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<_>>();
        if !self.is_done(transaction.update(&schema, &columns, &ids, &values)) {
            return;
        }
        let mut rows = Vec::new();
        for (first, values) in chosen.into_iter().zip(values) {
            let mut row = table.rows.remove(&first).unwrap();
            columns.iter().zip(values).for_each(|(&column, value)| row[column] = value);
            rows.push((integer(&row[0]), row));
            touched.insert((schema.name.clone(), first));
        }
        table.rows.extend(rows);
    }

    /// A few statements, some of them undone again.
    pub(crate) fn statements(
        &mut self,
        transaction: &mut Transaction,
        state: &mut State,
    ) -> Touched {
        let mut touched = Touched::new();
        for _ in 0..1 + self.random.below(4) {
            if self.random.chance(0.25) {
                let (savepoint, before) = (transaction.savepoint(), state.clone());
                let mut undone = Touched::new();
                for _ in 0..1 + self.random.below(3) {
                    self.statement(transaction, state, &mut undone);
                }
                transaction.restore(savepoint);
                *state = before;
            }
            self.statement(transaction, state, &mut touched);
        }
        touched
    }

    /// One statement of its own on one or few rows; whether it changed anything.
    pub(crate) fn point(&mut self, engine: &Engine, state: &mut State) -> bool {
        let Some(name) = self.table(state) else { return false };
        let table = state.get_mut(&name).unwrap();
        let schema = table.schema.clone();
        let there = table.rows.keys().nth(self.random.below(1 + table.rows.len() as u64) as usize);
        let key = there.map(|first| {
            let row = &table.rows[first];
            (*first, schema.key.iter().map(|&column| row[column].clone()).collect::<Row>())
        });
        let choice = self.random.below(4);
        match key {
            Some((first, key)) if choice > 1 && !key.is_empty() => {
                let value = random_value(&mut self.random, 4, true);
                let changed = engine.change_row(&schema, &key, Durability::Sync, |row| {
                    assert_eq!(row, table.rows[&first]);
                    Ok(match choice {
                        2 => RowChange::Delete,
                        _ => RowChange::Update(vec![(4, value.clone())]),
                    })
                });
                assert_eq!(changed.unwrap(), 1);
                if choice == 2 {
                    table.rows.remove(&first);
                } else {
                    table.rows.get_mut(&first).unwrap()[4] = value;
                }
            }
            Some((first, key)) if choice == 1 && !key.is_empty() => {
                let row = Arc::from(table.rows[&first].clone());
                let error = engine.insert_rows(&schema, vec![row], Durability::Sync).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::UniqueViolation);
                return false;
            }
            _ => {
                let count = 1 + self.random.below(3);
                let rows = self.fresh_rows(table, count);
                let inserted = rows.iter().map(|row| Arc::from(row.clone())).collect();
                engine.insert_rows(&schema, inserted, Durability::Sync).unwrap();
                table.rows.extend(rows.into_iter().map(|row| (integer(&row[0]), row)));
            }
        }
        true
    }
}
