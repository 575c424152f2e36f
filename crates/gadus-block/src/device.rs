//! The contract: folders of named devices, and what a device promises.
//!
//! - A read or write is whole or an error; nobody above handles short transfers.
//! - A write is durable once a later [`Device::sync`] returns; a new name, once a later
//!   [`Folder::sync`] returns as well. Between syncs there is no order.
//! - A failed sync says nothing about which bytes reached the medium, and the next one may succeed
//!   although bytes are lost: the caller must treat the device's unsynced bytes as unknown.
//! - Ownership belongs to the *open device*, which is also what issues the transfers; so a free
//!   owner means that the transfers of its last holder are over too.

use crate::buffer::BufferPool;
use crate::error::BlockError;
use crate::queue::Queue;
use std::fmt::Debug;
use std::io::IoSlice;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A device that holds bytes at offsets from 0 up to its length.
pub trait Device: Send + Sync + Debug {
    /// The name within its folder.
    fn name(&self) -> &str;

    /// Which device it is: the same for all who have it open, and for nothing else that is open on
    /// this machine, whatever name it has by now.
    fn identity(&self) -> Identity;

    /// The path under which other processes can ask which device it is ([`FileFolder::identity_at`]),
    /// whatever folder they work in; none when it is in no file system.
    ///
    /// [`FileFolder::identity_at`]: crate::FileFolder::identity_at
    fn location(&self) -> Option<PathBuf>;

    /// Bytes that the device holds.
    ///
    /// # Errors
    /// When the back-end fails.
    fn length(&self) -> Result<u64, BlockError>;

    /// Grows with zeros or shrinks to `bytes`; durable after a sync.
    ///
    /// # Errors
    /// `NoSpace`, `ReadOnly`, or a failure of the back-end.
    fn set_length(&self, bytes: u64) -> Result<(), BlockError>;

    /// Fills `into` from `offset`.
    ///
    /// # Errors
    /// `PastEnd` when the device ends before `into` is full; what `into` then holds is undefined.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError>;

    /// Writes all pieces one after another from `offset` on, growing the device when needed.
    ///
    /// # Errors
    /// `NoSpace`, `ReadOnly`, or a failure; any part of the bytes may have been written.
    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError>;

    /// Makes durable every write and length change that returned before the call.
    ///
    /// # Errors
    /// When anything written since the last sync may be lost; see the module's third invariant.
    fn sync(&self) -> Result<(), BlockError>;

    /// A queue of at most `depth_max` transfers in flight on this device.
    ///
    /// # Errors
    /// When the system has no thread or memory to give.
    fn queue(self: Arc<Self>, depth_max: usize) -> Result<Box<dyn Queue>, BlockError>;

    /// `count` buffers of `bytes_each`, aligned for this device and registered with it where that
    /// makes transfers cheaper.
    ///
    /// # Errors
    /// `Invalid` when the size is 0.
    fn register(&self, bytes_each: usize, count: usize) -> Result<BufferPool, BlockError> {
        BufferPool::new(bytes_each, count, self.geometry().memory_alignment_bytes)
            .ok_or_else(|| BlockError::invalid(self.name(), "a buffer has at least one byte"))
    }

    /// Says what will happen to a range; changes speed, never content.
    fn hint(&self, range: Range<u64>, hint: Hint);

    /// Gives the space of a range back; what the range holds afterwards is undefined until it is
    /// written, the length stays.
    ///
    /// # Errors
    /// When the back-end fails; a back-end that cannot give space back succeeds.
    fn discard(&self, range: Range<u64>) -> Result<(), BlockError>;

    /// Reserves space for a range, so that writing there later does not fail for want of it; the
    /// length stays.
    ///
    /// # Errors
    /// `NoSpace`, or a failure of the back-end; a back-end that cannot reserve space succeeds.
    fn reserve(&self, _range: Range<u64>) -> Result<(), BlockError> {
        Ok(())
    }

    /// Sizes that transfers should respect.
    fn geometry(&self) -> Geometry;

    /// Returns the owner and mode of the device's file; `None` if it lies in none.
    fn ownership(&self) -> Option<Ownership> {
        None
    }

    /// Gives the device's file the group and mode of another one.
    ///
    /// # Errors
    /// When the system refuses: only the owner may.
    fn own_as(&self, _: Ownership) -> Result<(), BlockError> {
        Ok(())
    }

