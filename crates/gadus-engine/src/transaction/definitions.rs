//! Functions, enumerations and comments: what a transaction says of them.
//!
//! - An enumeration is changed together with all columns of it. Who makes one more column of it meanwhile, and who
//!   changes it, must not both commit.

use super::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::types::{DefinitionKey, Enum};
use crate::version::{Change, DatabaseVersion};
use std::sync::Arc;

impl Transaction {
    /// Keeps a text in the catalog, or drops it where there is none; dropping what is not there is nothing.
    ///
    /// # Errors
    /// `NotFound` where it is about what is not there, `Limit` where it is too long.
    pub fn define(&mut self, key: DefinitionKey, text: Option<&str>) -> Result<()> {
        if let Some(text) = text {
            key.check(text)?;
            if !self.state.view.is_there(&key) {
                return Err(Error::new(ErrorKind::NotFound, "what is commented on does not exist"));
            }
        } else if !self.state.view.definitions.contains_key(&key) {
            return Ok(());
        }
        self.reshape(Change::SetDefinition { key, text: text.map(Arc::from) })
    }
}

/// Refuses texts that others have changed since the snapshot.
pub(super) fn check_definition(
    base: &DatabaseVersion,
    head: &DatabaseVersion,
    change: &Change,
) -> Result<()> {
    match change {
        Change::SetDefinition { key: DefinitionKey::Type(name), .. }
            if !base.users_of_type(name).eq(head.users_of_type(name)) =>
        {
            Err(changed(&format!("type \"{name}\"")))
        }
        Change::CreateTable(schema) | Change::AlterTable { schema, .. } => {
            let mut enums = schema.enums();
            let is_other = |of: &&Enum| {
                let key = DefinitionKey::Type(of.name().to_owned());
                base.definitions.get(&key) != head.definitions.get(&key)
            };
            let found = enums.find(is_other);
            found.map_or(Ok(()), |of| Err(changed(&format!("type \"{}\"", of.name()))))
        }
        Change::SetDefinition { key, .. }
            if base.definitions.get(key) != head.definitions.get(key) =>
        {
            let what = match key {
                DefinitionKey::Function(name) => format!("function \"{name}\""),
                DefinitionKey::Schema(name) => format!("schema \"{name}\""),
                DefinitionKey::Type(name) => format!("type \"{name}\""),
                _ => "a comment".to_owned(),
            };
            Err(changed(&what))
        }
        _ => Ok(()),
    }
}

fn changed(what: &str) -> Error {
    let message = format!("{what} was changed by another transaction meanwhile; run it again");
    Error::new(ErrorKind::Conflict, message)
}
