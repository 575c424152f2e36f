//! Statements that name rows by primary key.

use super::{Operand, Target, Writes};
use crate::rows::RowStream;
use crate::session::Outcome;
use crate::value::Value;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use gadus_engine::{
    Datum, Error, ErrorKind, Result, RowChange, Snapshot, array_from_datums, is_large,
};
use std::sync::Arc;

/// SELECT columns FROM table WHERE key = …
#[derive(Debug)]
pub(crate) struct PointSelect {
    pub(super) target: Target,
    columns: Vec<usize>,
    key: Vec<Operand>,
    schema: SchemaRef,
}

/// For each sequence that a statement takes numbers of, those of its rows.
pub(crate) type Numbers = Vec<Vec<i64>>;

/// INSERT INTO table VALUES …
#[derive(Debug)]
pub(crate) struct Insert {
    pub(super) target: Target,
    /// For each column of the table.
    sources: Vec<Source>,
    /// The sequences that it takes numbers of, once for each column.
    sequences: Vec<String>,
    rows: Vec<Vec<Operand>>,
}

/// Where the values of a column come from that is inserted.
#[derive(Debug)]
pub(super) enum Source {
    /// This place in each row.
    Given(usize),
    Default(Datum),
    /// The next numbers of the sequence at this place.
    Numbers(usize),
}

/// UPDATE table SET … WHERE key = …
#[derive(Debug)]
pub(crate) struct PointUpdate {
    pub(super) target: Target,
    pub(super) key: Vec<Operand>,
    pub(super) assigned: Vec<Assigned>,
}

/// DELETE FROM table WHERE key = …
#[derive(Debug)]
pub(crate) struct PointDelete {
    pub(super) target: Target,
    pub(super) key: Vec<Operand>,
}

/// One assignment of an UPDATE.
#[derive(Debug)]
pub(super) enum Assigned {
    Value {
        column: usize,
        operand: Operand,
    },
    /// A 64-bit integer column plus or minus a value.
    Step {
        column: usize,
        source: usize,
        operand: Operand,
        subtract: bool,
    },
}

impl PointSelect {
    pub(super) fn new(target: Target, columns: Vec<(usize, String)>, key: Vec<Operand>) -> Self {
        let field = |(index, name): &(usize, String)| {
            let column = &target.schema.columns[*index];
            column.column_type.field(name, column.nullable)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(index, _)| index).collect();
        Self { target, columns, key, schema }
    }

    pub(super) fn run(&self, snapshot: &Snapshot, parameters: &[Value]) -> Result<Option<Outcome>> {
        let Some(key) = self.target.key(&self.key, parameters)? else { return Ok(None) };
        let Some(table) = self.target.table(snapshot) else { return Ok(None) };
        let values = match table.find_key(&key)? {
            Some(row) => table.values(row, &self.columns)?,
            None => None,
        };
        let Some(values) = values else {
            return Ok(Some(Outcome::Rows(RowStream::ready(self.schema.clone(), Vec::new()))));
        };
        let arrays = self
            .columns
            .iter()
            .zip(&values)
            .map(|(&column, value)| {
                array_from_datums(self.target.column_type(column), std::iter::once(value))
            })
            .collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        Ok(Some(Outcome::Rows(RowStream::ready(self.schema.clone(), vec![batch]))))
    }
}

