//! A folder on a disk of a chosen size.
//!
//! - A device takes blocks up to the last byte that was written or reserved. Setting its length frees
//!   those behind it, as file systems do; holes are not known.
//! - A write that does not fit writes nothing.

use super::pass_on;
use crate::device::{Device, Folder, OpenMode};
use crate::error::{BlockError, ErrorKind, Operation};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

const BLOCK_BYTES: u64 = 4096;

/// A folder whose devices together take no more than a disk has.
#[derive(Debug)]
pub struct SmallFolder {
    inner: Arc<dyn Folder>,
    disk: Arc<Disk>,
}

#[derive(Debug)]
struct Disk {
    blocks: u64,
    /// By the name of the device.
    taken: Mutex<BTreeMap<String, u64>>,
}

#[derive(Debug)]
struct SmallDevice {
    inner: Arc<dyn Device>,
    described: String,
    disk: Arc<Disk>,
}

impl SmallFolder {
    /// `inner` on a disk of so many bytes. What it holds already is counted once it is opened.
    #[must_use]
    pub fn new(inner: Arc<dyn Folder>, bytes: u64) -> Self {
        let disk = Disk { blocks: bytes / BLOCK_BYTES, taken: Mutex::default() };
        Self { inner, disk: Arc::new(disk) }
    }
}

impl Disk {
    /// Has a device take blocks up to `end`; false if the disk has too few.
    fn take(&self, name: &str, end: u64) -> bool {
        let mut taken = self.taken.lock();
        let (wanted, has) =
            (end.div_ceil(BLOCK_BYTES), taken.get(name).copied().unwrap_or_default());
        if wanted <= has {
            return true;
        }
        let all = taken.values().sum::<u64>();
        if wanted.saturating_sub(has) > self.blocks.saturating_sub(all) {
            return false;
        }
        taken.insert(name.to_owned(), wanted);
        true
    }

    /// Takes blocks behind `length` from a device.
    fn free_behind(&self, name: &str, length: u64) {
        if let Some(has) = self.taken.lock().get_mut(name) {
            *has = length.div_ceil(BLOCK_BYTES).min(*has);
        }
    }
}

impl Folder for SmallFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let inner = self.inner.open(name, mode)?;
        let blocks = inner.length()?.div_ceil(BLOCK_BYTES);
        self.disk.taken.lock().entry(name.to_owned()).or_insert(blocks);
        let described = self.inner.describe(name);
        Ok(Arc::new(SmallDevice { inner, described, disk: Arc::clone(&self.disk) }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        self.inner.exists(name)
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        self.inner.remove(name)?;
        self.disk.taken.lock().remove(name);
        Ok(())
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.inner.sync()
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

impl SmallDevice {
    fn take(&self, end: u64, operation: Operation, at: u64) -> Result<(), BlockError> {
        if self.disk.take(self.inner.name(), end) {
            return Ok(());
        }
        Err(BlockError::new(ErrorKind::NoSpace, operation, self.described.clone()).at(at))
    }
}

impl Device for SmallDevice {
    pass_on!();

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.inner.set_length(bytes)?;
        self.disk.free_behind(self.inner.name(), bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        self.inner.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        self.take(offset.saturating_add(bytes), Operation::Write, offset)?;
        self.inner.write_at(offset, pieces)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.inner.sync()
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.inner.discard(range)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.take(range.end, Operation::Reserve, range.start)?;
        self.inner.reserve(range)
    }
}

#[cfg(test)]
mod tests;
