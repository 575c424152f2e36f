//! LOCK TABLE: the modes of PostgreSQL's tables, as those of the lock table.
//!
//! - Reading takes no locks, so that no mode keeps anybody from it.
//! - Rows that are locked hold IX on their table, or IS where they are shared.

use super::modify::target;
use super::{Outcome, State};
use crate::error::input;
use datafusion::sql::sqlparser::ast::{Lock, LockTableMode};
use gadus_engine::{Engine, Mode, Reason, Result};

pub(super) fn lock_tables(engine: &Engine, state: &mut State, lock: &Lock) -> Result<Outcome> {
    super::transact::refuse_read_only(engine, state)?;
    let Some(transaction) = &mut state.transaction else {
        let message =
            "LOCK TABLE is for transactions, with whose end the lock ends: BEGIN starts one";
        return Err(input(message).because(Reason::NoTransaction));
    };
    let mode = mode_of(lock.lock_mode.as_ref());
    for table in &lock.tables {
        let schema = target(&transaction.snapshot(), &table.name)?;
        let locked = transaction.lock_table(&schema, mode);
        locked.map_err(|error| if lock.nowait { error.without_waiting() } else { error })?;
    }
    Ok(Outcome::Done("LOCK TABLE"))
}

/// The mode that excludes what PostgreSQL's does, or the next one that excludes more.
fn mode_of(mode: Option<&LockTableMode>) -> Mode {
    match mode {
        Some(LockTableMode::AccessShare) => Mode::SchemaStability,
        Some(LockTableMode::RowShare) => Mode::IntentShared,
        Some(LockTableMode::RowExclusive) => Mode::IntentExclusive,
        Some(LockTableMode::Share) => Mode::Shared,
        // Excludes itself and not what changes rows: no mode of ours does.
        Some(LockTableMode::ShareUpdateExclusive | LockTableMode::ShareRowExclusive) => {
            Mode::SharedIntentExclusive
        }
        Some(LockTableMode::Exclusive) => Mode::Exclusive,
        Some(LockTableMode::AccessExclusive) | None => Mode::SchemaModification,
    }
}
