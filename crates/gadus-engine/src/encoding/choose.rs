//! Encoding a column: statistics first, then the smallest form that scans well.
//!
//! - Plain integers are a frame of reference; a dictionary must save a quarter, runs a half, because
//!   both cost the scan an indirection.
//! - The input's NULL slots may hold anything: they are filled with a value of the column first, so
//!   that they never widen it.

use super::VERSION;
use super::distinct::{Distinct, find, hash_bytes, hash_integer};
use super::packed::Packed;
use super::values::{PlainValues, Values};
use crate::segment::Sketch;
use crate::types::{Datum, StorageClass, compare_floats};
use arrow::buffer::BooleanBuffer;
use gadus_base::ByteWriter;
use std::cmp::Ordering;
use std::sync::Arc;

/// Longest prefix of a byte string that a sketch keeps.
const SKETCH_BYTES_MAX: usize = 32;

/// Most dictionary entries: codes of 14 bits; beyond, plain values are about as small.
const DICTIONARY_ENTRIES_MAX: usize = 16 << 10;

/// A column blob with what pruning and planning need to know of it.
#[derive(Debug)]
pub(crate) struct EncodedColumn {
    pub(crate) blob: Vec<u8>,
    pub(crate) sketch: Sketch,
}

/// Encodes plain values; `validity` has a bit for each row.
pub(crate) fn encode(values: &mut OwnedValues, validity: Option<&BooleanBuffer>) -> EncodedColumn {
    let rows = values.len();
    let nulls = validity.map_or(0, |valid| rows - valid.count_set_bits());
    if let Some(valid) = validity {
        values.fill_nulls(valid);
    }
    let mut to = ByteWriter::new();
    to.u8(VERSION);
    to.u8(values.class() as u8);
    to.u8(0);
    to.u8(u8::from(nulls > 0));
    to.u32(u32::try_from(rows).expect("a segment has fewer than 2^32 rows"));
    to.u32(u32::try_from(nulls).expect("no more than the rows"));
    to.u32(0);
    if let Some(valid) = validity.filter(|_| nulls > 0) {
        to.raw(valid.sliced().as_slice().get(..rows.div_ceil(8)).expect("a bit for each row"));
        to.pad_to(8);
    }
    let (encoding, min, max, distinct) = match values {
        OwnedValues::Integer(values) => encode_integers(&mut to, values),
        OwnedValues::Wide(values) => encode_wides(&mut to, values),
        OwnedValues::Float(values) => encode_floats(&mut to, values),
        OwnedValues::Bytes { .. } => encode_bytes(&mut to, &values.byte_slices()),
    };
    let mut blob = to.finish();
    blob[2] = encoding;
    let range = if nulls == rows { None } else { min.zip(max) };
    EncodedColumn {
        blob,
        sketch: Sketch {
            nulls: u32::try_from(nulls).expect("no more than the rows"),
            distinct: u32::try_from(distinct).unwrap_or(u32::MAX),
            range,
        },
    }
}

const PLAIN: u8 = 0;
const DICTIONARY: u8 = 1;
const RUNS: u8 = 2;

type Chosen = (u8, Option<Datum>, Option<Datum>, usize);

/// Values about to be encoded, owned.
#[derive(Debug)]
pub(crate) enum OwnedValues {
    Integer(Vec<i64>),
    Wide(Vec<i128>),
    Float(Vec<f64>),
    /// Concatenated data and the exclusive end of each value.
    Bytes {
        data: Vec<u8>,
        ends: Vec<u32>,
    },
}

impl OwnedValues {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Wide(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Bytes { ends, .. } => ends.len(),
        }
    }

    fn class(&self) -> StorageClass {
        match self {
            Self::Integer(_) => StorageClass::Integer,
            Self::Wide(_) => StorageClass::Wide,
            Self::Float(_) => StorageClass::Float,
            Self::Bytes { .. } => StorageClass::Bytes,
        }
    }

    fn byte_slices(&self) -> Vec<&[u8]> {
        let Self::Bytes { data, ends } = self else { return Vec::new() };
        let mut start = 0;
        ends.iter()
            .map(|&end| {
                let slice = &data[start as usize..end as usize];
                start = end;
                slice
            })
            .collect()
    }

    /// Gives NULL slots the first value that is there; byte strings hold nothing in them already.
    fn fill_nulls(&mut self, valid: &BooleanBuffer) {
        fn fill<T: Copy + Default>(values: &mut [T], valid: &BooleanBuffer) {
            let filler = valid.set_indices().next().map_or_else(T::default, |row| values[row]);
            for (row, value) in values.iter_mut().enumerate() {
                if !valid.value(row) {
                    *value = filler;
                }
            }
        }
        match self {
            Self::Integer(values) => fill(values, valid),
            Self::Wide(values) => fill(values, valid),
            Self::Float(values) => fill(values, valid),
            Self::Bytes { .. } => {}
        }
    }
}

