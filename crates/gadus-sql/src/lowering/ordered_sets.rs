//! Aggregates WITHIN GROUP.

use super::keys::bits;
use super::operators::comparable;
use super::{Lowering, Result, Typed, missing};
use crate::arrays::{depth_of, is_array, leaf_of};
use crate::ordered_sets::OrderedSet;
use arrow::compute::SortOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};
use gadus_binder::bound::AggregateCall;

impl Lowering<'_> {
    /// Lowers the call of an aggregate WITHIN GROUP.
    pub(super) fn ordered_set(
        &mut self,
        call: &AggregateCall,
        schema: &DFSchema,
    ) -> Result<(Typed, DataType)> {
        let name = call.function.name;
        let Some(set) = OrderedSet::of_name(name) else {
            return missing(format!("aggregate {name} WITHIN GROUP"));
        };
        let mut direct = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            direct.push(self.scalar(argument, schema)?);
        }
        let (mut keys, mut sort) = (Vec::new(), Vec::new());
        for key in &call.order_by {
            keys.push(self.scalar(&key.value, schema)?);
            let (descending, nulls_first) = (key.is_descending, key.nulls_first);
            sort.push(SortOptions { descending, nulls_first });
        }
        let Some(value) = keys.first().cloned() else { return missing("no key WITHIN GROUP") };
        if set == OrderedSet::PercentileCont && value.data_type != DataType::Float64 {
            return missing(format!("{name} of {}", value.data_type));
        }
        if set.is_hypothetical() {
            for (place, key) in direct.iter_mut().zip(&mut keys) {
                (*place, *key) = comparable(place.clone(), key.clone())?;
            }
            direct = direct
                .into_iter()
                .map(|place| Typed { expr: bits(place.clone()), ..place })
                .collect();
        }
        let parts = direct.first().filter(|_| !set.is_hypothetical());
        let is_of_many = parts.is_some_and(|parts| is_array(&parts.data_type));
        let is_of_doubles =
            parts.is_none_or(|parts| *leaf_of(&parts.data_type) == DataType::Float64);
        if !is_of_doubles || parts.is_some_and(|parts| depth_of(&parts.data_type) > 1) {
            return missing(format!("{name} of these parts"));
        }
        if is_of_many && is_array(&value.data_type) {
            return missing(format!("{name} of arrays"));
        }
        let mut arguments = vec![value.expr];
        arguments.extend(keys.into_iter().map(bits));
        arguments.extend(direct.into_iter().map(|argument| argument.expr));
        let filter =
            call.filter.as_ref().map(|filter| self.condition(filter, schema)).transpose()?;
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            set.function(sort),
            arguments,
            false,
            filter.map(Box::new),
            Vec::new(),
            None,
        ));
        let given = expr.get_type(schema)?;
        if is_of_many {
            return Ok((Typed::new(expr, given.clone()), given));
        }
        self.result_of_aggregate(call, expr, given)
    }
}
