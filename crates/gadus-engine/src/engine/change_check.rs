//! Check of the memory that the changes of a transaction take.
//!
//! - It is asked before anything is changed: a statement that is refused has done nothing.

use crate::engine::Engine;
use crate::error::Result;
use std::fmt;
use std::sync::OnceLock;

/// Refuses a transaction whose changed values take so many bytes.
pub type CheckChanges = dyn Fn(u64) -> Result<()> + Send + Sync;

/// The check of a database's transactions, if there is one.
#[derive(Default)]
pub(crate) struct ChangeCheck(OnceLock<Box<CheckChanges>>);

impl ChangeCheck {
    /// Asks for so many bytes of values.
    pub(crate) fn ask(&self, bytes: u64) -> Result<()> {
        self.0.get().map_or(Ok(()), |check| check(bytes))
    }
}

impl Engine {
    /// Has each transaction ask before its changed values take more memory: with the bytes of all of them, but for those
    /// of rows that are loaded into segments. Only the first call counts.
    pub fn check_changes_by(&self, check: Box<CheckChanges>) {
        let _ = self.inner().change_check.0.set(check);
    }
}

impl fmt::Debug for ChangeCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChangeCheck").field(&self.0.get().is_some()).finish()
    }
}
