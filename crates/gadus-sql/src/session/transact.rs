//! Transactions: BEGIN, COMMIT, ROLLBACK and savepoints.

use super::spelling::keyword;
use super::{NamedSavepoint, Outcome, Prepared, Session, State, StatementKind, folded};
use crate::error::input;
use datafusion::sql::sqlparser::ast::{
    Statement, TransactionAccessMode as Access, TransactionIsolationLevel as Level,
    TransactionMode, TransactionModifier,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use gadus_engine::{Engine, Error, ErrorKind, Isolation, Reason, Result, Transaction};
use std::sync::atomic::Ordering;

/// Runs a statement that begins, ends or marks a transaction; none where it is another.
pub(super) fn transact(
    session: &Session,
    state: &mut State,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    let outcome = match statement {
        Statement::StartTransaction { modes, modifier, .. } => {
            let begun = begin(session, state, modes)?;
            state.deferrable = *modifier == Some(TransactionModifier::Deferred);
            begun
        }
        Statement::Commit { chain, .. } => {
            let again = again(state, *chain)?;
            let outcome = commit(state)?;
            begin_again(session, state, again)?;
            outcome
        }
        Statement::Rollback { savepoint: None, chain } => {
            let again = again(state, *chain)?;
            roll_back(state);
            begin_again(session, state, again)?;
            Outcome::Done("ROLLBACK")
        }
        Statement::Rollback { savepoint: Some(name), .. } => {
            let outcome = roll_back_to(state, &folded(name))?;
            session.sequences.go_back(in_transaction(state, "ROLLBACK TO SAVEPOINT")?);
            state.settle_durability(&session.engine);
            outcome
        }
        Statement::Savepoint { name } => {
            let savepoint = in_transaction(state, "SAVEPOINT")?.savepoint();
            state.savepoints.push(NamedSavepoint {
                name: folded(name),
                savepoint,
                read_only: state.read_only,
                settings: state.settings.mark(),
                cursors: state.cursors.mark(),
            });
            Outcome::Done("SAVEPOINT")
        }
        Statement::ReleaseSavepoint { name } => {
            in_transaction(state, "RELEASE SAVEPOINT")?;
            let index = savepoint_index(state, &folded(name))?;
            state.read_only = state.savepoints[index].read_only;
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

/// Modes of a transaction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Again {
    isolation: Isolation,
    read_only: bool,
    deferrable: bool,
}

/// Returns the modes of the transaction that follows: those of the one that ends, or that has failed before.
fn again(state: &State, chain: bool) -> Result<Option<Again>> {
    if !chain {
        return Ok(None);
    }
    let modes = match &state.transaction {
        Some(transaction) => Some(modes_now(transaction, state)),
        None => state.before,
    };
    modes.map(Some).ok_or_else(|| not_in_transaction("COMMIT AND CHAIN"))
}

fn modes_now(transaction: &Transaction, state: &State) -> Again {
    let (read_only, deferrable) = (state.read_only, state.deferrable);
    Again { isolation: transaction.isolation(), read_only, deferrable }
}

fn begin_again(session: &Session, state: &mut State, again: Option<Again>) -> Result<()> {
    let Some(Again { isolation, read_only, deferrable }) = again else { return Ok(()) };
    state.transaction = Some(session.begin(state, isolation)?);
    (state.read_only, state.deferrable) = (read_only, deferrable);
    Ok(())
}

/// Takes back what the transaction has changed.
pub(super) fn roll_back(state: &mut State) {
    state.before = state.transaction.take().map(|transaction| modes_now(&transaction, state));
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
    state.read_only = read_only.unwrap_or_else(|| state.settings.variables.is_read_only());
    (state.deferrable, state.before) = (false, None);
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
    let is_read_only = match state.transaction {
        Some(_) => state.read_only,
        None => state.settings.variables.is_read_only(),
    };
    if is_read_only {
        let message = "the transaction is READ ONLY: ROLLBACK it and begin another";
        return Err(Error::new(ErrorKind::ReadOnly, message));
    }
    Ok(())
}

pub(super) fn commit(state: &mut State) -> Result<Outcome> {
    match state.transaction.take() {
        Some(transaction) => {
            let committed = transaction.commit();
            state.before = None;
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
            let message = format!("{what} cannot run inside a transaction block");
            Err(input(message).because(Reason::OpenTransaction))
        }
        None => Ok(()),
    }
}

fn roll_back_to(state: &mut State, name: &str) -> Result<Outcome> {
    in_transaction(state, "ROLLBACK TO SAVEPOINT")?;
    let index = savepoint_index(state, name)?;
    state.savepoints.truncate(index + 1);
    let named = state.savepoints.pop().expect("found above");
    state.read_only = named.read_only;
    let transaction = in_transaction(state, "ROLLBACK TO SAVEPOINT")?;
    transaction.restore(named.savepoint);
    // The savepoint stays, as SQL has it.
    let savepoint = transaction.savepoint();
    state.settings.go_back(&named.settings);
    state.cursors.go_back(named.cursors);
    state.savepoints.push(NamedSavepoint { savepoint, ..named });
    Ok(Outcome::Done("ROLLBACK"))
}

fn in_transaction<'a>(state: &'a mut State, what: &str) -> Result<&'a mut Transaction> {
    state.transaction.as_mut().ok_or_else(|| not_in_transaction(what))
}

fn not_in_transaction(what: &str) -> Error {
    let message = format!("{what} can only be used in transaction blocks");
    input(message).because(Reason::NoTransaction)
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

/// Takes `[NOT] DEFERRABLE` out of the modes of a transaction, which the parser does not know; says which it was.
pub(super) fn take_deferrable(tokens: &mut [TokenWithSpan]) -> Option<bool> {
    let is_shown = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    let shown = (0..tokens.len()).filter(is_shown).collect::<Vec<_>>();
    let word = |at: usize| shown.get(at).map(|place| keyword(&tokens[*place].token));
    let has_modes = match word(0)? {
        Keyword::BEGIN | Keyword::START => true,
        Keyword::SET => matches!(word(1), Some(Keyword::TRANSACTION | Keyword::SESSION)),
        _ => false,
    };
    if !has_modes {
        return None;
    }
    let at = (1..shown.len()).find(|at| word(*at) == Some(Keyword::DEFERRABLE))?;
    let is_not = word(at - 1) == Some(Keyword::NOT);
    let from = at - usize::from(is_not);
    let is_comma =
        |at: usize| shown.get(at).map(|place| &tokens[*place].token) == Some(&Token::Comma);
    // With the comma that is before it, or else after it.
    let (from, to) = match (is_comma(from - 1), is_comma(at + 1)) {
        (true, _) => (from - 1, at),
        (false, true) => (from, at + 1),
        (false, false) => (from, at),
    };
    for place in &shown[from..=to] {
        tokens[*place].token = Token::Whitespace(Whitespace::Space);
    }
    Some(!is_not)
}
