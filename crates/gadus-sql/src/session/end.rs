//! Ending sessions: KILL, and what it does to the session that it names.
//!
//! - A session is ended by its own process: it is asked to, by whichever process. From the moment when it
//!   was asked it begins no statement more.
//! - Its statement is cancelled; its transaction is rolled back as soon as nothing runs.

use super::{Outcome, Session, State};
use crate::error::input;
use datafusion::sql::sqlparser::ast::KillType;
use gadus_engine::{Ending, Error, ErrorKind, Locker, Result};
use std::sync::Arc;

impl Session {
    /// `KILL [CONNECTION | QUERY] id`.
    pub(super) fn kill(&self, modifier: Option<&KillType>, id: u64) -> Result<Outcome> {
        let what = match modifier {
            None | Some(KillType::Connection) => Ending::Connection,
            Some(KillType::Query) => Ending::Statement,
            Some(KillType::Mutation) => {
                return Err(input("KILL MUTATION is not known: KILL QUERY ends a statement"));
            }
        };
        self.engine.end_session(u32::try_from(id).unwrap_or(u32::MAX), what)?;
        Ok(Outcome::Done("KILL"))
    }

    /// Ends the session, or its statement, when somebody asks for it.
    pub(super) fn listen(&self, locker: &Arc<Locker>) {
        let state = Arc::downgrade(&self.state);
        let cancel = self.cancel.clone();
        locker.when_asked_to_end(move |locker, what| {
            cancel.cancel();
            locker.cancel_wait();
            if what == Ending::Connection
                && let Some(state) = state.upgrade()
            {
                state.blocking_lock().end();
            }
        });
    }

    /// Whether somebody has asked for its end.
    pub(super) fn is_ended(&self) -> bool {
        self.locker.get().is_some_and(|locker| locker.is_asked_to_end())
    }

    /// Refuses statements of a session that was ended, and ends what is left of it.
    pub(super) fn refuse_ended(&self, state: &mut State) -> Result<()> {
        if !self.is_ended() {
            return Ok(());
        }
        state.end();
        let message =
            "the connection was ended by KILL, and its transaction rolled back; connect again";
        Err(Error::new(ErrorKind::Terminated, message))
    }
}

impl State {
    /// Rolls back, and forgets.
    fn end(&mut self) {
        self.savepoints.clear();
        self.cursors.close_all();
        self.transaction = None;
        self.unfinished = None;
    }
}
