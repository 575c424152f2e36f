//! Integers of any width packed without gaps, and their unpacking.
//!
//! - Value `i` of width `w` occupies the bits `i * w .. (i + 1) * w` of a little-endian sequence of
//!   64-bit words, followed by one spare word, so that each value lies within two words that exist.
//! - Sixty-four values of one width fill `w` whole words: the unit in which runs are unpacked, with
//!   the width known to the compiler. Narrow ones are unpacked in wide registers where there are some
//!   ([`wide`]).

#[cfg(target_arch = "x86_64")]
mod wide;

/// Elsewhere there is nothing that unpacks more than one value at a time.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) fn unpack(_: &[u64], _: u8, _: &mut [u64]) -> usize {
        0
    }

    pub(super) fn within(_: &[u64], _: u8, _: (u64, u64), _: &mut [u64]) -> usize {
        0
    }
}

/// Words that `count` values of `width` bits need, with the spare one.
#[must_use]
pub(crate) fn words_for(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(64) + 1
}

/// The smallest width that holds `value`.
#[must_use]
pub(crate) fn width_of(value: u64) -> u8 {
    u8::try_from(64 - value.leading_zeros()).expect("at most 64")
}

/// Packs values, each below 2^`width`.
#[must_use]
pub(crate) fn pack(values: impl ExactSizeIterator<Item = u64>, width: u8) -> Vec<u64> {
    let mut words = vec![0_u64; words_for(values.len(), width)];
    let width = usize::from(width);
    for (index, value) in values.enumerate() {
        let bit = index * width;
        let (word, shift) = (bit / 64, bit % 64);
        words[word] |= value << shift;
        if shift + width > 64 {
            words[word + 1] |= value >> (64 - shift);
        }
    }
    words
}

/// Values of a packed sequence at any places: what follows from the width is computed once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unpacker<'a> {
    words: &'a [u64],
    bits: usize,
    mask: u64,
}

impl<'a> Unpacker<'a> {
    /// Values of so many bits lie within the eight bytes from the one that they begin in.
    const ONE_LOAD_BITS_MAX: usize = 64 - 7;

    pub(crate) fn new(words: &'a [u64], width: u8) -> Self {
        Self { words, bits: usize::from(width), mask: mask(width) }
    }

    /// Value `index`.
    #[inline]
    pub(crate) fn value(self, index: usize) -> u64 {
        let bit = index * self.bits;
        if self.bits <= Self::ONE_LOAD_BITS_MAX {
            let bytes = &bytemuck::cast_slice::<u64, u8>(self.words)[bit / 8..];
            let bytes = bytes.first_chunk().expect("a spare word follows the last value");
            return (u64::from_le_bytes(*bytes) >> (bit % 8)) & self.mask;
        }
        let (word, shift) = (bit / 64, bit % 64);
        let pair = u128::from(self.words[word]) | (u128::from(self.words[word + 1]) << 64);
        #[allow(clippy::cast_possible_truncation)] // masked to the width
        let value = (pair >> shift) as u64;
        value & self.mask
    }
}

/// Value `index` of a packed sequence.
#[inline]
#[must_use]
pub(crate) fn unpack_one(words: &[u64], width: u8, index: usize) -> u64 {
    Unpacker::new(words, width).value(index)
}

/// Hands the values `first .. first + count` to `each`, in order.
pub(crate) fn unpack(
    words: &[u64],
    width: u8,
    first: usize,
    count: usize,
    mut each: impl FnMut(u64),
) {
    let (mut block, mut index, end) = ([0; 64], first, first + count);
    while index < end {
        let block = &mut block[..(64 - index % 64).min(end - index)];
        unpack_into(words, width, index, block);
        block.iter().for_each(|&value| each(value));
        index += block.len();
    }
}

/// The values from `first` on, as many as there is room for.
pub(crate) fn unpack_into(words: &[u64], width: u8, first: usize, to: &mut [u64]) {
    let head = to.len().min(first.next_multiple_of(64) - first);
    let (head, rest) = to.split_at_mut(head);
    unpack_plain(words, width, first, head);
    let first = first + head.len();
    let from = words.get(first / 64 * usize::from(width)..).unwrap_or(&[]);
    let done = wide::unpack(from, width, rest);
    unpack_plain(words, width, first + done, &mut rest[done..]);
}

