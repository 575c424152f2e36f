//! The instances that share one open database, as storage sees them.
//!
//! - An instance that excludes others shares its state with nobody, through the same code.
//! - Reaping takes back what the dead had: pins and reserved space here, and their locks.

mod abandoned;
mod stages;
mod state;

pub(crate) use abandoned::{
    Abandoned, is_memory_name, is_unfinished_or_of, memory_name, tell_location,
};
pub(crate) use stages::StageState;
pub use stages::{Stage, Takeovers};
use state::Revoked;
pub(crate) use state::{FRONT, LAYOUT_VERSION, LOCKS_START, MAGIC, Pin, STATE, State, TABLE};

use crate::error::{ErrorKind, StorageError};
use gadus_base::{CommitNumber, Instant, LogPosition, clock};
use gadus_block::{Device, Fence as DeviceFence, Guard};
use gadus_locks::{
    Acquired, Cleanup, Fence, INSTANCES_MAX, Instances, Latch, Liveness, LockError, LockErrorKind,
    LockSettings, LockTable, Memory, MemoryError, MemoryErrorKind, Owner,
};
use parking_lot::Mutex;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// Addresses that are reserved for the memory: it grows with the number of locks.
pub(crate) const MEMORY_BYTES_MAX: usize = 1 << 30;

/// For so long the length of the memory's file is taken to be what it was.
const MEMORY_LOOK: Duration = Duration::from_millis(10);

const MEMORY_LOST: &str = "the shared memory of its processes was cut off or overwritten from outside; close the \
                           database in all processes, and open it again";

/// No pin.
const NOTHING: u64 = u64::MAX;

/// This instance among those that share the database.
#[derive(Debug)]
pub(crate) struct Peers {
    instances: Arc<Instances>,
    locks: Arc<LockTable>,
    excludes_others: bool,
    /// When the length of the memory's file was looked at last.
    looked: Mutex<Option<Instant>>,
}

/// A latch that is held until this is dropped, by the thread that took it.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    latch: &'a Latch,
    me: Owner,
    acquired: Acquired,
    /// It is taken over when its thread is over, and so must not leave it.
    _stays: PhantomData<*const ()>,
}

impl Held<'_> {
    /// Whether whoever had it before has died with it.
    pub(crate) fn was_taken_from_the_dead(&self) -> bool {
        matches!(self.acquired, Acquired::FromDead(_))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.latch.unlock(self.me);
    }
}

/// What an instance keeps alive: the files that it writes through.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    pub(crate) data: Arc<dyn Device>,
    pub(crate) log: Arc<dyn Device>,
}

impl Fence for OpenFiles {
    fn is_quiet(&self, slot: u32) -> bool {
        let quiet = |device: &dyn Device| matches!(device.fence(slot), Ok(DeviceFence::Quiet));
        quiet(&*self.data) && quiet(&*self.log)
    }
}

/// Nobody else is there to be asked about.
#[derive(Debug)]
struct Nobody;

impl Fence for Nobody {
    fn is_quiet(&self, _: u32) -> bool {
        true
    }
}

impl Peers {
    /// An instance that excludes all others; its file is described so.
    pub(crate) fn alone(described: &str) -> Result<Self, StorageError> {
        let claim = || {
            let memory = Arc::new(Memory::private(MEMORY_BYTES_MAX)?);
            memory.ensure(LOCKS_START)?;
            let own = |_| Ok::<_, MemoryError>(true);
            Instances::claim(memory, TABLE, Arc::new(Nobody), own)
        };
        let instances = claim().map_err(|error| memory_failed(described, &error))?;
        Self::with(instances, true, described)
    }

    /// An instance among others.
    pub(crate) fn among(instances: Instances, described: &str) -> Result<Self, StorageError> {
        Self::with(instances, false, described)
    }

    fn with(
        instances: Instances,
        excludes_others: bool,
        described: &str,
    ) -> Result<Self, StorageError> {
        let instances = Arc::new(instances);
        let memory = instances.memory().clone();
        let also_clean: Cleanup = Arc::new(move |dead| clean(state_in(&memory), dead));
        let settings = LockSettings { also_clean: Some(also_clean), ..LockSettings::default() };
        let locks = LockTable::attach(instances.clone(), LOCKS_START, settings)
            .map_err(|error| locks_failed(described, &error))?;
        Ok(Self { instances, locks, excludes_others, looked: Mutex::default() })
    }

    /// Fails if the shared memory was cut off, or overwritten, by a process that does not share the database: what
    /// it says of the log is not to be believed then, and nothing may be appended.
    pub(crate) fn check_memory(&self, described: &str) -> Result<(), StorageError> {
        self.check_front(self.look_at_memory(), described)
    }

