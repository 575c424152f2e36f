//! Locks of rows, keys and tables, as statements use them.
//!
//! - Only [`Locker::wait_for`] waits. A statement that meets somebody's lock fails, is undone, and is
//!   run again once it has been granted that lock.
//! - Who has locked looks under the commit lock whether what it locked was changed since its
//!   snapshot: from then on nobody changes it.
//! - A statement outside a transaction takes no locks. Under the commit lock nobody else commits: it
//!   only looks whether somebody keeps what it changes.
//! - Locks are released when what they were for is durable, so that whoever is granted one then
//!   finds it in its next snapshot.

use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::KeyHash;
use gadus_base::{Instant, RowId, TableId, clock};
use gadus_locks::{
    Canceller, Ending, EscalationSettings, LockError, LockErrorKind, LockTable, Mode, Resource,
    RowGrant, RowLocks, Wait,
};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a statement needs and somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked(What);

/// Something to lock, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A row, to change it or keep others from changing it; or shared, to keep it as it is together with
    /// others who do.
    Row(TableId, RowId, Mode),
    /// A key of the index with this number, to insert it.
    Key(TableId, u32, KeyHash),
    /// A table, to change some of its rows.
    Rows(TableId),
    /// A table, to change its shape.
    Shape(TableId),
    /// A table, as a statement says.
    Table(TableId, Mode),
}

/// What to do when somebody wants a connection to end.
struct Asked(Box<AskedToEnd>);

type AskedToEnd = dyn Fn(&Locker, Ending) + Send + Sync;

/// Who locks: a connection, in its transaction or while it waits.
#[derive(Debug)]
pub struct Locker {
    rows: Mutex<RowLocks>,
    canceller: Canceller,
    number: u32,
    id: u32,
    /// Its locks end with the transaction: there is one at a time.
    in_transaction: AtomicBool,
    asked: OnceLock<Asked>,
    /// Locks end before the instance does.
    inner: Arc<Inner>,
}

impl Locker {
    pub(crate) fn new(inner: Arc<Inner>) -> Result<Arc<Self>> {
        let owner = inner.locks().register().map_err(failed)?;
        let (canceller, number, id) = (owner.canceller(), owner.number(), owner.id());
        let rows = Mutex::new(RowLocks::new(owner, EscalationSettings::default()));
        let in_transaction = AtomicBool::new(false);
        let asked = OnceLock::new();
        let of = inner.clone();
        let locker = Self { rows, canceller, number, id, in_transaction, asked, inner: of };
        let locker = Arc::new(locker);
        inner.watched.add(&locker);
        Ok(locker)
    }

    /// Says what to do when somebody, perhaps in another process, wants the connection, or its
    /// statement, to end: also to end its wait. It is called on a thread of its own.
    pub fn when_asked_to_end(&self, asked: impl Fn(&Self, Ending) + Send + Sync + 'static) {
        // It is said once.
        let _ = self.asked.set(Asked(Box::new(asked)));
    }

    pub(crate) fn asked_to_end(&self, what: Ending) {
        if let Some(Asked(asked)) = self.asked.get() {
            asked(self, what);
        }
    }

    /// Whether somebody, perhaps in another process, has asked for the end of the connection: true from
    /// when he has, before [`Self::when_asked_to_end`] is heard of it.
    #[must_use]
    pub fn is_asked_to_end(&self) -> bool {
        self.canceller.is_asked_to_end()
    }

    /// The number of the connection within its instance, as others see it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What names the connection among those of all processes, as long as it is there.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A transaction begins: of several in a deadlock, the one that began last is refused.
    ///
    /// # Errors
    /// When it has one already.
    pub(crate) fn begin(&self) -> Result<()> {
        if self.in_transaction.swap(true, Ordering::AcqRel) {
            return Err(Error::internal("a connection has one transaction at a time"));
        }
        self.rows.lock().owner().begin_transaction();
        Ok(())
    }

    /// Its transaction has ended.
    pub(crate) fn end(&self) {
        self.release();
        self.in_transaction.store(false, Ordering::Release);
    }

    /// Locks something, if nobody is in the way.
    pub(crate) fn lock(&self, what: What) -> Result<()> {
        self.lock_until(what, Wait::No)
    }

    /// Waits for what a statement was refused, and locks it.
    ///
    /// # Errors
    /// `Locked` when the time is over, `Deadlock`, or `Cancelled`.
    pub fn wait_for(&self, blocked: Blocked, until: Option<Instant>) -> Result<()> {
        let wait = until.map_or(Wait::Forever, Wait::Until);
        self.lock_until(blocked.0, wait)
    }

    /// The same for no longer than a time.
    ///
    /// # Errors
    /// As [`Locker::wait_for`].
    pub fn wait_at_most(&self, blocked: Blocked, time: Duration) -> Result<()> {
        self.wait_for(blocked, Some(clock().now().plus(time)))
    }

