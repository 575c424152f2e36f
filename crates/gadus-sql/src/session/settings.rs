//! SET and RESET.
//!
//! - Every setting has a name, its values and a place where it acts; an unknown one is an error that
//!   names those there are.

use super::chosen::{Chosen, Lasts};
use super::modify::is_default;
use super::no_effect;
use super::scanning::ScanSharing;
use super::time_variables::zone_of_interval;
use super::transact::{Modes, modes_of};
use super::{Outcome, Session, State};
use crate::compiled::Budget;
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    ContextModifier, Expr, Reset, Set, TransactionMode, Value as SqlValue,
};
use gadus_base::ByteCount;
use gadus_engine::{Durability, Engine, Isolation, Reason, Result};
use std::time::Duration;

/// What is set, to what.
pub(super) struct Assignment {
    /// In lower case.
    pub(super) name: String,
    /// As it is written, without quotes; none for the default.
    pub(super) value: Option<String>,
    pub(super) is_local: bool,
}

impl Session {
    pub(super) fn set(&self, state: &mut State, set: &Set) -> Result<Outcome> {
        if let Set::SetTransaction { modes, session, .. } = set {
            return set_transaction(state, modes, *session);
        }
        if no_effect::is_back_to_user(set) {
            return Ok(Outcome::Done("SET"));
        }
        let Some(assignment) = assignment(set)? else { return Err(unsupported(&set.to_string())) };
        self.assign(state, &assignment)?;
        Ok(Outcome::Done("SET"))
    }

    /// RESET of one setting, or of all.
    pub(super) fn reset(&self, state: &mut State, reset: &Reset) -> Result<Outcome> {
        match reset {
            Reset::ALL => {
                state.reset_all()?;
                state.settle_durability(&self.engine);
            }
            Reset::ConfigurationParameter(name) => {
                let name = name.to_string().to_ascii_lowercase();
                if let Some(outcome) = no_effect::reset(&name) {
                    return Ok(outcome);
                }
                if name == "gadus.statements" {
                    self.shared.statements.clear();
                    return Ok(Outcome::Done("RESET"));
                }
                self.assign(state, &Assignment { name, value: None, is_local: false })?;
            }
        }
        Ok(Outcome::Done("RESET"))
    }

    pub(super) fn assign(&self, state: &mut State, assignment: &Assignment) -> Result<()> {
        let Assignment { name, value, is_local } = assignment;
        if self.assign_of_database(assignment)? {
            return Ok(());
        }
        if name == "transaction_isolation" {
            return match value {
                Some(value) => state.isolate(isolation(&value.to_ascii_lowercase())?),
                None => Err(input(
                    "transaction_isolation is the open transaction's, and has no default",
                )),
            };
        }
        state.settings.change(state.lasts(*is_local), |chosen, first| match value {
            Some(value) => chosen.assign(name, value),
            None => chosen.set_back(name, first),
        })?;
        if name == "gadus.durability" {
            state.settle_durability(&self.engine);
        }
        Ok(())
    }
}

impl Chosen {
    fn assign(&mut self, name: &str, value: &str) -> Result<()> {
        let word = value.to_ascii_lowercase();
        match name {
            "gadus.durability" => self.durability = Some(durability(&word)?),
            "lock_timeout" => self.lock_timeout = time(name, &word)?,
            "statement_timeout" => self.statement_timeout = time(name, &word)?,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = time(name, &word)?;
            }
            "idle_session_timeout" => self.idle_timeout = time(name, &word)?,
            "default_transaction_isolation" => self.isolation = isolation(&word)?,
            "gadus.sharing" => self.scan_sharing = scan_sharing(&word)?,
            "gadus.statement_memory" => self.statement_memory = Budget(size(name, &word)?),
            name => self.variables.set(name, Some(value))?,
        }
        Ok(())
    }

    /// A setting back to what it was at first.
    fn set_back(&mut self, name: &str, first: &Self) -> Result<()> {
        match name {
            "gadus.durability" => self.durability = first.durability,
            "lock_timeout" => self.lock_timeout = first.lock_timeout,
            "statement_timeout" => self.statement_timeout = first.statement_timeout,
            "idle_in_transaction_session_timeout" => {
                self.idle_in_transaction_timeout = first.idle_in_transaction_timeout;
            }
            "idle_session_timeout" => self.idle_timeout = first.idle_timeout,
            "default_transaction_isolation" => self.isolation = first.isolation,
            "gadus.sharing" => self.scan_sharing = first.scan_sharing,
            "gadus.statement_memory" => self.statement_memory = first.statement_memory,
            name => self.variables.set_back(name, &first.variables)?,
        }
        Ok(())
    }
}

impl State {
    /// All settings of the session back to what they were at first.
    pub(super) fn reset_all(&mut self) -> Result<()> {
        self.settings.change(self.lasts(false), |chosen, first| {
            chosen.clone_from(first);
            Ok(())
        })
    }

    /// How long a change lasts, which may be one of SET LOCAL.
    fn lasts(&self, is_local: bool) -> Lasts {
        match (self.transaction.is_some(), is_local) {
            (true, true) => Lasts::Locally,
            (true, false) => Lasts::WithTransaction,
            (false, false) => Lasts::OnItsOwn,
            // It would end with the statement.
            (false, true) => Lasts::Not,
        }
    }

