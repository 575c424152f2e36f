//! Aggregates over simple filters, in all or by group, folded by the engine's own scan.
//!
//! - Result types are those that plans give, so that a statement answers alike either way: an average of integers is a
//!   numeric, by which rows are not ordered here.
//! - Where there are too many groups, the statement is left to DataFusion, which spills them.

use super::Target;
use super::budget::Budget;
use super::filter::Filter;
use super::order::Order;
use crate::numerics::numeric_field;
use crate::rows::RowStream;
use crate::session::Outcome;
use crate::value::Value;
use arrow::array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringViewArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema};
use gadus_engine::{
    Aggregate, ColumnType, Datum, Error, ErrorKind, Question, Result, TableSchema, Wanted,
    array_from_datums,
};
use gadus_numeric::Numeric;
use std::sync::Arc;

/// SELECT columns and aggregates FROM table WHERE conjunction GROUP BY columns ORDER BY outputs.
#[derive(Debug)]
pub(crate) struct AggregateQuery {
    pub(super) target: Target,
    /// The columns whose values name a group; none where all rows are one.
    pub(super) by: Option<Vec<usize>>,
    pub(super) outputs: Vec<Output>,
    pub(super) filter: Filter,
    /// By outputs.
    pub(super) order: Order,
}

/// One column of the result.
#[derive(Debug)]
pub(super) struct Output {
    name: String,
    data_type: DataType,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The value in a column, which is at this place among those that name a group.
    Name { place: usize, column: usize },
    /// An aggregate, or its sum divided by its count.
    Aggregate { aggregate: Aggregate, average: bool },
}

impl Output {
    /// An aggregate; none for results whose type only DataFusion should choose.
    pub(super) fn aggregate(
        aggregate: Aggregate,
        average: bool,
        name: String,
        schema: &TableSchema,
    ) -> Option<Self> {
        let data_type = match aggregate {
            Aggregate::CountRows | Aggregate::Count(_) => DataType::Int64,
            Aggregate::Min(column) | Aggregate::Max(column) => {
                let column_type = schema.columns[column].column_type;
                column_type.is_ordered().then(|| column_type.arrow())?
            }
            Aggregate::Sum(column) => sum_type(schema.columns[column].column_type, average)?,
        };
        Some(Self { name, data_type, source: Source::Aggregate { aggregate, average } })
    }

    /// A column that names groups; none where it does not.
    pub(super) fn name(
        column: usize,
        name: String,
        by: &[usize],
        schema: &TableSchema,
    ) -> Option<Self> {
        let place = by.iter().position(|known| *known == column)?;
        let data_type = schema.columns[column].column_type.arrow();
        Some(Self { name, data_type, source: Source::Name { place, column } })
    }

    fn field(&self, nullable: bool, schema: &TableSchema) -> Field {
        match self.source {
            Source::Name { column, .. } => {
                schema.columns[column].column_type.field(&self.name, nullable)
            }
            _ if self.is_numeric() => numeric_field(&self.name),
            Source::Aggregate { .. } => Field::new(&self.name, self.data_type.clone(), nullable),
        }
    }

    /// Returns true for a numeric, which is a text whose order is another.
    pub(super) fn is_numeric(&self) -> bool {
        matches!(self.source, Source::Aggregate { average: true, .. })
            && self.data_type == DataType::Utf8View
    }

    /// Whether it may be NULL.
    fn is_nullable(&self, schema: &TableSchema) -> bool {
        match self.source {
            Source::Name { column, .. } => schema.columns[column].nullable,
            Source::Aggregate { aggregate, .. } => {
                !matches!(aggregate, Aggregate::CountRows | Aggregate::Count(_))
            }
        }
    }
}

fn sum_type(column_type: ColumnType, average: bool) -> Option<DataType> {
    Some(match column_type {
        ColumnType::Int8 | ColumnType::Int16 | ColumnType::Int32 | ColumnType::Int64 => {
            if average {
                DataType::Utf8View
            } else {
                DataType::Int64
            }
        }
        ColumnType::UInt8 | ColumnType::UInt16 | ColumnType::UInt32 | ColumnType::UInt64 => {
            if average {
                DataType::Float64
            } else {
                DataType::UInt64
            }
        }
        ColumnType::Decimal { precision, scale } if !average => {
            DataType::Decimal128((precision + 10).min(38), scale)
        }
        ColumnType::Float64 => DataType::Float64,
        // Averages of decimals depend on rules of rounding.
        _ => return None,
    })
}

impl AggregateQuery {
    /// None where values need DataFusion's rules.
    pub(super) fn question(
        &self,
        parameters: &[Value],
        budget: Budget,
    ) -> Result<Option<Question>> {
        let Some(predicates) = self.filter.predicates(&self.target, parameters)? else {
            return Ok(None);
        };
        if self.order.cut(parameters)?.is_none() {
            return Ok(None);
        }
        let aggregates = self.aggregates();
        let wanted = match &self.by {
            None => Wanted::Fold(aggregates),
            Some(by) => {
                let (groups_max, long_bytes_max) = (budget.kept_rows(), budget.long_bytes());
                Wanted::Groups { by: by.clone(), aggregates, groups_max, long_bytes_max }
            }
        };
        Ok(Some(Question { predicates, wanted }))
    }

