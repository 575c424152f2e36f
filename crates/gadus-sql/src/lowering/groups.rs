//! Groups and aggregates.

use super::casts::{converted, with_blanks};
use super::grouping::{in_set, refuse_direct_groups};
use super::keys::{self, has_key, is_grouped_by_key, key, representative};
use super::types::{is_exact, is_numeric, lowered_type};
use super::{Lowering, Result, Typed, column, column_name, missing};
use crate::arrays::{self, ArrayFunction, depth_of, is_array};
use crate::checked::{float_variance, single_sum};
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, Case, NullTreatment};
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr, ExprSchemable, GroupingSet, LogicalPlan, LogicalPlanBuilder,
    SortExpr, lit,
};
use gadus_binder::bound::{AggregateCall, ColumnId, OrderedScalar, Scalar};
use gadus_binder::catalog::FunctionKind;
use std::collections::HashSet;
use std::sync::Arc;

/// Column by which rows are grouped.
struct Group {
    /// Expression by which they are compared.
    key: Expr,
    /// Value of the column that the group has.
    value: Expr,
}

/// Calls of one aggregation.
#[derive(Default)]
struct Calls {
    /// Columns of the result, each by the name of its call.
    items: Vec<Expr>,
    /// Calls, each once. They have no aliases, which rules do not look through.
    distinct: Vec<Expr>,
    names: HashSet<String>,
}

impl Calls {
    /// Adds a call, whose result is finished by an expression over it.
    fn add(
        &mut self,
        id: ColumnId,
        call: Expr,
        finish: impl FnOnce(Expr) -> Result<Expr>,
    ) -> Result<()> {
        let column = Expr::Column(Column::new_unqualified(call.schema_name().to_string()));
        self.items.push(finish(column)?.alias(column_name(id)));
        self.add_plain(call);
        Ok(())
    }

    /// Adds a call that no column has.
    fn add_plain(&mut self, call: Expr) {
        if self.names.insert(call.schema_name().to_string()) {
            self.distinct.push(call);
        }
    }

    fn is_empty(&self) -> bool {
        self.distinct.is_empty()
    }
}

