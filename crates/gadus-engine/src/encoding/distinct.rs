//! Finding the distinct values of a column, up to a limit.
//!
//! - A sample is looked at first: a column whose sample is mostly distinct is given up at once, so
//!   that random data costs little.

use gadus_base::checksum;

/// Values looked at before the whole column is.
const SAMPLE_ROWS: usize = 1_024;

/// The distinct values of a column and the code of each row, in order of first appearance.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// The first row of each distinct value.
    pub(crate) first_rows: Vec<u32>,
    /// For each row the index of its value in `first_rows`.
    pub(crate) codes: Vec<u32>,
}

/// Distinct values among `rows`, unless there are more than `count_max`.
///
/// `hash` and `equal` work on rows, so that one search serves every class of values.
pub(crate) fn find(
    rows: usize,
    count_max: usize,
    hash: impl Fn(usize) -> u64,
    equal: impl Fn(usize, usize) -> bool,
) -> Option<Distinct> {
    if rows > 4 * SAMPLE_ROWS {
        let step = rows / SAMPLE_ROWS;
        let sampled = |index: usize| index * step;
        // A column with count_max or fewer values repeats at least a tenth of such a sample.
        collect(
            SAMPLE_ROWS,
            SAMPLE_ROWS * 9 / 10,
            |index| hash(sampled(index)),
            |left, right| equal(sampled(left), sampled(right)),
        )?;
    }
    collect(rows, count_max, hash, equal)
}

fn collect(
    rows: usize,
    count_max: usize,
    hash: impl Fn(usize) -> u64,
    equal: impl Fn(usize, usize) -> bool,
) -> Option<Distinct> {
    let slots_count = (count_max * 2).next_power_of_two().max(64);
    let mask = slots_count - 1;
    let mut slots = vec![u32::MAX; slots_count];
    let mut first_rows: Vec<u32> = Vec::new();
    let mut codes = Vec::with_capacity(rows);
    for row in 0..rows {
        #[allow(clippy::cast_possible_truncation)] // the low bits choose the slot
        let mut slot = hash(row) as usize & mask;
        let code = loop {
            match slots[slot] {
                u32::MAX => {
                    if first_rows.len() == count_max {
                        return None;
                    }
                    let code = u32::try_from(first_rows.len()).ok()?;
                    slots[slot] = code;
                    first_rows.push(u32::try_from(row).ok()?);
                    break code;
                }
                code if equal(first_rows[code as usize] as usize, row) => break code,
                _ => slot = (slot + 1) & mask,
            }
        };
        codes.push(code);
    }
    Some(Distinct { first_rows, codes })
}

/// A hash of an integer: its product with a large odd constant, folded.
pub(crate) fn hash_integer(value: u64) -> u64 {
    let product = u128::from(value ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    #[allow(clippy::cast_possible_truncation)] // both halves are mixed
    let folded = (product >> 64) as u64 ^ product as u64;
    folded
}

/// A hash of bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    checksum(0, bytes)
}
