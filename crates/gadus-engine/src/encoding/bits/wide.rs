//! Unpacking eight values at a time, on processors with 256-bit registers (AVX2).
//!
//! - Eight values fill as many whole bytes as one has bits. Each half of a register takes sixteen bytes
//!   that begin with the first or the fifth of them; a shuffle brings the four bytes that a value lies
//!   within to its lane, and a shift of its own brings its lowest bit to the lane's.
//! - So a value and what lies before it in its first byte fit four bytes: widths of up to 25 bits. Values of
//!   up to 57 bits fit eight ([`wider`]).

#![allow(unsafe_code)] // sixteen bytes at a time are read and written by address; see each place

mod wider;

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_cmpeq_epi32, _mm256_cvtepu32_epi64, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_max_epu32, _mm256_movemask_ps, _mm256_set_m128i, _mm256_set1_epi32, _mm256_shuffle_epi8,
    _mm256_srlv_epi32, _mm256_storeu_si256, _mm256_sub_epi32,
};

/// The widest values that it unpacks.
const WIDTH_MAX: u8 = 25;

/// Values that are unpacked at a time.
const GROUP: usize = 8;

/// Bytes that each half of a register takes.
const HALF_BYTES: usize = 16;

/// Unpacks values from the start of `words` on, as many groups of eight as `to` has room for and `words`
/// has bytes for; returns how many values. None where values of this width are not unpacked here.
pub(super) fn unpack(words: &[u64], width: u8, to: &mut [u64]) -> usize {
    if width > WIDTH_MAX {
        return wider::unpack(words, width, to);
    }
    let (groups, _) = to.as_chunks_mut::<GROUP>();
    let count = groups_of(words, width, groups.len());
    if count > 0 {
        // SAFETY: there are groups only where the processor has AVX2.
        unsafe { unpack_groups(words, width, &mut groups[..count]) };
    }
    count * GROUP
}

/// Tests values from the start of `words` on: a bit for each that lies within `low ..= low + span`; for
/// as many whole blocks of 64 as `blocks` has room for and `words` has bytes for. Returns how many
/// blocks.
pub(super) fn within(
    words: &[u64],
    width: u8,
    (low, span): (u64, u64),
    blocks: &mut [u64],
) -> usize {
    let count = groups_of(words, width, blocks.len() * GROUP) / GROUP;
    let greatest = (1_u32 << width.min(WIDTH_MAX)) - 1;
    // Above the values, or beyond all numbers: rare, and not for 32 bits.
    let Some(low) = u32::try_from(low).ok().filter(|low| *low <= greatest) else { return 0 };
    if count == 0 || u64::from(low).checked_add(span).is_none() {
        return 0;
    }
    let span = u32::try_from(span).unwrap_or(u32::MAX).min(greatest);
    // SAFETY: there are groups only where the processor has AVX2.
    unsafe { within_groups(words, width, (low, span), &mut blocks[..count]) };
    count
}

/// How many groups, up to so many, can be unpacked here.
fn groups_of(words: &[u64], width: u8, most: usize) -> usize {
    if !(1..=WIDTH_MAX).contains(&width) || !is_x86_feature_detected!("avx2") {
        return 0;
    }
    let width = usize::from(width);
    let last = (words.len() * 8).checked_sub(width / 2 + HALF_BYTES);
    last.map_or(0, |last| most.min(last / width + 1))
}

/// What a width makes of a group.
struct Layout {
    /// Where the fifth value begins.
    upper: usize,
    shuffle: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

/// The bytes that each value of a group lies within, and the bits that stand before it in the first.
type Places = ([u8; 32], [u8; 32]);

/// Those of each width.
static PLACES: [Places; WIDTH_MAX as usize + 1] = {
    let mut all = [([0; 32], [0; 32]); WIDTH_MAX as usize + 1];
    let mut width = 0;
    while width < all.len() {
        all[width] = places(width);
        width += 1;
    }
    all
};

#[allow(clippy::cast_possible_truncation)] // below sixteen and eight
const fn places(width: usize) -> Places {
    let (mut shuffle, mut shifts) = ([0_u8; 32], [0_u8; 32]);
    let mut byte = 0;
    while byte < 32 {
        let value = byte / 4;
        let half = if value < GROUP / 2 { 0 } else { width / 2 };
        shuffle[byte] = (value * width / 8 - half + byte % 4) as u8;
        if byte % 4 == 0 {
            shifts[byte] = (value * width % 8) as u8;
        }
        byte += 1;
    }
    (shuffle, shifts)
}

#[target_feature(enable = "avx2")]
fn layout(width: u8) -> Layout {
    let (shuffle, shifts) = &PLACES[usize::from(width)];
    // SAFETY: both have 32 bytes.
    let (shuffle, shifts) = unsafe {
        (_mm256_loadu_si256(shuffle.as_ptr().cast()), _mm256_loadu_si256(shifts.as_ptr().cast()))
    };
    let mask = _mm256_set1_epi32((1 << width) - 1);
    Layout { upper: usize::from(width) / 2, shuffle, shifts, mask }
}

/// The eight values that begin at a byte.
///
/// # Safety
/// From `start` on there are `layout.upper` bytes and sixteen more.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn group(start: *const u8, layout: &Layout) -> __m256i {
    // SAFETY: as the caller says.
    let both = unsafe {
        let lower = _mm_loadu_si128(start.cast());
        _mm256_set_m128i(_mm_loadu_si128(start.add(layout.upper).cast()), lower)
    };
    let lanes = _mm256_shuffle_epi8(both, layout.shuffle);
    _mm256_and_si256(_mm256_srlv_epi32(lanes, layout.shifts), layout.mask)
}

#[target_feature(enable = "avx2")]
fn unpack_groups(words: &[u64], width: u8, to: &mut [[u64; GROUP]]) {
    assert!(to.len() <= groups_of(words, width, to.len()), "bytes for all groups");
    let layout = layout(width);
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (index, slots) in to.iter_mut().enumerate() {
        // SAFETY: asserted above.
        let values = unsafe { group(bytes.as_ptr().add(index * usize::from(width)), &layout) };
        let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(values));
        let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(values));
        let slots = slots.as_mut_ptr();
        // SAFETY: four of the eight slots each.
        unsafe {
            _mm256_storeu_si256(slots.cast(), low);
            _mm256_storeu_si256(slots.add(4).cast(), high);
        }
    }
}

#[target_feature(enable = "avx2")]
fn within_groups(words: &[u64], width: u8, (low, span): (u32, u32), blocks: &mut [u64]) {
    let groups = blocks.len() * GROUP;
    assert!(groups <= groups_of(words, width, groups), "bytes for all groups");
    let layout = layout(width);
    let low = _mm256_set1_epi32(low.cast_signed());
    let span = _mm256_set1_epi32(span.cast_signed());
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (index, block) in blocks.iter_mut().enumerate() {
        *block = 0;
        for place in 0..GROUP {
            let start = (index * GROUP + place) * usize::from(width);
            // SAFETY: asserted above.
            let values = unsafe { group(bytes.as_ptr().add(start), &layout) };
            let distances = _mm256_sub_epi32(values, low);
            let is_within = _mm256_cmpeq_epi32(_mm256_max_epu32(distances, span), span);
            let flags = _mm256_movemask_ps(_mm256_castsi256_ps(is_within));
            *block |= u64::from(flags.cast_unsigned()) << (8 * place);
        }
    }
}