    /// Has the open transaction wait for what the session's setting says now.
    pub(super) fn settle_durability(&mut self, engine: &Engine) {
        if let Some(transaction) = &mut self.transaction {
            let durability = self.settings.durability;
            transaction.set_durability(durability.unwrap_or(engine.options().durability));
        }
    }

    /// Isolates the open transaction otherwise.
    fn isolate(&mut self, isolation: Isolation) -> Result<()> {
        let transaction = self.transaction.as_mut();
        let message = "there is no transaction: BEGIN starts one; default_transaction_isolation is \
                       for those to come";
        let transaction =
            transaction.ok_or_else(|| input(message).because(Reason::NoTransaction))?;
        transaction.set_isolation(isolation)
    }
}

/// SET TRANSACTION, and SET SESSION CHARACTERISTICS AS TRANSACTION.
fn set_transaction(state: &mut State, modes: &[TransactionMode], session: bool) -> Result<Outcome> {
    let Modes { isolation, read_only } = modes_of(modes);
    match (session, read_only) {
        (true, read_only) => {
            state.settings.change(state.lasts(false), |chosen, _| {
                chosen.isolation = isolation.unwrap_or(chosen.isolation);
                match read_only {
                    Some(read_only) => chosen.variables.set_read_only(read_only),
                    None => Ok(()),
                }
            })?;
        }
        (false, Some(false)) if state.read_only && !state.savepoints.is_empty() => {
            let message = "cannot set transaction read-write mode inside a read-only transaction";
            return Err(input(message).because(Reason::OpenTransaction));
        }
        (false, read_only) => {
            if let Some(isolation) = isolation {
                state.isolate(isolation)?;
            }
            state.read_only = read_only.unwrap_or(state.read_only);
        }
    }
    Ok(Outcome::Done("SET"))
}

/// What a SET of one setting sets; none where it is another kind of SET.
fn assignment(set: &Set) -> Result<Option<Assignment>> {
    let one =
        |name: &str, value, is_local| Some(Assignment { name: name.to_owned(), value, is_local });
    Ok(match set {
        Set::SingleAssignment { scope, variable, values, .. } => {
            let name = variable.to_string().to_ascii_lowercase();
            let values = values.iter().map(value_of).collect::<Vec<_>>();
            // A list, as of a search path, is one text.
            let value = match values.as_slice() {
                [] => return Err(input(format!("SET {name} takes a value"))),
                [one] => one.clone(),
                many => Some(many.iter().flatten().cloned().collect::<Vec<_>>().join(", ")),
            };
            one(&name, value, *scope == Some(ContextModifier::Local))
        }
        Set::SetTimeZone { local, value } => {
            let zone = match zone_of_interval(value) {
                Some(zone) => Some(zone?),
                None => value_of(value).filter(|zone| !zone.eq_ignore_ascii_case("local")),
            };
            one("timezone", zone, *local)
        }
        Set::SetNames { charset_name, .. } => {
            one("client_encoding", Some(charset_name.value.clone()), false)
        }
        _ => None,
    })
}

/// The value of a setting, quoted or not; none for DEFAULT.
fn value_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Value(value) => match &value.value {
            SqlValue::SingleQuotedString(text) => Some(text.clone()),
            value => Some(value.to_string()),
        },
        Expr::Identifier(word) if is_default(word) => None,
        Expr::Identifier(word) => Some(word.value.clone()),
        value => Some(value.to_string()),
    }
}

/// A time as PostgreSQL writes it: milliseconds unless a unit says otherwise, zero for none.
pub(super) fn time(name: &str, word: &str) -> Result<Option<Duration>> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = word[digits.len()..].trim();
    let milliseconds = match unit {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let total = milliseconds.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
    let total = total.ok_or_else(|| {
        input(format!("{name} is a number of ms, s, min or h, such as '5s', not {word}"))
    })?;
    // What is longer than a year is for ever, and no point in time.
    Ok((1..31_536_000_000).contains(&total).then_some(Duration::from_millis(total)))
}

pub(super) fn size(name: &str, word: &str) -> Result<ByteCount> {
    word.parse().map_err(|error| input(format!("{name}: {error}, not {word}")))
}

fn isolation(word: &str) -> Result<Isolation> {
    match word {
        "snapshot" | "repeatable read" => Ok(Isolation::Snapshot),
        "read committed" | "read uncommitted" => Ok(Isolation::ReadCommitted),
        "serializable" => Ok(Isolation::Serializable),
        _ => Err(input(format!(
            "an isolation is serializable, snapshot or read committed, not {word}"
        ))),
    }
}

fn scan_sharing(word: &str) -> Result<ScanSharing> {
    match word {
        "auto" => Ok(ScanSharing::Auto),
        "always" => Ok(ScanSharing::Always),
        "never" => Ok(ScanSharing::Never),
        _ => Err(input(format!("gadus.sharing is auto, always or never, not {word}"))),
    }
}

fn durability(word: &str) -> Result<Durability> {
    match word {
        "sync" => Ok(Durability::Sync),
        "relaxed" => Ok(Durability::Relaxed),
        "off" => Ok(Durability::Off),
        _ => Err(input(format!("gadus.durability is sync, relaxed or off, not {word}"))),
    }
}
