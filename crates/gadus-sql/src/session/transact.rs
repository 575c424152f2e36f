//! Transactions: BEGIN, COMMIT, ROLLBACK and savepoints.

use super::{NamedSavepoint, Outcome, Prepared, Session, State, StatementKind, folded};
use crate::error::input;
use datafusion::sql::sqlparser::ast::{
    Statement, TransactionAccessMode as Access, TransactionIsolationLevel as Level, TransactionMode,
};
use gadus_engine::{Engine, Error, ErrorKind, Isolation, Reason, Result, Transaction};
use std::sync::atomic::Ordering;

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
            roll_back(state);
            Outcome::Done("ROLLBACK")
        }
        Statement::Rollback { savepoint: Some(name), .. } => {
            let outcome = roll_back_to(state, &folded(name))?;
            session.sequences.go_back(in_transaction(state)?);
            state.settle_durability(&session.engine);
            outcome
        }
        Statement::Savepoint { name } => {
            let savepoint = in_transaction(state)?.savepoint();
            state.savepoints.push(NamedSavepoint {
                name: folded(name),
                savepoint,
                settings: state.settings.mark(),
                cursors: state.cursors.mark(),
            });
            Outcome::Done("SAVEPOINT")
        }
        Statement::ReleaseSavepoint { name } => {
            let index = savepoint_index(state, &folded(name))?;
            state.savepoints.truncate(index);
            Outcome::Done("RELEASE")
        }
        _ => return Ok(None),
    };
    Ok(Some(outcome))
}

impl Session {
    /// Whether each statement outside transactions commits by itself, as it does at first; else it begins a
    /// transaction, which stays open.
    pub fn set_autocommit(&self, autocommit: bool) {
        self.autocommit.store(autocommit, Ordering::Relaxed);
    }

    /// See [`Session::set_autocommit`].
    #[must_use]
    pub fn autocommit(&self) -> bool {
        self.autocommit.load(Ordering::Relaxed)
    }

    /// Begins the transaction that a statement is to be part of, where it is not to commit by itself, and does
    /// not begin or end one.
    pub(super) fn begin_implicit(&self, state: &mut State, prepared: &Prepared) -> Result<()> {
        use StatementKind as Kind;
        let is_apart = matches!(
            prepared.kind(),
            Kind::Begin | Kind::Commit | Kind::Rollback | Kind::Set | Kind::Show | Kind::Deallocate
        ) || matches!(prepared.statement(), Statement::Call(_));
        if self.autocommit() || state.transaction.is_some() || is_apart {
            return Ok(());
        }
        begin(self, state, &[]).map(|_| ())
    }
}

/// Takes back what the transaction has changed.
pub(super) fn roll_back(state: &mut State) {
    state.transaction = None;
    state.end_transaction(false);
}

impl State {
    /// What lasts as long as the transaction that was open, and no longer.
    fn end_transaction(&mut self, is_committed: bool) {
        self.savepoints.clear();
        self.settings.end_transaction(is_committed);
        self.cursors.end_transaction(is_committed);
    }
}

pub(super) fn begin(
    session: &Session,
    state: &mut State,
    modes: &[TransactionMode],
) -> Result<Outcome> {
    if state.transaction.is_some() {
        let message = "a transaction is open already: COMMIT or ROLLBACK it first";
        return Err(input(message).because(Reason::OpenTransaction));
    }
    let Modes { isolation, read_only } = modes_of(modes);
    let isolation = isolation.unwrap_or(state.settings.isolation);
    state.transaction = Some(session.begin(state, isolation)?);
    state.savepoints.clear();
    state.read_only = read_only.unwrap_or(false);
    Ok(Outcome::Done("BEGIN"))
}

/// What BEGIN and SET TRANSACTION say of a transaction, where they say it.
#[derive(Default)]
pub(super) struct Modes {
    pub(super) isolation: Option<Isolation>,
    pub(super) read_only: Option<bool>,
}

pub(super) fn modes_of(modes: &[TransactionMode]) -> Modes {
    let mut said = Modes::default();
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(Level::Snapshot | Level::RepeatableRead) => {
                said.isolation = Some(Isolation::Snapshot);
            }
            // As everywhere: nobody sees what is not committed.
            TransactionMode::IsolationLevel(Level::ReadCommitted | Level::ReadUncommitted) => {
                said.isolation = Some(Isolation::ReadCommitted);
            }
            TransactionMode::IsolationLevel(Level::Serializable) => {
                said.isolation = Some(Isolation::Serializable);
            }
            TransactionMode::AccessMode(mode) => said.read_only = Some(*mode == Access::ReadOnly),
        }
    }
    said
}

/// Refuses what writes, and what keeps others from writing.
pub(super) fn refuse_read_only(engine: &Engine, state: &State) -> Result<()> {
    engine.refuse_read_only()?;
    if state.transaction.is_some() && state.read_only {
        let message = "the transaction is READ ONLY: ROLLBACK it and begin another";
        return Err(Error::new(ErrorKind::ReadOnly, message));
    }
    Ok(())
}

pub(super) fn commit(state: &mut State) -> Result<Outcome> {
    match state.transaction.take() {
        Some(transaction) => {
            let committed = transaction.commit();
            state.end_transaction(committed.is_ok());
            committed.map(|_| Outcome::Done("COMMIT"))
        }
        None => {
            let message = "there is no transaction to commit: BEGIN starts one";
            Err(input(message).because(Reason::NoTransaction))
        }
    }
}

/// Refuses what has no place in a transaction.
pub(super) fn refuse_in_transaction(state: &State, what: &str) -> Result<()> {
    match state.transaction {
        Some(_) => {
            let message = format!("{what} is not possible in a transaction");
            Err(input(message).because(Reason::OpenTransaction))
        }
        None => Ok(()),
    }
}

fn roll_back_to(state: &mut State, name: &str) -> Result<Outcome> {
    let index = savepoint_index(state, name)?;
    state.savepoints.truncate(index + 1);
    let named = state.savepoints.pop().expect("found above");
    let transaction = in_transaction(state)?;
    transaction.restore(named.savepoint);
    // The savepoint stays, as SQL has it.
    let savepoint = transaction.savepoint();
    state.settings.go_back(&named.settings);
    state.cursors.go_back(named.cursors);
    state.savepoints.push(NamedSavepoint { savepoint, ..named });
    Ok(Outcome::Done("ROLLBACK"))
}

fn in_transaction(state: &mut State) -> Result<&mut Transaction> {
    let message = "there is no transaction: BEGIN starts one";
    let transaction = state.transaction.as_mut();
    transaction.ok_or_else(|| input(message).because(Reason::NoTransaction))
}

fn savepoint_index(state: &State, name: &str) -> Result<usize> {
    state.savepoints.iter().rposition(|known| known.name == name).ok_or_else(|| {
        gadus_engine::Error::new(
            ErrorKind::NotFound,
            format!("savepoint \"{name}\" does not exist"),
        )
        .because(Reason::UnknownSavepoint)
    })
}
