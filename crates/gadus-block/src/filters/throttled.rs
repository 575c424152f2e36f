//! A folder whose operations take as long as on a chosen disk.
//!
//! - Syncs of one folder go one after another, as on a disk with one write-back cache; reads and
//!   writes overlap.
//! - Waiting sleeps; it does not keep a core busy.

use super::pass_on;
use crate::device::{Device, Folder, OpenMode};
use crate::error::BlockError;
use gadus_base::clock;
use parking_lot::{Condvar, Mutex};
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Time that each operation takes in addition.
#[derive(Debug, Clone, Copy, Default)]
pub struct Delays {
    /// Each read.
    pub read: Duration,
    /// Each write.
    pub write: Duration,
    /// Each sync, of a device or of the folder.
    pub sync: Duration,
}

/// A slower folder.
#[derive(Debug)]
pub struct ThrottledFolder {
    inner: Arc<dyn Folder>,
    disk: Arc<Disk>,
}

#[derive(Debug)]
struct Disk {
    delays: Delays,
    sync_turn: Mutex<()>,
}

#[derive(Debug)]
struct ThrottledDevice {
    inner: Arc<dyn Device>,
    disk: Arc<Disk>,
}

impl ThrottledFolder {
    /// `inner`, slowed down.
    #[must_use]
    pub fn new(inner: Arc<dyn Folder>, delays: Delays) -> Self {
        Self { inner, disk: Arc::new(Disk { delays, sync_turn: Mutex::new(()) }) }
    }
}

impl Disk {
    fn synced<T>(&self, sync: impl FnOnce() -> T) -> T {
        let _turn = self.sync_turn.lock();
        pass(self.delays.sync);
        sync()
    }
}

/// Sleeps on a condition that nobody signals.
fn pass(time: Duration) {
    if time.is_zero() {
        return;
    }
    let end = clock().now().plus(time);
    let (never, nobody) = (Mutex::new(()), Condvar::new());
    let mut guard = never.lock();
    loop {
        let left = end.since(clock().now());
        if left.is_zero() {
            return;
        }
        nobody.wait_for(&mut guard, left);
    }
}

impl Folder for ThrottledFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let inner = self.inner.open(name, mode)?;
        Ok(Arc::new(ThrottledDevice { inner, disk: Arc::clone(&self.disk) }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        self.inner.exists(name)
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        self.inner.remove(name)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.disk.synced(|| self.inner.sync())
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

impl Device for ThrottledDevice {
    pass_on!();

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.inner.set_length(bytes)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        pass(self.disk.delays.read);
        self.inner.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        pass(self.disk.delays.write);
        self.inner.write_at(offset, pieces)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.disk.synced(|| self.inner.sync())
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.inner.discard(range)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.inner.reserve(range)
    }
}
