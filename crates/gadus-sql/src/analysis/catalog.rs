//! Relations and types of a snapshot, as the binder asks for them.

use super::types::sql_type;
use crate::names::{Names, kept};
use crate::session::{is_hidden, key_name};
use gadus_binder::types::{BaseType, TypeId};
use gadus_binder::{
    BindError, Generation, Provider, Relation, RelationColumn, RelationId, Result, UniqueIndex,
};
use gadus_engine::{
    ColumnDefinition, ColumnType, Identity, Snapshot, TableSchema, schema_and_name,
};
use parking_lot::Mutex;
use std::sync::Arc;

/// Schema of relations that were made without one, as PostgreSQL calls it.
pub(crate) const MAIN: &str = "public";

/// Catalog of a snapshot under a session's search path.
#[derive(Debug)]
pub(crate) struct BinderCatalog {
    snapshot: Snapshot,
    names: Names,
    /// Relations that were found.
    found: Mutex<Vec<Arc<Relation>>>,
}

impl BinderCatalog {
    /// Creates a catalog; without names those are meant that every session has.
    pub(crate) fn new(snapshot: Snapshot, names: Option<Names>) -> Self {
        Self { snapshot, names: names.unwrap_or_default(), found: Mutex::default() }
    }

    /// Returns the relations that a statement names, once each.
    pub(crate) fn into_found(self) -> Vec<Arc<Relation>> {
        self.found.into_inner()
    }

    /// Notes a relation that was found.
    fn noted(&self, relation: Relation) -> Arc<Relation> {
        let mut found = self.found.lock();
        if let Some(known) = found.iter().find(|known| known.id == relation.id) {
            return known.clone();
        }
        let relation = Arc::new(relation);
        found.push(relation.clone());
        relation
    }

    /// Returns the name under which a relation is stored.
    fn stored_name(&self, schema: Option<&str>, name: &str) -> String {
        let schema = schema.or_else(|| self.names.schema_of(&self.snapshot, name));
        schema.map_or_else(|| name.to_owned(), |schema| kept(schema, name))
    }
}

impl Provider for BinderCatalog {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>> {
        let stored = self.stored_name(schema, name);
        if is_hidden(&stored) {
            return Ok(None);
        }
        let (schema, name) = schema_and_name(&stored);
        let (schema, name) = (schema.unwrap_or(MAIN).to_owned(), name.to_owned());
        if let Some(table) = self.snapshot.find_table(&stored) {
            let definition = table.schema();
            let columns = definition.columns.iter();
            let columns = columns.map(|column| (column.name.as_str(), Some(column.column_type)));
            let key = Some(definition.key.clone()).filter(|key| !key.is_empty());
            let generated = definition.columns.iter().map(generation).enumerate();
            let generated = generated.filter_map(|(place, how)| Some((place, how?))).collect();
            return Ok(Some(self.noted(Relation {
                generated,
                unique_indexes: unique_indexes(definition),
                id: RelationId(table.id().0.into()),
                schema,
                name,
                columns: typed(columns)?,
                keys: key.into_iter().collect(),
                ..Relation::default()
            })));
        }
        let Some(view) = self.snapshot.find_view(&stored) else { return Ok(None) };
        let columns = view.columns.iter();
        let columns = columns.map(|column| (column.name.as_str(), column.column_type));
        // Its query is in the names of the time when it was made: the view is taken as a table.
        Ok(Some(self.noted(Relation {
            id: RelationId(view.id.0.into()),
            schema,
            name,
            columns: typed(columns)?,
            ..Relation::default()
        })))
    }

    fn type_named(&self, schema: Option<&str>, name: &str) -> Result<Option<TypeId>> {
        let stored = self.stored_name(schema, name);
        Ok(enumeration(&self.snapshot, &stored))
    }

    fn type_name(&self, id: TypeId) -> Option<String> {
        enumeration_name(id)
    }

    fn fields(&self, _id: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }
}

/// Returns the type of an enumeration by the name under which it is stored.
pub(super) fn enumeration(snapshot: &Snapshot, stored: &str) -> Option<TypeId> {
    snapshot.find_enum(stored).map(|of| TypeId::scalar(BaseType::Enum(of.name())))
}

/// Returns the name of an enumeration.
pub(super) fn enumeration_name(id: TypeId) -> Option<String> {
    match id.base {
        BaseType::Enum(name) => Some(schema_and_name(name).1.to_owned()),
        _ => None,
    }
}

/// Returns the way in which the values of a column are made, if the database makes them.
fn generation(column: &ColumnDefinition) -> Option<Generation> {
    match (&column.generated, column.identity) {
        (Some(_), _) => Some(Generation::Stored),
        (None, Some(Identity::Always)) => Some(Generation::IdentityAlways),
        (None, Some(Identity::ByDefault)) => Some(Generation::IdentityByDefault),
        (None, None) => None,
    }
}

/// Returns the unique indexes of a table.
fn unique_indexes(table: &TableSchema) -> Vec<UniqueIndex> {
    let indexes = table.indexes.iter().filter(|index| index.unique);
    let index = indexes.map(|index| UniqueIndex {
        constraint: Some(schema_and_name(&index.name).1.to_owned()),
        columns: index.columns.iter().filter_map(|id| table.column_with_id(*id)).collect(),
        ..UniqueIndex::default()
    });
    let primary = (!table.key.is_empty()).then(|| UniqueIndex {
        constraint: Some(key_name(table)),
        columns: table.key.clone(),
        ..UniqueIndex::default()
    });
    primary.into_iter().chain(index).collect()
}

/// Returns columns with the binder's types.
pub(super) fn typed<'a>(
    columns: impl Iterator<Item = (&'a str, Option<ColumnType>)>,
) -> Result<Vec<RelationColumn>> {
    let column = |(name, column_type): (&str, Option<ColumnType>)| {
        let data_type = column_type.and_then(sql_type).ok_or_else(|| {
            let message = format!("the type of column \"{name}\" is not supported");
            BindError::without_position("0A000", message)
        })?;
        Ok(RelationColumn { name: name.to_owned(), data_type })
    };
    columns.map(column).collect()
}