fn encode_integers(to: &mut ByteWriter, values: &[i64]) -> Chosen {
    let min = values.iter().copied().min().unwrap_or(0);
    let max = values.iter().copied().max().unwrap_or(0);
    let runs = count_runs(values.len(), |left, right| values[left] == values[right]);
    let plain_bytes = Packed::bytes_for(values.len(), min, max);
    let rows_i64 = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let runs_bytes = Packed::bytes_for(runs, min, max) + Packed::bytes_for(runs, 0, rows_i64);
    let bounds = (Some(Datum::Integer(min)), Some(Datum::Integer(max)));
    if runs_bytes * 2 < plain_bytes {
        let (ends, firsts) = runs_of(values.len(), |left, right| values[left] == values[right]);
        Packed::write_slice(to, &ends);
        let values = firsts.iter().map(|&row| values[row]).collect::<Vec<_>>();
        Values::write(to, &PlainValues::Integer(&values));
        return (RUNS, bounds.0, bounds.1, runs);
    }
    // A dictionary cannot save a quarter where plain values take a few bits each.
    if plain_bytes > values.len()
        && let Some(distinct) = find(
            values.len(),
            DICTIONARY_ENTRIES_MAX,
            |row| hash_integer(values[row].cast_unsigned()),
            |left, right| values[left] == values[right],
        )
    {
        let count = distinct.first_rows.len();
        let code_max = i64::try_from(count).unwrap_or(i64::MAX) - 1;
        let bytes =
            Packed::bytes_for(count, min, max) + Packed::bytes_for(values.len(), 0, code_max);
        if bytes * 4 < plain_bytes * 3 {
            let (order, codes) = sorted(&distinct, |left, right| values[left].cmp(&values[right]));
            let entries = order.iter().map(|&row| values[row]).collect::<Vec<_>>();
            Values::write(to, &PlainValues::Integer(&entries));
            Packed::write(to, codes.iter().copied(), 0, code_max);
            return (DICTIONARY, bounds.0, bounds.1, count);
        }
        Values::write(to, &PlainValues::Integer(values));
        return (PLAIN, bounds.0, bounds.1, count);
    }
    Values::write(to, &PlainValues::Integer(values));
    (PLAIN, bounds.0, bounds.1, values.len())
}

fn encode_wides(to: &mut ByteWriter, values: &[i128]) -> Chosen {
    Values::write(to, &PlainValues::Wide(values));
    let min = values.iter().min().map(|&value| Datum::Wide(Box::new(value)));
    let max = values.iter().max().map(|&value| Datum::Wide(Box::new(value)));
    (PLAIN, min, max, values.len())
}

fn encode_floats(to: &mut ByteWriter, values: &[f64]) -> Chosen {
    let min = values.iter().copied().min_by(|left, right| compare_floats(*left, *right));
    let max = values.iter().copied().max_by(|left, right| compare_floats(*left, *right));
    let (min, max) = (min.map(Datum::Float), max.map(Datum::Float));
    // Bits, not values, are compared: -0 and every NaN come back as they were.
    let bits = |row: usize| values[row].to_bits();
    let count_max = (values.len() / 4).min(DICTIONARY_ENTRIES_MAX);
    if let Some(distinct) = find(
        values.len(),
        count_max,
        |row| hash_integer(bits(row)),
        |left, right| bits(left) == bits(right),
    ) {
        let (order, codes) = sorted(&distinct, |left, right| {
            compare_floats(values[left], values[right]).then(bits(left).cmp(&bits(right)))
        });
        let entries = order.iter().map(|&row| values[row]).collect::<Vec<_>>();
        Values::write(to, &PlainValues::Float(&entries));
        Packed::write_slice(to, &codes);
        return (DICTIONARY, min, max, order.len());
    }
    Values::write(to, &PlainValues::Float(values));
    (PLAIN, min, max, values.len())
}

