//! Tables and views of a statement, as the planner reads them.

use super::{Result, missing};
use crate::provider::ROWS_SCHEMA;
use datafusion::catalog::{CatalogProviderList, TableProvider};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result as PlannerResult;
use datafusion::logical_expr::TableSource;
use gadus_binder::Relation;
use std::collections::HashMap;
use std::sync::Arc;

/// Tables by schema and name.
#[derive(Default)]
pub(crate) struct Tables {
    known: HashMap<(String, String), Arc<dyn TableSource>>,
    /// Table that is changed, with the numbers of its rows.
    changed: Option<Arc<dyn TableSource>>,
}

impl Tables {
    /// Finds the tables that a statement names, in the planner's catalog.
    pub(crate) async fn find(
        catalogs: &dyn CatalogProviderList,
        relations: &[Arc<Relation>],
    ) -> PlannerResult<Self> {
        let mut known = HashMap::new();
        for relation in relations {
            if let Some(table) = table(catalogs, relation).await? {
                let key = (relation.schema.clone(), relation.name.clone());
                known.insert(key, provider_as_source(table));
            }
        }
        Ok(Self { known, changed: None })
    }

    /// Adds the table that is changed, under the name by which it is stored.
    pub(crate) async fn with_changed(
        mut self,
        catalogs: &dyn CatalogProviderList,
        stored: &str,
    ) -> PlannerResult<Self> {
        let catalog = catalogs.catalog_names().first().and_then(|name| catalogs.catalog(name));
        if let Some(schema) = catalog.and_then(|catalog| catalog.schema(ROWS_SCHEMA)) {
            self.changed = schema.table(stored).await?.map(provider_as_source);
        }
        Ok(self)
    }

    /// Returns the table that is changed.
    pub(super) fn changed(&self) -> Result<Arc<dyn TableSource>> {
        match &self.changed {
            Some(table) => Ok(table.clone()),
            None => missing("a change of this relation"),
        }
    }

    /// Returns a table.
    pub(super) fn get(&self, relation: &Relation) -> Result<Arc<dyn TableSource>> {
        let key = (relation.schema.clone(), relation.name.clone());
        match self.known.get(&key) {
            Some(table) => Ok(table.clone()),
            None => missing(format!("relation {}", relation.name)),
        }
    }
}

async fn table(
    catalogs: &dyn CatalogProviderList,
    relation: &Relation,
) -> PlannerResult<Option<Arc<dyn TableProvider>>> {
    let catalog = catalogs.catalog_names().first().and_then(|name| catalogs.catalog(name));
    let schema = catalog.and_then(|catalog| catalog.schema(&relation.schema));
    match schema {
        Some(schema) => schema.table(&relation.name).await,
        None => Ok(None),
    }
}