impl Lowering<'_> {
    pub(super) fn aggregate(
        &mut self,
        input: LogicalPlan,
        groups: &[(ColumnId, Scalar)],
        (sets, set_number): (Option<&[Vec<usize>]>, Option<ColumnId>),
        aggregates: &[(ColumnId, AggregateCall)],
    ) -> Result<LogicalPlan> {
        let input = self.with_groups(input, groups)?;
        let mut calls = Calls::default();
        for (id, call) in aggregates {
            refuse_direct_groups(call, sets)?;
            if let Some((document, finish)) = self.document_aggregate(call, input.schema())? {
                calls.add(*id, document.expr, |column| Ok(finish.apply(column)))?;
                self.make(*id, document.data_type);
                continue;
            }
            let (Typed { expr, data_type }, wanted) = self.aggregate_call(call, input.schema())?;
            calls.add(*id, expr, |column| {
                let column = converted(Typed::new(column, data_type), wanted.clone(), false)?;
                Ok(finished(call, column))
            })?;
            self.make(*id, wanted);
        }
        let (input, by) = self.keyed(input, groups, &mut calls)?;
        let keys = match sets {
            None => by.iter().map(|group| group.key.clone()).collect(),
            Some(sets) => {
                let key = |at: &usize| by.get(*at).map(|group| group.key.clone());
                let sets = sets.iter().map(|set| set.iter().filter_map(key).collect());
                vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets.collect()))]
            }
        };
        if by.is_empty() && calls.is_empty() && sets.is_none() {
            // All rows are one group, also no row.
            let rows = count_udaf().call(vec![lit(1_i64)]);
            let column = Expr::Column(Column::new_unqualified(rows.schema_name().to_string()));
            calls.items.push(column.alias("rows"));
            calls.add_plain(rows);
        }
        // A group that is one value everywhere is not in rows of sets without it: rules take columns for constants.
        let is_in_set = |place: usize| sets.and_then(|sets| in_set(sets, place));
        let mut items = Vec::with_capacity(groups.len() + calls.items.len());
        for (place, ((id, _), group)) in groups.iter().zip(by).enumerate() {
            let value = match is_in_set(place) {
                Some(is_there) => {
                    let there = (Box::new(is_there), Box::new(group.value));
                    Expr::Case(Case::new(None, vec![there], None))
                }
                None => group.value,
            };
            items.push(value.alias(column_name(*id)));
        }
        items.extend(calls.items);
        items.extend(sets.zip(set_number).map(|(sets, number)| self.note_grouping(number, sets)));
        let plan = Aggregate::try_new(Arc::new(input), keys, calls.distinct)?;
        Ok(LogicalPlanBuilder::from(LogicalPlan::Aggregate(plan)).project(items)?.build()?)
    }

    /// Returns what rows are grouped by: keys of values that are equal in several forms, of which the one with the
    /// fewest digits is given.
    fn keyed(
        &self,
        input: LogicalPlan,
        groups: &[(ColumnId, Scalar)],
        calls: &mut Calls,
    ) -> Result<(LogicalPlan, Vec<Group>)> {
        let is_keyed = |id: &ColumnId| self.columns.get(id).is_some_and(is_grouped_by_key);
        let mut items = input.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
        let plain = items.len();
        let mut by = Vec::with_capacity(groups.len());
        for (id, _) in groups {
            if !is_keyed(id) {
                by.push(Group { key: column(*id), value: column(*id) });
                continue;
            }
            let name = format!("{}_key", column_name(*id));
            items.push(self.bits_of_column(*id).alias(&name));
            let data_type = self.columns.get(id).unwrap_or(&NUMERIC);
            let least = representative(column(*id), data_type);
            let value = Expr::Column(Column::new_unqualified(least.schema_name().to_string()));
            calls.add_plain(least);
            by.push(Group { key: Expr::Column(Column::new_unqualified(name)), value });
        }
        let input = match items.len() == plain {
            true => input,
            false => LogicalPlanBuilder::from(input).project(items)?.build()?,
        };
        Ok((input, by))
    }

    /// Adds the columns by which rows are grouped.
    fn with_groups(
        &mut self,
        input: LogicalPlan,
        groups: &[(ColumnId, Scalar)],
    ) -> Result<LogicalPlan> {
        let is_there = |(id, value): &(ColumnId, Scalar)| value.as_column() == Some(*id);
        if groups.iter().all(is_there) {
            return Ok(input);
        }
        let mut items = input.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
        for (id, value) in groups.iter().filter(|group| !is_there(group)) {
            let mut lowered = self.scalar(value, input.schema())?;
            if lowered.data_type == DataType::Null {
                lowered = converted(lowered, NUMERIC, false)?;
            }
            let Typed { expr, data_type } = lowered;
            items.push(expr.alias(column_name(*id)));
            self.make(*id, data_type);
        }
        Ok(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Lowers the call of an aggregate; returns it with the type that its column has.
    pub(super) fn aggregate_call(
        &mut self,
        call: &AggregateCall,
        schema: &DFSchema,
    ) -> Result<(Typed, DataType)> {
        let function = call.function;
        if function.kind != FunctionKind::Aggregate {
            return self.ordered_set(call, schema);
        }
        let arguments = match call.is_star {
            true => vec![Typed::new(lit(1_i64), DataType::Int64)],
            false => self.aggregate_arguments(call, schema)?,
        };
        let of_arrays = arguments.first().filter(|first| is_array(&first.data_type)).cloned();
        let kernel = self.aggregate_kernel(call, &arguments)?;
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        let filter =
            call.filter.as_ref().map(|filter| self.condition(filter, schema)).transpose()?;
        let is_sorted_later = is_distinct_array(call);
        let order_by = match (call.function.name, of_arrays) {
            _ if is_sorted_later => Vec::new(),
            // The first one by its key.
            ("min", Some(array)) => vec![key(array).sort(true, false)],
            ("max", Some(array)) => vec![key(array).sort(false, false)],
            ("array_agg", _) if call.order_by.is_empty() => self.input_order.clone(),
            _ => self.order_by(&call.order_by, schema)?,
        };
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            kernel,
            arguments,
            call.is_distinct && !is_sorted_later,
            filter.map(Box::new),
            order_by,
            (call.function.name == "any_value").then_some(NullTreatment::IgnoreNulls),
        ));
        let given = expr.get_type(schema)?;
        self.result_of_aggregate(call, expr, given)
    }

    fn aggregate_arguments(
        &mut self,
        call: &AggregateCall,
        schema: &DFSchema,
    ) -> Result<Vec<Typed>> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            let mut value = self.scalar(argument, schema)?;
            if !matches!(call.function.name, "array_agg" | "count" | "min" | "max") {
                value = with_blanks(value, argument.data_type)?;
            }
            if value.data_type == DataType::Null {
                value = converted(value, NUMERIC, false)?;
            }
            if call.is_distinct && (has_key(&value.data_type) || is_array(&value.data_type)) {
                match call.function.name {
                    "count" => value.expr = key(value.clone()),
                    "array_agg" if !is_array(&value.data_type) => {}
                    name => return missing(format!("{name}(DISTINCT …) of numerics")),
                }
            }
            // Sums of 64 bits are made in 128.
            if call.function.name == "sum" && value.data_type == DataType::Int64 {
                value = converted(value, DataType::Decimal128(19, 0), false)?;
            }
            arguments.push(value);
        }
        Ok(arguments)
    }

    /// Returns the aggregate function of a plan.
    fn aggregate_kernel(
        &self,
        call: &AggregateCall,
        arguments: &[Typed],
    ) -> Result<Arc<AggregateUDF>> {
        let name = call.function.name;
        let first = arguments.first().map(|argument| &argument.data_type);
        match name {
            "min" | "max" if first.is_some_and(is_array) => return Ok(first_value_udaf()),
            "any_value" => return Ok(first_value_udaf()),
            "array_agg" | "count" => {}
            _ if first.is_some_and(is_array) => return missing(format!("{name} of arrays")),
            _ => {}
        }
        match name {
            // Sums of decimals are decimals; least and greatest values are ordered as bytes are.
            "sum" if first == Some(&DataType::Float32) && !call.is_distinct => {
                return Ok(single_sum());
            }
            "sum" if first != Some(&NUMERIC) => {}
            _ if is_numeric(call.data_type) => {
                if let Some(kernel) = numerics::aggregate(name) {
                    return Ok(kernel);
                }
            }
            _ if !call.is_distinct => {
                if let Some(kernel) = float_variance(name) {
                    return Ok(kernel);
                }
            }
            _ => {}
        }
        match self.planner.aggregate_functions().get(kernel_name(name)) {
            Some(kernel) => Ok(kernel.clone()),
            None => missing(format!("aggregate {name}")),
        }
    }

    pub(super) fn result_of_aggregate(
        &self,
        call: &AggregateCall,
        expr: Expr,
        given: DataType,
    ) -> Result<(Typed, DataType)> {
        let wanted = match is_numeric(call.data_type) {
            true if is_exact(&given) => given.clone(),
            true => return missing(format!("{} that gives {given}", call.function.name)),
            false if call.data_type.id.is_array && is_array(&given) => given.clone(),
            false => lowered_type(call.data_type)?,
        };
        let is_text = given == DataType::LargeUtf8 && wanted == DataType::Utf8View;
        match given == wanted || is_text {
            true => Ok((Typed::new(expr, given), wanted)),
            false => missing(format!("{} that gives {given}", call.function.name)),
        }
    }

    /// Lowers an order within a call.
    pub(super) fn order_by(
        &mut self,
        order_by: &[OrderedScalar],
        schema: &DFSchema,
    ) -> Result<Vec<SortExpr>> {
        let key = |key: &OrderedScalar| {
            let value = self.scalar(&key.value, schema)?;
            Ok(keys::key(value).sort(!key.is_descending, key.nulls_first))
        };
        order_by.iter().map(key).collect()
    }
}

/// Returns true for `array_agg(DISTINCT …)`, whose values are sorted after they are accumulated.
fn is_distinct_array(call: &AggregateCall) -> bool {
    call.function.name == "array_agg" && call.is_distinct
}

/// Returns the result of an aggregate over what DataFusion's gives.
pub(super) fn finished(call: &AggregateCall, given: Typed) -> Expr {
    let Typed { expr, data_type } = given;
    if call.function.name != "array_agg" {
        return expr;
    }
    if is_distinct_array(call) {
        let key = call.order_by.first();
        let descending = key.is_some_and(|key| key.is_descending);
        let nulls_first = key.is_some_and(|key| key.nulls_first);
        let distinct = ArrayFunction::Distinct { descending, nulls_first };
        return arrays::call(distinct, vec![expr], data_type);
    }
    match depth_of(&data_type) {
        0 | 1 => expr,
        _ => arrays::call(ArrayFunction::Accumulated, vec![expr], data_type),
    }
}

/// Returns the name of DataFusion's aggregate.
fn kernel_name(name: &'static str) -> &'static str {
    match name {
        "variance" => "var_samp",
        "every" => "bool_and",
        other => other,
    }
}