    fn aggregates(&self) -> Vec<Aggregate> {
        let mut aggregates = Vec::new();
        for output in &self.outputs {
            let Source::Aggregate { aggregate, average } = output.source else { continue };
            aggregates.push(aggregate);
            if let (true, Aggregate::Sum(column)) = (average, aggregate) {
                aggregates.push(Aggregate::Count(column));
            }
        }
        aggregates
    }

    /// The rows of the groups, each with the values that name it and its aggregates.
    pub(super) fn outcome(
        &self,
        groups: &[(&[Datum], &[Datum])],
        parameters: &[Value],
    ) -> Result<Outcome> {
        let schema = &self.target.schema;
        let mut fields = Vec::with_capacity(self.outputs.len());
        let mut arrays = Vec::with_capacity(self.outputs.len());
        let mut next = 0;
        for output in &self.outputs {
            let place = next;
            arrays.push(match output.source {
                Source::Name { place, column } => {
                    let values = groups.iter().map(|(names, _)| &names[place]);
                    array_from_datums(schema.columns[column].column_type, values)?
                }
                Source::Aggregate { aggregate, average } => {
                    next += if average { 2 } else { 1 };
                    let values = groups.iter().map(|(_, values)| &values[place..next]);
                    self.array(output, aggregate, values)?
                }
            });
            let nullable = output.is_nullable(schema);
            fields.push(output.field(nullable, schema));
        }
        let schema = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?;
        let cut = self.order.cut(parameters)?.unwrap_or_default();
        let batch = self.order.apply(&batch, cut, |output| batch.column(output).clone())?;
        Ok(Outcome::Rows(RowStream::ready(schema, vec![batch])))
    }

    /// An aggregate of each group; of an average the sum and the count.
    fn array<'a>(
        &self,
        output: &Output,
        aggregate: Aggregate,
        values: impl ExactSizeIterator<Item = &'a [Datum]>,
    ) -> Result<ArrayRef> {
        let overflow =
            || Error::new(ErrorKind::OutOfRange, format!("{} leaves its range", output.name));
        if let Aggregate::Min(column) | Aggregate::Max(column) = aggregate {
            let values = values.map(|values| &values[0]);
            return array_from_datums(self.target.column_type(column), values);
        }
        if output.is_numeric() {
            let averages = values.map(average).collect::<Result<Vec<_>>>()?;
            return Ok(Arc::new(averages.into_iter().collect::<StringViewArray>()));
        }
        if output.data_type == DataType::Float64 {
            return Ok(Arc::new(values.map(double).collect::<Float64Array>()));
        }
        let mut wides = values.map(|values| (values[0].as_wide(), values.get(1)));
        Ok(match &output.data_type {
            DataType::Int64 => {
                let value = |(wide, _): (Option<i128>, _)| wide.map(i64::try_from).transpose();
                let values = wides.map(value).collect::<std::result::Result<Int64Array, _>>();
                Arc::new(values.map_err(|_| overflow())?)
            }
            DataType::UInt64 => {
                let value = |(wide, _): (Option<i128>, _)| wide.map(u64::try_from).transpose();
                let values = wides.map(value).collect::<std::result::Result<UInt64Array, _>>();
                Arc::new(values.map_err(|_| overflow())?)
            }
            data_type @ DataType::Decimal128(precision, _) => {
                let limit = 10_i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
                let too_large = |wide: i128| wide.unsigned_abs() >= limit.unsigned_abs();
                let all = wides.by_ref().map(|(wide, _)| wide).collect::<Vec<_>>();
                if all.iter().flatten().any(|wide| too_large(*wide)) {
                    return Err(overflow());
                }
                Arc::new(Decimal128Array::from(all).with_data_type(data_type.clone()))
            }
            other => return Err(Error::internal(format!("no aggregate gives {other}"))),
        })
    }

    pub(super) fn explain(&self) -> String {
        let names = self.outputs.iter().map(|output| output.name.as_str());
        let mut by = String::new();
        if let Some(columns) = &self.by {
            let schema = &self.target.schema;
            let names = columns.iter().map(|&column| schema.columns[column].name.as_str());
            by = format!(" by {}", names.collect::<Vec<_>>().join(", "));
        }
        format!(
            "Compiled: fold {}{by} over {} with {} pushed-down conjuncts{}",
            names.collect::<Vec<_>>().join(", "),
            self.target.schema.name,
            self.filter.conjuncts.len(),
            self.order.explained()
        )
    }
}

/// Returns a sum divided by the count behind it, as the text of a numeric.
fn average(values: &[Datum]) -> Result<Option<String>> {
    let count = values.get(1).and_then(Datum::as_wide).filter(|count| *count > 0);
    let Some((sum, count)) = values[0].as_wide().zip(count) else { return Ok(None) };
    let exact = |number| Numeric::from_unscaled(number, 0);
    let quotient = exact(sum).and_then(|sum| sum.divide(&exact(count)?));
    quotient
        .map(|quotient| Some(quotient.to_string()))
        .map_err(|error| Error::new(ErrorKind::OutOfRange, error.message().to_owned()))
}

/// A sum as a double, or divided by the count behind it: then the nearest double, too.
#[allow(clippy::cast_precision_loss)]
fn double(values: &[Datum]) -> Option<f64> {
    let sum = match &values[0] {
        Datum::Float(sum) => *sum,
        sum => sum.as_wide()? as f64,
    };
    match values.get(1) {
        None => Some(sum),
        Some(count) => {
            let count = count.as_wide().filter(|count| *count > 0)?;
            Some(sum / count as f64)
        }
    }
}
