//! Types that may lie in shared memory, and offsets that say where.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A type that may lie in memory which other processes change at any time.
///
/// # Safety
/// Every pattern of bytes is a value; it is changed through shared references by atomic operations
/// only; it holds no pointer and needs no drop; its layout is fixed (`repr(C)` or `transparent`).
pub unsafe trait Shared: Sync + 'static {}

// SAFETY: any 32 bits are a value.
unsafe impl Shared for AtomicU32 {}
// SAFETY: any 64 bits are a value.
unsafe impl Shared for AtomicU64 {}
// SAFETY: as its elements.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}

/// Declares a struct of shared fields, laid out as written.
#[macro_export]
macro_rules! shared_struct {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[repr(C)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        // SAFETY: every field is `Shared`, which the constant proves, and the layout is fixed.
        #[allow(unsafe_code)]
        unsafe impl $crate::Shared for $name {}

        const _: () = {
            const fn is_shared<T: $crate::Shared>() {}
            $(is_shared::<$type>();)*
        };
    };
}

/// Where a value lies, counted from the start of the memory: the same in every process.
pub struct Offset<T> {
    bytes: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Offset<T> {
    /// The value that begins at byte `bytes`.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self { bytes, of: PhantomData }
    }

    /// The first byte of the value.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

impl<T> Clone for Offset<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Offset<T> {}

impl<T> fmt::Debug for Offset<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offset({})", self.bytes)
    }
}
