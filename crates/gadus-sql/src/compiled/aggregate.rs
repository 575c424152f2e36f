//! Plain aggregates over simple filters, folded by the engine's own scan.
//!
//! - Result types are those that DataFusion gives, so that a statement answers alike either way.

use super::Target;
use super::filter::Filter;
use crate::rows::RowStream;
use crate::session::Outcome;
use crate::value::Value;
use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use gadus_engine::{
    Aggregate, ColumnType, Datum, Error, ErrorKind, Question, Result, TableSchema, Wanted,
    array_from_datums,
};
use std::sync::Arc;

/// SELECT aggregates FROM table WHERE conjunction.
#[derive(Debug)]
pub(crate) struct AggregateQuery {
    pub(super) target: Target,
    pub(super) outputs: Vec<Output>,
    pub(super) filter: Filter,
}

/// One column of the result.
#[derive(Debug)]
pub(super) struct Output {
    aggregate: Aggregate,
    /// The sum is divided by the count.
    average: bool,
    name: String,
    data_type: DataType,
}

impl Output {
    /// None for results whose type only DataFusion should choose.
    pub(super) fn new(
        aggregate: Aggregate,
        average: bool,
        name: String,
        schema: &TableSchema,
    ) -> Option<Self> {
        let data_type = match aggregate {
            Aggregate::CountRows | Aggregate::Count(_) => DataType::Int64,
            Aggregate::Min(column) | Aggregate::Max(column) => {
                schema.columns[column].column_type.arrow()
            }
            Aggregate::Sum(column) => sum_type(schema.columns[column].column_type, average)?,
        };
        Some(Self { aggregate, average, name, data_type })
    }
}

fn sum_type(column_type: ColumnType, average: bool) -> Option<DataType> {
    Some(match column_type {
        ColumnType::Int8 | ColumnType::Int16 | ColumnType::Int32 | ColumnType::Int64 => {
            if average {
                DataType::Float64
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
        // Sums of doubles depend on their order, averages of decimals on rules of rounding.
        _ => return None,
    })
}

impl AggregateQuery {
    pub(super) fn question(&self, parameters: &[Value]) -> Result<Option<Question>> {
        let predicates = self.filter.predicates(&self.target, parameters)?;
        let wanted = |predicates| Question { predicates, wanted: Wanted::Fold(self.aggregates()) };
        Ok(predicates.map(wanted))
    }

    fn aggregates(&self) -> Vec<Aggregate> {
        let mut aggregates = Vec::new();
        for output in &self.outputs {
            aggregates.push(output.aggregate);
            if let (true, Aggregate::Sum(column)) = (output.average, output.aggregate) {
                aggregates.push(Aggregate::Count(column));
            }
        }
        aggregates
    }

    /// The row of the folded values.
    pub(super) fn outcome(&self, values: &[Datum]) -> Result<Outcome> {
        let mut values = values.iter();
        let mut fields = Vec::with_capacity(self.outputs.len());
        let mut arrays = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let value = values.next().ok_or_else(|| Error::internal("a value is missing"))?;
            let count = if output.average { values.next() } else { None };
            arrays.push(self.array(output, value, count)?);
            let counts = matches!(output.aggregate, Aggregate::CountRows | Aggregate::Count(_));
            fields.push(Field::new(&output.name, output.data_type.clone(), !counts));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays)?;
        Ok(Outcome::Rows(RowStream::ready(schema, vec![batch])))
    }

    fn array(&self, output: &Output, value: &Datum, count: Option<&Datum>) -> Result<ArrayRef> {
        let overflow =
            || Error::new(ErrorKind::OutOfRange, format!("{} leaves its range", output.name));
        if let Aggregate::Min(column) | Aggregate::Max(column) = output.aggregate {
            return array_from_datums(self.target.column_type(column), std::iter::once(value));
        }
        let wide = value.as_wide();
        Ok(match &output.data_type {
            DataType::Float64 => {
                let count = count.and_then(Datum::as_wide).filter(|count| *count > 0);
                #[allow(clippy::cast_precision_loss)] // an average is the nearest double
                let average = wide.zip(count).map(|(sum, count)| sum as f64 / count as f64);
                Arc::new(Float64Array::from(vec![average]))
            }
            DataType::Int64 => {
                let value = wide.map(i64::try_from).transpose().map_err(|_| overflow())?;
                Arc::new(Int64Array::from(vec![value]))
            }
            DataType::UInt64 => {
                let value = wide.map(u64::try_from).transpose().map_err(|_| overflow())?;
                Arc::new(UInt64Array::from(vec![value]))
            }
            data_type @ DataType::Decimal128(precision, _) => {
                let limit = 10_i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
                if wide.is_some_and(|wide| wide.unsigned_abs() >= limit.unsigned_abs()) {
                    return Err(overflow());
                }
                Arc::new(Decimal128Array::from(vec![wide]).with_data_type(data_type.clone()))
            }
            other => return Err(Error::internal(format!("no aggregate gives {other}"))),
        })
    }

    pub(super) fn explain(&self) -> String {
        let names = self.outputs.iter().map(|output| output.name.as_str());
        format!(
            "Compiled: fold {} over {} with {} pushed-down conjuncts",
            names.collect::<Vec<_>>().join(", "),
            self.target.schema.name,
            self.filter.conjuncts.len()
        )
    }
}
