//! Transactions: BEGIN, COMMIT, ROLLBACK and savepoints.

use super::{Outcome, Session, State};
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    Statement, TransactionAccessMode as Access, TransactionIsolationLevel as Level, TransactionMode,
};
use gadus_engine::{ErrorKind, Isolation, Result, Transaction};

/// Runs a statement that begins, ends or marks a transaction; none where it is another.
pub(super) fn transact(
    session: &Session,
    state: &mut State,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    let outcome = match statement {
        Statement::StartTransaction { modes, .. } => begin(session, state, modes)?,
        Statement::Commit { .. } => commit(state)?,
        Statement::Rollback { savepoint: None, .. } => {
            state.savepoints.clear();
            state.transaction = None;
            Outcome::Done("ROLLBACK")
        }
        Statement::Rollback { savepoint: Some(name), .. } => roll_back_to(state, &name.value)?,
        Statement::Savepoint { name } => {
            let savepoint = in_transaction(state)?.savepoint();
            state.savepoints.push((name.value.clone(), savepoint));
            Outcome::Done("SAVEPOINT")
        }
        Statement::ReleaseSavepoint { name } => {
            let index = savepoint_index(state, &name.value)?;
            state.savepoints.truncate(index);
            Outcome::Done("RELEASE")
        }
        _ => return Ok(None),
    };
    Ok(Some(outcome))
}

fn begin(session: &Session, state: &mut State, modes: &[TransactionMode]) -> Result<Outcome> {
    if state.transaction.is_some() {
        return Err(input("a transaction is open already: COMMIT or ROLLBACK it first"));
    }
    let mut read_only = false;
    let mut isolation = state.locking.isolation;
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(Level::Snapshot | Level::RepeatableRead) => {
                isolation = Isolation::Snapshot;
            }
            // As everywhere: nobody sees what is not committed.
            TransactionMode::IsolationLevel(Level::ReadCommitted | Level::ReadUncommitted) => {
                isolation = Isolation::ReadCommitted;
            }
            TransactionMode::AccessMode(mode) => read_only = *mode == Access::ReadOnly,
            TransactionMode::IsolationLevel(level @ Level::Serializable) => {
                return Err(unsupported(&format!(
                    "ISOLATION LEVEL {level}: there are READ COMMITTED and SNAPSHOT; it"
                )));
            }
        }
    }
    state.transaction = Some(session.begin(state, isolation)?);
    state.savepoints.clear();
    state.read_only = read_only;
    Ok(Outcome::Done("BEGIN"))
}

fn commit(state: &mut State) -> Result<Outcome> {
    state.savepoints.clear();
    match state.transaction.take() {
        Some(transaction) => {
            transaction.commit()?;
            Ok(Outcome::Done("COMMIT"))
        }
        None => Err(input("there is no transaction to commit: BEGIN starts one")),
    }
}

fn roll_back_to(state: &mut State, name: &str) -> Result<Outcome> {
    let index = savepoint_index(state, name)?;
    state.savepoints.truncate(index + 1);
    let (name, savepoint) = state.savepoints.pop().expect("found above");
    let transaction = in_transaction(state)?;
    transaction.restore(savepoint);
    // The savepoint stays, as SQL has it.
    let again = transaction.savepoint();
    state.savepoints.push((name, again));
    Ok(Outcome::Done("ROLLBACK"))
}

fn in_transaction(state: &mut State) -> Result<&mut Transaction> {
    state.transaction.as_mut().ok_or_else(|| input("there is no transaction: BEGIN starts one"))
}

fn savepoint_index(state: &State, name: &str) -> Result<usize> {
    state.savepoints.iter().rposition(|(known, _)| known == name).ok_or_else(|| {
        gadus_engine::Error::new(
            ErrorKind::NotFound,
            format!("savepoint \"{name}\" does not exist"),
        )
    })
}
