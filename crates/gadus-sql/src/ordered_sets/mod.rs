//! Aggregates WITHIN GROUP: `percentile_disc`, `percentile_cont`, `mode`, and ranks of a row that might be there.
//!
//! - A call has the values of its rows first, then the keys that they are sorted by, then its direct arguments.
//! - Keys are bytes in the order of the sort ([`Sorter`]); values are what is given back.

mod accumulator;
mod keys;
mod results;

use accumulator::Gathering;
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use keys::Sorter;
use std::sync::Arc;

/// Aggregate of a sorted group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OrderedSet {
    /// First value at or beyond a part of all.
    PercentileDisc,
    /// Value at a part of all, between two others.
    PercentileCont,
    /// Most frequent value.
    Mode,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

impl OrderedSet {
    /// Returns the aggregate of a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "percentile_disc" => Self::PercentileDisc,
            "percentile_cont" => Self::PercentileCont,
            "mode" => Self::Mode,
            "rank" => Self::Rank,
            "dense_rank" => Self::DenseRank,
            "percent_rank" => Self::PercentRank,
            "cume_dist" => Self::CumeDist,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::PercentileDisc => "percentile_disc",
            Self::PercentileCont => "percentile_cont",
            Self::Mode => "mode",
            Self::Rank => "rank",
            Self::DenseRank => "dense_rank",
            Self::PercentRank => "percent_rank",
            Self::CumeDist => "cume_dist",
        }
    }

    /// Returns true for those that place a row that might be there among the others.
    pub(crate) const fn is_hypothetical(self) -> bool {
        matches!(self, Self::Rank | Self::DenseRank | Self::PercentRank | Self::CumeDist)
    }

    /// Returns the type of the result for values of a type, of one part of all or of several.
    fn result(self, values: DataType, is_of_many: bool) -> DataType {
        if is_of_many {
            let one = self.result(values, false);
            return DataType::List(Arc::new(Field::new_list_field(one, true)));
        }
        match self {
            Self::PercentileDisc | Self::Mode => values,
            Self::PercentileCont | Self::PercentRank | Self::CumeDist => DataType::Float64,
            Self::Rank | Self::DenseRank => DataType::Int64,
        }
    }

    /// Returns the aggregate as DataFusion calls it.
    pub(crate) fn function(self, sort: Vec<SortOptions>) -> Arc<AggregateUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Arc::new(AggregateUDF::new_from_impl(OfSortedGroup { set: self, sort, signature }))
    }
}

/// Aggregate with the directions of its keys.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfSortedGroup {
    set: OrderedSet,
    sort: Vec<SortOptions>,
    signature: Signature,
}

impl AggregateUDFImpl for OfSortedGroup {
    fn name(&self) -> &'static str {
        self.set.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let values = arguments.first().cloned().unwrap_or(DataType::Null);
        Ok(self.set.result(values, self.is_of_many(arguments)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |part: &str, of: DataType| {
            let name = format!("{}[{part}]", args.name);
            Arc::new(Field::new_list(name, Field::new_list_field(of, true), true))
        };
        let values = args.input_fields.first().map(|field| field.data_type().clone());
        Ok(vec![
            list("values", values.unwrap_or(DataType::Null)),
            list("keys", DataType::Binary),
            list("direct", DataType::Float64),
            list("place", DataType::Binary),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …)", self.name());
        }
        let types = args.exprs.iter().map(|value| value.data_type(args.schema));
        let types = types.collect::<Result<Vec<_>>>()?;
        let keys = types.iter().skip(1).take(self.sort.len());
        let sorter = Sorter::new(keys.cloned().zip(self.sort.iter().copied()))?;
        let is_of_many = self.is_of_many(&types);
        Ok(Box::new(Gathering::new(self.set, sorter, (types[0].clone(), is_of_many))))
    }
}

impl OfSortedGroup {
    /// Returns true for a percentile of several parts of all, which are an array.
    fn is_of_many(&self, types: &[DataType]) -> bool {
        let direct = types.get(1 + self.sort.len());
        !self.set.is_hypothetical() && direct.is_some_and(|of| matches!(of, DataType::List(_)))
    }
}
