//! The index of a batch: for each kind of key a filter and a table of what has such a key.
//!
//! - Statements with the same shape and constants are found once.
//! - A filter lets few rows pass, so that most are through with one look; what passes it is looked up by
//!   its hash, and every conjunct is tested then.

use std::collections::HashMap;

use super::pass::Total;
use super::shapes::{ASKED, CONJUNCTS_MAX, Constants, KEYS, Shape};
use super::table::{Column, Table};
use crate::generate::statements::Statements;

/// A filter of few keys has a byte for each of 2^14 hashes, which stay in the nearest cache together with
/// a chunk of rows, and take 0.4 ns to look at where a bit takes 0.7; one of many keys has a bit for each
/// of 2^20, since else too many rows would pass.
pub(super) const BYTES: u32 = 14;
pub(super) const BITS: u32 = 20;
const KEYS_OF_BYTES_MAX: usize = 1 << (BYTES - 4);

/// An odd number whose bits are well mixed: 2^32 by the golden ratio.
const MULTIPLIER: u32 = 0x9E37_79B1;

/// Statements by their keys.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) probes: Vec<Probe>,
    /// How many are distinct, and which each is.
    pub(super) distinct: usize,
    places: Vec<u32>,
}

/// The statements with one kind of key.
#[derive(Debug)]
pub(super) struct Probe {
    /// Which of the kinds.
    pub(super) key: usize,
    pub(super) filter: Filter,
    /// Open addressing by the hash's highest bits; less than half full.
    slots: Vec<Slot>,
    slots_shift: u32,
    /// By their hashes.
    entries: Vec<Entry>,
}

/// Which of the highest bits of hashes occur.
#[derive(Debug)]
pub(super) enum Filter {
    Bytes(Box<[u8; 1 << BYTES]>),
    Bits(Box<[u64; 1 << (BITS - 6)]>),
}

/// The entries of a hash; none where it ends at zero.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u32,
    begin: u32,
    end: u32,
}

/// A statement under one of its keys.
#[derive(Debug)]
struct Entry {
    hash: u32,
    /// Which of the distinct ones.
    statement: u32,
    shape: u8,
    /// Of the key's parts, then of the rest.
    bounds: [(i64, i64); CONJUNCTS_MAX],
}

/// The hash of a key's first part, and of one more.
pub(super) fn first_hash(value: u32) -> u32 {
    value.wrapping_mul(MULTIPLIER)
}

pub(super) fn next_hash(hash: u32, value: u32) -> u32 {
    (hash ^ value).wrapping_mul(MULTIPLIER)
}

impl Index {
    /// Of the statements from `first` on, `count` of them.
    pub(super) fn of(
        statements: &Statements<'_>,
        constants: &[Constants],
        first: usize,
        count: usize,
    ) -> Self {
        let mut known = HashMap::with_capacity(count);
        let mut entries: [Vec<Entry>; KEYS.len()] = Default::default();
        let mut places = Vec::with_capacity(count);
        for place in first..first + count {
            let (shape, row) = statements.drawn(place);
            let next = u32::try_from(known.len()).expect("statements are limited");
            let statement = *known.entry((shape, row)).or_insert(next);
            places.push(statement);
            if statement == next {
                enter(&mut entries[ASKED[shape].key], shape, &constants[row], statement);
            }
        }
        let probes = entries.into_iter().enumerate().filter(|(_, entries)| !entries.is_empty());
        let probes = probes.map(|(key, entries)| Probe::of(key, entries)).collect();
        Self { probes, distinct: known.len(), places }
    }

    /// What was found for each statement of the batch.
    pub(super) fn of_each(&self, distinct: &[Total]) -> Vec<Total> {
        self.places.iter().map(|&place| distinct[place as usize]).collect()
    }
}

/// Enters a statement at each of its keys.
fn enter(entries: &mut Vec<Entry>, shape: usize, constants: &Constants, statement: u32) {
    let asked = &ASKED[shape];
    let number = u8::try_from(shape).expect("a few shapes");
    for spans in asked.spans {
        let rest = asked.rest.iter().map(|(_, span)| *span);
        let mut bounds = [(0, 0); CONJUNCTS_MAX];
        for (place, span) in bounds.iter_mut().zip(spans.iter().copied().chain(rest)) {
            *place = constants.bounds(span);
        }
        each_hash(asked, &bounds, 0, None, &mut |hash| {
            entries.push(Entry { hash, statement, shape: number, bounds });
        });
    }
}

