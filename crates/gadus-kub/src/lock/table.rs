//! Gadus's own lock table, in memory of its own.

use crate::error::KubError;
use gadus_base::{RowId, SegmentId, TableId};
use gadus_locks::{
    EXTENT_BYTES, EscalationSettings, Fence, Instances, LockError, LockSettings, LockTable, Memory,
    MemoryError, Mode, Offset, Resource, RowLocks, Wait,
};
use std::sync::Arc;

const TABLE: TableId = TableId(1);

/// An owner of locks in a table that nobody else knows.
pub(super) struct TableLocks {
    rows: RowLocks,
}

/// Everybody lives: there is only this process.
#[derive(Debug)]
pub(super) struct Alive;

impl Fence for Alive {
    fn is_quiet(&self, _: u32) -> bool {
        false
    }
}

impl TableLocks {
    /// A table for this many locks at least.
    pub(super) fn create(locks: u32) -> Result<Self, KubError> {
        Self::escalating(locks, u32::MAX)
    }

    /// The same, in which so many row locks become one of their segment.
    pub(super) fn escalating(locks: u32, rows_max: u32) -> Result<Self, KubError> {
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
        let settings =
            EscalationSettings { rows_per_segment_max: rows_max, rows_per_table_max: u32::MAX };
        Ok(Self { rows: RowLocks::new(owner, settings) })
    }

    /// Locks a row, and nothing above it.
    #[inline]
    pub(super) fn lock(&mut self, row: u32, exclusive: bool) -> Result<(), KubError> {
        let mode = if exclusive { Mode::Exclusive } else { Mode::Shared };
        self.rows
            .owner()
            .lock(self::row(row), mode, Wait::No)
            .map(drop)
            .map_err(|error| broken(&error))
    }

    #[inline]
    pub(super) fn unlock(&mut self, row: u32) -> Result<(), KubError> {
        self.rows.owner().unlock(self::row(row)).map_err(|error| broken(&error))
    }

    /// Locks a row to change it, with intentions above it.
    pub(super) fn lock_row(&mut self, row: u32) -> Result<(), KubError> {
        let granted = self.rows.lock_row(TABLE, of(row), Mode::Exclusive, Wait::No);
        granted.map(drop).map_err(|error| broken(&error))
    }

    /// Lets everything go.
    pub(super) fn end(&mut self) -> Result<(), KubError> {
        self.rows.release_all().map_err(|error| broken(&error))
    }
}

/// A row of the table by its number.
pub(super) fn row(number: u32) -> Resource {
    Resource::row(TABLE, of(number))
}

fn of(row: u32) -> RowId {
    RowId { segment: SegmentId(1), position: row }
}

pub(super) fn broken(error: &LockError) -> KubError {
    KubError::broken(format!("the lock table: {error}"))
}
