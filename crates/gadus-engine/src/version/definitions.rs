//! Texts of the catalog in a version: what they are about is there, and takes them along when it goes.

use super::DatabaseVersion;
use crate::types::{DEFINITIONS_MAX, DefinitionKey};
use gadus_base::TableId;
use std::sync::Arc;

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
                if let DefinitionKey::Function(name) = key {
                    self.definitions.remove(&DefinitionKey::CommentOnFunction(name.clone()));
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
            DefinitionKey::CommentOnFunction(name) => {
                self.definitions.contains_key(&DefinitionKey::Function(name.clone()))
            }
        }
    }
}