    /// Takes every owner slot for this open device, until it is dropped. `false` when any other
    /// open device, in whatever process, holds a slot.
    ///
    /// # Errors
    /// `ReadOnly` when opened for reading.
    fn try_own(&self) -> Result<bool, BlockError>;

    /// As [`Device::try_own`], but shared with others that share: excludes owners only.
    ///
    /// # Errors
    /// When the back-end fails.
    fn try_share(&self) -> Result<bool, BlockError>;

    /// Takes one owner slot below [`OWNER_SLOTS_MAX`].
    ///
    /// # Errors
    /// `ReadOnly` when opened for reading, `Invalid` when there is no such slot.
    fn try_own_slot(&self, slot: u32) -> Result<bool, BlockError>;

    /// Waits until no other open device has the turn, and takes it. A holder that dies loses its turn and
    /// its slots at once, after its last transfer: whoever has the turn finds no slot of one who died in
    /// his.
    ///
    /// # Errors
    /// `ReadOnly` when opened for reading.
    fn take_turn(&self) -> Result<(), BlockError>;

    /// Takes the turn if no other open device has it, and says otherwise how it is held.
    ///
    /// # Errors
    /// As [`Device::take_turn`].
    fn try_turn(&self) -> Result<Turn, BlockError> {
        self.take_turn().map(|()| Turn::Taken)
    }

    /// Ends the turn of this open device, if it has it, and keeps its slots.
    ///
    /// # Errors
    /// When the back-end fails.
    fn end_turn(&self) -> Result<(), BlockError>;

    /// Gives up every owner slot but one, which this open device holds.
    ///
    /// # Errors
    /// When the back-end fails.
    fn keep_slot(&self, slot: u32) -> Result<(), BlockError>;

    /// Gives up every owner slot of this open device, which then transfers nothing any more.
    ///
    /// # Errors
    /// When the back-end fails.
    fn give_up_slots(&self) -> Result<(), BlockError>;

    /// Whether another open device that holds `slot` may still have transfers in flight.
    ///
    /// # Errors
    /// `Invalid` when there is no such slot.
    fn fence(&self, slot: u32) -> Result<Fence, BlockError>;
}

/// A folder of devices.
pub trait Folder: Send + Sync + Debug {
    /// Opens a device; each call gives an open device of its own.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`, `PermissionDenied`, `NotAFile`, `NotAFolder`, or a failure.
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError>;

    /// Whether a device of that name exists.
    ///
    /// # Errors
    /// When the folder cannot be searched.
    fn exists(&self, name: &str) -> Result<bool, BlockError>;

    /// Removes the name; who has the device open keeps it.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, or a failure.
    fn remove(&self, name: &str) -> Result<(), BlockError>;

    /// Makes names that were created and removed durable.
    ///
    /// # Errors
    /// When they may not be durable.
    fn sync(&self) -> Result<(), BlockError>;

    /// Where the device is, for messages.
    fn describe(&self, name: &str) -> String;
}

/// How a device is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing device, for reading.
    Read,
    /// An existing device, for reading and writing.
    ReadWrite,
    /// A device that must not exist yet, for reading and writing.
    Create,
}

/// Tells devices of one machine apart, as long as they are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(pub [u64; 2]);

/// Owner, group and permission bits of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// Number of the owning user.
    pub owner: u32,
    /// Number of the owning group.
    pub group: u32,
    /// Permission bits.
    pub mode: u32,
    /// Names that the file has: more than one may be a hard link into another folder.
    pub names: u64,
}

/// What will happen to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// It is read soon: fetch it.
    WillNeed,
    /// It is read from front to back.
    Sequential,
    /// It is not read again soon: caches may drop it, once it is synced.
    DontNeed,
    /// No special treatment any more.
    Keep,
}

/// Outcome of a try to take the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// This open device has it.
    Taken,
    /// Another one has it.
    Held,
    /// A process has locked the file for reading, which one that may only read it can do. It takes part in no
    /// turns.
    LockedForReading,
}

/// Whether transfers of a slot's holder may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fence {
    /// The slot is free: nothing of its last holder is in flight.
    Quiet,
    /// The slot is held.
    Busy,
}

/// Sizes that transfers should respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// The unit of transfers; 1 where the back-end cuts for itself.
    pub logical_block_bytes: u32,
    /// The unit that the medium writes without reading first.
    pub physical_block_bytes: u32,
    /// Alignment of memory that makes transfers cheapest.
    pub memory_alignment_bytes: usize,
}

/// Owner slots of a device: more than any number of processes that share one database.
pub const OWNER_SLOTS_MAX: u32 = 65_536;
