//! Texts of the catalog in a version: what they are about is there, and takes them along when it goes.

use super::DatabaseVersion;
use crate::types::{
    ColumnType, DEFINITIONS_MAX, DefinitionKey, Enum, SCHEMA_SEPARATOR, TEMPORARY_PREFIX,
    TableSchema, schema_and_name,
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
            Some(text) if !self.may_be(key, text) => {
                return Err("makes a type that no type can be, or in a schema that is not there");
            }
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
                    DefinitionKey::Schema(name)
                        if self.of_schema(name).next().is_some()
                            || self.types_of_schema(name).next().is_some() =>
                    {
                        return Err("drops a schema that has something in it");
                    }
                    DefinitionKey::Schema(name) => {
                        self.definitions.remove(&DefinitionKey::CommentOnSchema(name.clone()));
                    }
                    DefinitionKey::Type(name) if self.users_of_type(name).next().is_some() => {
                        return Err("drops a type of which there are columns");
                    }
                    DefinitionKey::Type(name) => {
                        self.definitions.remove(&DefinitionKey::CommentOnType(name.clone()));
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

    /// The enumerations of a schema that is not the main one, by their names as they are kept.
    pub(crate) fn types_of_schema(&self, schema: &str) -> impl Iterator<Item = &String> {
        let prefix = format!("{schema}{SCHEMA_SEPARATOR}");
        let all = self.definitions.range(DefinitionKey::Type(prefix.clone())..);
        let names = all.map_while(|(key, _)| match key {
            DefinitionKey::Type(name) => Some(name),
            _ => None,
        });
        names.take_while(move |name| name.starts_with(&prefix))
    }

    /// The tables and views that have columns of an enumeration.
    pub(crate) fn users_of_type(&self, name: &str) -> impl Iterator<Item = TableId> {
        let is_it = move |of: ColumnType| matches!(of, ColumnType::Enum(of) if of.name() == name);
        let tables = self.tables.iter().filter(move |(_, table)| {
            table.schema.columns.iter().any(|column| is_it(column.column_type))
        });
        let views = self.views.iter().filter(move |(_, view)| {
            view.columns.iter().filter_map(|column| column.column_type).any(is_it)
        });
        tables.map(|(id, _)| *id).chain(views.map(|(id, _)| *id))
    }

    /// Whether a text can be kept under a key that is an enumeration's.
    fn may_be(&self, key: &DefinitionKey, text: &str) -> bool {
        let DefinitionKey::Type(name) = key else { return true };
        Enum::of_definition(name, text).is_some() && self.refuse_homeless(name).is_ok()
    }

    /// Refuses a table whose columns are of enumerations that are not there, or have other labels.
    pub(super) fn refuse_unknown_enums(&self, schema: &TableSchema) -> Result<(), &'static str> {
        let is_known = |of: &Enum| {
            let text = self.definitions.get(&DefinitionKey::Type(of.name().to_owned()));
            text.and_then(|text| Enum::of_definition(of.name(), text)) == Some(of)
        };
        match schema.enums().all(is_known) {
            true => Ok(()),
            false => Err("has a column of a type that is not there, or has other labels"),
        }
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
            DefinitionKey::Schema(_) | DefinitionKey::Type(_) => true,
            DefinitionKey::CommentOnType(name) => {
                self.definitions.contains_key(&DefinitionKey::Type(name.clone()))
            }
            DefinitionKey::CommentOnSchema(name) => self.has_schema(name),
            DefinitionKey::CommentOnFunction(name) => {
                self.definitions.contains_key(&DefinitionKey::Function(name.clone()))
            }
        }
    }
}
