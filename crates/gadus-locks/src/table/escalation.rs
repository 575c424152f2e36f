//! Row locks that turn into a lock of their segment, and of their table, when they are many.
//!
//! - A small layer over the table: it takes the intention locks that a row lock needs, and counts.
//! - Escalation never waits: where others are in the way, rows go on to be locked one by one, and it
//!   is tried again after [`RowLocks::RETRY_AFTER`] more.
//! - It is for one transaction: [`RowLocks::release_all`] ends it.

use super::by_resource::ByResource;
use super::error::{LockError, LockErrorKind};
use super::modes::Mode;
use super::owner::{LockOwner, Wait};
use super::resource::Resource;
use super::statistics::Counter;
use gadus_base::{RowId, SegmentId, TableId};

/// When row locks turn into larger ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EscalationSettings {
    /// Row locks of an owner in a segment.
    pub rows_per_segment_max: u32,
    /// Row locks of an owner in a table, those of escalated segments included.
    pub rows_per_table_max: u32,
}

/// An owner's row locks.
#[derive(Debug)]
pub struct RowLocks {
    owner: LockOwner,
    settings: EscalationSettings,
    /// Of each segment and each table with row locks in it.
    within: ByResource<Rows>,
}

/// The row locks within something larger.
#[derive(Debug, Clone, Copy)]
struct Rows {
    count: u32,
    /// What one lock for all of them must cover.
    mode: Mode,
    try_at: u32,
}

/// What has become of a row lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowGrant {
    /// The row is locked, alone.
    Row,
    /// All rows of its segment are.
    Segment,
    /// All rows of its table are.
    Table,
}

impl Default for EscalationSettings {
    fn default() -> Self {
        // A sixteenth of a full segment; a table's worth of locks is then below one MiB.
        Self { rows_per_segment_max: 4096, rows_per_table_max: 8192 }
    }
}

impl RowLocks {
    /// Further locks between two attempts to escalate: few beside those that have led to the first.
    pub const RETRY_AFTER: u32 = 1024;

    /// Counts the row locks of an owner, which has none yet.
    #[must_use]
    pub fn new(owner: LockOwner, settings: EscalationSettings) -> Self {
        Self { owner, settings, within: ByResource::default() }
    }

    /// The owner, for locks of other things than rows.
    pub fn owner(&mut self) -> &mut LockOwner {
        &mut self.owner
    }

    /// Locks a row in S, U or X; says which lock covers it now.
    ///
    /// # Errors
    /// As [`LockOwner::lock`]; intention locks may be left.
    pub fn lock_row(
        &mut self,
        table: TableId,
        row: RowId,
        mode: Mode,
        wait: Wait,
    ) -> Result<RowGrant, LockError> {
        let intention = intention(mode);
        let (whole, part) = (Resource::table(table), Resource::segment(table, row.segment));
        if row_mode(self.owner.lock(whole, intention, wait)?.mode).covers(mode) {
            return Ok(RowGrant::Table);
        }
        if row_mode(self.owner.lock(part, intention, wait)?.mode).covers(mode) {
            return Ok(RowGrant::Segment);
        }
        let before = self.owner.held_count();
        let after = self.owner.lock(Resource::row(table, row), mode, wait)?.mode;
        let new = u32::from(self.owner.held_count() > before);
        let segment_is_full = self.count(part, self.settings.rows_per_segment_max, new, after);
        let table_is_full = self.count(whole, self.settings.rows_per_table_max, new, after);
        if table_is_full && self.escalate_table(table)? {
            return Ok(RowGrant::Table);
        }
        if segment_is_full && self.escalate_segment(table, row.segment)? {
            return Ok(RowGrant::Segment);
        }
        Ok(RowGrant::Row)
    }

    /// Releases everything that the owner has locked.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn release_all(&mut self) -> Result<(), LockError> {
        self.within.clear();
        self.owner.release_all()
    }

    /// Counts a row lock within something larger; says whether it is time to escalate.
    #[inline]
    fn count(&mut self, larger: Resource, limit: u32, new: u32, mode: Mode) -> bool {
        if let Some(rows) = self.within.get_mut(larger) {
            return rows.add(new, mode);
        }
        let mut rows = Rows::new(limit);
        let is_full = rows.add(new, mode);
        self.within.add(larger, rows);
        is_full
    }

    fn escalate_segment(&mut self, table: TableId, segment: SegmentId) -> Result<bool, LockError> {
        let part = Resource::segment(table, segment);
        let escalated = self.escalate(part, |resource| resource.is_in_segment(table, segment))?;
        if escalated {
            self.within.remove(part);
        }
        Ok(escalated)
    }

    fn escalate_table(&mut self, table: TableId) -> Result<bool, LockError> {
        let whole = Resource::table(table);
        let escalated = self.escalate(whole, |resource| resource.is_within_table(table))?;
        if escalated {
            self.within.retain(|one| one != whole && !one.is_within_table(table));
        }
        Ok(escalated)
    }

    /// Takes the larger lock if that is possible at once, and then gives up the smaller ones.
    fn escalate(
        &mut self,
        larger: Resource,
        is_inside: impl Fn(Resource) -> bool,
    ) -> Result<bool, LockError> {
        let rows = self.within.get_mut(larger).expect("its rows were just counted");
        rows.try_at = rows.count.saturating_add(Self::RETRY_AFTER);
        let mode = rows.mode;
        match self.owner.lock(larger, mode, Wait::No) {
            Ok(_) => {}
            Err(error) if error.kind == LockErrorKind::Timeout => return Ok(false),
            Err(error) => return Err(error),
        }
        self.owner.table().count(Counter::Escalations, 1);
        for resource in self.owner.resources().filter(|one| is_inside(*one)).collect::<Vec<_>>() {
            self.owner.unlock(resource)?;
        }
        Ok(true)
    }
}

impl Rows {
    fn new(limit: u32) -> Self {
        Self { count: 0, mode: Mode::Null, try_at: limit.max(1) }
    }

    /// Counts; says whether it is time to escalate.
    fn add(&mut self, new: u32, mode: Mode) -> bool {
        self.count = self.count.saturating_add(new);
        self.mode = self.mode.supremum(mode);
        new > 0 && self.count >= self.try_at
    }
}

/// What must be held of the larger for a lock of a row.
fn intention(mode: Mode) -> Mode {
    match mode {
        Mode::Shared => Mode::IntentShared,
        Mode::Null => Mode::Null,
        _ => Mode::IntentExclusive,
    }
}

/// What a lock of something larger is for each row in it.
fn row_mode(held: Mode) -> Mode {
    match held {
        // It excludes all intentions to write, and with them all locks of rows but S.
        Mode::SharedIntentExclusive => Mode::Update,
        Mode::Shared | Mode::Update | Mode::Exclusive | Mode::SchemaModification => held,
        _ => Mode::Null,
    }
}
