//! Gadus's lock table as two instances use it, of which one lives as long as a child does.
//!
//! - An instance is alive as long as its process has a byte of a file locked, as with a database. The child has that
//!   byte; the locks of its instance were taken here, before it was started.
//! - A table is new for each death: what the dead had is in it, and nobody else's.

use super::table::{Alive, broken, row};
use crate::error::{KubError, Refused};
use crate::run::Deadline;
use crate::system::{RangeLock, RangeLockKind};
use gadus_base::clock;
use gadus_locks::{
    EXTENT_BYTES, Fence, Instances, LockErrorKind, LockOwner, LockSettings, LockTable, Memory,
    MemoryError, Mode, Offset, Owner, Wait,
};
use rustix::fs::{Mode as FileMode, OFlags, open};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// For the instances and the table's header, and some requests.
const EXTENTS: usize = 9;

/// Whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The table looks for the dead no more often than that: one that was just made has just looked.
const SETTLING: Duration = Duration::from_millis(16);

/// The second connection of a table, for another thread.
pub(super) struct Connection(LockOwner);

/// A table with an instance of this process and one of a child.
pub(super) struct TableOfTwo {
    own: Connection,
    /// Kept for its locks; the child has its instance.
    _theirs: LockOwner,
    /// The byte by which the child's instance lives.
    slot: i64,
}

/// Asks a file who lives.
#[derive(Debug)]
struct Slots(Arc<File>);

impl Fence for Slots {
    fn is_quiet(&self, slot: u32) -> bool {
        let lock = RangeLock::new(self.0.as_fd(), RangeLockKind::Description);
        lock.is_free(slot.into()).unwrap_or(false)
    }
}

impl TableOfTwo {
    /// A table in which the child's instance has a row. `slots` is the file by which instances live.
    pub(super) fn create(slots: &Arc<File>) -> Result<Self, KubError> {
        let memory = Arc::new(Memory::private(EXTENTS * EXTENT_BYTES).map_err(refused)?);
        let own = attach(&memory, slots)?;
        let theirs = attach(&memory, slots)?;
        let slot = theirs.instances().me().slot.into();
        let mut owner = theirs.register().map_err(|error| broken(&error))?;
        owner.lock(row(0), Mode::Exclusive, Wait::No).map_err(|error| broken(&error))?;
        // Nobody's locks, so that cleaning up meets memory that was there before, as with a table in use.
        own.clean(Owner { slot: gadus_locks::INSTANCES_MAX - 1, generation: 1 })
            .map_err(|error| broken(&error))?;
        let settled = Deadline::after(SETTLING);
        while !settled.is_over() {
            std::thread::park_timeout(SETTLING);
        }
        let own = Connection(own.register().map_err(|error| broken(&error))?);
        Ok(Self { own, _theirs: owner, slot })
    }

    /// The byte by which the child's instance lives.
    pub(super) fn slot(&self) -> i64 {
        self.slot
    }

    pub(super) fn own(&mut self) -> &mut Connection {
        &mut self.own
    }
}

/// Locks the byte of an instance until the process ends. For a child: it makes system calls only.
pub(super) fn live_by(slots: &CString, slot: i64) -> Result<(), KubError> {
    let its = open(slots.as_c_str(), OFlags::RDWR, FileMode::empty()).or_refused("a file")?;
    RangeLock::new(its.as_fd(), RangeLockKind::Description).lock(slot, 1, true)?;
    std::mem::forget(its);
    Ok(())
}

impl Connection {
    /// Two connections of one instance, which search for a deadlock after some time of waiting.
    pub(super) fn two(search_after: Duration) -> Result<(Self, Self), KubError> {
        let memory = Arc::new(Memory::private(EXTENTS * EXTENT_BYTES).map_err(refused)?);
        let own = |_| Ok::<_, MemoryError>(true);
        let instances = Instances::claim(memory, Offset::new(0), Arc::new(Alive), own);
        let instances = Arc::new(instances.map_err(refused)?);
        let settings = LockSettings { deadlock_after: search_after, ..LockSettings::default() };
        let table = LockTable::attach(instances, EXTENT_BYTES, settings);
        let table = table.map_err(|error| broken(&error))?;
        let register = || table.register().map(Self).map_err(|error| broken(&error));
        Ok((register()?, register()?))
    }

    /// Who begins last is refused, of two who wait for each other.
    pub(super) fn begin(&mut self) {
        self.0.begin_transaction();
    }

    /// Has a row alone as soon as nobody else has it; says whether it was granted, or refused because two would wait for
    /// each other.
    pub(super) fn lock(&mut self, number: u32) -> Result<bool, KubError> {
        let end = Wait::Until(clock().now().plus(PATIENCE));
        match self.0.lock(row(number), Mode::Exclusive, end) {
            Err(error) if error.kind == LockErrorKind::Deadlock => Ok(false),
            done => done.map(|_| true).map_err(|error| broken(&error)),
        }
    }

    pub(super) fn release(&mut self) -> Result<(), KubError> {
        self.0.release_all().map_err(|error| broken(&error))
    }
}

fn attach(memory: &Arc<Memory>, slots: &Arc<File>) -> Result<Arc<LockTable>, KubError> {
    let own = |_| Ok::<_, MemoryError>(true);
    let fence = Arc::new(Slots(slots.clone()));
    let instances = Instances::claim(memory.clone(), Offset::new(0), fence, own);
    let instances = Arc::new(instances.map_err(refused)?);
    LockTable::attach(instances, EXTENT_BYTES, LockSettings::default())
        .map_err(|error| broken(&error))
}

fn refused(error: MemoryError) -> KubError {
    KubError::unavailable(format!("the lock table: {error}"))
}