fn encode_bytes(to: &mut ByteWriter, values: &[&[u8]]) -> Chosen {
    let plain_bytes = values.iter().map(|value| value.len()).sum::<usize>() + values.len();
    let found = find(
        values.len(),
        DICTIONARY_ENTRIES_MAX,
        |row| hash_bytes(values[row]),
        |left, right| values[left] == values[right],
    );
    if let Some(distinct) = found {
        let (order, codes) = sorted(&distinct, |left, right| values[left].cmp(values[right]));
        let entries = order.iter().map(|&row| values[row]).collect::<Vec<_>>();
        let code_max = i64::try_from(order.len()).unwrap_or(i64::MAX) - 1;
        let entries_bytes = entries.iter().map(|value| value.len() + 1).sum::<usize>();
        let bytes = entries_bytes + Packed::bytes_for(values.len(), 0, code_max);
        let min = entries.first().map(|value| lower_bound(value));
        let max = entries.last().and_then(|value| upper_bound(value));
        if bytes * 4 < plain_bytes * 3 {
            Values::write(to, &PlainValues::Bytes(entries));
            Packed::write(to, codes.iter().copied(), 0, code_max.max(0));
            return (DICTIONARY, min, max, order.len());
        }
        Values::write(to, &PlainValues::Bytes(values.to_vec()));
        return (PLAIN, min, max, order.len());
    }
    Values::write(to, &PlainValues::Bytes(values.to_vec()));
    let min = values.iter().min().map(|value| lower_bound(value));
    let max = values.iter().max().and_then(|value| upper_bound(value));
    (PLAIN, min, max, values.len())
}

/// A value not above `bytes`, short enough for a sketch.
fn lower_bound(bytes: &[u8]) -> Datum {
    Datum::Bytes(Arc::from(&bytes[..bytes.len().min(SKETCH_BYTES_MAX)]))
}

/// A value not below `bytes`, short enough for a sketch, if there is one.
fn upper_bound(bytes: &[u8]) -> Option<Datum> {
    if bytes.len() <= SKETCH_BYTES_MAX {
        return Some(Datum::Bytes(Arc::from(bytes)));
    }
    let mut bound = bytes[..SKETCH_BYTES_MAX].to_vec();
    while let Some(last) = bound.pop() {
        if last < u8::MAX {
            bound.push(last + 1);
            return Some(Datum::Bytes(Arc::from(bound)));
        }
    }
    None
}

/// Rows of the distinct values in order, and the code of every row in that order.
fn sorted(
    distinct: &Distinct,
    compare: impl Fn(usize, usize) -> Ordering,
) -> (Vec<usize>, Vec<i64>) {
    let mut order = (0..distinct.first_rows.len()).collect::<Vec<_>>();
    let row = |index: usize| distinct.first_rows[index] as usize;
    order.sort_unstable_by(|&left, &right| compare(row(left), row(right)));
    let mut ranks = vec![0_i64; order.len()];
    for (rank, &index) in order.iter().enumerate() {
        ranks[index] = i64::try_from(rank).expect("a dictionary fits memory");
    }
    let codes = distinct.codes.iter().map(|&code| ranks[code as usize]).collect();
    (order.into_iter().map(row).collect(), codes)
}

fn count_runs(rows: usize, equal: impl Fn(usize, usize) -> bool) -> usize {
    usize::from(rows > 0) + (1..rows).filter(|&row| !equal(row - 1, row)).count()
}

/// The exclusive end and the first row of each run.
fn runs_of(rows: usize, equal: impl Fn(usize, usize) -> bool) -> (Vec<i64>, Vec<usize>) {
    let mut firsts = vec![0];
    firsts.extend((1..rows).filter(|&row| !equal(row - 1, row)));
    let ends = firsts[1..].iter().chain(std::iter::once(&rows));
    let ends = ends.map(|&end| i64::try_from(end).expect("rows fit")).collect();
    (ends, firsts)
}
