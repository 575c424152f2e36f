//! Tables and views of a statement, as the planner reads them.

use super::{Result, missing};
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
        Ok(Self { known })
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
