//! Parquet files whose folders say of what rows they are, as a table.

use super::read::Partitions;
use crate::error::{from_datafusion, input, to_datafusion};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::object_store::path::Path as StorePath;
use datafusion::object_store::{ObjectMeta, ObjectStoreExt};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use std::path::PathBuf;
use std::sync::Arc;

/// Parquet files, with the columns that their folders say.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    files: Vec<ObjectMeta>,
    file_schema: SchemaRef,
    schema: SchemaRef,
    partitions: Partitions,
    format: ParquetFormat,
}

impl ParquetTable {
    pub(crate) async fn open(
        context: &SessionContext,
        paths: &[PathBuf],
        partitions: Partitions,
    ) -> gadus_engine::Result<Self> {
        let state = context.state();
        let store = context.runtime_env().object_store(ObjectStoreUrl::local_filesystem());
        let store = store.map_err(from_datafusion)?;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let failed = |error: &dyn std::fmt::Display| {
                input(format!("{} cannot be read: {error}", path.display()))
            };
            let whole = path.canonicalize().map_err(|error| failed(&error))?;
            let place = StorePath::from_absolute_path(&whole).map_err(|error| failed(&error))?;
            files.push(store.head(&place).await.map_err(|error| failed(&error))?);
        }
        let options = state.default_table_options().parquet;
        let format = ParquetFormat::default().with_options(options);
        let file_schema = format.infer_schema(&state, &store, &files).await;
        let file_schema = file_schema.map_err(from_datafusion)?;
        let partitions = partitions.beside(&file_schema);
        let schema = Arc::new(partitions.schema_with(&file_schema));
        Ok(Self { files, file_schema, schema, partitions, format })
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
        let file = |at: usize| {
            let mut file = PartitionedFile::new_from_meta(self.files[at].clone());
            file.partition_values = self.partitions.of_files[at].clone();
            file
        };
        let files = chosen.into_iter().map(file).collect::<Vec<_>>();
        let groups = FileGroup::new(files).split_files(state.config().target_partitions().max(1));
        let table = TableSchema::builder(self.file_schema.clone())
            .with_table_partition_cols(self.partitions.fields.clone())
            .build();
        let source =
            ParquetSource::new(table).with_table_parquet_options(self.format.options().clone());
        let config =
            FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
                .with_file_groups(groups)
                .with_projection_indices(projection.cloned())?
                .with_limit(limit.filter(|_| filters.is_empty()))
                .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
