//! Gadus's own lock table, in memory of its own.

use crate::error::KubError;
use gadus_base::{RowId, SegmentId, TableId};
use gadus_locks::{
    EXTENT_BYTES, Fence, Instances, LockOwner, LockSettings, LockTable, Memory, MemoryError, Mode,
    Offset, Resource, Wait,
};
use std::sync::Arc;

const TABLE: TableId = TableId(1);

/// An owner of locks in a table that nobody else knows.
pub(super) struct TableLocks {
    owner: LockOwner,
}

/// Everybody lives: there is only this process.
#[derive(Debug)]
struct Alive;

impl Fence for Alive {
    fn is_quiet(&self, _: u32) -> bool {
        false
    }
}

impl TableLocks {
    /// A table for this many locks at least.
    pub(super) fn create(locks: u32) -> Result<Self, KubError> {
        // For the instances and the table's header; and a lock takes less than two hundred bytes.
        let extents = 8 + (locks as usize * 200).div_ceil(EXTENT_BYTES);
        let refused =
            |error: MemoryError| KubError::unavailable(format!("the lock table: {error}"));
        let memory = Memory::private(extents * EXTENT_BYTES).map_err(refused)?;
        let own = |_| Ok::<_, MemoryError>(true);
        let instances = Instances::claim(Arc::new(memory), Offset::new(0), Arc::new(Alive), own);
        let instances = Arc::new(instances.map_err(refused)?);
        let table = LockTable::attach(instances, EXTENT_BYTES, LockSettings::default());
        let owner = table.and_then(|table| table.register());
        let owner =
            owner.map_err(|error| KubError::unavailable(format!("the lock table: {error}")))?;
        Ok(Self { owner })
    }

    /// Locks a row.
    #[inline]
    pub(super) fn lock(&mut self, row: u32, exclusive: bool) -> Result<(), KubError> {
        let mode = if exclusive { Mode::Exclusive } else { Mode::Shared };
        let granted = self.owner.lock(of(row), mode, Wait::No);
        granted.map(drop).map_err(|error| KubError::broken(format!("the lock table: {error}")))
    }

    #[inline]
    pub(super) fn unlock(&mut self, row: u32) -> Result<(), KubError> {
        let done = self.owner.unlock(of(row));
        done.map_err(|error| KubError::broken(format!("the lock table: {error}")))
    }
}

fn of(row: u32) -> Resource {
    Resource::row(TABLE, RowId { segment: SegmentId(1), position: row })
}
