//! Arrays: constructors, elements and slices, queries as arrays.
//!
//! - The Arrow type of an array says its dimensions; its SQL type does not.

mod assignments;
mod casts;
mod functions;
mod quantified;
mod sets;

pub(super) use casts::{
    array_literal, convert_array, each, element_texts, modified_array, output_text, read_array,
    shown_array, text_of_array,
};
pub(super) use functions::{wider_array, with_comparable_elements};
pub(super) use sets::{is_listed_set, is_set_of_arrays};

use super::casts::converted;
use super::relations::unify;
use super::types::{element_type, lowered_type};
use super::{Lowering, Result, Typed, missing};
use crate::arrays::{
    ArrayFunction, DIMENSIONS_MAX, Subscript, call, depth_of, is_array, leaf_of, list_of, of_leaf,
};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, Subquery as PlanSubquery, lit};
use gadus_binder::BindError;
use gadus_binder::bound::{
    BoundQuery, ColumnId, Limit, Relational, Scalar, SortKey, SubscriptItem,
};
use gadus_binder::types::SqlType;
use gadus_syntax::Span;
use std::borrow::Cow;
use std::sync::Arc;

/// Name of the column of an array that is made of a query's rows.
const ARRAY: &str = "array";

impl Lowering<'_> {
    /// Lowers `ARRAY[…]`.
    pub(super) fn array(
        &mut self,
        elements: &[Scalar],
        data_type: SqlType,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if elements.is_empty() {
            return empty(lowered_type(data_type)?);
        }
        let mut values = elements
            .iter()
            .map(|element| self.scalar(element, schema))
            .collect::<Result<Vec<_>>>()?;
        let mut common = unify(values.iter_mut())?;
        if common == DataType::Null {
            for value in &mut values {
                *value = converted(value.clone(), NUMERIC, false)?;
            }
            common = NUMERIC;
        }
        let function = match is_array(&common) {
            true if depth_of(&common) >= DIMENSIONS_MAX => return missing("too many dimensions"),
            true => ArrayFunction::Nest,
            false => ArrayFunction::Construct,
        };
        let values = values.into_iter().map(|value| value.expr).collect();
        let whole = list_of(common);
        Ok(Typed::new(call(function, values, whole.clone()), whole))
    }

    /// Lowers `a[1][2]` and `a[1:2]`.
    pub(super) fn subscript(
        &mut self,
        (operand, items): (&Scalar, &[SubscriptItem]),
        span: Span,
        schema: &DFSchema,
    ) -> Result<Typed> {
        if !operand.data_type.id.is_array {
            return missing("an element of a document");
        }
        refuse_subscripts(items.len(), span)?;
        let Typed { expr, data_type: whole } = self.scalar(operand, schema)?;
        if !is_array(&whole) {
            return missing(format!("subscripts of {whole}"));
        }
        let (bounds, slices) = self.subscripts(items, schema)?;
        let arguments = std::iter::once(expr).chain(bounds).collect::<Vec<_>>();
        if let Some(slices) = slices {
            return Ok(Typed::new(
                call(ArrayFunction::Slice(slices), arguments, whole.clone()),
                whole,
            ));
        }
        // Of an array with other dimensions it is NULL.
        let element = leaf_of(&whole).clone();
        Ok(Typed::new(call(ArrayFunction::Element, arguments, element.clone()), element))
    }

    /// Lowers subscripts to integers; with the bounds that are written if one of them is a slice.
    fn subscripts(
        &mut self,
        items: &[SubscriptItem],
        schema: &DFSchema,
    ) -> Result<(Vec<Expr>, Option<Vec<Subscript>>)> {
        let has_slice = items.iter().any(|item| matches!(item, SubscriptItem::Slice(..)));
        let (mut bounds, mut slices) = (Vec::new(), Vec::with_capacity(items.len()));
        for item in items {
            let (lower, upper) = match item {
                SubscriptItem::Index(index) => (None, Some(index)),
                SubscriptItem::Slice(lower, upper) => (lower.as_ref(), upper.as_ref()),
            };
            let is_index = matches!(item, SubscriptItem::Index(_));
            if is_index && has_slice {
                bounds.push(lit(1_i32));
            }
            for bound in lower.into_iter().chain(upper) {
                let bound = self.scalar(bound, schema)?;
                bounds.push(converted(bound, DataType::Int32, false)?.expr);
            }
            slices.push(Subscript {
                has_lower: is_index || lower.is_some(),
                has_upper: upper.is_some(),
            });
        }
        Ok((bounds, has_slice.then_some(slices)))
    }

    /// Lowers `ARRAY(SELECT …)`: an aggregate over the query's rows in their order, and an empty array without rows.
    pub(super) fn array_of_query(&mut self, query: &BoundQuery) -> Result<Typed> {
        let [output] = query.outputs.as_slice() else {
            return missing("an array of several columns");
        };
        let Some(aggregate) = self.planner.aggregate_functions().get("array_agg").cloned() else {
            return missing("array_agg");
        };
        let (plan, value) = self.nested(|lowering| {
            let rows = with_order_columns(&query.root);
            let plan = lowering.relational(&rows)?;
            let value = lowering.column(output.id)?;
            let order_by = match sort_keys(&rows) {
                Some(keys) => lowering.sort_exprs(keys),
                None => Vec::new(),
            };
            let arguments = vec![value.expr.clone()];
            let aggregate = Expr::AggregateFunction(AggregateFunction::new_udf(
                aggregate, arguments, false, None, order_by, None,
            ));
            let name = Column::new_unqualified(aggregate.schema_name().to_string());
            let plan = LogicalPlanBuilder::from(plan)
                .aggregate(Vec::<Expr>::new(), [aggregate])?
                .project([Expr::Column(name).alias(ARRAY)])?
                .build()?;
            Ok((plan, value))
        })?;
        let whole = list_of(value.data_type.clone());
        let outer_ref_columns = plan.all_out_ref_exprs();
        let subquery =
            PlanSubquery { subquery: Arc::new(plan), outer_ref_columns, spans: Default::default() };
        let rows = vec![Expr::ScalarSubquery(subquery), empty(whole.clone())?.expr];
        let expr = self.call("coalesce", rows)?;
        let expr = match is_array(&value.data_type) {
            true => call(ArrayFunction::Accumulated, vec![expr], whole.clone()),
            false => expr,
        };
        Ok(Typed::new(expr, whole))
    }
}

