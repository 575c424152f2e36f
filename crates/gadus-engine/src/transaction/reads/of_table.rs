//! What was read of one table.
//!
//! - Look-ups by equal values of the same columns are kept together, so that thousands of them cost a changed row one
//!   look.
//! - Beyond the limits below, all that was looked at counts as read of every row.

use crate::scan::{Comparison, Predicate, Test};
use crate::types::Datum;
use gadus_base::ByteWriter;
use std::collections::{BTreeMap, BTreeSet};

/// Predicates of one table: each is held against each row that was changed.
const PREDICATES_MAX: usize = 256;

/// What predicates and values of keys take: some ten thousand keys.
const BYTES_MAX: usize = 4 << 20;

/// Columns, in order.
pub(super) type Columns = BTreeSet<usize>;

/// The reads of a table.
#[derive(Debug, Default)]
pub(super) struct TableReads {
    /// Of all rows, these columns; none of them where only their number was looked at.
    pub(super) whole: Option<Columns>,
    /// Of rows that pass predicates.
    pub(super) passing: BTreeMap<Vec<u8>, Passing>,
    /// Of rows with some of these values in columns.
    pub(super) keyed: BTreeMap<Keyed, BTreeSet<Vec<Datum>>>,
    bytes: usize,
    is_coarse: bool,
}

/// Predicates, and the columns of rows that pass them.
#[derive(Debug)]
pub(super) struct Passing {
    pub(super) predicates: Vec<Predicate>,
    pub(super) columns: Columns,
}

/// Columns that were compared with values, and those that were looked at then.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Keyed {
    pub(super) key: Vec<usize>,
    pub(super) columns: Columns,
}

impl TableReads {
    /// Notes a read; says whether it is new.
    pub(super) fn add(
        &mut self,
        predicates: &[Predicate],
        columns: impl IntoIterator<Item = usize>,
    ) -> bool {
        let columns = columns.into_iter().collect::<Columns>();
        let tested = predicates.iter().map(|predicate| predicate.column);
        let all = tested.chain(columns.iter().copied()).collect::<Columns>();
        if self.whole.as_ref().is_some_and(|whole| all.is_subset(whole)) {
            return false;
        }
        if predicates.is_empty() || self.is_coarse {
            self.whole.get_or_insert_default().extend(all);
            return true;
        }
        let is_new = match key_of(predicates) {
            Some((key, values)) => {
                let bytes = values.iter().map(|value| size_of::<Datum>() + value.heap_bytes());
                let bytes = bytes.sum::<usize>();
                let is_new = self.keyed.entry(Keyed { key, columns }).or_default().insert(values);
                self.bytes += if is_new { bytes } else { 0 };
                is_new
            }
            None => self.add_passing(predicates, columns),
        };
        if self.passing.len() + self.keyed.len() > PREDICATES_MAX || self.bytes > BYTES_MAX {
            self.coarsen();
        }
        is_new
    }

    fn add_passing(&mut self, predicates: &[Predicate], columns: Columns) -> bool {
        let mut to = ByteWriter::new();
        for Predicate { column, test } in predicates {
            to.u64(*column as u64);
            test.encode(&mut to);
        }
        // No column has this number.
        to.u64(u64::MAX);
        columns.iter().for_each(|column| to.u64(*column as u64));
        let encoded = to.finish();
        if self.passing.contains_key(&encoded) {
            return false;
        }
        self.bytes += 2 * encoded.len();
        self.passing.insert(encoded, Passing { predicates: predicates.to_vec(), columns });
        true
    }

    /// Takes all rows for read.
    fn coarsen(&mut self) {
        let mut whole = self.whole.take().unwrap_or_default();
        for Passing { predicates, columns } in std::mem::take(&mut self.passing).into_values() {
            whole.extend(predicates.iter().map(|predicate| predicate.column));
            whole.extend(columns);
        }
        for Keyed { key, columns } in std::mem::take(&mut self.keyed).into_keys() {
            whole.extend(key);
            whole.extend(columns);
        }
        (self.whole, self.bytes, self.is_coarse) = (Some(whole), 0, true);
    }
}

/// Columns and their values, in the order of the columns, where predicates say nothing else.
fn key_of(predicates: &[Predicate]) -> Option<(Vec<usize>, Vec<Datum>)> {
    let mut key = BTreeMap::new();
    for Predicate { column, test } in predicates {
        let Test::Compare(Comparison::Equal, value) = test else { return None };
        if key.insert(*column, value.clone()).is_some() {
            return None;
        }
    }
    Some(key.into_iter().unzip())
}

#[cfg(test)]
mod tests;
