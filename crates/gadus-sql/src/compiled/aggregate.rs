//! Plain aggregates over simple filters, folded by the engine's own scan.
//!
//! - Result types are those that DataFusion gives, so that a statement answers alike either way.

use super::{Operand, Target};
use crate::rows::RowStream;
use crate::session::Outcome;
use crate::value::Value;
use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use gadus_engine::{
    Aggregate, ColumnType, Comparison, Datum, Engine, Error, ErrorKind, Predicate, Result,
    Snapshot, StorageClass, TableSchema, Test, array_from_datums,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// SELECT aggregates FROM table WHERE conjunction.
#[derive(Debug)]
pub(crate) struct AggregateQuery {
    pub(super) target: Target,
    pub(super) outputs: Vec<Output>,
    /// Each conjunct as conditions that must all hold.
    pub(super) conditions: Vec<Vec<Condition>>,
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

/// A condition with values that come when the statement runs.
#[derive(Debug)]
pub(super) enum Condition {
    Compare { column: usize, comparison: Comparison, operand: Operand },
    In { column: usize, operands: Vec<Operand> },
    Null { column: usize, wanted: bool },
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
    pub(super) fn run(
        &self,
        engine: &Engine,
        snapshot: &Snapshot,
        parameters: &[Value],
        cancelled: &AtomicBool,
    ) -> Result<Option<Outcome>> {
        let Some(predicates) = self.predicates(parameters)? else { return Ok(None) };
        let Some(table) = self.target.table(snapshot) else { return Ok(None) };
        let mut aggregates = Vec::new();
        for output in &self.outputs {
            aggregates.push(output.aggregate);
            if let (true, Aggregate::Sum(column)) = (output.average, output.aggregate) {
                aggregates.push(Aggregate::Count(column));
            }
        }
        let threads = engine.options().threads;
        let values = table.aggregate(predicates, &aggregates, threads, cancelled)?;
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
        Ok(Some(Outcome::Rows(RowStream::ready(schema, vec![batch]))))
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

    /// The filter with its values; none when one of them needs DataFusion's rules.
    fn predicates(&self, parameters: &[Value]) -> Result<Option<Vec<Predicate>>> {
        let mut predicates = Vec::with_capacity(self.conditions.len());
        for condition in self.conditions.iter().flatten() {
            let (column, test) = match condition {
                Condition::Null { column, wanted: true } => (*column, Test::IsNull),
                Condition::Null { column, wanted: false } => (*column, Test::IsNotNull),
                Condition::Compare { column, comparison, operand } => {
                    match self.constant(*column, operand, parameters)? {
                        Some(constant) => (*column, Test::Compare(*comparison, constant)),
                        None => return Ok(None),
                    }
                }
                Condition::In { column, operands } => {
                    let constants = operands
                        .iter()
                        .map(|operand| self.constant(*column, operand, parameters))
                        .collect::<Result<Option<Vec<_>>>>()?;
                    let Some(mut constants) = constants else { return Ok(None) };
                    constants.sort();
                    constants.dedup();
                    (*column, Test::In(constants))
                }
            };
            predicates.push(Predicate { column, test });
        }
        Ok(Some(predicates))
    }

    fn constant(
        &self,
        column: usize,
        operand: &Operand,
        parameters: &[Value],
    ) -> Result<Option<Datum>> {
        let column_type = self.target.column_type(column);
        if column_type.storage() == StorageClass::Float {
            return Ok(None);
        }
        Ok(operand.value(parameters)?.exact(column_type))
    }

    pub(super) fn explain(&self) -> String {
        let names = self.outputs.iter().map(|output| output.name.as_str());
        format!(
            "Compiled: fold {} over {} with {} pushed-down conjuncts",
            names.collect::<Vec<_>>().join(", "),
            self.target.schema.name,
            self.conditions.len()
        )
    }
}
