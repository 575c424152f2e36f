//! Whether reads of a table give the same in two versions.
//!
//! - Of each read, what it gives of the rows that differ is summed up on both sides; what was moved, or changed in
//!   columns that were not looked at, makes no difference. No row is kept, so that memory is bounded by one segment.
//! - A sum is of 128 bits of keyed hashes, with keys that are drawn for each comparison: who writes rows cannot make
//!   two different ones weigh the same.

use super::Place;
use super::difference::{Side, each_difference};
use super::of_table::{Columns, Keyed, Passing, TableReads};
use crate::error::Result;
use crate::scan::{Predicate, may_hold};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::Datum;
use crate::vector::{Rows, Vector};
use crate::version::TableVersion;
use gadus_base::{ByteWriter, CommitNumber};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// A read, and what it gives more on one side than on the other.
struct Compared<'a> {
    rows: Selected<'a>,
    columns: &'a Columns,
    sum: Sum,
}

/// Which rows a read is about.
enum Selected<'a> {
    All,
    Passing(&'a [Predicate]),
    Keyed(&'a [usize], &'a BTreeSet<Vec<Datum>>),
}

/// Rows of one side without those of the other.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    hashes: [u64; 2],
}

impl TableReads {
    /// Whether all reads give in one version what they give in an older one, of that commit.
    pub(super) fn are_same(
        &self,
        (before, since): (&Arc<TableVersion>, CommitNumber),
        after: &Arc<TableVersion>,
        place: Place<'_>,
    ) -> Result<bool> {
        let mut compared = self.compared();
        let keys = [RandomState::new(), RandomState::new()];
        // Nobody reads for the transaction here.
        let table = |version: &Arc<TableVersion>| {
            Table::new(version.clone(), place.blobs.clone(), place.pin.clone(), None)
        };
        let (older, newer) = (table(before), table(after));
        each_difference((before, since), after, |side, segment, positions| {
            let table = if side == Side::Before { &older } else { &newer };
            add_rows(&mut compared, &keys, side, table, segment, positions)
        })?;
        Ok(compared.iter().all(|read| read.sum == Sum::default()))
    }

    fn compared(&self) -> Vec<Compared<'_>> {
        let whole = self.whole.iter().map(|columns| (Selected::All, columns));
        let passing = self
            .passing
            .values()
            .map(|Passing { predicates, columns }| (Selected::Passing(predicates), columns));
        let keyed = self.keyed.iter();
        let keyed =
            keyed.map(|(Keyed { key, columns }, values)| (Selected::Keyed(key, values), columns));
        let all = whole.chain(passing).chain(keyed);
        all.map(|(rows, columns)| Compared { rows, columns, sum: Sum::default() }).collect()
    }
}

/// Adds what reads give of rows of a segment to their sums.
fn add_rows(
    compared: &mut [Compared<'_>],
    keys: &[RandomState; 2],
    side: Side,
    table: &Table,
    segment: &SegmentVersion,
    positions: &[u32],
) -> Result<()> {
    let mut concerned = Vec::with_capacity(compared.len());
    for read in compared {
        if read.rows.may_be_in(table, segment)? {
            concerned.push(read);
        }
    }
    let mut columns: Vec<Option<Vector>> = Vec::new();
    columns.resize_with(table.schema().columns.len(), || None);
    let needed = concerned.iter().flat_map(|read| read.needs()).collect::<Columns>();
    for column in needed {
        let rows = Rows::Positions(positions);
        columns[column] = Some(segment.vector(table.schema(), table.blobs(), column, rows)?);
    }
    for row in 0..positions.len() {
        let value = |column: usize| {
            let vector = columns[column].as_ref();
            vector.expect("read, as a read needs it").datum(row)
        };
        concerned.iter_mut().for_each(|read| read.add(keys, side, value));
    }
    Ok(())
}

impl Selected<'_> {
    /// Whether a segment may have such rows.
    fn may_be_in(&self, table: &Table, segment: &SegmentVersion) -> Result<bool> {
        match self {
            Self::Passing(predicates) => may_hold(table, segment, predicates),
            Self::All | Self::Keyed(..) => Ok(true),
        }
    }
}

impl Compared<'_> {
    /// The columns that it has to look at.
    fn needs(&self) -> impl Iterator<Item = usize> {
        let selecting = match self.rows {
            Selected::All => Vec::new(),
            Selected::Passing(predicates) => predicates.iter().map(|one| one.column).collect(),
            Selected::Keyed(key, _) => key.to_vec(),
        };
        selecting.into_iter().chain(self.columns.iter().copied())
    }

    /// Adds what it gives of a row.
    fn add(&mut self, keys: &[RandomState; 2], side: Side, value: impl Fn(usize) -> Datum) {
        let mut given = ByteWriter::new();
        match self.rows {
            Selected::All => {}
            Selected::Passing(predicates) => {
                if !predicates.iter().all(|one| one.test.passes(&value(one.column))) {
                    return;
                }
            }
            Selected::Keyed(key, wanted) => {
                let values = key.iter().map(|&column| value(column)).collect::<Vec<_>>();
                if !wanted.contains(&values) {
                    return;
                }
                // Which of the keys it is.
                values.iter().for_each(|value| value.encode(&mut given));
            }
        }
        self.columns.iter().for_each(|&column| value(column).encode(&mut given));
        self.sum.add(side, &given.finish(), keys);
    }
}

impl Sum {
    fn add(&mut self, side: Side, given: &[u8], keys: &[RandomState; 2]) {
        let sign: fn(u64, u64) -> u64 = match side {
            Side::Before => u64::wrapping_sub,
            Side::After => u64::wrapping_add,
        };
        self.rows = sign(self.rows, 1);
        for (sum, key) in self.hashes.iter_mut().zip(keys) {
            *sum = sign(*sum, key.hash_one(given));
        }
    }
}
