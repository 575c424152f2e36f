//! Values of 26 to 57 bits: two in each half of a register, eight in two registers.
//!
//! - A half takes sixteen bytes that begin with the first of its first value. A shuffle brings the eight
//!   bytes that a value lies within to its lane, and a shift its lowest bit to the lane's.

use super::{GROUP, HALF_BYTES};
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_loadu_si256, _mm256_set_m128i,
    _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_srlv_epi64, _mm256_storeu_si256,
};

const WIDTH_MIN: u8 = super::WIDTH_MAX + 1;
const WIDTH_MAX: u8 = 57;

/// Values of a register.
const LANES: usize = 4;

/// The bytes that each value of a group lies within, counted from the first of its half, and the bits that
/// stand before it in the first of them.
struct Places {
    shuffle: [[u8; 32]; 2],
    shifts: [[u64; LANES]; 2],
}

static PLACES: [Places; (WIDTH_MAX - WIDTH_MIN) as usize + 1] = {
    let mut all = [const { Places { shuffle: [[0; 32]; 2], shifts: [[0; LANES]; 2] } };
        (WIDTH_MAX - WIDTH_MIN) as usize + 1];
    let mut index = 0;
    while index < all.len() {
        all[index] = places(index + WIDTH_MIN as usize);
        index += 1;
    }
    all
};

#[allow(clippy::cast_possible_truncation)] // below sixteen and eight
const fn places(width: usize) -> Places {
    let mut places = Places { shuffle: [[0; 32]; 2], shifts: [[0; LANES]; 2] };
    let mut value = 0;
    while value < GROUP {
        let (register, lane) = (value / LANES, value % LANES);
        let from = value * width / 8 - half(value, width);
        let mut byte = 0;
        while byte < 8 {
            places.shuffle[register][lane * 8 + byte] = (from + byte) as u8;
            byte += 1;
        }
        places.shifts[register][lane] = (value * width % 8) as u64;
        value += 1;
    }
    places
}

/// The byte that the half of a value begins with.
const fn half(value: usize, width: usize) -> usize {
    (value / 2 * 2) * width / 8
}

/// As [`super::unpack`].
pub(super) fn unpack(words: &[u64], width: u8, to: &mut [u64]) -> usize {
    let (groups, _) = to.as_chunks_mut::<GROUP>();
    let count = groups_of(words, width, groups.len());
    if count > 0 {
        // SAFETY: there are groups only where the processor has AVX2.
        unsafe { unpack_groups(words, width, &mut groups[..count]) };
    }
    count * GROUP
}

/// How many groups, up to so many, can be unpacked here.
fn groups_of(words: &[u64], width: u8, most: usize) -> usize {
    if !(WIDTH_MIN..=WIDTH_MAX).contains(&width) || !is_x86_feature_detected!("avx2") {
        return 0;
    }
    let width = usize::from(width);
    let last = (words.len() * 8).checked_sub(half(GROUP - 1, width) + HALF_BYTES);
    last.map_or(0, |last| most.min(last / width + 1))
}

#[target_feature(enable = "avx2")]
fn unpack_groups(words: &[u64], width: u8, to: &mut [[u64; GROUP]]) {
    assert!(to.len() <= groups_of(words, width, to.len()), "bytes for all groups");
    let places = &PLACES[usize::from(width - WIDTH_MIN)];
    let load = |bytes: *const u8| {
        // SAFETY: the arrays below have 32 bytes.
        unsafe { _mm256_loadu_si256(bytes.cast()) }
    };
    let shuffle = [0, 1].map(|register| load(places.shuffle[register].as_ptr()));
    let shifts = [0, 1].map(|register| load(places.shifts[register].as_ptr().cast()));
    let mask = _mm256_set1_epi64x((1 << width) - 1);
    let width = usize::from(width);
    let halves = [0, 2, 4, 6].map(|value| half(value, width));
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (index, slots) in to.iter_mut().enumerate() {
        let half = |place: usize| {
            // SAFETY: asserted above: behind the last half's first byte there are fifteen more.
            unsafe { _mm_loadu_si128(bytes.as_ptr().add(index * width + halves[place]).cast()) }
        };
        let values = |both: __m256i, register: usize| {
            let lanes = _mm256_shuffle_epi8(both, shuffle[register]);
            _mm256_and_si256(_mm256_srlv_epi64(lanes, shifts[register]), mask)
        };
        let low = values(_mm256_set_m128i(half(1), half(0)), 0);
        let high = values(_mm256_set_m128i(half(3), half(2)), 1);
        let slots = slots.as_mut_ptr();
        // SAFETY: four of the eight slots each.
        unsafe {
            _mm256_storeu_si256(slots.cast(), low);
            _mm256_storeu_si256(slots.add(LANES).cast(), high);
        }
    }
}
