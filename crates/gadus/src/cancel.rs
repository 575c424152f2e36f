//! Ending what a connection runs: a statement from another thread, a script between its statements.

use crate::rows::Rows;
use gadus_engine::{Error, Result};
use gadus_sql::{ProgressReading, RowsCancel, Session};
use std::sync::{Arc, Weak};

/// Watches and ends what a connection runs, from another thread; does not keep the database open.
#[derive(Debug, Clone)]
pub struct CancelHandle {
    session: Weak<Session>,
    /// The rows that it is about; none for what the connection runs at the moment.
    rows: Option<RowsCancel>,
}

/// Cancellation of a script as a whole: [`CancelHandle::cancel`] ends it between two of its statements, too, where none
/// runs.
#[derive(Debug, Clone)]
pub struct ScriptCancel {
    session: Arc<Session>,
    /// Requests to cancel before it began.
    requests: u64,
}

impl ScriptCancel {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), requests: session.cancel_requests() }
    }

    /// Called before each statement of the script.
    ///
    /// # Errors
    /// `Cancelled` if that was asked for since the script began.
    pub fn check(&self) -> Result<()> {
        match self.session.cancel_requests() == self.requests {
            true => Ok(()),
            false => Err(Error::cancelled()),
        }
    }
}

impl CancelHandle {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: Arc::downgrade(session), rows: None }
    }

    /// Returns a handle that ends the statement of these rows, whatever the connection runs by then.
    #[must_use]
    pub fn for_rows(self, rows: &Rows) -> Self {
        Self { rows: Some(rows.canceller()), ..self }
    }

    /// Returns how far the statement that runs now has come, with its rows.
    #[must_use]
    pub fn progress(&self) -> ProgressReading {
        self.session.upgrade().map(|session| session.progress()).unwrap_or_default()
    }

    /// Ends the statement that runs now, with the error kind `Cancelled`; nothing it changed stays.
    /// When none runs, nothing happens.
    pub fn cancel(&self) {
        match (&self.rows, self.session.upgrade()) {
            (Some(rows), _) => rows.cancel(),
            (None, Some(session)) => session.cancel(),
            (None, None) => {}
        }
    }
}
