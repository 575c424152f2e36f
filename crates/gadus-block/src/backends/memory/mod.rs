//! Devices in memory: for tests, for databases that need not last, and as images of a power cut.
//!
//! - Pages are shared until written ([`pages`]), so a copy of a whole folder is cheap.
//! - Names, lengths, errors and ownership behave as with files; what is written is "durable" at
//!   once, because what a power cut loses is modelled by the trace.

mod pages;

use crate::device::{Device, Fence, Folder, Geometry, Hint, Identity, OWNER_SLOTS_MAX, OpenMode};
use crate::error::{BlockError, ErrorKind, Operation};
use crate::queue::{Queue, WorkerQueue};
pub(crate) use pages::Pages;
use parking_lot::{Condvar, Mutex, RwLock};
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A folder that lives as long as its handles; clones are the same folder.
#[derive(Debug, Clone, Default)]
pub struct MemoryFolder {
    contents: Arc<Mutex<BTreeMap<String, Arc<Contents>>>>,
}

/// What every open device of one name shares.
#[derive(Debug, Default)]
struct Contents {
    pages: RwLock<Pages>,
    owners: Mutex<Owners>,
    /// Rung whenever a turn has ended.
    turn_ended: Condvar,
}

#[derive(Debug, Default)]
struct Owners {
    opened: u64,
    holds: Vec<Hold>,
    /// The holder that has the turn.
    turn: Option<u64>,
}

impl Owners {
    fn end_turn(&mut self, holder: u64) {
        self.turn.take_if(|has_it| *has_it == holder);
    }
}

#[derive(Debug, Clone)]
struct Hold {
    holder: u64,
    slots: Range<u32>,
    shared: bool,
}

/// One open device; the holder number stands for a file's open description.
#[derive(Debug)]
struct MemoryDevice {
    contents: Arc<Contents>,
    name: String,
    holder: u64,
    writable: bool,
}

impl MemoryFolder {
    /// An empty folder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A folder of its own with the same bytes now; owners are not copied.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        for (name, contents) in self.contents.lock().iter() {
            copy.put(name, contents.pages.read().clone());
        }
        copy
    }

    /// Names and bytes of every device, for comparing.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let contents = self.contents.lock();
        contents.iter().map(|(name, device)| (name.clone(), device.pages.read().bytes())).collect()
    }

    pub(crate) fn put(&self, name: &str, pages: Pages) {
        let contents = Contents { pages: RwLock::new(pages), ..Contents::default() };
        self.contents.lock().insert(name.to_owned(), Arc::new(contents));
    }
}

impl Folder for MemoryFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let operation = match mode {
            OpenMode::Create => Operation::Create,
            OpenMode::Read | OpenMode::ReadWrite => Operation::Open,
        };
        let failed = |kind| BlockError::new(kind, operation, self.describe(name));
        if name.is_empty() || name.contains(['/', '\0']) {
            return Err(failed(ErrorKind::Invalid));
        }
        let mut folder = self.contents.lock();
        let contents = match (folder.get(name), mode) {
            (Some(_), OpenMode::Create) => return Err(failed(ErrorKind::AlreadyExists)),
            (Some(contents), _) => Arc::clone(contents),
            (None, OpenMode::Create) => Arc::clone(folder.entry(name.to_owned()).or_default()),
            (None, _) => return Err(failed(ErrorKind::NotFound)),
        };
        let holder = {
            let mut owners = contents.owners.lock();
            owners.opened += 1;
            owners.opened
        };
        let writable = mode != OpenMode::Read;
        Ok(Arc::new(MemoryDevice { contents, name: name.to_owned(), holder, writable }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        Ok(self.contents.lock().contains_key(name))
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        let missing =
            || BlockError::new(ErrorKind::NotFound, Operation::Remove, self.describe(name));
        self.contents.lock().remove(name).map(|_| ()).ok_or_else(missing)
    }

    fn sync(&self) -> Result<(), BlockError> {
        Ok(())
    }

    fn describe(&self, name: &str) -> String {
        format!("memory:{name}")
    }
}

impl MemoryDevice {
    fn error(&self, kind: ErrorKind, operation: Operation) -> BlockError {
        BlockError::new(kind, operation, format!("memory:{}", self.name))
    }

    fn writable(&self, operation: Operation) -> Result<(), BlockError> {
        if self.writable { Ok(()) } else { Err(self.error(ErrorKind::ReadOnly, operation)) }
    }

