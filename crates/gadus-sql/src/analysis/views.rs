//! Relations inside a view, as the binder asks for them: those that the view reads, under the names that it knows.

use super::catalog::{MAIN, enumeration, enumeration_name, typed};
use crate::names::kept;
use gadus_binder::types::TypeId;
use gadus_binder::{Provider, Relation, RelationColumn, RelationId, Result};
use gadus_engine::{Snapshot, UsedRelation, schema_and_name};
use parking_lot::Mutex;
use std::sync::Arc;

/// Catalog inside a view.
#[derive(Debug)]
pub(crate) struct ViewCatalog<'a> {
    snapshot: &'a Snapshot,
    uses: &'a [UsedRelation],
    /// Relations that were found.
    found: Mutex<Vec<Arc<Relation>>>,
}

impl<'a> ViewCatalog<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, uses: &'a [UsedRelation]) -> Self {
        Self { snapshot, uses, found: Mutex::default() }
    }

    /// Returns the relations that the view's query names, once each.
    pub(crate) fn into_found(self) -> Vec<Arc<Relation>> {
        self.found.into_inner()
    }

    /// Returns the relation that a name means; `None` if it may be one of several.
    fn used(&self, schema: Option<&str>, name: &str) -> Option<&UsedRelation> {
        let stored = schema.map_or_else(|| name.to_owned(), |schema| kept(schema, name));
        let exact = self.uses.iter().find(|used| used.name == stored);
        let mut alike = self.uses.iter().filter(|used| schema_and_name(&used.name).1 == name);
        match (exact, schema) {
            (Some(used), _) => Some(used),
            (None, Some(_)) => None,
            // It was found on the search path.
            (None, None) => alike.next().filter(|_| alike.next().is_none()),
        }
    }

    /// Returns the columns that are still there, and the positions among them of a primary key.
    fn columns(&self, used: &UsedRelation) -> Result<(Vec<RelationColumn>, Vec<usize>)> {
        if let Some(table) = self.snapshot.table_by_id(used.id) {
            let schema = table.schema();
            let known = used.columns.iter().filter_map(|column| {
                Some((column.name.as_str(), schema.column_with_id(column.id)?))
            });
            let known = known.collect::<Vec<_>>();
            let place = |key: &usize| known.iter().position(|(_, place)| place == key);
            let key = schema.key.iter().map(place).collect::<Option<Vec<_>>>();
            let columns = known.iter();
            let columns =
                columns.map(|(name, place)| (*name, Some(schema.columns[*place].column_type)));
            return Ok((typed(columns)?, key.unwrap_or_default()));
        }
        let view = self.snapshot.view_by_id(used.id);
        let of_view = view.iter().flat_map(|view| {
            used.columns.iter().filter_map(|column| {
                let known = view.columns.get(usize::try_from(column.id).ok()?)?;
                Some((column.name.as_str(), known.column_type))
            })
        });
        Ok((typed(of_view)?, Vec::new()))
    }
}

impl Provider for ViewCatalog<'_> {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>> {
        let Some(used) = self.used(schema, name) else { return Ok(None) };
        let (schema, name) = schema_and_name(&used.name);
        let (columns, key) = self.columns(used)?;
        let relation = Arc::new(Relation {
            id: RelationId(used.id.0.into()),
            schema: schema.unwrap_or(MAIN).to_owned(),
            name: name.to_owned(),
            columns,
            keys: Some(key).filter(|key| !key.is_empty()).into_iter().collect(),
            ..Relation::default()
        });
        let mut found = self.found.lock();
        if let Some(known) = found.iter().find(|known| known.id == relation.id) {
            return Ok(Some(known.clone()));
        }
        found.push(relation.clone());
        Ok(Some(relation))
    }

    fn type_named(&self, schema: Option<&str>, name: &str) -> Result<Option<TypeId>> {
        let stored = schema.map_or_else(|| name.to_owned(), |schema| kept(schema, name));
        Ok(enumeration(self.snapshot, &stored))
    }

    fn type_name(&self, id: TypeId) -> Option<String> {
        enumeration_name(id)
    }

    fn fields(&self, _id: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }
}