impl Insert {
    pub(super) fn new(
        target: Target,
        (sources, sequences): (Vec<Source>, Vec<String>),
        rows: Vec<Vec<Operand>>,
    ) -> Self {
        Self { target, sources, sequences, rows }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The numbers that its rows get.
    pub(super) fn numbers(
        &self,
        mut take: impl FnMut(&str, usize) -> Result<Vec<i64>>,
    ) -> Result<Numbers> {
        self.sequences.iter().map(|name| take(name, self.rows.len())).collect()
    }

    pub(super) fn run(
        &self,
        writes: Writes<'_>,
        numbers: &Numbers,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        let mut rows = Vec::with_capacity(self.rows.len());
        for (row, operands) in self.rows.iter().enumerate() {
            let value = |(column, source): (usize, &Source)| {
                let value = match source {
                    Source::Given(place) => operands[*place].value(parameters)?,
                    Source::Default(value) => return Ok(value.clone()),
                    Source::Numbers(sequence) => Value::Integer(numbers[*sequence][row]),
                };
                let definition = &self.target.schema.columns[column];
                let of_column =
                    |error: Error| error.about(&format!("column \"{}\"", definition.name));
                value.assign(definition.column_type).map_err(of_column)
            };
            let row =
                self.sources.iter().enumerate().map(value).collect::<Result<Arc<[Datum]>>>()?;
            rows.push(row);
        }
        let rows = writes.insert(&self.target.schema, rows)?;
        Ok(Some(Outcome::Changed { verb: "INSERT", rows }))
    }
}

impl PointUpdate {
    pub(super) fn run(&self, writes: Writes<'_>, parameters: &[Value]) -> Result<Option<Outcome>> {
        let Some(key) = self.target.key(&self.key, parameters)? else { return Ok(None) };
        let Some(values) = assigned_values(&self.assigned, &self.target, parameters)? else {
            return Ok(None);
        };
        let mut moves = false;
        let rows = writes.change_row(&self.target.schema, &key, |row| {
            let change = self.assigned.iter().zip(&values).map(|(assigned, value)| {
                let old = assigned.source().map(|source| &row[source]);
                Ok((assigned.column(), assigned.apply(old, value)?))
            });
            let change = change.collect::<Result<Vec<_>>>()?;
            // A row with a large value moves, which a transaction does.
            moves = change.iter().any(|(_, value)| is_large(value));
            Ok(if moves { RowChange::Keep } else { RowChange::Update(change) })
        })?;
        if moves {
            return Ok(None);
        }
        Ok(Some(Outcome::Changed { verb: "UPDATE", rows }))
    }
}

impl PointDelete {
    pub(super) fn run(&self, writes: Writes<'_>, parameters: &[Value]) -> Result<Option<Outcome>> {
        let Some(key) = self.target.key(&self.key, parameters)? else { return Ok(None) };
        let rows = writes.change_row(&self.target.schema, &key, |_| Ok(RowChange::Delete))?;
        Ok(Some(Outcome::Changed { verb: "DELETE", rows }))
    }
}

/// The values of the operands; none where one of them needs DataFusion's rules.
pub(super) fn assigned_values(
    assigned: &[Assigned],
    target: &Target,
    parameters: &[Value],
) -> Result<Option<Vec<Datum>>> {
    assigned.iter().map(|assigned| assigned.value(target, parameters)).collect()
}

impl Assigned {
    pub(super) fn column(&self) -> usize {
        match self {
            Self::Value { column, .. } | Self::Step { column, .. } => *column,
        }
    }

    /// The column whose old value it needs.
    pub(super) fn source(&self) -> Option<usize> {
        match self {
            Self::Value { .. } => None,
            Self::Step { source, .. } => Some(*source),
        }
    }

    fn value(&self, target: &Target, parameters: &[Value]) -> Result<Option<Datum>> {
        match self {
            Self::Value { column, operand } => {
                operand.value(parameters)?.assign(target.column_type(*column)).map(Some)
            }
            Self::Step { operand, .. } => Ok(match operand.value(parameters)? {
                Value::Integer(value) => Some(Datum::Integer(value)),
                Value::Null => Some(Datum::Null),
                _ => None,
            }),
        }
    }

    /// The new value, of the operand's and the old one of the source.
    pub(super) fn apply(&self, old: Option<&Datum>, value: &Datum) -> Result<Datum> {
        let Self::Step { subtract, .. } = self else { return Ok(value.clone()) };
        let (Some(Datum::Integer(old)), Datum::Integer(step)) = (old, value) else {
            return Ok(Datum::Null);
        };
        let new = if *subtract { old.checked_sub(*step) } else { old.checked_add(*step) };
        let new = new.ok_or_else(|| {
            Error::new(ErrorKind::OutOfRange, "a value leaves the range of 64-bit integers")
        })?;
        Ok(Datum::Integer(new))
    }
}