    /// Fails as [`Peers::check_memory`] does, where the length of the memory's file was looked at a moment ago: a system
    /// call for each commit would cost threads that commit together some per cent.
    pub(crate) fn check_memory_cached(&self, described: &str) -> Result<(), StorageError> {
        self.check_front(self.was_whole(), described)
    }

    fn check_front(&self, is_whole: bool, described: &str) -> Result<(), StorageError> {
        let refused = || StorageError::new(ErrorKind::Corrupt, described, MEMORY_LOST);
        self.is_believed(is_whole).then_some(()).ok_or_else(refused)
    }

    /// Returns true if what the memory says may be believed. Where it is not whole, nothing of it may be accessed.
    fn is_believed(&self, is_whole: bool) -> bool {
        self.excludes_others || (is_whole && has_front(self.instances.memory()))
    }

    /// Looks, after a sleep, whether the shared memory is still there: what is cut off is not to be accessed.
    pub(crate) fn look_at_memory(&self) -> bool {
        self.instances.memory().verify_length()
    }

    fn was_whole(&self) -> bool {
        let now = clock().now();
        let mut looked = self.looked.lock();
        if looked.is_some_and(|looked| now.since(looked) < MEMORY_LOOK) {
            return !self.instances.memory().is_lost();
        }
        *looked = Some(now);
        drop(looked);
        self.look_at_memory()
    }

    /// The locks that all instances share.
    pub(crate) fn locks(&self) -> &Arc<LockTable> {
        &self.locks
    }

    pub(crate) fn excludes_others(&self) -> bool {
        self.excludes_others
    }

    pub(crate) fn instances(&self) -> &Instances {
        &self.instances
    }

    pub(crate) fn state(&self) -> &State {
        state_in(self.instances.memory())
    }

    pub(crate) fn me(&self) -> Owner {
        self.instances.me()
    }

    pub(crate) fn is_dead(&self, owner: Owner) -> bool {
        self.instances.is_dead(owner)
    }

    /// What this instance pins.
    pub(crate) fn pin(&self) -> &Pin {
        &self.state().pins[self.me().slot as usize]
    }

    /// Pins nothing any more.
    pub(crate) fn unpin(&self) {
        let pin = self.pin();
        pin.position.store(NOTHING, Ordering::Release);
        pin.commit.store(NOTHING, Ordering::Release);
    }

    /// Ends the state in which a claimed slot pins everything.
    pub(crate) fn unpin_all(&self) {
        self.pin().flush.store(NOTHING, Ordering::Release);
        self.pin().reading.store(NOTHING, Ordering::Release);
        self.unpin();
    }