/// Returns the keys by which the rows of a query are ordered.
pub(super) fn sort_keys(root: &Relational) -> Option<&[SortKey]> {
    match root {
        Relational::Sort { keys, .. } => Some(keys),
        Relational::Limit(limit) => sort_keys(&limit.input),
        _ => None,
    }
}

/// Returns rows with all columns by which they are ordered, also those that their query leaves out.
pub(super) fn with_order_columns(root: &Relational) -> Cow<'_, Relational> {
    match root {
        Relational::Project { input, items } => {
            let is_column = |(id, item): &(ColumnId, Scalar)| item.as_column() == Some(*id);
            match sort_keys(input).is_some() && items.iter().all(is_column) {
                true => Cow::Borrowed(input),
                false => Cow::Borrowed(root),
            }
        }
        Relational::Limit(limit) => {
            let Limit { input, limit, offset, with_ties } = &**limit;
            let input = with_order_columns(input).into_owned();
            let (limit, offset, with_ties) = (limit.clone(), offset.clone(), *with_ties);
            Cow::Owned(Relational::Limit(Box::new(Limit { input, limit, offset, with_ties })))
        }
        _ => Cow::Borrowed(root),
    }
}

/// Refuses more subscripts than an array has dimensions.
fn refuse_subscripts(count: usize, span: Span) -> Result<()> {
    if count <= DIMENSIONS_MAX {
        return Ok(());
    }
    let message = format!(
        "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
    );
    Err(super::NotLowered::Refused(BindError {
        span: None,
        ..BindError::new("54000", message, span)
    }))
}

/// Returns an array without elements.
pub(super) fn empty(data_type: DataType) -> Result<Typed> {
    let DataType::List(field) = &data_type else {
        return missing(format!("{data_type} as an array"));
    };
    let list = ScalarValue::new_list(&[], field.data_type(), true);
    Ok(Typed::new(lit(ScalarValue::List(list)), data_type))
}

/// Returns the type of arrays of as many dimensions as one of two types, the more, with elements of a type in which both
/// can be; `None` if there is none.
pub(super) fn common_array(
    left: &DataType,
    right: &DataType,
    common: impl Fn(&DataType, &DataType) -> Option<DataType>,
) -> Option<DataType> {
    if !is_array(left) || !is_array(right) {
        return None;
    }
    let (one, other) = (leaf_of(left), leaf_of(right));
    let leaf = match one == other {
        true => one.clone(),
        false => common(one, other)?,
    };
    Some(of_leaf(&leaf, depth_of(left).max(depth_of(right))))
}

/// Returns the type of an array's elements, with their modifier.
pub(super) fn elements_of(data_type: SqlType) -> SqlType {
    element_type(data_type).unwrap_or(data_type)
}
