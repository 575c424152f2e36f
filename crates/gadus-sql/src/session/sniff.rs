//! What a CSV file does not say of itself: what separates its values, and whether its first line has names.
//!
//! - Told by the first lines. What separates them into the most values, in each line as many, is it.
//! - The first line has no names where one of its values is a number, a date or a truth value, and so are all below it.

/// Bytes that are looked at.
pub(super) const SAMPLE_BYTES: usize = 256 << 10;
/// Lines that are.
const RECORDS_MAX: usize = 1000;

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) header: bool,
}

/// What a file looks like of which these are the first [`SAMPLE_BYTES`].
pub(super) fn sniffed(sample: &[u8], delimiter: Option<u8>) -> Dialect {
    dialect(sample, sample.len() < SAMPLE_BYTES, delimiter)
}

fn dialect(sample: &[u8], is_whole: bool, delimiter: Option<u8>) -> Dialect {
    let candidates = match &delimiter {
        Some(known) => std::slice::from_ref(known),
        None => &DELIMITERS[..],
    };
    let mut best = (0, candidates[0], Vec::new());
    for &delimiter in candidates {
        let records = records(sample, is_whole, delimiter);
        let width = records.first().map_or(0, Vec::len);
        let is_even = records.iter().all(|record| record.len() == width);
        if width > best.0 && (is_even || candidates.len() == 1) {
            best = (width, delimiter, records);
        }
    }
    let (_, delimiter, records) = best;
    Dialect { delimiter, header: has_names(&records) }
}

/// The first lines' values; of a sample that is cut off, without the last line.
fn records(sample: &[u8], is_whole: bool, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
    let values = |record: csv::ByteRecord| {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        record.iter().map(text).collect::<Vec<_>>()
    };
    let records = reader.from_reader(sample).into_byte_records().map_while(Result::ok).map(values);
    let mut records = records.take(RECORDS_MAX).collect::<Vec<_>>();
    if !is_whole && records.len() < RECORDS_MAX {
        records.pop();
    }
    records
}

fn has_names(records: &[Vec<String>]) -> bool {
    let Some((first, others)) = records.split_first() else { return true };
    if others.is_empty() {
        return true;
    }
    let is_typed = |column: usize| {
        let is_same = |record: &Vec<String>| {
            record.get(column).is_none_or(|value| value.is_empty() || !is_text(value))
        };
        !is_text(&first[column]) && others.iter().all(is_same)
    };
    !(0..first.len()).any(is_typed)
}

/// Whether a value is none of what has a type of its own.
fn is_text(value: &str) -> bool {
    let value = value.trim();
    let is_number = value.parse::<f64>().is_ok()
        && value.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    let is_flag = value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    let is_date = || {
        let date = value.get(..10).is_some_and(|date| {
            date.bytes().enumerate().all(|(place, byte)| match place {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
        });
        date && value[10..].bytes().next().is_none_or(|next| matches!(next, b' ' | b'T'))
    };
    !(is_number || is_flag || is_date())
}

#[cfg(test)]
mod tests;
