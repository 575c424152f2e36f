//! Why a lock was not granted.

use super::modes::Mode;
use super::resource::Resource;
use crate::error::{MemoryError, MemoryErrorKind};
use crate::instances::InstanceDescription;
use gadus_base::date_and_time;
use std::fmt;
use std::ops::Deref;

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockErrorKind {
    /// Others hold it; try again later, or wait longer.
    Timeout,
    /// The wait would never have ended: give up what is held, and begin again.
    Deadlock,
    /// Somebody has asked the call to end.
    Cancelled,
    /// There is no memory left for another lock; release some.
    NoSpace,
    /// The lock is not held in a way that allows the call; the caller is wrong.
    NotHeld,
    /// What shared memory holds cannot be true; close the database everywhere, and open it again.
    Damaged,
    /// The system has failed.
    System,
}

/// A lock that was not granted, or another failure of the lock table. In a box, because a result that
/// has room for a large error is returned in memory, and slows down what succeeds.
#[derive(Clone, PartialEq, Eq)]
pub struct LockError(Box<LockFailure>);

const _: () = assert!(size_of::<Result<(), LockError>>() == size_of::<usize>());

/// What there is to know of a [`LockError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFailure {
    /// What can be done.
    pub kind: LockErrorKind,
    /// What the call was about.
    pub resource: Option<Resource>,
    /// Who stood in the way.
    pub holder: Option<LockHolder>,
    message: String,
}

/// Somebody who holds a lock or waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The instance, unless it is gone by now.
    pub instance: Option<InstanceDescription>,
    /// The number of the connection within its instance; 0 for none in particular.
    pub connection: u32,
    /// What it has of the resource, or waits for.
    pub mode: Mode,
    /// For how long, in milliseconds, where that is written down.
    pub age_ms: Option<u64>,
}

impl LockError {
    #[cold]
    pub(super) fn new(kind: LockErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(LockFailure { kind, resource: None, holder: None, message }))
    }

    #[cold]
    pub(super) fn damaged(what: &str) -> Self {
        Self::new(LockErrorKind::Damaged, format!("the lock table is damaged: {what}"))
    }

    /// The same, about a resource.
    pub(super) fn about(mut self, resource: Resource) -> Self {
        self.0.resource.get_or_insert(resource);
        self
    }

    pub(super) fn held_by(mut self, holder: Option<LockHolder>) -> Self {
        self.0.holder = holder;
        self
    }
}

impl Deref for LockError {
    type Target = LockFailure;

    fn deref(&self) -> &LockFailure {
        &self.0
    }
}

impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resource {
            Some(resource) => write!(f, "cannot lock {resource}: {}", self.message)?,
            None => f.write_str(&self.message)?,
        }
        match &self.holder {
            Some(holder) => write!(f, "; {holder}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LockError {}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instance, connection, mode, age_ms } = self;
        let age = age_ms.map(|age| format!(" for {}.{:03} s", age / 1000, age % 1000));
        let what = format!("{mode}{}", age.unwrap_or_default());
        match instance {
            Some(InstanceDescription { pid, program, since_seconds, .. }) if *connection == 0 => {
                let since = date_and_time(*since_seconds);
                write!(
                    f,
                    "process {pid} ({program}), which has had the database open since {since}, is in \
                     the way"
                )
            }
            Some(InstanceDescription { pid, program, since_seconds, .. }) => {
                let since = date_and_time(*since_seconds);
                write!(
                    f,
                    "connection {connection} of process {pid} ({program}), which has had the \
                     database open since {since}, has it in {what}"
                )
            }
            None => write!(f, "a connection that is gone by now had it in {what}"),
        }
    }
}

impl From<MemoryError> for LockError {
    fn from(error: MemoryError) -> Self {
        let kind = match error.kind {
            MemoryErrorKind::NoSpace | MemoryErrorKind::Full => LockErrorKind::NoSpace,
            MemoryErrorKind::Damaged => LockErrorKind::Damaged,
            MemoryErrorKind::Unreachable
            | MemoryErrorKind::PermissionDenied
            | MemoryErrorKind::System => LockErrorKind::System,
        };
        Self::new(kind, error.message)
    }
}
