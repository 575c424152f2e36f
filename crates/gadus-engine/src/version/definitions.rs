//! Texts of the catalog in a version: what they are about is there, and takes them along when it goes.

use super::DatabaseVersion;
use crate::types::{
    DEFINITIONS_MAX, DefinitionKey, SCHEMA_SEPARATOR, TEMPORARY_PREFIX, schema_and_name,
};
use gadus_base::TableId;
use std::sync::Arc;

/// The schema that is always there.
const MAIN_SCHEMA: &str = "main";

impl DatabaseVersion {
    /// Keeps a text, in the place of one that was there, or drops it.
    pub(super) fn set_definition(
        &mut self,
        key: &DefinitionKey,
        text: Option<&Arc<str>>,
    ) -> Result<(), &'static str> {
        match text {
            Some(_) if !self.is_there(key) => return Err("is about what is not there"),
            Some(_) if self.definitions.len() >= DEFINITIONS_MAX => {
                return Err("keeps more texts than are possible");
            }
            Some(text) => {
                self.definitions.insert(key.clone(), text.clone());
            }
            None => {
                self.definitions.remove(key).ok_or("drops a text that is not there")?;
                match key {
                    DefinitionKey::Function(name) => {
                        self.definitions.remove(&DefinitionKey::CommentOnFunction(name.clone()));
                    }
                    DefinitionKey::Schema(name) if self.of_schema(name).next().is_some() => {
                        return Err("drops a schema that has something in it");
                    }
                    DefinitionKey::Schema(name) => {
                        self.definitions.remove(&DefinitionKey::CommentOnSchema(name.clone()));
                    }
                    _ => {}
                }
            }
        }
        self.schema_version += 1;
        Ok(())
    }

    /// Drops what was said of a relation, or of its columns and indexes, that are not there any more.
    pub(super) fn drop_stale_comments(&mut self, relation: TableId) {
        let is_stale =
            |key: &&DefinitionKey| key.relation() == Some(relation) && !self.is_there(key);
        let stale = self.definitions.keys().filter(is_stale).cloned().collect::<Vec<_>>();
        for key in stale {
            self.definitions.remove(&key);
        }
    }

    /// The relations of a schema that is not the main one: their names, as they are kept.
    pub(crate) fn of_schema(&self, schema: &str) -> impl Iterator<Item = (&String, TableId)> {
        let prefix = format!("{schema}{SCHEMA_SEPARATOR}");
        let all = self.names.range(prefix.clone()..);
        all.take_while(move |(name, _)| name.starts_with(&prefix)).map(|(name, id)| (name, *id))
    }

    /// Whether there is a schema.
    pub(crate) fn has_schema(&self, name: &str) -> bool {
        name == MAIN_SCHEMA
            || name.starts_with(TEMPORARY_PREFIX)
            || self.definitions.contains_key(&DefinitionKey::Schema(name.to_owned()))
    }

    /// Refuses a relation of a schema that is not there.
    pub(super) fn refuse_homeless(&self, name: &str) -> Result<(), &'static str> {
        match schema_and_name(name).0 {
            Some(schema) if !self.has_schema(schema) => {
                Err("makes something in a schema that is not there")
            }
            _ => Ok(()),
        }
    }

    /// Whether what a text is about is there.
    pub(crate) fn is_there(&self, key: &DefinitionKey) -> bool {
        let schema = |id: &TableId| self.tables.get(id).map(|table| &table.schema);
        match key {
            DefinitionKey::Function(_) | DefinitionKey::CommentOnDatabase => true,
            DefinitionKey::CommentOnRelation(id) => {
                self.tables.contains_key(id)
                    || self.views.contains_key(id)
                    || self.sequences.contains_key(id)
            }
            DefinitionKey::CommentOnColumn(id, number) => match (schema(id), self.views.get(id)) {
                (Some(schema), _) => schema.column_with_id(*number).is_some(),
                (None, Some(view)) => (*number as usize) < view.columns.len(),
                (None, None) => false,
            },
            DefinitionKey::CommentOnIndex(id, number) => schema(id)
                .is_some_and(|schema| schema.indexes.iter().any(|index| index.id == *number)),
            DefinitionKey::Schema(_) => true,
            DefinitionKey::CommentOnSchema(name) => self.has_schema(name),
            DefinitionKey::CommentOnFunction(name) => {
                self.definitions.contains_key(&DefinitionKey::Function(name.clone()))
            }
        }
    }
}
