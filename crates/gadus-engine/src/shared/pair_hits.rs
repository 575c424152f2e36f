//! Values of two columns that are asked for together, as a segment's packed values.

use super::hits::{Askers, Filter, hash};
use super::index::QuestionIndex;
use crate::encoding::{Body, Column};
use crate::types::Datum;

/// Pairs of packed values in one number: the first below, the second above its bits.
pub(super) struct PairHits {
    filter: Filter,
    /// In order, each once.
    keys: Vec<u64>,
    /// Who asks for each.
    askers: Askers,
}

impl PairHits {
    /// The pairs that a segment may have, and the bits of the first; none where the columns are not
    /// both packed, or are too wide together.
    pub(super) fn of(
        points: &[([Datum; 2], QuestionIndex)],
        one: &Column,
        other: &Column,
    ) -> Option<(Self, u8)> {
        let bits = one.packed()?.width();
        if bits + other.packed()?.width() > 63 {
            return None;
        }
        let key = |([first, second], question): &([Datum; 2], QuestionIndex)| {
            Some((distance_of(one, first)? | distance_of(other, second)? << bits, *question))
        };
        let mut found = points.iter().filter_map(key).collect::<Vec<_>>();
        found.sort_unstable();
        let mut hits = Self { filter: Filter::new(), keys: Vec::new(), askers: Askers::default() };
        for same in found.chunk_by(|(one, _), (other, _)| one == other) {
            hits.filter.add(hash(same[0].0));
            hits.keys.push(same[0].0);
            hits.askers.push(same.iter().map(|(_, question)| *question));
        }
        Some((hits, bits))
    }

    pub(super) fn may_hold(&self, key: u64) -> bool {
        self.filter.may_hold(hash(key))
    }

    /// Who asks for a pair.
    pub(super) fn of_key(&self, key: u64) -> &[QuestionIndex] {
        self.keys.binary_search(&key).map_or(&[], |place| self.askers.of(place))
    }
}

/// A value as a distance from the base of a column's packed values; none where no row has it.
fn distance_of(column: &Column, value: &Datum) -> Option<u64> {
    let packed = column.packed()?;
    let value = match (&column.body, value) {
        (Body::Dictionary { values, .. }, value) => match values.search(0, value) {
            (code, true) => i64::try_from(code).ok()?,
            _ => return None,
        },
        (_, Datum::Integer(value)) => *value,
        _ => return None,
    };
    let distance = u64::try_from(i128::from(value) - i128::from(packed.base())).ok()?;
    Some(distance).filter(|distance| *distance <= packed.distance_max())
}

#[cfg(test)]
mod tests;
