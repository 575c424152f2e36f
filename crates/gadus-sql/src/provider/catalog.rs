//! The catalog of one statement.
//!
//! - Schema `main` holds the tables, the views and data of the program, `public` is another name for it.
//! - Schema `gadus_rows` holds them with their row ids, for UPDATE and DELETE.
//! - Schema `gadus_files` holds the files that this statement reads.
//! - Schema `gadus` says who uses the database, `pg_catalog` and `information_schema` what there is; no plan with the first
//!   two is kept.

use super::Reading;
use super::information::{INFORMATION_SCHEMA, Information};
use super::system::{SYSTEM_SCHEMA, SYSTEM_TABLES, System, system_table};
use super::table::SnapshotTable;
use crate::error::to_datafusion;
use crate::kept::Binding;
use crate::names::kept;
use crate::postgres;
use crate::session::{Frames, is_hidden};
use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, MemTable, SchemaProvider, TableProvider,
};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState as PlannerState;
use gadus_engine::{Snapshot, Table, ViewSchema, schema_and_name};
use std::collections::HashMap;
use std::sync::Arc;

/// The schema of tables with row ids.
pub(crate) const ROWS_SCHEMA: &str = "gadus_rows";
/// The schema of files that a statement reads.
pub(crate) const FILES_SCHEMA: &str = "gadus_files";
/// The one catalog.
pub(crate) const CATALOG: &str = "gadus";
/// The schema of tables.
pub(crate) const MAIN_SCHEMA: &str = "main";

/// Files that a statement reads, by the name that stands for them in its text.
pub(crate) type Files = HashMap<String, Arc<dyn TableProvider>>;

/// What a statement can name.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotCatalog {
    snapshot: Snapshot,
    files: Arc<Files>,
    /// What the program has given names.
    frames: Arc<Frames>,
    /// None where a plan is to be kept.
    system: Option<System>,
    threads: usize,
    binding: Option<Arc<Binding>>,
    reading: Reading,
    /// What views are planned with, where there are any.
    pub(super) planner: Option<Arc<PlannerState>>,
    /// The view whose query is planned; none for the statement itself.
    inside: Option<Arc<ViewSchema>>,
    /// Views around that.
    levels: usize,
}

impl SnapshotCatalog {
    /// Of a snapshot, files, and data of the program.
    pub(crate) fn new(
        snapshot: Snapshot,
        (files, frames): (Files, Arc<Frames>),
        system: System,
        (reading, planner): (Reading, Option<Arc<PlannerState>>),
    ) -> Self {
        let threads = system.engine.options().threads;
        let (files, system) = (Arc::new(files), Some(system));
        let (binding, inside, levels) = (None, None, 0);
        Self { snapshot, files, frames, system, threads, binding, reading, planner, inside, levels }
    }

    /// A catalog for a plan that is to be kept: its tables are those of the binding.
    pub(crate) fn for_keeping(
        snapshot: Snapshot,
        threads: usize,
        binding: Arc<Binding>,
        planner: Option<Arc<PlannerState>>,
    ) -> Self {
        let (files, frames, reading) = (Arc::default(), Arc::default(), binding.reading());
        let (binding, system, inside, levels) = (Some(binding), None, None, 0);
        Self { snapshot, files, frames, system, threads, binding, reading, planner, inside, levels }
    }

