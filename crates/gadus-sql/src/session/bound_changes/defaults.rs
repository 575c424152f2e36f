//! DEFAULT: in SET, and in some rows of VALUES.
//!
//! - The values of defaults are no part of plans: they are those that INSERT stores in columns which it does not name.
//! - A row of VALUES has a marker for each of its columns that some row leaves to the default, after all values.

use super::Bound;
use crate::session::Session;
use crate::value::assign_array;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::interleave;
use arrow::datatypes::{Field, Schema};
use gadus_binder::bound::{
    ColumnId, ColumnValue, Constant, InsertChange, Relational, Scalar, ScalarKind,
};
use gadus_binder::types::constants;
use gadus_engine::{Error, Result, Snapshot, TableSchema};
use std::sync::Arc;

fn is_default(value: &Scalar) -> bool {
    matches!(value.kind, ScalarKind::Default)
}

/// Columns that SET gives their defaults, by position.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct SetDefaults {
    /// Columns with values.
    pub(in crate::session) filled: Vec<usize>,
    /// Generated columns, which have their values from the row in any case.
    pub(in crate::session) generated: Vec<usize>,
}

impl SetDefaults {
    /// Takes DEFAULT out of the values of SET.
    pub(super) fn take(schema: &TableSchema, values: &[ColumnValue]) -> (Vec<ColumnValue>, Self) {
        let (defaults, given) =
            values.iter().cloned().partition::<Vec<_>, _>(|value| is_default(&value.value));
        let columns = defaults.iter().map(|value| value.column);
        let is_generated = |column: &usize| schema.columns[*column].generated.is_some();
        let (generated, filled) = columns.partition(is_generated);
        (given, Self { filled, generated })
    }
}

impl Session {
    /// Returns the defaults of columns for so many rows, in the order of the columns.
    pub(in crate::session) async fn default_values(
        &self,
        (schema, snapshot): (&TableSchema, &Snapshot),
        columns: &[usize],
        rows: usize,
    ) -> Result<Vec<ArrayRef>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let others = (0..schema.columns.len()).filter(|column| !columns.contains(column));
        let others = others.collect::<Vec<_>>();
        let defaults = self.defaults(|| snapshot.clone(), schema, &others).await?;
        let mut filled = self.fill(schema, &defaults, rows).await?;
        let value = |column: &usize| {
            let value = filled.get_mut(*column).and_then(Option::take);
            value.ok_or_else(|| Error::internal("a column without a default"))
        };
        columns.iter().map(value).collect()
    }

    /// Replaces marked values of VALUES by the defaults of their columns, and removes the markers.
    pub(super) async fn with_defaults(
        &self,
        bound: &Bound<'_>,
        (columns, marked): (&[usize], &[usize]),
        rows: Vec<RecordBatch>,
    ) -> Result<Vec<RecordBatch>> {
        let (schema, from) = (&bound.schema, (&*bound.schema, &bound.snapshot));
        let mut whole = Vec::with_capacity(rows.len());
        for batch in rows {
            let mut arrays = batch.columns()[..columns.len()].to_vec();
            for (column, marker) in marked.iter().zip(&batch.columns()[columns.len()..]) {
                let markers = marker.as_boolean();
                let values = self.default_values(from, &[*column], markers.true_count()).await?;
                let place = columns.iter().position(|known| known == column);
                let (Some(place), [values]) = (place, values.as_slice()) else {
                    return Err(Error::internal("a default of a column without values"));
                };
                let given = assign_array(&arrays[place], schema.columns[*column].column_type)?;
                let mut next = 0..;
                let pick = |(row, is_default): (usize, Option<bool>)| match is_default {
                    Some(true) => (1, next.next().unwrap_or_default()),
                    _ => (0, row),
                };
                let picked = markers.iter().enumerate().map(pick).collect::<Vec<_>>();
                let sources: [&dyn Array; 2] = [&given, values];
                arrays[place] = interleave(&sources, &picked)?;
            }
            let field = |(column, array): (&usize, &ArrayRef)| {
                let name = &schema.columns[*column].name;
                let of_column = schema.columns[*column].column_type.field(name, true);
                match of_column.data_type() == array.data_type() {
                    true => of_column,
                    false => Field::new(name, array.data_type().clone(), true),
                }
            };
            let fields = columns.iter().zip(&arrays).map(field).collect::<Vec<_>>();
            whole.push(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?);
        }
        Ok(whole)
    }
}

/// Rows of an INSERT without DEFAULT.
pub(super) struct Marked {
    pub(super) input: Relational,
    /// Values, then the markers.
    pub(super) values: Vec<ColumnValue>,
    /// Columns that have markers.
    pub(super) marked: Vec<usize>,
}

impl Marked {
    /// Takes DEFAULT out of the values of an INSERT: columns that no row gives a value have their defaults.
    pub(super) fn of(insert: &InsertChange) -> Self {
        let given = insert.values.iter().filter(|value| !is_default(&value.value));
        let mut values = given.cloned().collect::<Vec<_>>();
        let (mut input, mut marked) = (insert.input.clone(), Vec::new());
        let Relational::Values { rows, columns } = &mut input else {
            return Self { input, values, marked };
        };
        let mut markers = Vec::new();
        for place in 0..columns.len() {
            let (id, data_type) = columns[place];
            let defaults = rows.iter().filter(|row| is_default(&row[place])).count();
            if defaults == 0 {
                continue;
            }
            let all_default = defaults == rows.len();
            let target = values.iter().position(|value| value.value.as_column() == Some(id));
            if let Some(target) = target.filter(|_| all_default) {
                values.remove(target);
            }
            let target = target.filter(|_| !all_default).map(|target| values[target].column);
            // No other column has this number.
            let marker = ColumnId(u32::MAX - id.0);
            for row in rows.iter_mut() {
                let is_default = is_default(&row[place]);
                let span = row[place].span;
                if is_default {
                    row[place] = Scalar::new(ScalarKind::Constant(Constant::Null), data_type, span);
                }
                if target.is_some() {
                    let is_default = ScalarKind::Constant(Constant::Boolean(is_default));
                    row.push(Scalar::new(is_default, constants::BOOL.plain(), span));
                }
            }
            if let Some(column) = target {
                marked.push(column);
                markers.push((marker, constants::BOOL.plain()));
            }
        }
        columns.extend(markers.iter().copied());
        let beyond = values.iter().map(|value| value.column).max().unwrap_or_default() + 1;
        values.extend(markers.into_iter().enumerate().map(|(at, (id, data_type))| {
            let span = gadus_syntax::Span::default();
            let value = Scalar::new(ScalarKind::Column(id), data_type, span);
            ColumnValue { column: beyond + at, subscripts: Vec::new(), value }
        }));
        Self { input, values, marked }
    }
}
