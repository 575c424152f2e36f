//! `BACKUP TO 'file'`: the database as it is, copied to a new file while others read and write.
//!
//! - It is no part of a transaction: it copies what is committed.

use super::locking::blocking;
use super::{Outcome, Session, State};
use crate::error::input;
use crate::session::cancel::Flag;
use gadus_engine::{Reason, Result};
use std::path::Path;

impl Session {
    pub(super) fn back_up(&self, state: &State, flag: &Flag, file: &str) -> Result<Outcome> {
        if state.transaction.is_some() {
            let message =
                "BACKUP copies what is committed: COMMIT or ROLLBACK the transaction first";
            return Err(input(message).because(Reason::OpenTransaction));
        }
        let place = self.files.to_write(file)?;
        let mut known = 0;
        let copied = blocking(|| {
            self.engine.back_up_into(place, Path::new(file), |rows, all| {
                if known == 0 {
                    self.progress.rows_expected(usize::try_from(all).unwrap_or(usize::MAX));
                }
                self.progress.rows_written(usize::try_from(rows - known).unwrap_or(usize::MAX));
                known = rows;
                if flag.is_set() { Err(flag.reason()) } else { Ok(()) }
            })
        });
        copied.map(|_| Outcome::Done("BACKUP"))
    }
}