    /// The same for the query of a view: nothing that belongs to the statement is seen there.
    pub(super) fn inside(&self, view: Arc<ViewSchema>) -> Self {
        let (files, frames) = Default::default();
        Self { files, frames, inside: Some(view), levels: self.levels + 1, ..self.clone() }
    }

    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Whether the view whose query is planned reads something that was in a schema of this name.
    fn is_used(&self, schema: &str) -> bool {
        let uses = self.inside.iter().flat_map(|view| &view.uses);
        uses.into_iter().any(|used| schema_and_name(&used.name).0 == Some(schema))
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl CatalogProviderList for SnapshotCatalog {
    fn register_catalog(
        &self,
        _name: String,
        _catalog: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![CATALOG.to_owned()]
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        (name == CATALOG).then(|| Arc::new(self.clone()) as Arc<dyn CatalogProvider>)
    }
}

impl CatalogProvider for SnapshotCatalog {
    fn schema_names(&self) -> Vec<String> {
        let others = self.snapshot.schemas().map(str::to_owned);
        std::iter::once(MAIN_SCHEMA.to_owned()).chain(others).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let kind = match name {
            MAIN_SCHEMA | "public" => Kind::Main,
            ROWS_SCHEMA => Kind::Rows,
            FILES_SCHEMA => Kind::Files,
            SYSTEM_SCHEMA => Kind::System,
            postgres::SCHEMA => Kind::Postgres,
            INFORMATION_SCHEMA => return Some(Arc::new(Information::new(self))),
            other if self.snapshot.has_schema(other) || self.is_used(other) => {
                let schema = Some(other.to_owned());
                return Some(Arc::new(SnapshotSchema {
                    catalog: self.clone(),
                    kind: Kind::Main,
                    schema,
                }));
            }
            _ => return None,
        };
        Some(Arc::new(SnapshotSchema { catalog: self.clone(), kind, schema: None }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    Rows,
    Files,
    System,
    Postgres,
}

#[derive(Debug)]
pub(super) struct SnapshotSchema {
    pub(super) catalog: SnapshotCatalog,
    kind: Kind,
    /// One that was made, rather than the main one.
    schema: Option<String>,
}

#[async_trait]
impl SchemaProvider for SnapshotSchema {
    fn table_names(&self) -> Vec<String> {
        match self.kind {
            Kind::Files => self.catalog.files.keys().cloned().collect(),
            Kind::System => SYSTEM_TABLES.map(str::to_owned).to_vec(),
            Kind::Postgres => postgres::names().map(str::to_owned).collect(),
            _ if self.schema.is_some() => {
                let schema = self.schema.as_deref().unwrap_or_default();
                let held = self.catalog.snapshot.of_schema(schema).map(|(name, _)| name);
                held.map(|name| schema_and_name(name).1.to_owned()).collect()
            }
            _ => {
                let tables = self.catalog.snapshot.tables();
                let tables = tables.iter().map(|table| table.schema().name.clone());
                let is_main = |name: &String| schema_and_name(name).0.is_none();
                let tables = tables.filter(|name| !is_hidden(name) && is_main(name));
                let views = self.catalog.snapshot.views().map(|view| view.name.clone());
                let views = views.filter(|name| self.kind == Kind::Main && is_main(name));
                tables.chain(views).chain(self.catalog.frames.keys().cloned()).collect()
            }
        }
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if self.kind == Kind::Files {
            return Ok(self.catalog.files.get(name).cloned());
        }
        if self.kind == Kind::System {
            return match &self.catalog.system {
                Some(system) => system_table(system, &self.catalog.snapshot, name),
                None => Ok(None),
            };
        }
        if self.kind == Kind::Postgres {
            return self.postgres_table(name);
        }
        let in_schema = self.schema.as_ref().map(|schema| kept(schema, name));
        let name = in_schema.as_deref().unwrap_or(name);
        if let Some(view) = self.catalog.inside.as_ref().filter(|_| self.kind == Kind::Main) {
            let used = view.uses.iter().find(|used| used.name == name);
            return match used {
                Some(used) => self.used(used).await,
                None => Ok(None),
            };
        }
        let with_row_ids = self.kind == Kind::Rows;
        let catalog = &self.catalog;
        if let Some(view) = catalog.snapshot.find_view(name).filter(|_| !with_row_ids) {
            return self.view_table(view).await.map(Some);
        }
        if let Some(sequence) = catalog.snapshot.find_sequence(name).filter(|_| !with_row_ids) {
            let row = postgres::sequence_as_table(sequence).map_err(to_datafusion)?;
            return Ok(Some(Arc::new(MemTable::try_new(row.schema(), vec![vec![row]])?)));
        }
        if in_schema.is_some() && !catalog.snapshot.has_relation(name) {
            return Ok(None);
        }
        let found = catalog.snapshot.find_table(name);
        let Some(table) = found.filter(|_| !is_hidden(name)) else {
            let frame = catalog.frames.get(&name.to_lowercase()).filter(|_| !with_row_ids);
            return match frame {
                // As everybody calls them without their schema.
                None if self.kind == Kind::Main => self.postgres_table(name),
                frame => Ok(frame.cloned()),
            };
        };
        Ok(Some(self.snapshot_table(table)))
    }

    fn table_exist(&self, name: &str) -> bool {
        match self.kind {
            Kind::Files => self.catalog.files.contains_key(name),
            Kind::System => SYSTEM_TABLES.contains(&name),
            Kind::Postgres => postgres::is_relation(name),
            Kind::Rows => self.catalog.snapshot.find_table(name).is_some(),
            Kind::Main if self.schema.is_some() => {
                let schema = self.schema.as_deref().unwrap_or_default();
                let name = kept(schema, name);
                let inside = self.catalog.inside.iter().flat_map(|view| &view.uses);
                self.catalog.snapshot.has_relation(&name)
                    || inside.into_iter().any(|used| used.name == name)
            }
            Kind::Main => {
                let is_frame = || self.catalog.frames.contains_key(&name.to_lowercase());
                let is_table = self.catalog.snapshot.has_relation(name);
                is_table || is_frame() || postgres::is_relation(name)
            }
        }
    }
}

impl SnapshotSchema {
    pub(super) fn snapshot_table(&self, table: Table) -> Arc<dyn TableProvider> {
        let catalog = &self.catalog;
        let (binding, reading) = (catalog.binding.clone(), catalog.reading.clone());
        let with_row_ids = self.kind == Kind::Rows;
        Arc::new(SnapshotTable::new(table, with_row_ids, catalog.threads, binding, reading))
    }

    /// A table of PostgreSQL's catalog, as of the snapshot.
    fn postgres_table(
        &self,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let system = self.catalog.system.as_ref();
        let batch = postgres::relation(name, &self.catalog.snapshot, system);
        let batch = batch.map_err(to_datafusion)?;
        let Some(batch) = batch else { return Ok(None) };
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
        Ok(Some(Arc::new(table)))
    }
}
