//! SET and SHOW.
//!
//! - Every setting has a name, its values and a place where it acts; an unknown one is an error that
//!   names those there are.

use super::scanning::ScanSharing;
use super::{Outcome, Session, State};
use crate::compiled::Budget;
use crate::error::{input, unsupported};
use crate::rows::RowStream;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Set};
use gadus_base::ByteCount;
use gadus_engine::{Durability, Isolation, Result};
use std::time::Duration;

const KNOWN: &str = "gadus.durability (sync, relaxed or off), \
                     lock_timeout and statement_timeout (a time such as '5s' or a number of \
                     milliseconds, 0 for none), \
                     default_transaction_isolation (snapshot or read committed), \
                     gadus.sharing (auto, always or never), \
                     gadus.statement_memory (a size such as '64MiB', of what a statement keeps while \
                     its table is scanned), \
                     gadus.batch_queries and gadus.batch_updates (numbers of statements, of the \
                     whole database), \
                     gadus.latency_target (a time, 0 for none, of the whole database), \
                     gadus.late_statements (wait or refuse, of the whole database), \
                     gadus.snapshot_space_max (a size such as '16GiB', of the whole database)";

impl Session {
    pub(super) fn set(&self, state: &mut State, set: &Set) -> Result<Outcome> {
        let Set::SingleAssignment { variable, values, .. } = set else {
            return Err(unsupported(&set.to_string()));
        };
        let [value] = values.as_slice() else {
            return Err(input("a setting takes one value"));
        };
        match variable.to_string().to_ascii_lowercase().as_str() {
            "gadus.durability" => {
                let durability = durability(&word(value))?;
                state.durability = Some(durability);
                if let Some(transaction) = &mut state.transaction {
                    transaction.set_durability(durability);
                }
                Ok(Outcome::Done("SET"))
            }
            name @ "lock_timeout" => {
                state.locking.timeout = time(name, &word(value))?;
                Ok(Outcome::Done("SET"))
            }
            name @ "statement_timeout" => {
                state.statement_timeout = time(name, &word(value))?;
                Ok(Outcome::Done("SET"))
            }
            name @ "gadus.latency_target" => {
                self.engine.scan_limits().set_latency_target(time(name, &word(value))?);
                Ok(Outcome::Done("SET"))
            }
            "gadus.late_statements" => {
                self.engine.scan_limits().set_refuses_late(refuses_late(&word(value))?);
                Ok(Outcome::Done("SET"))
            }
            "default_transaction_isolation" => {
                state.locking.isolation = isolation(&word(value))?;
                Ok(Outcome::Done("SET"))
            }
            "gadus.sharing" => {
                state.scan_sharing = scan_sharing(&word(value))?;
                Ok(Outcome::Done("SET"))
            }
            name @ "gadus.batch_queries" => {
                self.engine.scan_limits().set_batch_queries(batch_bound(name, &word(value))?);
                Ok(Outcome::Done("SET"))
            }
            name @ "gadus.batch_updates" => {
                self.engine.scan_limits().set_batch_updates(batch_bound(name, &word(value))?);
                Ok(Outcome::Done("SET"))
            }
            name @ "gadus.snapshot_space_max" => {
                self.engine.set_snapshot_space_max(size(name, &word(value))?);
                Ok(Outcome::Done("SET"))
            }
            name @ "gadus.statement_memory" => {
                state.statement_memory = Budget(size(name, &word(value))?);
                Ok(Outcome::Done("SET"))
            }
            name => Err(input(format!("there is no setting {name}; settings are: {KNOWN}"))),
        }
    }

    pub(super) fn show(&self, state: &State, variable: &[Ident]) -> Result<Outcome> {
        let name = variable.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let shown;
        let value = match name.to_ascii_lowercase().as_str() {
            "lock_timeout" => {
                shown = shown_time(state.locking.timeout);
                &shown
            }
            "statement_timeout" => {
                shown = shown_time(state.statement_timeout);
                &shown
            }
            "gadus.latency_target" => {
                shown = shown_time(self.engine.scan_limits().latency_target());
                &shown
            }
            "gadus.late_statements" => match self.engine.scan_limits().refuses_late() {
                true => "refuse",
                false => "wait",
            },
            "gadus.sharing" => match state.scan_sharing {
                ScanSharing::Auto => "auto",
                ScanSharing::Always => "always",
                ScanSharing::Never => "never",
            },
            "gadus.batch_queries" => {
                shown = self.engine.scan_limits().batch_queries().to_string();
                &shown
            }
            "gadus.batch_updates" => {
                shown = self.engine.scan_limits().batch_updates().to_string();
                &shown
            }
            "gadus.snapshot_space_max" => {
                shown = self.engine.snapshot_space_max().exact();
                &shown
            }
            "gadus.statement_memory" => {
                shown = state.statement_memory.0.exact();
                &shown
            }
            "default_transaction_isolation" => match state.locking.isolation {
                Isolation::Snapshot => "snapshot",
                Isolation::ReadCommitted => "read committed",
            },
            "gadus.durability" => {
                match state.durability.unwrap_or(self.engine.options().durability) {
                    Durability::Sync => "sync",
                    Durability::Relaxed => "relaxed",
                    Durability::Off => "off",
                }
            }
            name => {
                return Err(input(format!("there is no setting {name}; settings are: {KNOWN}")));
            }
        };
        RowStream::text(&name, value).map(Outcome::Rows)
    }
}

/// The value of a setting, quoted or not.
fn word(value: &Expr) -> String {
    value.to_string().trim_matches('\'').to_ascii_lowercase()
}

/// A time as PostgreSQL writes it: milliseconds unless a unit says otherwise, zero for none.
fn time(name: &str, word: &str) -> Result<Option<Duration>> {
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

fn size(name: &str, word: &str) -> Result<ByteCount> {
    word.parse().map_err(|error| input(format!("{name}: {error}, not {word}")))
}

fn shown_time(time: Option<Duration>) -> String {
    format!("{}ms", time.map_or(0, |time| time.as_millis()))
}

fn refuses_late(word: &str) -> Result<bool> {
    match word {
        "wait" => Ok(false),
        "refuse" => Ok(true),
        _ => Err(input(format!("gadus.late_statements is wait or refuse, not {word}"))),
    }
}

fn batch_bound(name: &str, word: &str) -> Result<usize> {
    let count = word.parse::<usize>().ok().filter(|count| *count > 0);
    count.ok_or_else(|| input(format!("{name} is 1 or more, not {word}")))
}

fn isolation(word: &str) -> Result<Isolation> {
    match word {
        "snapshot" | "repeatable read" => Ok(Isolation::Snapshot),
        "read committed" | "read uncommitted" => Ok(Isolation::ReadCommitted),
        _ => Err(input(format!(
            "default_transaction_isolation is snapshot or read committed, not {word}"
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
