//! A folder that calls a function before each operation on it and on its devices.
//!
//! - Every operation counts, also those that only look: what a process does between two of them is left as it is
//!   at that moment.
//! - A process that goes through the same steps each time can so be stopped at each of them, or have its
//!   surroundings changed there.

use crate::device::{Device, Fence, Folder, Geometry, Hint, Identity, OpenMode, Turn};
use crate::error::BlockError;
use crate::queue::{Queue, WorkerQueue};
use rustix::process::{Signal, getpid, kill_process};
use std::fmt::{self, Debug};
use std::io::IoSlice;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder with a hook.
#[derive(Debug)]
pub struct HookedFolder {
    inner: Arc<dyn Folder>,
    hook: Arc<Hook>,
}

struct Hook {
    operations: AtomicU64,
    /// Gets the number of operations before this one.
    call: Box<dyn Fn(u64) + Send + Sync>,
}

#[derive(Debug)]
struct HookedDevice {
    inner: Arc<dyn Device>,
    hook: Arc<Hook>,
}

impl HookedFolder {
    /// `inner`, with a function that is called before each operation with the number of those before it.
    #[must_use]
    pub fn before_each(inner: Arc<dyn Folder>, call: impl Fn(u64) + Send + Sync + 'static) -> Self {
        let hook = Hook { operations: AtomicU64::new(0), call: Box::new(call) };
        Self { inner, hook: Arc::new(hook) }
    }

    /// `inner`, whose process is killed after this number of operations, before the next one, as `kill -9` would.
    #[must_use]
    pub fn killed_after(inner: Arc<dyn Folder>, operations: u64) -> Self {
        Self::before_each(inner, move |before| {
            if before < operations {
                return;
            }
            let _ = kill_process(getpid(), Signal::KILL);
            loop {
                // The signal is on its way, and nothing may happen before it is there.
                std::hint::spin_loop();
            }
        })
    }
}

impl Hook {
    fn call(&self) {
        (self.call)(self.operations.fetch_add(1, Ordering::SeqCst));
    }
}

impl Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl Folder for HookedFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        self.hook.call();
        let inner = self.inner.open(name, mode)?;
        Ok(Arc::new(HookedDevice { inner, hook: Arc::clone(&self.hook) }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        self.hook.call();
        self.inner.exists(name)
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        self.hook.call();
        self.inner.remove(name)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.hook.call();
        self.inner.sync()
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

impl HookedDevice {
    /// The device, for one operation.
    fn next(&self) -> &dyn Device {
        self.hook.call();
        &*self.inner
    }
}

impl Device for HookedDevice {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn location(&self) -> Option<PathBuf> {
        self.inner.location()
    }

    fn length(&self) -> Result<u64, BlockError> {
        self.next().length()
    }

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.next().set_length(bytes)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        self.next().read_at(offset, into)
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        self.next().write_at(offset, pieces)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.next().sync()
    }

    fn queue(self: Arc<Self>, depth_max: usize) -> Result<Box<dyn Queue>, BlockError> {
        WorkerQueue::with_threads(self, depth_max)
    }

    fn hint(&self, range: Range<u64>, hint: Hint) {
        self.inner.hint(range, hint);
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.next().discard(range)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.next().reserve(range)
    }

    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }

    fn try_own(&self) -> Result<bool, BlockError> {
        self.next().try_own()
    }

    fn try_share(&self) -> Result<bool, BlockError> {
        self.next().try_share()
    }

    fn try_own_slot(&self, slot: u32) -> Result<bool, BlockError> {
        self.next().try_own_slot(slot)
    }

    fn take_turn(&self) -> Result<(), BlockError> {
        self.next().take_turn()
    }

    fn try_turn(&self) -> Result<Turn, BlockError> {
        self.next().try_turn()
    }

    fn end_turn(&self) -> Result<(), BlockError> {
        self.next().end_turn()
    }

    fn keep_slot(&self, slot: u32) -> Result<(), BlockError> {
        self.next().keep_slot(slot)
    }

    fn give_up_slots(&self) -> Result<(), BlockError> {
        self.next().give_up_slots()
    }

    fn fence(&self, slot: u32) -> Result<Fence, BlockError> {
        self.next().fence(slot)
    }
}
