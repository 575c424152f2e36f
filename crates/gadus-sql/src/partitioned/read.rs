//! What the folders of files say of their rows.
//!
//! - Files that are read together have the same columns in their folders' names. The columns' types are told by the
//!   values: whole numbers and dates are that where each is written as they are, and all else is text, so that `007` is.

use super::names::of_folder;
use crate::error::{from_datafusion, input};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::Expr;
use gadus_engine::Result;
use std::path::{Component, Path};
use std::sync::Arc;

/// The values of a file's partition, in the order of the columns.
type Partition = Vec<ScalarValue>;

/// The columns that folders say, and the values of each file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Partitions {
    pub(crate) fields: Vec<FieldRef>,
    pub(crate) of_files: Vec<Partition>,
}

type Said = Vec<(String, Option<String>)>;

impl Partitions {
    /// What the folders of files say, of which `granted` says nothing; where nobody `asked` for it, nothing unless all
    /// of them say of the same columns.
    ///
    /// # Errors
    /// Where it is asked for, and files differ in it.
    pub(crate) fn of<'a>(
        files: impl Iterator<Item = &'a Path>,
        granted: Option<&Path>,
        asked: Option<bool>,
    ) -> Result<Self> {
        if asked == Some(false) {
            return Ok(Self::of_nothing(files.count()));
        }
        let said = files.map(|file| said_of(file, granted)).collect::<Vec<_>>();
        let columns =
            |said: &Said| said.iter().map(|(column, _)| column.clone()).collect::<Vec<_>>();
        let first = said.first().map(columns).unwrap_or_default();
        let is_same = said.iter().all(|said| columns(said) == first);
        let is_once = (1..first.len()).all(|at| !first[..at].contains(&first[at]));
        if !is_same || !is_once || first.is_empty() {
            return match asked {
                Some(true) => {
                    Err(input("the folders of the files do not say the same columns of all"))
                }
                _ => Ok(Self::of_nothing(said.len())),
            };
        }
        let mut partitions = Self::of_nothing(said.len());
        for (at, column) in first.iter().enumerate() {
            let texts = said.iter().map(|said| said[at].1.as_deref());
            let data_type = type_of(texts.clone().flatten());
            for (values, text) in partitions.of_files.iter_mut().zip(texts) {
                values.push(value_of(text, &data_type)?);
            }
            partitions.fields.push(Arc::new(Field::new(column, data_type, true)));
        }
        Ok(partitions)
    }

    fn of_nothing(files: usize) -> Self {
        Self { fields: Vec::new(), of_files: vec![Vec::new(); files] }
    }

    /// Without the columns that the files have themselves.
    pub(crate) fn beside(mut self, schema: &Schema) -> Self {
        let is_left = |field: &FieldRef| schema.column_with_name(field.name()).is_none();
        let left = self.fields.iter().map(is_left).collect::<Vec<_>>();
        for values in &mut self.of_files {
            let mut keep = left.iter();
            values.retain(|_| keep.next().copied().unwrap_or(true));
        }
        self.fields.retain(is_left);
        self
    }

    pub(crate) fn schema_with(&self, schema: &Schema) -> Schema {
        let fields = schema.fields().iter().cloned().chain(self.fields.iter().cloned());
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
    }

    /// Whether a condition is of nothing but these columns, and known as it stands.
    pub(crate) fn decide(&self, condition: &Expr) -> bool {
        let columns = condition.column_refs();
        let is_ours =
            |column: &&Column| self.fields.iter().any(|field| *field.name() == column.name);
        let is_unknown = |expr: &Expr| {
            let is = matches!(
                expr,
                Expr::ScalarSubquery(_)
                    | Expr::InSubquery(_)
                    | Expr::SetComparison(_)
                    | Expr::Exists(_)
                    | Expr::OuterReferenceColumn(..)
                    | Expr::Placeholder(_)
            );
            Ok(is)
        };
        !columns.is_empty()
            && !condition.is_volatile()
            && columns.iter().all(is_ours)
            && !condition.exists(is_unknown).unwrap_or(true)
    }

    /// The places of the files that can have rows for conditions.
    pub(crate) fn chosen(&self, state: &dyn Session, conditions: &[Expr]) -> Result<Vec<usize>> {
        let all = 0..self.of_files.len();
        let decided = conditions.iter().filter(|condition| self.decide(condition));
        let Some(condition) = decided.cloned().reduce(Expr::and) else { return Ok(all.collect()) };
        let schema = Arc::new(Schema::new(self.fields.clone()));
        let known = DFSchema::try_from(schema.clone()).map_err(from_datafusion)?;
        let condition = condition.transform(|expr| {
            // Whatever the statement calls the table.
            Ok(match expr {
                Expr::Column(column) => {
                    Transformed::yes(Expr::Column(Column::new_unqualified(column.name)))
                }
                other => Transformed::no(other),
            })
        });
        let condition = condition.map_err(from_datafusion)?.data;
        let condition = state.create_physical_expr(condition, &known);
        let condition = condition.map_err(from_datafusion)?;
        let columns = (0..self.fields.len()).map(|at| {
            ScalarValue::iter_to_array(self.of_files.iter().map(|values| values[at].clone()))
        });
        let columns =
            columns.collect::<std::result::Result<Vec<_>, _>>().map_err(from_datafusion)?;
        let batch = RecordBatch::try_new(schema, columns)?;
        let met = condition.evaluate(&batch).and_then(|met| met.into_array(batch.num_rows()));
        let met = met.map_err(from_datafusion)?;
        let met = met.as_boolean();
        Ok(all.filter(|at| met.is_valid(*at) && met.value(*at)).collect())
    }
}

/// What the folders of a file say.
fn said_of(file: &Path, granted: Option<&Path>) -> Said {
    let below = granted.and_then(|granted| file.strip_prefix(granted).ok()).unwrap_or(file);
    let folders = below.parent().into_iter().flat_map(Path::components);
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => of_folder(name.to_str()?),
        _ => None,
    };
    folders.filter_map(name).collect()
}

/// The type of which all values are written as it is.
fn type_of<'a>(mut values: impl Iterator<Item = &'a str> + Clone) -> DataType {
    let is_number = |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let is_date = |text: &str| {
        let shape = text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        shape && text.len() == 10 && value_of(Some(text), &DataType::Date32).is_ok()
    };
    match values.clone().next() {
        None => DataType::Utf8,
        Some(_) if values.clone().all(is_number) => DataType::Int64,
        Some(_) if values.all(is_date) => DataType::Date32,
        Some(_) => DataType::Utf8,
    }
}

fn value_of(text: Option<&str>, data_type: &DataType) -> Result<ScalarValue> {
    let value = match text {
        None => ScalarValue::try_from(data_type),
        Some(text) => ScalarValue::try_from_string(text.to_owned(), data_type),
    };
    value.map_err(from_datafusion)
}
