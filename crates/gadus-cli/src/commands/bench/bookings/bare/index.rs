//! The index of a batch: for each kind of key a filter and a table of what has such a key.
//!
//! - Statements with the same shape and constants are found once.
//! - A filter has few bits set, so that most rows are through with one bit; what passes it is looked up
//!   by its hash, and every conjunct is tested then.

use std::collections::HashMap;

use super::pass::Total;
use super::shapes::{ASKED, CONJUNCTS_MAX, Constants, KEYS, Shape};
use super::table::Table;
use crate::generate::statements::Statements;

/// Bits of a filter by their number's logarithm: 8 KiB, which stay in the nearest cache together with a
/// chunk of rows; and 128 KiB for many keys. Filters with more than a sixteenth of bits set let too many
/// rows pass.
pub(super) const SMALL_BITS: u32 = 16;
pub(super) const LARGE_BITS: u32 = 20;
const SMALL_KEYS_MAX: usize = 1 << (SMALL_BITS - 4);

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

#[derive(Debug)]
pub(super) enum Filter {
    Small(Box<[u64; 1 << (SMALL_BITS - 6)]>),
    Large(Box<[u64; 1 << (LARGE_BITS - 6)]>),
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
        let parts = KEYS[shape.key].iter().map(|part| part.column);
        let columns = parts.chain(shape.rest.iter().map(|(column, _)| *column));
        let mut conjuncts = columns.zip(&self.bounds);
        conjuncts.all(|(column, &(low, high))| {
            let value = table.value(column, row);
            low <= value && value <= high
        })
    }
}

impl Filter {
    pub(super) fn of(hashes: impl Iterator<Item = u32>, keys: usize) -> Self {
        let set = |words: &mut [u64], bits: u32| {
            for hash in hashes {
                let bit = hash >> (u32::BITS - bits);
                words[(bit >> 6) as usize] |= 1 << (bit & 63);
            }
        };
        if keys <= SMALL_KEYS_MAX {
            let mut words = Box::new([0; 1 << (SMALL_BITS - 6)]);
            set(&mut words[..], SMALL_BITS);
            Self::Small(words)
        } else {
            let mut words = Box::new([0; 1 << (LARGE_BITS - 6)]);
            set(&mut words[..], LARGE_BITS);
            Self::Large(words)
        }
    }
}
