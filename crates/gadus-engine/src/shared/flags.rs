//! Which of many values may be asked for: 65,536 flags, which stay in the first-level cache.
//!
//! - A value's mark says which flags are its own: two of one word. Values of up to sixteen bits have a
//!   flag each, wider ones share one with their neighbours, or with those of a like hash.
//! - Eight values are looked up at a time where the processor can fetch eight words at once ([`wide`]).

#[cfg(target_arch = "x86_64")]
mod wide;

/// Elsewhere values are looked up one by one.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) fn matches(_: &super::Flags, _: &[u64], _: &mut super::Matches) -> (usize, usize) {
        (0, 0)
    }
}

use crate::encoding::code_index;
use crate::scan::CHUNK_ROWS;

/// Bits that tell flags apart.
pub(super) const FLAG_BITS: u8 = 16;

/// Flags of 32 bits in a word: 8 KiB, a quarter of a first-level cache or less.
const WORDS: usize = 1 << (FLAG_BITS - 5);

/// Bits of a mark below those that tell the first flag, and below those that tell the second.
const FIRST: u32 = 16;
const SECOND: u32 = 11;

/// Odd numbers without a pattern: the upper bits of a product depend on all bits of a factor.
const FACTORS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA77];

/// Places in a chunk; eight are written at a time, of which the last may mean nothing.
pub(super) type Matches = [u16; CHUNK_ROWS + 8];

/// Flags, and which of them a value has.
pub(super) struct Flags {
    words: Box<[u32; WORDS]>,
    mark: Mark,
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    /// By a value's bits but so many, which are the lowest.
    Upper {
        shift: u8,
    },
    Hash,
}

impl Flags {
    /// Flags for values of so many bits, by their upper ones.
    pub(super) fn of_upper_bits(width: u8) -> Self {
        Self::of(Mark::Upper { shift: width.saturating_sub(FLAG_BITS) })
    }

    /// Flags for values that are anything.
    pub(super) fn of_hashes() -> Self {
        Self::of(Mark::Hash)
    }

    fn of(mark: Mark) -> Self {
        Self { words: Box::new([0; WORDS]), mark }
    }

    pub(super) fn add(&mut self, value: u64) {
        let (word, bits) = place(self.mark(value));
        self.words[word] |= bits;
    }

    /// Adds all values from `low` to `high`, where flags go by upper bits.
    pub(super) fn add_range(&mut self, low: u64, high: u64) {
        let Mark::Upper { shift } = self.mark else { unreachable!("hashes have no ranges") };
        for upper in low >> shift..=high >> shift {
            self.add(upper << shift);
        }
    }

    /// Whether a value was added, or one that has the same flags.
    pub(super) fn may_hold(&self, value: u64) -> bool {
        let (word, bits) = place(self.mark(value));
        self.words[word] & bits == bits
    }

    /// Writes the places of the values that it may hold, in order; returns how many.
    pub(super) fn matches(&self, values: &[u64], to: &mut Matches) -> usize {
        assert!(values.len() <= CHUNK_ROWS, "a chunk of values");
        let (done, mut count) = wide::matches(self, values, to);
        let first = u16::try_from(done).expect("within a chunk");
        for (place, value) in (first..).zip(&values[done..]) {
            // Without a branch: most match nothing, and some of every few do.
            to[count] = place;
            count += usize::from(self.may_hold(*value));
        }
        count
    }

    fn mark(&self, value: u64) -> u32 {
        match self.mark {
            Mark::Upper { shift } => {
                let upper = low_half(value >> shift);
                upper << FIRST | (upper & 31) << SECOND
            }
            Mark::Hash => {
                let low = low_half(value).wrapping_mul(FACTORS[0]);
                low.wrapping_add(low_half(value >> 32).wrapping_mul(FACTORS[1]))
            }
        }
    }
}

/// The word of a mark's flags, and their bits.
fn place(mark: u32) -> (usize, u32) {
    let word = code_index(i64::from(mark >> (FIRST + 5)));
    (word, 1 << (mark >> FIRST & 31) | 1 << (mark >> SECOND & 31))
}

#[allow(clippy::cast_possible_truncation)] // wanted
fn low_half(value: u64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests;