/// The hashes of the keys that lie within bounds.
fn each_hash(
    shape: &Shape,
    bounds: &[(i64, i64); CONJUNCTS_MAX],
    part: usize,
    before: Option<u32>,
    found: &mut impl FnMut(u32),
) {
    let Some(of_key) = KEYS[shape.key].get(part) else {
        return before.into_iter().for_each(found);
    };
    let (low, high) = bounds[part];
    for value in low >> of_key.shift..=high >> of_key.shift {
        let value = low_bits(value);
        let hash = before.map_or_else(|| first_hash(value), |hash| next_hash(hash, value));
        each_hash(shape, bounds, part + 1, Some(hash), found);
    }
}

/// What of a number enters a hash.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of any number the same bits
pub(super) fn low_bits(value: i64) -> u32 {
    value as u32
}

impl Probe {
    fn of(key: usize, mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable_by_key(|entry| (entry.hash, entry.statement));
        let groups = entries.chunk_by(|one, other| one.hash == other.hash);
        let sizes = groups.map(|group| (group[0].hash, group.len())).collect::<Vec<_>>();
        let filter = Filter::of(sizes.iter().map(|(hash, _)| *hash), sizes.len());
        let count = (2 * sizes.len()).next_power_of_two().max(2);
        let mut probe = Self {
            key,
            filter,
            slots: vec![Slot::default(); count],
            slots_shift: u32::BITS - count.trailing_zeros(),
            entries,
        };
        let mut begin = 0;
        for (hash, size) in sizes {
            let end = begin + u32::try_from(size).expect("statements are limited");
            let free = probe.places(hash).find(|&place| probe.slots[place].end == 0);
            probe.slots[free.expect("half of all are free")] = Slot { hash, begin, end };
            begin = end;
        }
        probe
    }

    /// Where a hash may be, in the order in which it is looked for.
    fn places(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let (first, mask) = ((hash >> self.slots_shift) as usize, self.slots.len() - 1);
        (0..=mask).map(move |further| (first + further) & mask)
    }

    /// Adds a row to each statement that it fulfils.
    pub(super) fn add(&self, table: &Table, row: usize, hash: u32, totals: &mut [Total]) {
        for place in self.places(hash) {
            let slot = self.slots[place];
            if slot.end == 0 {
                return;
            }
            if slot.hash != hash {
                continue;
            }
            for entry in &self.entries[slot.begin as usize..slot.end as usize] {
                let shape = &ASKED[usize::from(entry.shape)];
                if entry.holds(shape, table, row) {
                    let total = &mut totals[entry.statement as usize];
                    total.count += 1;
                    total.sum += shape.sum.map_or(0, |column| table.value(column, row));
                }
            }
            return;
        }
    }
}

impl Entry {
    fn holds(&self, shape: &Shape, table: &Table, row: usize) -> bool {
        let key = KEYS[shape.key];
        let within = |column: Column, (low, high): (i64, i64)| {
            let value = table.value(column, row);
            low <= value && value <= high
        };
        let mut parts = key.iter().zip(&self.bounds);
        let mut rest = shape.rest.iter().zip(&self.bounds[key.len()..]);
        parts.all(|(part, bounds)| within(part.column, *bounds))
            && rest.all(|((column, _), bounds)| within(*column, *bounds))
    }
}

impl Filter {
    pub(super) fn of(hashes: impl Iterator<Item = u32>, keys: usize) -> Self {
        if keys <= KEYS_OF_BYTES_MAX {
            let mut bytes = Box::new([0; 1 << BYTES]);
            hashes.for_each(|hash| bytes[(hash >> (u32::BITS - BYTES)) as usize] = 1);
            return Self::Bytes(bytes);
        }
        let mut words = Box::new([0; 1 << (BITS - 6)]);
        for hash in hashes {
            let bit = hash >> (u32::BITS - BITS);
            words[(bit >> 6) as usize] |= 1 << (bit & 63);
        }
        Self::Bits(words)
    }
}
