//! Values of two columns that are asked for together, as a segment's packed values.

use super::flags::Flags;
use super::hits::{Askers, meet};
use super::index::QuestionIndex;
use crate::encoding::{Body, Column, code_index};
use crate::types::Datum;

/// Two values, and who asks for them together.
pub(super) type PairPoint = ([Datum; 2], QuestionIndex);

/// Pairs of values: each value is looked for in a segment once, however many pairs it is part of.
#[derive(Debug, Default)]
pub(super) struct AskedPairs {
    /// The values of each column, in order, each once.
    values: [Vec<Datum>; 2],
    /// The places of two values, and who asks for them.
    pairs: Vec<([usize; 2], QuestionIndex)>,
}

/// Pairs of packed values in one number: the first below, the second above its bits.
pub(super) struct PairHits {
    flags: Flags,
    /// Each once.
    keys: Vec<u64>,
    /// Who asks for each.
    askers: Askers,
    /// Keys by their places from 1 on, each in the first free slot from its hash's on; 0 is free.
    slots: Vec<u32>,
}

impl AskedPairs {
    pub(super) fn of(points: &[PairPoint]) -> Self {
        let values = [0, 1].map(|side| {
            let values = points.iter().map(|(pair, _): &PairPoint| pair[side].clone());
            let mut values = values.collect::<Vec<_>>();
            values.sort_unstable();
            values.dedup();
            values
        });
        let place = |side: usize, value| values[side].partition_point(|known| known < value);
        let pairs = points
            .iter()
            .map(|([first, second], question)| ([place(0, first), place(1, second)], *question));
        let pairs = pairs.collect();
        Self { values, pairs }
    }
}

impl PairHits {
    /// The pairs that a segment may have, and the bits of the first; none where the columns are not
    /// both packed, or are too wide together.
    pub(super) fn of(asked: &AskedPairs, one: &Column, other: &Column) -> Option<(Self, u8)> {
        let bits = one.packed()?.width();
        if bits + other.packed()?.width() > 63 {
            return None;
        }
        let firsts = distances_of(one, &asked.values[0])?;
        let seconds = distances_of(other, &asked.values[1])?;
        let key = |([first, second], question): &([usize; 2], QuestionIndex)| {
            Some((firsts[*first]? | seconds[*second]? << bits, *question))
        };
        let mut found = asked.pairs.iter().filter_map(key).collect::<Vec<_>>();
        found.sort_unstable();
        let (mut flags, mut keys, mut askers) = (Flags::of_hashes(), Vec::new(), Askers::default());
        for same in found.chunk_by(|(one, _), (other, _)| one == other) {
            flags.add(same[0].0);
            keys.push(same[0].0);
            askers.push(same.iter().map(|(_, question)| *question));
        }
        let slots = vec![0; (2 * keys.len() + 1).next_power_of_two()];
        let mut hits = Self { flags, keys, askers, slots };
        for place in 0..hits.keys.len() {
            let slot = hits.slot(hits.keys[place]);
            hits.slots[slot] = u32::try_from(place + 1).expect("no more than questions");
        }
        Some((hits, bits))
    }

    /// Which pairs may be among them.
    pub(super) fn flags(&self) -> &Flags {
        &self.flags
    }

    /// Who asks for a pair.
    pub(super) fn of_key(&self, key: u64) -> &[QuestionIndex] {
        let place = self.slots[self.slot(key)].checked_sub(1);
        place.map_or(&[], |place| self.askers.of(place as usize))
    }

    /// The slot that a key is in, or that it would be put in.
    fn slot(&self, key: u64) -> usize {
        let (mask, hash) = (self.slots.len() - 1, key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32);
        let mut slot = code_index(hash.cast_signed()) & mask;
        // At least half of the slots are free.
        while let Some(place) = self.slots[slot].checked_sub(1)
            && self.keys[place as usize] != key
        {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Sorted values as distances from the base of a column's packed values; none where no row has one.
fn distances_of(column: &Column, values: &[Datum]) -> Option<Vec<Option<u64>>> {
    let packed = column.packed()?;
    let Body::Dictionary { values: known, .. } = &column.body else {
        let distance = |value: &Datum| match value {
            Datum::Integer(value) => packed.distance_to(*value),
            _ => None,
        };
        return Some(values.iter().map(distance).collect());
    };
    let mut distances = vec![None; values.len()];
    let places = values.iter().enumerate().collect::<Vec<_>>();
    meet(known, 0..known.count(), &places, &|(_, value)| value, &mut |code, (place, _)| {
        let code = i64::try_from(code).expect("a dictionary fits memory");
        distances[*place] = packed.distance_to(code);
    });
    Some(distances)
}

#[cfg(test)]
mod tests;
