//! Four strings at a time, on processors with 256-bit registers (AVX2).

#![allow(unsafe_code)] // offsets, strings and keys are read and written by address; see each place

use super::TURN;
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_cmpgt_epi64,
    _mm256_i64gather_epi64, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_srlv_epi64,
    _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
};

/// Strings that are looked at together.
const GROUP: usize = 4;

/// Bytes that are read of an end of a string.
const END_BYTES: i64 = 8;

/// The keys of the first strings, up to one near the end of the data; returns how many.
pub(super) fn keys_of(data: &[u8], offsets: &[u64], keys: &mut [u64]) -> usize {
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: the processor has AVX2.
    unsafe { keys_of_groups(data, offsets, keys) }
}

#[target_feature(enable = "avx2")]
fn keys_of_groups(data: &[u8], offsets: &[u64], keys: &mut [u64]) -> usize {
    // From here on there are no eight bytes any more.
    let limit = i64::try_from(data.len()).unwrap_or(i64::MAX) - (END_BYTES - 1);
    let (limit, eight) = (_mm256_set1_epi64x(limit), _mm256_set1_epi64x(END_BYTES));
    let (bits, all, none) =
        (_mm256_set1_epi64x(64), _mm256_set1_epi64x(-1), _mm256_set1_epi64x(-1));
    let mut done = 0;
    for (key, bounds) in keys.chunks_exact_mut(GROUP).zip(offsets.windows(GROUP + 1).step_by(GROUP))
    {
        // SAFETY: a window has five offsets.
        let (starts, ends) = unsafe {
            let first = bounds.as_ptr();
            (_mm256_loadu_si256(first.cast()), _mm256_loadu_si256(first.add(1).cast()))
        };
        let lengths = _mm256_sub_epi64(ends, starts);
        let is_short = _mm256_cmpgt_epi64(eight, lengths);
        let read = _mm256_blendv_epi8(eight, lengths, is_short);
        let lasts = _mm256_sub_epi64(ends, read);
        let is_inside = |places| {
            let below = _mm256_cmpgt_epi64(limit, places);
            _mm256_and_si256(below, _mm256_cmpgt_epi64(places, none))
        };
        let inside = _mm256_and_si256(is_inside(starts), is_inside(lasts));
        if _mm256_movemask_pd(_mm256_castsi256_pd(inside)) != 0b1111 {
            return done;
        }
        let kept = _mm256_srlv_epi64(all, _mm256_sub_epi64(bits, _mm256_slli_epi64::<3>(read)));
        let eight_bytes = |places: __m256i| {
            // SAFETY: from all of them on the data has eight bytes, see above.
            let read = unsafe { _mm256_i64gather_epi64::<1>(data.as_ptr().cast(), places) };
            _mm256_and_si256(read, kept)
        };
        let (first, last) = (eight_bytes(starts), eight_bytes(lasts));
        let turned = _mm256_or_si256(
            _mm256_slli_epi64::<{ TURN.cast_signed() }>(last),
            _mm256_srli_epi64::<{ 64 - TURN.cast_signed() }>(last),
        );
        let mixed = _mm256_xor_si256(_mm256_xor_si256(first, turned), lengths);
        // SAFETY: a chunk has room for four.
        unsafe { _mm256_storeu_si256(key.as_mut_ptr().cast(), mixed) };
        done += GROUP;
    }
    done
}
