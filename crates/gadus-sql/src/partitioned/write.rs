//! Rows as files of partitions.
//!
//! - Rows come sorted by their partitions, so that one file is open at a time, however many there are.

use super::names::folder_name;
use super::target::{Target, failed};
use crate::error::{limit, unsupported};
use crate::file_writer::{FileForm, FileWriter};
use crate::value::assign_array;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use gadus_engine::{ColumnType, Result};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Folders that one COPY makes.
const PARTITIONS_MAX: usize = 100_000;

/// Writes rows to the files of their partitions.
pub(crate) struct PartitionWriter {
    target: Target,
    form: FileForm,
    /// The columns by which rows are divided, with their names, in the order of the folders.
    by: Vec<(usize, String)>,
    /// The columns of the files.
    kept: Vec<usize>,
    schema: SchemaRef,
    partitions: usize,
    open: Option<(Vec<Option<String>>, FileWriter<File>)>,
}

impl PartitionWriter {
    pub(crate) fn new(
        target: Target,
        form: FileForm,
        schema: &Schema,
        by: &[usize],
    ) -> Result<Self> {
        for place in by {
            let field = schema.field(*place);
            let data_type = field.data_type();
            if data_type.is_nested() || data_type.is_binary() {
                let shown = ColumnType::from_field(field)
                    .map_or_else(|| data_type.to_string(), |known| known.to_string());
                return Err(unsupported(&format!("PARTITION_BY a column of {shown}")));
            }
        }
        let kept =
            (0..schema.fields().len()).filter(|place| !by.contains(place)).collect::<Vec<_>>();
        let schema_kept = Arc::new(schema.project(&kept)?);
        let by = by.iter().map(|place| (*place, schema.field(*place).name().clone()));
        let by = by.collect();
        Ok(Self { target, form, by, kept, schema: schema_kept, partitions: 0, open: None })
    }

    /// Takes rows that are sorted by their partitions, also behind those that came before.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let texts =
            self.by.iter().map(|(place, _)| assign_array(batch.column(*place), ColumnType::Text));
        let texts = texts.collect::<Result<Vec<ArrayRef>>>()?;
        let rows = batch.project(&self.kept)?;
        for range in arrow::compute::partition(&texts)?.ranges() {
            let value = |texts: &ArrayRef| {
                let is_null = texts.is_null(range.start);
                (!is_null).then(|| texts.as_string_view().value(range.start).to_owned())
            };
            let key = texts.iter().map(value).collect::<Vec<_>>();
            if self.open.as_ref().is_none_or(|(open, _)| *open != key) {
                self.close()?;
                let file = self.next_file(&key)?;
                self.open = Some((key, file));
            }
            if let Some((_, file)) = &mut self.open {
                file.write(&rows.slice(range.start, range.len()))?;
            }
        }
        Ok(())
    }

    /// Puts all files in their place.
    pub(crate) fn end(mut self) -> Result<()> {
        self.close()?;
        self.target.end()
    }

    fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some((_, file)) => file.finish(),
            None => Ok(()),
        }
    }

    fn next_file(&mut self, key: &[Option<String>]) -> Result<FileWriter<File>> {
        self.partitions += 1;
        if self.partitions > PARTITIONS_MAX {
            return Err(limit(format!("more than {PARTITIONS_MAX} partitions")));
        }
        let mut folder = self.target.path().to_owned();
        for ((_, column), value) in self.by.iter().zip(key) {
            folder.push(folder_name(column, value.as_deref()));
        }
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        // Values may differ whose texts do not.
        let path = |number: usize| folder.join(format!("data_{number}{}", self.form.ending()));
        let path = (0..).map(path).find(|path| !path.exists()).unwrap_or_else(|| path(0));
        self.create(&path)
    }

    fn create(&self, path: &Path) -> Result<FileWriter<File>> {
        let file = File::create_new(path).map_err(|error| failed(path, &error))?;
        self.form.writer(file, &self.schema, path)
    }
}
