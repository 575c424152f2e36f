//! Plain aggregates over rows of a table, group by group.
//!
//! - A group is named by its values in some columns; NULL is a value like others there.
//! - Groups are bounded, and so are the bytes of their long values: a plan that can spill serves those better that
//!   have more.

use super::aggregate::{Aggregate, Aggregated, Partials};
use super::coded::{CodedNames, KnownCodes};
use crate::encoding::hash_bytes;
use crate::error::Result;
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::Datum;
use crate::vector::Rows;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// For fewer rows at a time a table of codes is not worth being made.
const CODED_ROWS_MIN: usize = 128;

/// Rows that were added so far, by group.
#[derive(Debug)]
pub(crate) struct Grouping {
    numbers: HashMap<Box<[u8]>, u32, BuildHasherDefault<KeyHasher>>,
    /// The values that name each group.
    keys: Vec<Box<[Datum]>>,
    /// Bytes of the long values that name groups, which are held twice.
    long_bytes: usize,
    partials: Partials,
    known: KnownCodes,
}

/// Whether all rows found room in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Room {
    Enough,
    TooMany,
}

/// What is grouped by what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Groups<'a> {
    /// Columns whose values name a group.
    pub(crate) by: &'a [usize],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) groups_max: usize,
    /// Bytes of long values at most, names and aggregates together.
    pub(crate) long_bytes_max: usize,
}

/// A group: the values that name it, and the aggregates of its rows.
pub type Group = (Box<[Datum]>, Vec<Aggregated>);

#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(23) ^ hash_bytes(bytes);
    }

    /// Lengths are part of the keys.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Grouping {
    /// No rows yet.
    pub(crate) fn start(table: &Table, aggregates: &[Aggregate]) -> Result<Self> {
        let partials = Partials::of(table, aggregates)?;
        let (numbers, keys, known) = Default::default();
        Ok(Self { numbers, keys, long_bytes: 0, partials, known })
    }

    /// Adds rows of a segment; `groups` is always the same.
    pub(crate) fn add(
        &mut self,
        table: &Table,
        segment: &SegmentVersion,
        groups: Groups<'_>,
        rows: Rows<'_>,
    ) -> Result<Room> {
        let names = match rows.count() < CODED_ROWS_MIN {
            true => None,
            false => CodedNames::open(table, segment, groups.by)?,
        };
        let numbers = match names {
            Some(names) => {
                let mut known = std::mem::take(&mut self.known);
                let find = |values| self.find(values, groups);
                let numbers = names.number(segment.id, rows, &mut known, find);
                self.known = known;
                numbers
            }
            None => self.number(table, segment, groups, rows)?,
        };
        let Some(numbers) = numbers else { return Ok(Room::TooMany) };
        let vector = |column| segment.vector(table.schema(), table.blobs(), column, rows);
        let aggregates = (groups.aggregates, groups.long_bytes_max);
        let room = self.partials.add(aggregates, &numbers, vector)?;
        // The name that was added last may be as long as a value can be.
        Ok(if self.is_too_long(groups) { Room::TooMany } else { room })
    }

    /// Returns true if there is no room for one group more.
    fn is_full(&self, groups: Groups<'_>) -> bool {
        self.keys.len() >= groups.groups_max || self.is_too_long(groups)
    }

    fn is_too_long(&self, groups: Groups<'_>) -> bool {
        self.long_bytes + self.partials.long_bytes() > groups.long_bytes_max
    }

    /// The group of each row, by its values; none where there are too many.
    fn number(
        &mut self,
        table: &Table,
        segment: &SegmentVersion,
        groups: Groups<'_>,
        rows: Rows<'_>,
    ) -> Result<Option<Vec<u32>>> {
        let vector = |&column: &usize| segment.vector(table.schema(), table.blobs(), column, rows);
        let names = groups.by.iter().map(vector).collect::<Result<Vec<_>>>()?;
        let mut numbers = Vec::with_capacity(rows.count());
        let mut key = Vec::new();
        for row in 0..rows.count() {
            key.clear();
            names.iter().for_each(|vector| vector.write_key(row, &mut key));
            let number = match self.numbers.get(&*key) {
                Some(number) => *number,
                None if self.is_full(groups) => return Ok(None),
                None => self.push(&key, names.iter().map(|vector| vector.datum(row)).collect()),
            };
            numbers.push(number);
        }
        Ok(Some(numbers))
    }

    /// The group that values name; none where there are too many.
    fn find(&mut self, values: Box<[Datum]>, groups: Groups<'_>) -> Option<u32> {
        let mut key = Vec::new();
        values.iter().for_each(|value| value.write_key(&mut key));
        match self.numbers.get(&*key) {
            Some(number) => Some(*number),
            None if self.is_full(groups) => None,
            None => Some(self.push(&key, values)),
        }
    }

    /// Adds the groups that another worker has found.
    pub(crate) fn merge(&mut self, other: Self, groups: Groups<'_>) -> Result<Room> {
        let mut keys = other.keys.into_iter().map(Some).collect::<Vec<_>>();
        for (key, from) in other.numbers {
            let to = match self.numbers.get(&*key) {
                Some(number) => *number,
                None if self.is_full(groups) => return Ok(Room::TooMany),
                None => self.push(&key, keys[from as usize].take().unwrap_or_default()),
            };
            self.partials.merge(to, &other.partials, from)?;
        }
        Ok(if self.is_too_long(groups) { Room::TooMany } else { Room::Enough })
    }

    pub(crate) fn finish(self) -> Vec<Group> {
        let groups = self.keys.into_iter().enumerate();
        groups.map(|(number, key)| (key, self.partials.finish(number))).collect()
    }

    /// A group more; its number.
    fn push(&mut self, key: &[u8], values: Box<[Datum]>) -> u32 {
        let number = u32::try_from(self.keys.len()).expect("groups are bounded");
        self.long_bytes += 2 * values.iter().map(Datum::long_bytes).sum::<usize>();
        self.numbers.insert(key.into(), number);
        self.keys.push(values);
        self.partials.push();
        number
    }
}
