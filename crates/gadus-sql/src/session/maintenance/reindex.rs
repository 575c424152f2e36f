//! REINDEX: indexes are never written anew, so it only says if what it names is there.

use super::super::transact::refuse_in_transaction;
use super::super::{Outcome, Session, State};
use crate::error::input;
use crate::names::kept;
use datafusion::sql::sqlparser::tokenizer::Token;
use gadus_engine::{Error, ErrorKind, Reason, Result, Snapshot};

impl Session {
    /// Carries out REINDEX.
    pub(in crate::session) fn reindex(&self, state: &State, reindex: &Reindex) -> Result<Outcome> {
        if reindex.is_alone {
            refuse_in_transaction(state, "this REINDEX")?;
        }
        let snapshot = state.snapshot(&self.engine)?;
        reindex.check(&snapshot, |schema, name| match schema {
            Some(schema) => kept(schema, name),
            None => self.kept_name(state, &snapshot, name),
        })?;
        Ok(Outcome::Done("REINDEX"))
    }
}

/// Object that a REINDEX names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct Reindex {
    object: Object,
    /// Schema and name as they are written, folded; `None` for the database that is open.
    name: Option<(Option<String>, String)>,
    /// It must not be within a transaction.
    is_alone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Index,
    Table,
    Schema,
    Database,
}

impl Reindex {
    /// Reads what is after REINDEX; `None` if it is no such statement.
    pub(super) fn of(tokens: &[Token]) -> Option<Self> {
        let is_word = |token: Option<&Token>, expected: &str| matches!(token, Some(Token::Word(word)) if word.value.eq_ignore_ascii_case(expected));
        let mut rest = tokens;
        let mut is_alone = false;
        if let [Token::LParen, after @ ..] = rest {
            let end = after.iter().position(|token| *token == Token::RParen)?;
            is_alone = after[..end].iter().any(|token| is_word(Some(token), "concurrently"));
            rest = &after[end + 1..];
        }
        let (first, mut rest) = rest.split_first()?;
        let object = match first {
            first if is_word(Some(first), "index") => Object::Index,
            first if is_word(Some(first), "table") => Object::Table,
            first if is_word(Some(first), "schema") => Object::Schema,
            first if is_word(Some(first), "database") || is_word(Some(first), "system") => {
                Object::Database
            }
            _ => return None,
        };
        if is_word(rest.first(), "concurrently") {
            is_alone = true;
            rest = &rest[1..];
        }
        is_alone |= matches!(object, Object::Schema | Object::Database);
        let folded = |token: &Token| match token {
            Token::Word(word) if word.quote_style.is_some() => Some(word.value.clone()),
            Token::Word(word) => Some(word.value.to_lowercase()),
            _ => None,
        };
        let name = match rest {
            [] if object == Object::Database => None,
            [name] => Some((None, folded(name)?)),
            [schema, Token::Period, name] => Some((Some(folded(schema)?), folded(name)?)),
            _ => return None,
        };
        Some(Self { object, name, is_alone })
    }

    /// Refuses what is not there. `stored` gives the name under which a relation is stored.
    fn check(
        &self,
        snapshot: &Snapshot,
        stored: impl Fn(Option<&str>, &str) -> String,
    ) -> Result<()> {
        let Some((schema, name)) = &self.name else { return Ok(()) };
        match self.object {
            Object::Database => Ok(()),
            Object::Schema => match matches!(name.as_str(), "public" | "main" | "pg_catalog")
                || snapshot.has_schema(name)
            {
                true => Ok(()),
                false => {
                    let message = format!("schema \"{name}\" does not exist");
                    let error = Error::new(ErrorKind::NotFound, message);
                    Err(error.because(Reason::UnknownSchema))
                }
            },
            Object::Table | Object::Index => {
                if schema.as_deref().is_some_and(|schema| schema.starts_with("pg_")) {
                    return Ok(());
                }
                let stored = stored(schema.as_deref(), name);
                let is_table = snapshot.find_table(&stored).is_some();
                let is_index = is_index(snapshot, &stored);
                match (self.object, is_table, is_index) {
                    (Object::Table, true, _) | (Object::Index, _, true) => Ok(()),
                    (Object::Index, true, false) => wrong_object(name, "an index"),
                    (_, false, true) => wrong_object(name, "a table or materialized view"),
                    _ if snapshot.has_relation(&stored) => match self.object {
                        Object::Index => wrong_object(name, "an index"),
                        _ => wrong_object(name, "a table or materialized view"),
                    },
                    _ => {
                        let message = format!("relation \"{name}\" does not exist");
                        let error = Error::new(ErrorKind::NotFound, message);
                        Err(error.because(Reason::UnknownTable))
                    }
                }
            }
        }
    }
}

fn is_index(snapshot: &Snapshot, stored: &str) -> bool {
    let is_of = |schema: &gadus_engine::TableSchema| {
        let key = !schema.key.is_empty() && stored == format!("{}_pkey", schema.name);
        key || schema.index_named(stored).is_some()
    };
    snapshot.tables().iter().any(|table| is_of(table.schema()))
}

fn wrong_object(name: &str, what: &str) -> Result<()> {
    Err(input(format!("\"{name}\" is not {what}")).because(Reason::WrongObject))
}

#[cfg(test)]
mod tests;
