//! Groups and aggregates.

use super::casts::{converted, with_blanks};
use super::grouping::in_set;
use super::json::Finish;
use super::keys::{self, has_key, key};
use super::types::{is_exact, is_numeric, lowered_type};
use super::{Lowering, Result, Typed, column, column_name, missing};
use crate::checked::float_variance;
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema};
use datafusion::functions_aggregate::expr_fn::min;
use datafusion::logical_expr::expr::{AggregateFunction, Case};
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr, ExprSchemable, GroupingSet, LogicalPlan, LogicalPlanBuilder,
    SortExpr, lit,
};
use gadus_binder::bound::{AggregateCall, ColumnId, OrderedScalar, Scalar};
use gadus_binder::catalog::FunctionKind;
use std::collections::HashSet;
use std::sync::Arc;

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
    fn add(&mut self, id: ColumnId, call: Expr, finish: Option<Finish>) {
        let name = call.schema_name().to_string();
        let column = Expr::Column(Column::new_unqualified(&name));
        let column = match finish {
            Some(finish) => finish.apply(column),
            None => column,
        };
        self.items.push(column.alias(column_name(id)));
        if self.names.insert(name) {
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
            let document = self.document_aggregate(call, input.schema())?;
            let (Typed { expr, data_type }, finish) = match document {
                Some((aggregate, finish)) => (aggregate, Some(finish)),
                None => {
                    let call = self.aggregate_call(call, input.schema())?;
                    let is_other = call.expr.get_type(input.schema())? != call.data_type;
                    (call, is_other.then_some(Finish::Text))
                }
            };
            calls.add(*id, expr, finish);
            self.make(*id, data_type);
        }
        if groups.iter().any(|(id, _)| self.columns.get(id).is_some_and(has_key)) {
            return self.by_keys(input, groups, sets, calls);
        }
        let keys = groups.iter().map(|(id, _)| column(*id)).collect::<Vec<_>>();
        let sets_of = sets;
        let keys = match sets {
            None => keys,
            Some(sets) => {
                let set =
                    |set: &Vec<usize>| set.iter().filter_map(|at| keys.get(*at).cloned()).collect();
                let sets = sets.iter().map(set).collect();
                vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets))]
            }
        };
        if keys.is_empty() && calls.is_empty() {
            return missing("groups without columns");
        }
        // A group that is one value everywhere is not in rows of sets without it: rules take columns for constants.
        let is_in_set = |place: usize| match sets_of {
            Some(sets) => in_set(sets, place),
            None => None,
        };
        let groups = groups.iter().enumerate().map(|(place, (id, _))| match is_in_set(place) {
            Some(is_there) => {
                let value = Expr::Case(Case::new(
                    None,
                    vec![(Box::new(is_there), Box::new(column(*id)))],
                    None,
                ));
                value.alias(column_name(*id))
            }
            None => column(*id),
        });
        let groups = groups.collect::<Vec<_>>().into_iter();
        let bits = sets_of.zip(set_number).map(|(sets, number)| self.note_grouping(number, sets));
        let items = groups.chain(calls.items).chain(bits).collect::<Vec<_>>();
        let plan = Aggregate::try_new(Arc::new(input), keys, calls.distinct)?;
        Ok(LogicalPlanBuilder::from(LogicalPlan::Aggregate(plan)).project(items)?.build()?)
    }

    /// Groups rows by keys; of values that are equal, those with the fewest digits are given.
    fn by_keys(
        &mut self,
        input: LogicalPlan,
        groups: &[(ColumnId, Scalar)],
        sets: Option<&[Vec<usize>]>,
        calls: Calls,
    ) -> Result<LogicalPlan> {
        if sets.is_some() {
            return missing("grouping sets of numerics without a scale");
        }
        let Calls { mut items, distinct: mut calls, .. } = calls;
        let mut keys = Vec::with_capacity(groups.len());
        for (id, _) in groups {
            let name = column_name(*id);
            let is_keyed = self.columns.get(id).is_some_and(has_key);
            items.push(match is_keyed {
                true => {
                    let least = Column::new_unqualified(format!("{name}_least"));
                    Expr::Column(least).alias(&name)
                }
                false => column(*id),
            });
            if is_keyed {
                keys.push(self.key_of_column(*id).alias(format!("{name}_key")));
                calls.push(min(column(*id)).alias(format!("{name}_least")));
            } else {
                keys.push(column(*id));
            }
        }
        let grouped = LogicalPlanBuilder::from(input).aggregate(keys, calls)?;
        Ok(grouped.project(items)?.build()?)
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
            let Typed { expr, data_type } = self.scalar(value, input.schema())?;
            if data_type == DataType::Null {
                return missing("a group of NULL");
            }
            items.push(expr.alias(column_name(*id)));
            self.make(*id, data_type);
        }
        Ok(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Lowers the call of an aggregate.
    pub(super) fn aggregate_call(
        &mut self,
        call: &AggregateCall,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let function = call.function;
        if function.kind != FunctionKind::Aggregate {
            return missing(format!("aggregate {} WITHIN GROUP", function.name));
        }
        let arguments = match call.is_star {
            true => vec![Typed::new(lit(1_i64), DataType::Int64)],
            false => self.aggregate_arguments(call, schema)?,
        };
        let kernel = self.aggregate_kernel(call, &arguments)?;
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        let filter =
            call.filter.as_ref().map(|filter| self.condition(filter, schema)).transpose()?;
        let order_by = self.order_by(&call.order_by, schema)?;
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            kernel,
            arguments,
            call.is_distinct,
            filter.map(Box::new),
            order_by,
            None,
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
            if !matches!(call.function.name, "count" | "min" | "max") {
                value = with_blanks(value, argument.data_type)?;
            }
            if value.data_type == DataType::Null {
                value = converted(value, NUMERIC, false)?;
            }
            if call.is_distinct && has_key(&value.data_type) {
                match call.function.name {
                    "count" => value.expr = key(value.clone()),
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
            // Sums of decimals are decimals; least and greatest values are ordered as bytes are.
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

    fn result_of_aggregate(
        &self,
        call: &AggregateCall,
        expr: Expr,
        given: DataType,
    ) -> Result<Typed> {
        if is_numeric(call.data_type) {
            return match given {
                given if is_exact(&given) => Ok(Typed::new(expr, given)),
                other => missing(format!("{} that gives {other}", call.function.name)),
            };
        }
        let wanted = lowered_type(call.data_type)?;
        let is_text = (&given, &wanted) == (&DataType::LargeUtf8, &DataType::Utf8View);
        match given == wanted || is_text {
            true => Ok(Typed::new(expr, wanted)),
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

/// Returns the name of DataFusion's aggregate.
fn kernel_name(name: &'static str) -> &'static str {
    match name {
        "variance" => "var_samp",
        "every" => "bool_and",
        other => other,
    }
}
