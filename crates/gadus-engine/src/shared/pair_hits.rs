//! Values of two columns that are asked for together, as a segment's packed values.

use super::hits::Filter;
use super::index::QuestionIndex;
use crate::encoding::{Body, Column, Packed, Values};
use crate::types::Datum;

/// Pairs of packed values in one number: the first below, the second above its bits.
pub(super) struct PairHits {
    filter: Filter,
    /// In order, each once.
    keys: Vec<u64>,
    /// Who asks for each, behind one another.
    questions: Vec<QuestionIndex>,
    /// Where those of each key end.
    ends: Vec<usize>,
}

impl PairHits {
    /// The pairs that a segment may have, and the bits of the first; none where the columns are not
    /// both packed, or are too wide together.
    pub(super) fn of(
        points: &[([Datum; 2], QuestionIndex)],
        one: &Column,
        other: &Column,
    ) -> Option<(Self, u8)> {
        let bits = packed_of(one)?.width();
        if bits + packed_of(other)?.width() > 63 {
            return None;
        }
        let key = |([first, second], question): &([Datum; 2], QuestionIndex)| {
            Some((distance_of(one, first)? | distance_of(other, second)? << bits, *question))
        };
        let mut found = points.iter().filter_map(key).collect::<Vec<_>>();
        found.sort_unstable();
        let (mut filter, mut keys, mut ends) = (Filter::new(), Vec::new(), Vec::new());
        for (count, (key, _)) in (1..).zip(&found) {
            if keys.last() == Some(key) {
                *ends.last_mut().expect("as many as keys") = count;
            } else {
                filter.add(hash(*key));
                keys.push(*key);
                ends.push(count);
            }
        }
        let questions = found.into_iter().map(|(_, question)| question).collect();
        Some((Self { filter, keys, questions, ends }, bits))
    }

    pub(super) fn may_hold(&self, key: u64) -> bool {
        self.filter.may_hold(hash(key))
    }

    /// Who asks for a pair.
    pub(super) fn of_key(&self, key: u64) -> &[QuestionIndex] {
        let Ok(place) = self.keys.binary_search(&key) else { return &[] };
        let first = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.questions[first..self.ends[place]]
    }
}

/// A multiplication whose upper bits depend on all of the key.
fn hash(key: u64) -> u64 {
    (key ^ (key >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The packed values or codes of a column.
pub(super) fn packed_of(column: &Column) -> Option<&Packed> {
    match &column.body {
        Body::Dictionary { codes: packed, .. } | Body::Plain(Values::Integer(packed)) => {
            Some(packed)
        }
        _ => None,
    }
}

/// A value as a distance from the base of a column's packed values; none where no row has it.
fn distance_of(column: &Column, value: &Datum) -> Option<u64> {
    let (packed, value) = match &column.body {
        Body::Dictionary { values, codes } => (codes, code_of(values, value)?),
        Body::Plain(Values::Integer(packed)) => match value {
            Datum::Integer(value) => (packed, *value),
            _ => return None,
        },
        _ => return None,
    };
    let distance = u64::try_from(i128::from(value) - i128::from(packed.base())).ok()?;
    Some(distance).filter(|distance| *distance <= packed.distance_max())
}

/// The place of a value in a dictionary.
fn code_of(values: &Values, value: &Datum) -> Option<i64> {
    let (mut low, mut high) = (0, values.count());
    while low < high {
        let middle = usize::midpoint(low, high);
        match values.compare(middle, value) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return i64::try_from(middle).ok(),
        }
    }
    None
}

#[cfg(test)]
mod tests;