    /// A statement begins: what was cancelled before it is over.
    pub fn begin_statement(&self) {
        self.rows.lock().owner().forget_cancellation();
    }

    /// Ends the statement's wait, or its next one, from another thread.
    pub fn cancel_wait(&self) {
        self.canceller.cancel();
    }

    /// Releases everything.
    pub fn release(&self) {
        if !self.inner.blobs.store().process().is_here() {
            return;
        }
        // What is damaged is rebuilt by the next who needs it.
        let _ = self.rows.lock().release_all();
    }

    /// Locks rows of a table, if nobody is in the way.
    pub(crate) fn lock_rows<'a>(
        &self,
        table: TableId,
        rows: impl IntoIterator<Item = &'a RowId>,
        mode: Mode,
    ) -> Result<()> {
        let mut held = self.rows.lock();
        let mut covered = None;
        for row in rows {
            if covered == Some(row.segment) {
                continue;
            }
            let what = What::Row(table, *row, mode);
            let granted = held.lock_row(table, *row, mode, Wait::No);
            match granted.map_err(|error| failed(error).blocked_by(Blocked(what)))? {
                RowGrant::Row => {}
                RowGrant::Segment => covered = Some(row.segment),
                RowGrant::Table => break,
            }
        }
        Ok(())
    }

    fn lock_until(&self, what: What, wait: Wait) -> Result<()> {
        let mut rows = self.rows.lock();
        let locked = match what {
            What::Row(table, row, mode) => rows.lock_row(table, row, mode, wait).map(drop),
            What::Key(..) | What::Rows(_) | What::Shape(_) | What::Table(..) => {
                let (resource, mode) = what.resource();
                rows.owner().lock(resource, mode, wait).map(drop)
            }
        };
        locked.map_err(|error| failed(error).blocked_by(Blocked(what)))
    }

    /// Whether somebody else keeps something from being changed, by a statement outside
    /// transactions; `except` is who waited for it.
    pub(crate) fn refuse_kept(table: &LockTable, what: What, except: Option<&Self>) -> Result<()> {
        let mut except = except.map(|locker| locker.rows.lock());
        let except = except.as_mut().map(|rows| &*rows.owner());
        let (resource, mode) = what.resource();
        let is_kept = |resource, mode| table.is_excluded(resource, mode, except).map_err(failed);
        let kept = match what {
            // Many small locks are given up once there is the large one: looked for in this order,
            // one of them is seen.
            What::Row(of, row, _) => {
                is_kept(resource, mode)?
                    || is_kept(Resource::segment(of, row.segment), Mode::IntentExclusive)?
                    || is_kept(Resource::table(of), Mode::IntentExclusive)?
            }
            _ => is_kept(resource, mode)?,
        };
        if !kept {
            return Ok(());
        }
        let message = format!("another transaction keeps {resource}");
        Err(Error::new(ErrorKind::Locked, message).blocked_by(Blocked(what)))
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.inner.watched.remove(self.number);
    }
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asked")
    }
}

impl What {
    fn resource(self) -> (Resource, Mode) {
        match self {
            Self::Row(table, row, mode) => (Resource::row(table, row), mode),
            Self::Key(table, index, hash) => {
                // Indexes whose numbers differ by 2^16 share their locks, which keeps too much at worst.
                let [low, high, ..] = index.to_le_bytes();
                let index = u16::from_le_bytes([low, high]);
                (Resource::key(table, index, hash.0), Mode::Exclusive)
            }
            Self::Rows(table) => (Resource::table(table), Mode::IntentExclusive),
            Self::Shape(table) => (Resource::table(table), Mode::Exclusive),
            Self::Table(table, mode) => (Resource::table(table), mode),
        }
    }
}

/// A failure of the lock table as one of the engine.
pub(crate) fn failed(error: LockError) -> Error {
    let (kind, advice) = match error.kind {
        LockErrorKind::Timeout => {
            (ErrorKind::Locked, "; wait longer (lock_timeout), or have it end its transaction")
        }
        LockErrorKind::Deadlock => (ErrorKind::Deadlock, "; run the transaction again"),
        LockErrorKind::Cancelled => (ErrorKind::Cancelled, ""),
        LockErrorKind::NoSpace => {
            (ErrorKind::Limit, "; end transactions that lock many rows, or close connections")
        }
        LockErrorKind::Damaged => (ErrorKind::Corrupt, ""),
        LockErrorKind::NotHeld => (ErrorKind::Internal, ""),
        LockErrorKind::System => (ErrorKind::Io, ""),
    };
    Error::new(kind, format!("{error}{advice}")).caused_by(error)
}
