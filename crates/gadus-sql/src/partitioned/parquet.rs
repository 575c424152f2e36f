//! Parquet files as a table: those whose folders say of what rows they are, and those beneath a granted folder.

use super::read::Partitions;
use crate::error::{from_datafusion, input, to_datafusion};
use crate::executor::check_cancelled;
use crate::folder_store::FolderStore;
use crate::text_files::TextFile;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Statistics;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::object_store::path::Path as StorePath;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Parquet files, with the columns that their folders say.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    store: Arc<dyn ObjectStore>,
    files: Vec<ObjectMeta>,
    file_schema: SchemaRef,
    schema: SchemaRef,
    partitions: Partitions,
    format: ParquetFormat,
}

impl ParquetTable {
    /// Looks at files that are all beneath one folder, or of which none is bound to one.
    pub(crate) async fn open(
        context: &SessionContext,
        files: &[TextFile],
        partitions: Partitions,
    ) -> gadus_engine::Result<Self> {
        let state = context.state();
        let store = store_of(context, files)?;
        let mut found = Vec::with_capacity(files.len());
        for file in files {
            let failed = |error: &dyn std::fmt::Display| {
                input(format!("{} cannot be read: {error}", file.path.display()))
            };
            let whole = match file.beneath {
                Some(_) => file.path.clone(),
                None => file.path.canonicalize().map_err(|error| failed(&error))?,
            };
            let place = StorePath::from_absolute_path(&whole).map_err(|error| failed(&error))?;
            found.push(store.head(&place).await.map_err(|error| failed(&error))?);
        }
        let options = state.default_table_options().parquet;
        let format = ParquetFormat::default().with_options(options);
        let file_schema = format.infer_schema(&state, &store, &found).await;
        let file_schema = file_schema.map_err(from_datafusion)?;
        let partitions = partitions.beside(&file_schema);
        let schema = Arc::new(partitions.schema_with(&file_schema));
        Ok(Self { store, files: found, file_schema, schema, partitions, format })
    }

    /// Returns a file with the values of its folders and what its footer says of its columns.
    async fn file(&self, state: &dyn Session, at: usize) -> Result<PartitionedFile> {
        let meta = &self.files[at];
        let mut file = PartitionedFile::new_from_meta(meta.clone());
        file.partition_values = self.partitions.of_files[at].clone();
        if !state.config().collect_statistics() {
            return Ok(file);
        }
        let schema = self.file_schema.clone();
        let known = self.format.infer_stats(state, &self.store, schema, meta).await?;
        Ok(file.with_statistics(Arc::new(known)))
    }

    /// Returns what is known of all rows of these files.
    fn statistics(&self, files: &[PartitionedFile]) -> Result<Statistics> {
        let known = files.iter().map(|file| file.statistics.as_deref());
        match known.collect::<Option<Vec<_>>>().filter(|known| !known.is_empty()) {
            Some(known) => Statistics::try_merge_iter(known, &self.schema),
            None => Ok(Statistics::new_unknown(&self.schema)),
        }
    }
}

/// Returns the store that reads the files, which opens them no other way than they are to be opened.
fn store_of(
    context: &SessionContext,
    files: &[TextFile],
) -> gadus_engine::Result<Arc<dyn ObjectStore>> {
    match files.first().and_then(|file| file.beneath.clone()) {
        Some(folder) => Ok(Arc::new(FolderStore::new(folder))),
        None => {
            let store = context.runtime_env().object_store(ObjectStoreUrl::local_filesystem());
            store.map_err(from_datafusion)
        }
    }
}

#[async_trait]
impl TableProvider for ParquetTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let chosen = self.partitions.chosen(state, filters).map_err(to_datafusion)?;
        let mut files = Vec::with_capacity(chosen.len());
        for at in chosen {
            check_cancelled()?;
            files.push(self.file(state, at).await?);
        }
        let statistics = self.statistics(&files)?;
        let groups = FileGroup::new(files).split_files(state.config().target_partitions().max(1));
        let table = TableSchema::builder(self.file_schema.clone())
            .with_table_partition_cols(self.partitions.fields.clone())
            .build();
        let known = state.runtime_env().cache_manager.get_file_metadata_cache();
        let readers = CachedParquetFileReaderFactory::new(self.store.clone(), known);
        let source = ParquetSource::new(table)
            .with_table_parquet_options(self.format.options().clone())
            .with_parquet_file_reader_factory(Arc::new(readers));
        // The readers have their own store: the one of this URL is not asked.
        let config =
            FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
                .with_file_groups(groups)
                .with_statistics(statistics)
                .with_projection_indices(projection.cloned())?
                .with_limit(limit.filter(|_| filters.is_empty()))
                .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
