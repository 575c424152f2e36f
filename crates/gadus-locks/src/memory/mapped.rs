//! A value in shared memory that was looked up once, and is then reached directly.

use super::{Memory, Offset, Shared};
use crate::error::MemoryError;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A value, with the memory that it lies in.
pub(crate) struct Mapped<T: Shared> {
    value: NonNull<T>,
    /// Keeps it mapped.
    memory: Arc<Memory>,
}

// SAFETY: it is a shared reference to a `Shared` value, which is `Sync`, and a share of a memory,
// which is `Send` and `Sync`.
unsafe impl<T: Shared> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for Mapped<T> {}

impl Memory {
    /// The value at an offset, for as long as it is wanted.
    ///
    /// # Errors
    /// As [`Memory::at`].
    pub(crate) fn keep<T: Shared>(
        self: &Arc<Self>,
        offset: Offset<T>,
    ) -> Result<Mapped<T>, MemoryError> {
        let value = NonNull::from(self.at(offset)?);
        Ok(Mapped { value, memory: self.clone() })
    }
}

impl<T: Shared> Deref for Mapped<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it was made from a reference that `Memory::at` has checked, and the memory, which
        // neither moves nor unmaps anything while somebody has it, is held here.
        unsafe { self.value.as_ref() }
    }
}

impl<T: Shared> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("memory", &self.memory).finish_non_exhaustive()
    }
}
