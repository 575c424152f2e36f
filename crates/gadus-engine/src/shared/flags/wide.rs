//! Eight values at a time, on processors with 256-bit registers (AVX2).

#![allow(unsafe_code)] // values, words and places are read and written by address; see each place

use super::{FACTORS, FIRST, Flags, Mark, Matches, SECOND, WORDS};
use std::arch::x86_64::{
    __m256i, _mm_add_epi16, _mm_cvtepu8_epi16, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_set1_epi16,
    _mm_storeu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mullo_epi32,
    _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_shuffle_ps,
    _mm256_slli_epi32, _mm256_srl_epi64, _mm256_srli_epi32, _mm256_srlv_epi32,
};

/// Values that are looked up at a time.
const GROUP: usize = 8;

/// The places of the bits that are set in a byte, from the lowest.
static PLACES: [[u8; GROUP]; 256] = {
    let mut all = [[0; GROUP]; 256];
    let mut byte = 0;
    while byte < all.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                all[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// The places of those values, of as many as make whole groups, that the flags may hold. Returns how
/// many values were looked up, and how many places were written.
pub(super) fn matches(flags: &Flags, values: &[u64], to: &mut Matches) -> (usize, usize) {
    if !is_x86_feature_detected!("avx2") {
        return (0, 0);
    }
    let (groups, _) = values.as_chunks::<GROUP>();
    // SAFETY: the processor has AVX2.
    let count = unsafe {
        match flags.mark {
            Mark::Upper { shift } => {
                matches_among(&flags.words, groups, to, |low, high| upper_marks(low, high, shift))
            }
            Mark::Hash => {
                matches_among(&flags.words, groups, to, |low, high| hash_marks(low, high))
            }
        }
    };
    (groups.len() * GROUP, count)
}

#[target_feature(enable = "avx2")]
fn matches_among(
    words: &[u32; WORDS],
    groups: &[[u64; GROUP]],
    to: &mut Matches,
    marks: impl Fn(__m256i, __m256i) -> __m256i,
) -> usize {
    assert!(groups.len() * GROUP + GROUP <= to.len(), "room for all, and for what means nothing");
    let mask = _mm256_set1_epi32(31);
    let mut count = 0;
    for (first, group) in (0..).step_by(GROUP).zip(groups) {
        // SAFETY: four values each.
        let (low, high) = unsafe {
            let start = group.as_ptr();
            (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(4).cast()))
        };
        let marks = marks(low, high);
        let places = _mm256_srli_epi32::<{ FIRST.cast_signed() + 5 }>(marks);
        // SAFETY: eleven bits are a place among 2,048 words.
        let words = unsafe { _mm256_i32gather_epi32::<4>(words.as_ptr().cast(), places) };
        let bits = |marks| _mm256_srlv_epi32(words, _mm256_and_si256(marks, mask));
        let first_flags = bits(_mm256_srli_epi32::<{ FIRST.cast_signed() }>(marks));
        let second_flags = bits(_mm256_srli_epi32::<{ SECOND.cast_signed() }>(marks));
        let both = _mm256_slli_epi32::<31>(_mm256_and_si256(first_flags, second_flags));
        let found = _mm256_movemask_ps(_mm256_castsi256_ps(both)).cast_unsigned();
        let places = &PLACES[found as usize & 255];
        // SAFETY: eight bytes are read, and eight places written: at most as many were written before as
        // values were looked up, and there is room for eight more.
        unsafe {
            let places = _mm_cvtepu8_epi16(_mm_loadl_epi64(places.as_ptr().cast()));
            let places = _mm_add_epi16(places, _mm_set1_epi16(first));
            _mm_storeu_si128(to.as_mut_ptr().add(count).cast(), places);
        }
        count += found.count_ones() as usize;
    }
    count
}

#[target_feature(enable = "avx2")]
#[inline]
fn upper_marks(low: __m256i, high: __m256i, shift: u8) -> __m256i {
    let shift = _mm_cvtsi32_si128(i32::from(shift));
    let uppers = low_halves(_mm256_srl_epi64(low, shift), _mm256_srl_epi64(high, shift));
    let bits = _mm256_and_si256(uppers, _mm256_set1_epi32(31));
    let first = _mm256_slli_epi32::<{ FIRST.cast_signed() }>(uppers);
    _mm256_or_si256(first, _mm256_slli_epi32::<{ SECOND.cast_signed() }>(bits))
}

#[target_feature(enable = "avx2")]
#[inline]
fn hash_marks(low: __m256i, high: __m256i) -> __m256i {
    let factors = FACTORS.map(|factor| _mm256_set1_epi32(factor.cast_signed()));
    let lows = _mm256_mullo_epi32(low_halves(low, high), factors[0]);
    _mm256_add_epi32(lows, _mm256_mullo_epi32(high_halves(low, high), factors[1]))
}

/// The lower halves of eight values, in their order.
#[target_feature(enable = "avx2")]
#[inline]
fn low_halves(low: __m256i, high: __m256i) -> __m256i {
    halves::<0b10_00_10_00>(low, high)
}

/// The upper halves of eight values, in their order.
#[target_feature(enable = "avx2")]
#[inline]
fn high_halves(low: __m256i, high: __m256i) -> __m256i {
    halves::<0b11_01_11_01>(low, high)
}

#[target_feature(enable = "avx2")]
#[inline]
fn halves<const WHICH: i32>(low: __m256i, high: __m256i) -> __m256i {
    let mixed = _mm256_shuffle_ps::<WHICH>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(mixed))
}