    /// Takes a latch; where its owner has died with it, that is counted, at the stage that its owner was
    /// in.
    pub(crate) fn hold<'a>(
        &self,
        latch: &'a Latch,
        stage: impl FnOnce(&StageState) -> Stage,
    ) -> Held<'a> {
        self.hold_until(latch, None, stage).expect("without an end there is no being late")
    }

    /// The same, until `end`.
    ///
    /// # Errors
    /// Who had it then, and is not known to be dead.
    pub(crate) fn hold_until<'a>(
        &self,
        latch: &'a Latch,
        end: Option<Instant>,
        stage: impl FnOnce(&StageState) -> Stage,
    ) -> Result<Held<'a>, Owner> {
        // What latches of storage protect in memory is published by single stores: none of it is
        // half done. What is in the files may be.
        let acquired = latch.lock_until(self.me(), &*self.instances, end)?;
        let held = Held { latch, me: self.me(), acquired, _stays: PhantomData };
        if held.was_taken_from_the_dead() {
            let stages = &self.state().stages;
            stages.note_takeover(stage(stages));
        }
        Ok(held)
    }

    /// The oldest log position that anybody pins. What is pinned later is newer than what the
    /// caller has announced before.
    pub(crate) fn oldest_position(&self) -> u64 {
        self.reap();
        fence(Ordering::SeqCst);
        let revoked = &self.state().revoked;
        self.taken().map(|pin| pin.oldest_position(revoked)).min().unwrap_or(NOTHING)
    }

    /// Whether all others read nothing older than a commit, whose record ends at `position`: no
    /// version, and no record. What they begin to read later is newer than what the caller has
    /// announced before.
    pub(crate) fn others_read_from(&self, commit: CommitNumber, position: LogPosition) -> bool {
        if self.excludes_others {
            return true;
        }
        self.reap();
        fence(Ordering::SeqCst);
        let me = self.pin();
        let revoked = &self.state().revoked;
        let mut others = self.taken().filter(|pin| !std::ptr::eq(*pin, me));
        others.all(|pin| {
            let reads_from = pin.reading.load(Ordering::SeqCst);
            pin.oldest_commit(revoked) >= commit.0 && reads_from >= position.0
        })
    }

    /// The oldest end of a commit whose snapshot somebody keeps.
    pub(crate) fn oldest_snapshot(&self) -> u64 {
        let revoked = &self.state().revoked;
        self.taken().map(|pin| pin.snapshot_position(revoked)).min().unwrap_or(NOTHING)
    }

    /// Gives up the snapshots of all commits before one, whose record ends at `position`.
    pub(crate) fn revoke_before(&self, commit: CommitNumber, position: LogPosition) {
        let revoked = &self.state().revoked;
        // In this order: what is given away because of the position is known not to be readable.
        revoked.commit.fetch_max(commit.0, Ordering::SeqCst);
        revoked.position.fetch_max(position.0, Ordering::SeqCst);
    }

    /// The oldest commit whose snapshot is not given up.
    pub(crate) fn readable_from(&self) -> CommitNumber {
        CommitNumber(self.state().revoked.commit.load(Ordering::SeqCst))
    }

    /// Where that commit's record ends.
    pub(crate) fn readable_from_position(&self) -> u64 {
        self.state().revoked.position.load(Ordering::SeqCst)
    }

    fn taken(&self) -> impl Iterator<Item = &Pin> {
        let taken = (0..INSTANCES_MAX).zip(&self.state().pins);
        taken.filter(|(slot, _)| self.instances.is_taken(*slot)).map(|(_, pin)| pin)
    }

    /// Cleans up after the dead; gives how many there were.
    pub(crate) fn reap(&self) -> usize {
        if self.excludes_others {
            return 0;
        }
        self.locks.reap()
    }

    /// Leaves the others, once.
    pub(crate) fn leave(&self) {
        self.instances.leave(|| clean(self.state(), self.me()));
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Guard for Peers {
    fn refusal(&self) -> Option<&'static str> {
        (!self.is_believed(self.look_at_memory())).then_some(MEMORY_LOST)
    }

    fn look(&self) {
        self.look_at_memory();
    }
}

fn has_front(memory: &Memory) -> bool {
    memory.at(FRONT).is_ok_and(|front| {
        front.magic.load(Ordering::Acquire) == MAGIC
            && front.state_bytes.load(Ordering::Relaxed) == size_of::<State>() as u64
    })
}

fn state_in(memory: &Memory) -> &State {
    memory.at(STATE).expect("opening has mapped the state")
}

/// Takes from the state what an instance has there that is gone.
fn clean(state: &State, owner: Owner) {
    state.space.give_up(owner);
    let pin = &state.pins[owner.slot as usize];
    // The next user of the slot pins everything until it has opened.
    pin.commit.store(0, Ordering::Relaxed);
    pin.position.store(0, Ordering::Relaxed);
    pin.flush.store(0, Ordering::Relaxed);
    pin.reading.store(0, Ordering::Relaxed);
}

impl Pin {
    fn oldest_position(&self, revoked: &Revoked) -> u64 {
        let [flush, reading] = [&self.flush, &self.reading].map(|word| word.load(Ordering::SeqCst));
        self.snapshot_position(revoked).min(flush).min(reading)
    }

    fn snapshot_position(&self, revoked: &Revoked) -> u64 {
        self.position.load(Ordering::SeqCst).max(revoked.position.load(Ordering::SeqCst))
    }

    fn oldest_commit(&self, revoked: &Revoked) -> u64 {
        // Who reads from the beginning has not said yet which commit.
        let opens = self.reading.load(Ordering::SeqCst) == 0;
        let commit = self.commit.load(Ordering::SeqCst).max(revoked.commit.load(Ordering::SeqCst));
        if opens { 0 } else { commit }
    }
}

/// A failure of shared memory as one of storage.
pub(crate) fn memory_failed(described: &str, error: &MemoryError) -> StorageError {
    let kind = match error.kind {
        MemoryErrorKind::NoSpace => ErrorKind::NoSpace,
        MemoryErrorKind::Full => ErrorKind::Limit,
        MemoryErrorKind::Damaged => ErrorKind::Corrupt,
        MemoryErrorKind::Unreachable => ErrorKind::InUse,
        MemoryErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        MemoryErrorKind::System => ErrorKind::Io,
    };
    StorageError::new(kind, described, error.message.clone())
}

/// A failure of the lock table as one of storage.
fn locks_failed(described: &str, error: &LockError) -> StorageError {
    let kind = match error.kind {
        LockErrorKind::NoSpace => ErrorKind::NoSpace,
        LockErrorKind::Damaged => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    };
    StorageError::new(kind, described, error.to_string())
}
