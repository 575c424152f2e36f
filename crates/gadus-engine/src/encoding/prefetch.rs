//! Asking for memory before it is read: many places at once take about as long as one.

#![allow(unsafe_code)] // the processor is told an address, and reads nothing that anybody sees

/// Has the processor fetch what a slice has at a place, where it can be told so.
#[inline]
pub(super) fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(place) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the place exists, and a prefetch changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}
