//! Evaluating a predicate over a chunk of an encoded column.
//!
//! - Integers are compared as packed distances, without decoding; dictionaries are probed once a
//!   segment, their rows by code; runs once a run.
//! - The result is a mask with a bit for each row of the chunk.

use super::predicate::{Comparison, Test};
use crate::encoding::{Body, Column, Packed, Values, code_index, partition_point, run_of};
use crate::types::Datum;
use std::ops::Range;

/// A bit for each row of a chunk.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    words: Vec<u64>,
    rows: usize,
}

/// A test prepared for one column of one segment.
#[derive(Debug)]
pub(crate) enum Prepared<'a> {
    /// Distances (or codes) within `low ..= low + span`; the opposite when `negated`.
    Span { packed: &'a Packed, low: u64, span: u64, negated: bool },
    /// No row passes, or every row that is not NULL.
    Constant(bool),
    /// A flag for each dictionary code.
    Codes { codes: &'a Packed, flags: Vec<bool> },
    /// A flag for each run.
    Runs { ends: &'a Packed, flags: Vec<bool> },
    /// Each value is looked at.
    Each { values: &'a Values, test: &'a Test },
}

impl Mask {
    pub(crate) fn all(rows: usize) -> Self {
        let mut words = vec![u64::MAX; rows.div_ceil(64)];
        if let Some(last) = words.last_mut()
            && !rows.is_multiple_of(64)
        {
            *last = (1 << (rows % 64)) - 1;
        }
        Self { words, rows }
    }

    fn none(rows: usize) -> Self {
        Self { words: vec![0; rows.div_ceil(64)], rows }
    }

    fn from_flags(rows: usize, fill: impl FnOnce(&mut dyn FnMut(bool))) -> Self {
        let mut mask = Self::none(rows);
        let mut row = 0;
        fill(&mut |flag| {
            mask.words[row / 64] |= u64::from(flag) << (row % 64);
            row += 1;
        });
        mask
    }

    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub(crate) fn is_all(&self) -> bool {
        self.count() == self.rows
    }

    pub(crate) fn and(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Clears bits of the 64 rows beginning at `word` × 64.
    pub(crate) fn clear_word(&mut self, word: usize, bits: u64) {
        if let Some(slot) = self.words.get_mut(word) {
            *slot &= !bits;
        }
    }

    pub(crate) fn set(&mut self, row: usize, flag: bool) {
        let bit = 1_u64 << (row % 64);
        let word = &mut self.words[row / 64];
        *word = if flag { *word | bit } else { *word & !bit };
    }

    /// The rows whose bit is set, each shifted by `first`.
    pub(crate) fn positions(&self, first: u32) -> Vec<u32> {
        let mut positions = Vec::with_capacity(self.count());
        for (index, &word) in self.words.iter().enumerate() {
            let base = first + u32::try_from(index * 64).expect("a chunk is small");
            let mut rest = word;
            while rest != 0 {
                positions.push(base + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        positions
    }
}

impl<'a> Prepared<'a> {
    /// Prepares a test for a column; null tests are answered from validity alone.
    pub(crate) fn new(column: &'a Column, test: &'a Test) -> Self {
        if matches!(test, Test::IsNull | Test::IsNotNull) {
            return Self::Constant(true);
        }
        match &column.body {
            Body::Plain(Values::Integer(packed)) => match test {
                Test::Compare(comparison, Datum::Integer(value)) => {
                    span_of(packed, *comparison, *value)
                }
                Test::Between(Datum::Integer(low), Datum::Integer(high)) => {
                    span_between(packed, *low, *high)
                }
                _ => Self::Each { values: plain(&column.body), test },
            },
            Body::Plain(values) => Self::Each { values, test },
            Body::Dictionary { values, codes } => match code_range(values, test) {
                Some((range, negated)) => span_of_codes(codes, range, negated),
                None => Self::Codes { codes, flags: flags_of(values, test) },
            },
            Body::Runs { ends, values } => Self::Runs { ends, flags: flags_of(values, test) },
        }
    }

    /// Which rows of `first .. first + count` pass; NULLs are left to the caller.
    pub(crate) fn evaluate(&self, first: usize, count: usize) -> Mask {
        match self {
            Self::Constant(true) => Mask::all(count),
            Self::Constant(false) => Mask::none(count),
            Self::Span { packed, low, span, negated } => {
                let mut mask = Mask::none(count);
                packed.within_distances(first, count, (*low, *span), &mut mask.words);
                if *negated {
                    let all = Mask::all(count);
                    mask.words.iter_mut().zip(&all.words).for_each(|(word, all)| *word ^= all);
                }
                mask
            }
            Self::Codes { codes, flags } => {
                let mut mask = Mask::none(count);
                let (mut row, words) = (0, &mut mask.words);
                codes.for_each(first, count, |code| {
                    words[row >> 6] |= u64::from(flags[code_index(code)]) << (row & 63);
                    row += 1;
                });
                mask
            }
            Self::Runs { ends, flags } => Mask::from_flags(count, |push| {
                let mut run = run_of(ends, first);
                let mut row = first;
                while row < first + count {
                    let end = code_index(ends.get(run)).min(first + count);
                    (row..end).for_each(|_| push(flags[run]));
                    row = end;
                    run += 1;
                }
            }),
            Self::Each { values, test } => Mask::from_flags(count, |push| {
                each_value(values, test, first, count, push);
            }),
        }
    }
}

fn plain(body: &Body) -> &Values {
    match body {
        Body::Plain(values) => values,
        _ => unreachable!("asked of plain bodies only"),
    }
}

fn flags_of(values: &Values, test: &Test) -> Vec<bool> {
    let mut flags = Vec::with_capacity(values.count());
    each_value(values, test, 0, values.count(), &mut |flag| flags.push(flag));
    flags
}

fn each_value(
    values: &Values,
    test: &Test,
    first: usize,
    count: usize,
    push: &mut dyn FnMut(bool),
) {
    match (values, test) {
        (Values::Bytes(values), Test::Compare(comparison, Datum::Bytes(constant))) => {
            let data = values.data().as_slice();
            values.for_each_span(first, count, |start, length| {
                push(comparison.holds(data[start..start + length].cmp(constant)));
            });
        }
        (Values::Bytes(values), Test::StartsWith(prefix)) => {
            let data = values.data().as_slice();
            values.for_each_span(first, count, |start, length| {
                push(data[start..start + length].starts_with(prefix));
            });
        }
        (Values::Float(values), Test::Compare(comparison, Datum::Float(constant))) => {
            for value in &values[first..first + count] {
                push(comparison.holds(crate::types::compare_floats(*value, *constant)));
            }
        }
        _ => (first..first + count).for_each(|index| push(test.passes(&values.datum(index)))),
    }
}

/// The codes of a sorted dictionary that pass, where they are a range; or that fail, where the
/// second part says so.
fn code_range(values: &Values, test: &Test) -> Option<(Range<usize>, bool)> {
    let count = values.count();
    match test {
        Test::Compare(comparison, constant) => {
            let equal = values.equal_range(0..count, constant);
            Some(match comparison {
                Comparison::Equal => (equal, false),
                Comparison::NotEqual => (equal, true),
                Comparison::Less => (0..equal.start, false),
                Comparison::LessOrEqual => (0..equal.end, false),
                Comparison::Greater => (equal.end..count, false),
                Comparison::GreaterOrEqual => (equal.start..count, false),
            })
        }
        Test::Between(low, high) => {
            let lower = values.equal_range(0..count, low).start;
            Some((lower..values.equal_range(lower..count, high).end, false))
        }
        Test::StartsWith(prefix) => {
            let Values::Bytes(values) = values else { return None };
            let lower = partition_point(0..count, |index| values.get(index) < prefix.as_slice());
            let upper =
                partition_point(lower..count, |index| values.get(index).starts_with(prefix));
            Some((lower..upper, false))
        }
        _ => None,
    }
}

fn span_of_codes(codes: &Packed, range: Range<usize>, negated: bool) -> Prepared<'_> {
    let code = |index: usize| i64::try_from(index).expect("a dictionary fits memory");
    let base = codes.base();
    // Codes below the base do not occur.
    let (low, end) = (code(range.start).max(base), code(range.end));
    if low >= end {
        return Prepared::Constant(negated);
    }
    let distance = |code: i64| (code - base).cast_unsigned();
    Prepared::Span {
        packed: codes,
        low: distance(low),
        span: distance(end - 1) - distance(low),
        negated,
    }
}

/// A comparison as a span of distances from the packed base.
fn span_of(packed: &Packed, comparison: Comparison, value: i64) -> Prepared<'_> {
    let value = i128::from(value);
    let (low, high, negated) = match comparison {
        Comparison::Equal => (value, value, false),
        Comparison::NotEqual => (value, value, true),
        Comparison::Less => (i128::MIN, value - 1, false),
        Comparison::LessOrEqual => (i128::MIN, value, false),
        Comparison::Greater => (value + 1, i128::MAX, false),
        Comparison::GreaterOrEqual => (value, i128::MAX, false),
    };
    clamped(packed, low, high, negated)
}

fn span_between(packed: &Packed, low: i64, high: i64) -> Prepared<'_> {
    clamped(packed, low.into(), high.into(), false)
}

/// Values from `low` to `high`, as far as the packed form can hold them.
fn clamped(packed: &Packed, low: i128, high: i128, negated: bool) -> Prepared<'_> {
    let base = i128::from(packed.base());
    let limit = i128::from(u64::MAX.checked_shr(64 - u32::from(packed.width())).unwrap_or(0));
    let low = low.max(base) - base;
    let high = high.min(base + limit) - base;
    if low > high {
        return Prepared::Constant(negated);
    }
    let narrow = |value: i128| u64::try_from(value).expect("clamped to the packed width");
    Prepared::Span { packed, low: narrow(low), span: narrow(high - low), negated }
}
