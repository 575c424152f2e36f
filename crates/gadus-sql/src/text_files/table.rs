//! Files of texts as a table of the planner.

use super::blocks::Blocks;
use super::form::{RowsOfText, TextForm};
use super::infer::Columns;
use super::list::TextFile;
use super::rejects::Rejects;
use super::scan::TextScanExec;
use crate::error::to_datafusion;
use crate::partitioned::Partitions;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Files of one form with the same columns.
#[derive(Debug, Clone)]
pub(crate) struct TextTable {
    files: Arc<[TextFile]>,
    form: TextForm,
    schema: SchemaRef,
    rejects: Option<Arc<Rejects>>,
    /// What the folders of the files say, behind their own columns.
    partitions: Partitions,
    file_schema: SchemaRef,
}

impl TextTable {
    /// A table of these columns, or of those that the files have as it looks.
    pub(crate) fn new(
        files: Vec<TextFile>,
        form: TextForm,
        schema: Option<SchemaRef>,
        rejects: Option<Arc<Rejects>>,
        partitions: Partitions,
    ) -> gadus_engine::Result<Self> {
        let file_schema = match schema {
            Some(schema) => schema,
            None => Arc::new(looked_at(&files, form, rejects.is_some())?.schema()),
        };
        let partitions = partitions.beside(&file_schema);
        let schema = Arc::new(partitions.schema_with(&file_schema));
        Ok(Self { files: files.into(), form, schema, rejects, partitions, file_schema })
    }
}

fn looked_at(
    files: &[TextFile],
    form: TextForm,
    leaves_out: bool,
) -> gadus_engine::Result<Columns> {
    let mut columns = Columns::default();
    for file in files {
        if columns.are_known() {
            break;
        }
        let mut blocks = Blocks::open(file, form.ends())?;
        if let Some(block) = blocks.next()? {
            columns.look_at(blocks.path(), form, &block, leaves_out)?;
        }
    }
    Ok(columns)
}

#[async_trait]
impl TableProvider for TextTable {
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
        let of = |filter: &&Expr| match self.partitions.decide(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(of).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = match projection {
            Some(projection) => projection.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let own = self.file_schema.fields().len();
        // A record is left out for any of its values, whichever are asked for.
        let read = match self.rejects {
            Some(_) => (0..own).collect(),
            None => wanted.iter().copied().filter(|column| *column < own).collect(),
        };
        let rows = RowsOfText {
            form: self.form,
            schema: self.file_schema.clone(),
            projection: read,
            batch_rows: state.config().batch_size(),
            rejects: self.rejects.clone(),
        };
        let chosen = self.partitions.chosen(state, filters).map_err(to_datafusion)?;
        let files = chosen.into_iter().map(|at| {
            let said = self.partitions.of_files.get(at).cloned().unwrap_or_default();
            (self.files[at].clone(), Arc::from(said))
        });
        let schema = Arc::new(self.schema.project(&wanted)?);
        Ok(Arc::new(TextScanExec::new(files.collect(), rows, &wanted, schema)))
    }
}
