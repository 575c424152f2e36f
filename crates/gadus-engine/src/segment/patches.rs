//! New values of a column's rows, as one statement gives them: made once, and shared by the transaction that sees
//! them, the commit that logs them, and the versions that show them.

use super::SEGMENT_ROWS_MAX;
use crate::types::Datum;
use std::sync::Arc;

/// An index takes 12 KiB. So many rows from all over a segment take as much in a log, some kibibytes for fewer.
const INDEXED_MIN: usize = 64;

const WORDS: usize = (SEGMENT_ROWS_MAX / 64) as usize;

/// Positions of a segment and a value for each, in order; each position is there once.
#[derive(Debug)]
pub(crate) struct Patches {
    rows: Box<[(u32, Datum)]>,
    index: Option<Box<Index>>,
}

/// Finds a row among many.
#[derive(Debug)]
struct Index {
    /// A bit for each position that has a value.
    words: [u64; WORDS],
    /// How many the words before have.
    before: [u32; WORDS],
}

impl Patches {
    /// Of rows in any order; of those with the same position, the last counts.
    pub(crate) fn new(mut rows: Vec<(u32, Datum)>) -> Arc<Self> {
        if !rows.is_sorted_by(|(one, _), (other, _)| one < other) {
            rows.reverse();
            rows.sort_by_key(|(position, _)| *position);
            rows.dedup_by_key(|(position, _)| *position);
        }
        let fits = rows.last().is_some_and(|(position, _)| *position < SEGMENT_ROWS_MAX);
        let index = (fits && rows.len() >= INDEXED_MIN).then(|| Index::new(&rows));
        Arc::new(Self { rows: rows.into(), index })
    }

    pub(crate) fn rows(&self) -> &[(u32, Datum)] {
        &self.rows
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().map(|(position, _)| *position)
    }

    /// How many rows there are; a segment has fewer than 2³².
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.rows.len()).expect("each position once")
    }

    /// Whether a row is found at once, however many there are.
    pub(crate) fn is_indexed(&self) -> bool {
        self.index.is_some()
    }

    pub(super) fn has(&self, position: u32) -> bool {
        self.place(position).is_some()
    }

    /// Whether all rows of others are among these.
    pub(super) fn covers(&self, others: &Self) -> bool {
        match (&self.index, &others.index) {
            (Some(own), Some(others)) => {
                own.words.iter().zip(&others.words).all(|(own, other)| other & !own == 0)
            }
            _ => others.positions().all(|position| self.has(position)),
        }
    }

    /// The place of a position among the rows.
    pub(super) fn place(&self, position: u32) -> Option<u32> {
        let Some(index) = &self.index else {
            let place = self.rows.binary_search_by_key(&position, |(position, _)| *position);
            return place.ok().and_then(|place| u32::try_from(place).ok());
        };
        let (word, bit) = ((position / 64) as usize, 1_u64 << (position % 64));
        let bits = index.words[word];
        let in_word = || index.before[word] + (bits & (bit - 1)).count_ones();
        (bits & bit != 0).then(in_word)
    }

    /// A bit for each of the 64 positions from `word` × 64 on that has a value.
    pub(super) fn word(&self, word: u32) -> u64 {
        if let Some(index) = &self.index {
            return index.words[word as usize];
        }
        let begin = self.rows.partition_point(|(position, _)| position / 64 < word);
        let of_word = self.positions().skip(begin).take_while(|position| position / 64 == word);
        of_word.fold(0, |bits, position| bits | 1 << (position % 64))
    }
}

impl Index {
    fn new(rows: &[(u32, Datum)]) -> Box<Self> {
        let mut index = Box::new(Self { words: [0; WORDS], before: [0; WORDS] });
        for (position, _) in rows {
            index.words[(position / 64) as usize] |= 1 << (position % 64);
        }
        for word in 1..WORDS {
            index.before[word] = index.before[word - 1] + index.words[word - 1].count_ones();
        }
        index
    }
}

#[cfg(test)]
mod tests;
