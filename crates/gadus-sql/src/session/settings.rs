//! SET and SHOW.
//!
//! - Every setting has a name, its values and a place where it acts; an unknown one is an error that
//!   names those there are.

use super::{Outcome, Session, State};
use crate::error::{input, unsupported};
use crate::rows::RowStream;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Set};
use gadus_engine::{Durability, Result};

const KNOWN: &str = "gadus.durability (sync, relaxed or off)";

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
            name => Err(input(format!("there is no setting {name}; settings are: {KNOWN}"))),
        }
    }

    pub(super) fn show(&self, state: &State, variable: &[Ident]) -> Result<Outcome> {
        let name = variable.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let value = match name.to_ascii_lowercase().as_str() {
            "gadus.durability" => {
                match state.durability.unwrap_or(self.shared.engine.options().durability) {
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

fn durability(word: &str) -> Result<Durability> {
    match word {
        "sync" => Ok(Durability::Sync),
        "relaxed" => Ok(Durability::Relaxed),
        "off" => Ok(Durability::Off),
        _ => Err(input(format!("gadus.durability is sync, relaxed or off, not {word}"))),
    }
}
