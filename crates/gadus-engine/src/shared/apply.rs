//! Modifications whose rows a pass has found, in one transaction.
//!
//! - In the order of their arrival; each sees what those before it have done, as if it had scanned the
//!   table itself at that moment. To that end rows that were changed since the pass's snapshot, by
//!   predecessors or by anybody else, are looked up among the modifications as a pass does, and tested
//!   anew; all others are as the pass found them.
//! - One that fails has changed nothing, and the others go on. Somebody else's lock fails it: whoever
//!   asked then waits for that lock by himself.

use super::index::{BatchIndex, QuestionIndex};
use super::modify::{Fate, Modification, NewValues};
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::Table;
use crate::transaction::Transaction;
use crate::types::{Datum, TableSchema};
use gadus_base::RowId;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Rows that were changed since a pass's snapshot: with more, its modifications are to be made anew.
const CHANGED_MAX: usize = 1 << 20;

/// A modification and the rows that were found for it.
#[derive(Debug)]
pub struct FoundModification {
    /// What is to be done, and to which rows.
    pub modification: Modification,
    /// Those that passed its predicates.
    pub rows: Result<Vec<RowId>>,
}

/// Rows that are not as a pass saw them.
struct ChangedRows {
    schema: Arc<TableSchema>,
    /// The modifications by predicate.
    index: BatchIndex,
    rows: HashSet<RowId>,
    /// For each modification such of them as it may have to do with.
    candidates: Vec<BTreeSet<RowId>>,
}

impl ChangedRows {
    /// Those that others have changed between the pass's snapshot and the transaction's.
    fn since(
        found_in: &Table,
        transaction: &Transaction,
        all: &[FoundModification],
    ) -> Result<Self> {
        let question = |one: &FoundModification| one.modification.question().simplified();
        let questions = all.iter().map(question).collect::<Vec<_>>();
        let mut changed = Self {
            schema: found_in.schema().clone(),
            index: BatchIndex::build(found_in, &questions)?,
            rows: HashSet::new(),
            candidates: vec![BTreeSet::new(); all.len()],
        };
        let table = transaction.table(&changed.schema)?;
        let (before, now) = (found_in.version(), table.version());
        let mut rows = Vec::new();
        for (id, segment) in &now.segments {
            let old = before.segment(*id);
            if old.is_some_and(|old| Arc::ptr_eq(old, segment)) {
                continue;
            }
            let known = old.map_or(0, |old| old.rows);
            rows.extend(
                segment
                    .changed_since(before.last_changed, known)
                    .map(|position| RowId { segment: *id, position }),
            );
            if rows.len() > CHANGED_MAX {
                let message = "too many rows were changed since the scan; try again";
                return Err(Error::new(ErrorKind::Conflict, message));
            }
        }
        changed.add(&rows, 0, transaction)?;
        // What has changed since a snapshot is known as long as that is kept.
        found_in.checked(Ok(changed))
    }

    /// Notes rows that have changed, as candidates of the modifications from `first` on that look for
    /// what they now are.
    fn add(
        &mut self,
        rows: &[RowId],
        first: QuestionIndex,
        transaction: &Transaction,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let table = transaction.table(&self.schema)?;
        let candidates = &mut self.candidates;
        for &row in rows {
            self.rows.insert(row);
            for column in &self.index.columns {
                // A row that is gone has no value.
                let value = table.values(row, &[column.column])?;
                let Some(value) = value.as_deref().and_then(<[Datum]>::first) else { break };
                column.each_match(value, |question| {
                    if question >= first {
                        candidates[question as usize].insert(row);
                    }
                });
            }
        }
        Ok(())
    }

    /// The rows that pass a modification's predicates now, given those that did when the pass ran.
    fn now_of(
        &self,
        place: QuestionIndex,
        modification: &Modification,
        found: Vec<RowId>,
        transaction: &Transaction,
    ) -> Result<Vec<RowId>> {
        let table = transaction.table(&self.schema)?;
        let mut rows = found;
        // One that is not there any more was deleted, or is elsewhere now: then it is among the changed.
        rows.retain(|row| !self.rows.contains(row) && table.version().live(*row).is_some());
        let is_lone = self.index.lone.contains(&place);
        let all = self.rows.iter().filter(|_| is_lone);
        let candidates = all.chain(&self.candidates[place as usize]).collect::<BTreeSet<_>>();
        if candidates.is_empty() {
            return Ok(rows);
        }
        let columns = modification.predicates.iter().map(|one| one.column).collect::<Vec<_>>();
        for &&row in &candidates {
            let Some(values) = table.values(row, &columns)? else { continue };
            let mut tests = modification.predicates.iter().zip(&values);
            if tests.all(|(predicate, value)| predicate.test.passes(value)) {
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

impl Transaction {
    /// Carries modifications out, in this order, whose rows were found in a table as it was at the
    /// transaction's snapshot or before; returns for each how many rows it has changed. One that fails
    /// has changed nothing.
    ///
    /// # Errors
    /// Where what has changed cannot be read, or is not known any more: the transaction is then to be
    /// given up.
    pub fn modify_found(
        &mut self,
        found_in: &Table,
        all: Vec<FoundModification>,
    ) -> Result<Vec<Result<u64>>> {
        let mut changed = ChangedRows::since(found_in, self, &all)?;
        let mut outcomes = Vec::with_capacity(all.len());
        for (place, FoundModification { modification, rows }) in (0..).zip(all) {
            let modified = rows.and_then(|rows| {
                modification.check(found_in.schema())?;
                let rows = changed.now_of(place, &modification, rows, self)?;
                self.modify(found_in.schema(), &modification.fate, &rows).map(|_| rows)
            });
            // Beyond the one modification: it is done, and those behind it must know what it did.
            let noted = modified.as_ref().map_or(Ok(()), |rows| changed.add(rows, place + 1, self));
            noted?;
            outcomes.push(modified.map(|rows| rows.len() as u64));
        }
        Ok(outcomes)
    }

    /// Gives rows their fate. Where that fails, nothing has changed.
    pub fn modify(&mut self, schema: &TableSchema, fate: &Fate, rows: &[RowId]) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let NewValues { columns, reads, make } = match fate {
            Fate::Deleted => return self.delete(schema, rows),
            Fate::Changed(values) => values,
        };
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        self.table_to_write(schema)?.each_values(rows, reads, |row, old| {
            let old = old.ok_or_else(|| Error::internal("a row to be changed is gone"))?;
            make(old, &mut values).or_else(|error| {
                // Nothing is changed, and the error may tell of the row.
                self.table(schema)?.values(row, reads).and(Err(error))
            })
        })?;
        if values.len() != rows.len() * columns.len() {
            return Err(Error::internal("a value for each column of each row"));
        }
        let values = values.chunks(columns.len().max(1));
        self.update_each(schema, columns, rows.iter().copied().zip(values))
    }
}
