//! Functions of the rows of a frame.

use arrow::array::ArrayRef;
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::PhysicalExpr;
use std::ops::Range;
use std::sync::Arc;

/// Function of the rows of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Aggregate(Arc<AggregateUDF>),
    First,
    Last,
    Nth,
}

impl Call {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Aggregate(function) => function.name(),
            Self::First => "first_value",
            Self::Last => "last_value",
            Self::Nth => "nth_value",
        }
    }

    /// Returns the field of its results.
    pub(super) fn field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        match self {
            Self::Aggregate(function) => function.return_field(arguments),
            Self::First | Self::Last | Self::Nth => Ok(arguments[0].clone()),
        }
    }
}

/// Aggregate over frames, one after the other.
#[derive(Debug)]
pub(super) struct Aggregation {
    function: Arc<AggregateUDF>,
    fields: Vec<FieldRef>,
    columns: Vec<Arc<dyn PhysicalExpr>>,
    schema: Schema,
    result: FieldRef,
    /// State of the rows of the last frame, if the function can take rows away.
    sliding: Option<(Box<dyn Accumulator>, Range<usize>)>,
}

impl Aggregation {
    pub(super) fn new(function: Arc<AggregateUDF>, fields: Vec<FieldRef>) -> Result<Self> {
        let named = fields.iter().enumerate();
        let named = named
            .map(|(place, field)| Arc::new(field.as_ref().clone().with_name(format!("a{place}"))));
        let named = named.collect::<Vec<FieldRef>>();
        let column = |(place, field): (usize, &FieldRef)| {
            Arc::new(Column::new(field.name(), place)) as Arc<dyn PhysicalExpr>
        };
        let columns = named.iter().enumerate().map(column).collect();
        let result = function.return_field(&fields)?;
        let schema = Schema::new(named.clone());
        let mut new = Self { function, fields: named, columns, schema, result, sliding: None };
        let sliding = new.function.create_sliding_accumulator(new.args());
        new.sliding = sliding
            .ok()
            .filter(|sliding| sliding.supports_retract_batch())
            .map(|sliding| (sliding, 0..0));
        Ok(new)
    }

    fn args(&self) -> AccumulatorArgs<'_> {
        AccumulatorArgs {
            return_field: self.result.clone(),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: self.function.name(),
            is_distinct: false,
            exprs: &self.columns,
            expr_fields: &self.fields,
        }
    }

    /// Returns the aggregate of the rows of some ranges.
    pub(super) fn over(
        &mut self,
        arguments: &[ArrayRef],
        ranges: &[Range<usize>],
    ) -> Result<ScalarValue> {
        let slices = |range: Range<usize>| {
            arguments
                .iter()
                .map(|column| column.slice(range.start, range.len()))
                .collect::<Vec<_>>()
        };
        if let (Some((sliding, last)), [range]) = (&mut self.sliding, ranges)
            && last.start <= range.start
            && range.start <= last.end
            && last.end <= range.end
        {
            if last.start < range.start {
                sliding.retract_batch(&slices(last.start..range.start))?;
            }
            if last.end < range.end {
                sliding.update_batch(&slices(last.end..range.end))?;
            }
            *last = range.clone();
            return sliding.evaluate();
        }
        let mut accumulator = self.function.accumulator(self.args())?;
        for range in ranges {
            accumulator.update_batch(&slices(range.clone()))?;
        }
        accumulator.evaluate()
    }
}
