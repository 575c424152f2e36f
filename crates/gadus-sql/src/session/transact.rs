//! Transactions: BEGIN, COMMIT, ROLLBACK and savepoints.

use super::{Outcome, State};
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    Statement, TransactionAccessMode as Access, TransactionIsolationLevel as Level, TransactionMode,
};
use gadus_engine::{Engine, ErrorKind, Result, Transaction};

/// Runs a statement that begins, ends or marks a transaction; none where it is another.
pub(super) fn transact(
    state: &mut State,
    engine: &Engine,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    let outcome = match statement {
        Statement::StartTransaction { modes, .. } => begin(state, engine, modes)?,
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

fn begin(state: &mut State, engine: &Engine, modes: &[TransactionMode]) -> Result<Outcome> {
    if state.transaction.is_some() {
        return Err(input("a transaction is open already: COMMIT or ROLLBACK it first"));
    }
    let mut read_only = false;
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(Level::Snapshot | Level::RepeatableRead) => {}
            TransactionMode::AccessMode(mode) => read_only = *mode == Access::ReadOnly,
            TransactionMode::IsolationLevel(level) => {
                return Err(unsupported(&format!(
                    "ISOLATION LEVEL {level}: transactions have snapshot isolation; it"
                )));
            }
        }
    }
    let mut transaction = engine.begin()?;
    if let Some(durability) = state.durability {
        transaction.set_durability(durability);
    }
    state.transaction = Some(transaction);
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
