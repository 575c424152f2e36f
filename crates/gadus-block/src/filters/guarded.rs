//! A device that asks a guard before each change.
//!
//! - The guard decides right before the change, behind all that chose its place and bytes.
//! - Reads, writes and syncs may sleep: the guard looks again before their caller goes on.

use super::pass_on;
use crate::device::{Device, Hint, Ownership};
use crate::error::{BlockError, Operation};
use std::fmt::Debug;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// Decides whether a device may be changed.
pub trait Guard: Send + Sync + Debug {
    /// Returns the reason why nothing may be changed any more, if there is one.
    fn refusal(&self) -> Option<&'static str>;

    /// Looks at what it guards, after an operation that may have slept.
    fn look(&self);
}

/// A device whose changes a guard may refuse; they fail with [`ErrorKind::Refused`] then.
///
/// [`ErrorKind::Refused`]: crate::ErrorKind::Refused
#[derive(Debug)]
pub struct GuardedDevice {
    inner: Arc<dyn Device>,
    described: String,
    guard: Arc<dyn Guard>,
}

impl GuardedDevice {
    /// `inner`, which errors call `described`, as far as `guard` permits.
    #[must_use]
    pub fn new(inner: Arc<dyn Device>, described: &str, guard: Arc<dyn Guard>) -> Self {
        Self { inner, described: described.to_owned(), guard }
    }

    fn change<T>(
        &self,
        operation: Operation,
        change: impl FnOnce(&dyn Device) -> Result<T, BlockError>,
    ) -> Result<T, BlockError> {
        match self.guard.refusal() {
            Some(why) => Err(BlockError::refused(operation, &self.described, why)),
            None => self.then_look(change),
        }
    }

    fn then_look<T>(
        &self,
        operation: impl FnOnce(&dyn Device) -> Result<T, BlockError>,
    ) -> Result<T, BlockError> {
        let result = operation(&*self.inner);
        self.guard.look();
        result
    }
}

impl Device for GuardedDevice {
    pass_on!(all but hints and length);

    fn length(&self) -> Result<u64, BlockError> {
        self.then_look(|inner| inner.length())
    }

    fn hint(&self, range: Range<u64>, hint: Hint) {
        self.inner.hint(range, hint);
        self.guard.look();
    }

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.change(Operation::SetLength, |inner| inner.set_length(bytes))
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        self.then_look(|inner| inner.read_at(offset, into))
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        self.change(Operation::Write, |inner| inner.write_at(offset, pieces))
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.then_look(|inner| inner.sync())
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.change(Operation::Discard, |inner| inner.discard(range))
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.change(Operation::Reserve, |inner| inner.reserve(range))
    }

    fn ownership(&self) -> Option<Ownership> {
        self.inner.ownership()
    }

    fn own_as(&self, ownership: Ownership) -> Result<(), BlockError> {
        self.inner.own_as(ownership)
    }
}