/// The same value by value, and by whole blocks.
fn unpack_plain(words: &[u64], width: u8, first: usize, to: &mut [u64]) {
    let head = to.len().min(first.next_multiple_of(64) - first);
    let (head, rest) = to.split_at_mut(head);
    let mut index = first;
    for slot in head {
        *slot = unpack_one(words, width, index);
        index += 1;
    }
    let (blocks, tail) = rest.as_chunks_mut::<64>();
    for block in blocks {
        unpack_block(&words[index / 64 * usize::from(width)..], width, block);
        index += 64;
    }
    for slot in tail {
        *slot = unpack_one(words, width, index);
        index += 1;
    }
}

fn mask(width: u8) -> u64 {
    u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0)
}

/// Unpacks 64 values of a width known at compile time: the loop unrolls into shifts and masks.
fn unpack_width<const WIDTH: usize>(words: &[u64], block: &mut [u64; 64]) {
    let words = &words[..WIDTH];
    let mask = u64::MAX >> (64 - WIDTH);
    for (index, slot) in block.iter_mut().enumerate() {
        let bit = index * WIDTH;
        let (word, shift) = (bit / 64, bit % 64);
        let low = words[word] >> shift;
        let high = if shift + WIDTH > 64 { words[word + 1] << (64 - shift) } else { 0 };
        *slot = (low | high) & mask;
    }
}

/// Tests whole blocks of 64 values: a bit for each that lies within `low ..= low + span`.
///
/// Values go from the packed bytes to the bit in registers; nothing is stored in between. Eight
/// values fill `WIDTH` whole bytes: within them every shift is known to the compiler, which unrolls
/// eight but not sixty-four.
fn within_width<const WIDTH: usize>(words: &[u64], low: u64, span: u64, blocks: &mut [u64]) {
    let mask = u64::MAX >> (64 - WIDTH);
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (index, block) in blocks.iter_mut().enumerate() {
        let mut bits = 0;
        for group in 0..8 {
            let start = (index * 8 + group) * WIDTH;
            // Up to eight bytes more, of the next group or the spare word.
            let bytes = &bytes[start..start + WIDTH + 8];
            let mut flags = 0;
            for place in 0..8 {
                let (byte, shift) = (place * WIDTH / 8, place * WIDTH % 8);
                let mut value = eight_bytes(bytes, byte) >> shift;
                if shift + WIDTH > 64 {
                    value |= u64::from(bytes[byte + 8]) << (64 - shift);
                }
                flags |= u64::from((value & mask).wrapping_sub(low) <= span) << place;
            }
            bits |= flags << (8 * group);
        }
        *block = bits;
    }
}

fn eight_bytes(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Calls a function whose first constant is the width.
macro_rules! for_width {
    ($width:expr, $function:ident($($argument:expr),*), zero: $zero:expr) => {
        for_width!(@match $width, $function($($argument),*), $zero;
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64)
    };
    (@match $width:expr, $function:ident $arguments:tt, $zero:expr; $($literal:literal)*) => {
        match $width {
            0 => $zero,
            $($literal => for_width!(@call $function $literal $arguments),)*
            other => unreachable!("a width of {other} bits was refused when the blob was opened"),
        }
    };
    (@call $function:ident $literal:literal ($($argument:expr),*)) => {
        $function::<$literal>($($argument),*)
    };
}

fn unpack_block(words: &[u64], width: u8, block: &mut [u64; 64]) {
    for_width!(width, unpack_width(words, block), zero: block.fill(0));
}

/// A bit for each of the values `first .. first + count` that lies within `low ..= low + span`;
/// `first` is a multiple of 64, `to` has a word for each 64 values.
pub(crate) fn within_span(
    words: &[u64],
    width: u8,
    first: usize,
    count: usize,
    (low, span): (u64, u64),
    to: &mut [u64],
) {
    assert!(first.is_multiple_of(64), "tests begin at whole blocks");
    let whole = count / 64;
    let start = first / 64 * usize::from(width);
    let (blocks, rest) = to.split_at_mut(whole);
    let from = words.get(start..).unwrap_or(&[]);
    let done = wide::within(from, width, (low, span), blocks);
    let (blocks, from) = (&mut blocks[done..], &from[done * usize::from(width)..]);
    let zeros = if 0_u64.wrapping_sub(low) <= span { u64::MAX } else { 0 };
    for_width!(width, within_width(from, low, span, blocks), zero: blocks.fill(zeros));
    if let Some(last) = rest.first_mut() {
        *last = 0;
        for index in whole * 64..count {
            let value = unpack_one(words, width, first + index);
            *last |= u64::from(value.wrapping_sub(low) <= span) << (index % 64);
        }
    }
}

#[cfg(test)]
mod tests;