    fn slot_exists(&self, slot: u32) -> Result<(), BlockError> {
        if slot < OWNER_SLOTS_MAX {
            return Ok(());
        }
        Err(self.error(ErrorKind::Invalid, Operation::Own))
    }

    fn hold(&self, slots: Range<u32>, shared: bool) -> bool {
        let mut owners = self.contents.owners.lock();
        let conflicts = |hold: &Hold| {
            hold.holder != self.holder
                && !(hold.shared && shared)
                && hold.slots.start < slots.end
                && slots.start < hold.slots.end
        };
        if owners.holds.iter().any(conflicts) {
            return false;
        }
        owners.holds.push(Hold { holder: self.holder, slots, shared });
        true
    }
}

impl Drop for MemoryDevice {
    fn drop(&mut self) {
        let mut owners = self.contents.owners.lock();
        owners.holds.retain(|hold| hold.holder != self.holder);
        owners.end_turn(self.holder);
        drop(owners);
        self.contents.turn_ended.notify_all();
    }
}

impl Device for MemoryDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Identity {
        Identity([0, Arc::as_ptr(&self.contents).addr() as u64])
    }

    fn location(&self) -> Option<PathBuf> {
        None
    }

    fn length(&self) -> Result<u64, BlockError> {
        Ok(self.contents.pages.read().length())
    }

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.writable(Operation::SetLength)?;
        if self.contents.pages.write().set_length(bytes) {
            return Ok(());
        }
        Err(self.error(ErrorKind::NoSpace, Operation::SetLength).at(bytes))
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        if self.contents.pages.read().read(offset, into) {
            return Ok(());
        }
        Err(self.error(ErrorKind::PastEnd, Operation::Read).at(offset))
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        self.writable(Operation::Write)?;
        let mut pages = self.contents.pages.write();
        let mut at = offset;
        for piece in pieces {
            if !pages.write(at, piece) {
                return Err(self.error(ErrorKind::NoSpace, Operation::Write).at(at));
            }
            at += piece.len() as u64;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), BlockError> {
        Ok(())
    }

    fn queue(self: Arc<Self>, depth_max: usize) -> Result<Box<dyn Queue>, BlockError> {
        Ok(Box::new(WorkerQueue::inline(self, depth_max)))
    }

    fn hint(&self, _range: Range<u64>, _hint: Hint) {}

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.writable(Operation::Discard)?;
        self.contents.pages.write().discard(range);
        Ok(())
    }

    fn geometry(&self) -> Geometry {
        Geometry { logical_block_bytes: 1, physical_block_bytes: 4096, memory_alignment_bytes: 64 }
    }

    fn try_own(&self) -> Result<bool, BlockError> {
        self.writable(Operation::Own)?;
        Ok(self.hold(0..OWNER_SLOTS_MAX, false))
    }

    fn try_share(&self) -> Result<bool, BlockError> {
        Ok(self.hold(0..OWNER_SLOTS_MAX, true))
    }

    fn try_own_slot(&self, slot: u32) -> Result<bool, BlockError> {
        self.writable(Operation::Own)?;
        self.slot_exists(slot)?;
        Ok(self.hold(slot..slot + 1, false))
    }

    fn take_turn(&self) -> Result<(), BlockError> {
        self.writable(Operation::Own)?;
        let mut owners = self.contents.owners.lock();
        while owners.turn.is_some_and(|holder| holder != self.holder) {
            self.contents.turn_ended.wait(&mut owners);
        }
        owners.turn = Some(self.holder);
        Ok(())
    }

    fn end_turn(&self) -> Result<(), BlockError> {
        self.contents.owners.lock().end_turn(self.holder);
        self.contents.turn_ended.notify_all();
        Ok(())
    }

    fn keep_slot(&self, slot: u32) -> Result<(), BlockError> {
        self.slot_exists(slot)?;
        let mut owners = self.contents.owners.lock();
        owners.holds.retain(|hold| hold.holder != self.holder);
        owners.holds.push(Hold { holder: self.holder, slots: slot..slot + 1, shared: false });
        Ok(())
    }

    fn give_up_slots(&self) -> Result<(), BlockError> {
        self.contents.owners.lock().holds.retain(|hold| hold.holder != self.holder);
        Ok(())
    }

    fn fence(&self, slot: u32) -> Result<Fence, BlockError> {
        self.slot_exists(slot)?;
        let owners = self.contents.owners.lock();
        let busy = |hold: &Hold| hold.holder != self.holder && hold.slots.contains(&slot);
        Ok(if owners.holds.iter().any(busy) { Fence::Busy } else { Fence::Quiet })
    }
}
