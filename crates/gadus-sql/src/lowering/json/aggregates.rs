//! Aggregates that make documents: lists of texts, which are joined when a group ends.

use super::{Lowering, refuse_compared};
use crate::json::{Form, JSONB, JsonType, build};
use crate::lowering::keys::has_key;
use crate::lowering::{Result, Typed, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::AggregateFunction;
use gadus_binder::bound::AggregateCall;

/// Last step of an aggregate, over the column that its kernel gives.
#[derive(Debug, Clone)]
pub(in crate::lowering) struct Finish {
    form: Form,
    is_binary: bool,
    /// Type of the elements of the list that is joined.
    of: JsonType,
}

impl Finish {
    /// Returns the result.
    pub(in crate::lowering) fn apply(self, column: Expr) -> Expr {
        let Self { form, is_binary, of } = self;
        build(form, is_binary, vec![JsonType::List(Box::new(of))], vec![column])
    }
}

impl Lowering<'_> {
    /// Lowers the call of an aggregate that makes a document, with what makes its result; `None` for other aggregates.
    pub(in crate::lowering) fn document_aggregate(
        &mut self,
        call: &AggregateCall,
        schema: &DFSchema,
    ) -> Result<Option<(Typed, Finish)>> {
        if call.is_distinct {
            let arguments = &call.arguments;
            refuse_compared(arguments.iter().map(|argument| (argument.data_type, argument.span)))?;
        }
        let (is_of_members, is_binary) = match call.function.name {
            "json_agg" => (false, false),
            "jsonb_agg" => (false, true),
            "json_object_agg" => (true, false),
            "jsonb_object_agg" => (true, true),
            _ => return Ok(None),
        };
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for argument in &call.arguments {
            let (value, of) = self.json_value(argument, schema)?;
            values.push(value);
            types.push(of);
        }
        let is_row = matches!(types.first(), Some(JsonType::List(_) | JsonType::Row(_)));
        let form = match is_of_members {
            true => Form::Joined { open: "{ ", separator: ", ", close: " }" },
            false => {
                let separator = if is_row { ", \n " } else { ", " };
                Form::Joined { open: "[", separator, close: "]" }
            }
        };
        let mut order_by = self.order_by(&call.order_by, schema)?;
        let (argument, of) = match (call.is_distinct, values.as_slice()) {
            (false, _) => {
                let element = if is_of_members { Form::Member } else { Form::Element };
                let values = values.into_iter().map(|value| value.expr).collect();
                (build(element, false, types, values), JsonType::Document)
            }
            (true, [value]) if !has_key(&value.data_type) && !is_row => {
                if order_by.is_empty() {
                    order_by.push(value.expr.clone().sort(true, false));
                }
                (value.expr.clone(), types.swap_remove(0))
            }
            (true, _) => return missing(format!("{}(DISTINCT …)", call.function.name)),
        };
        let Some(kernel) = self.planner.aggregate_functions().get("array_agg") else {
            return missing("aggregate array_agg");
        };
        let filter =
            call.filter.as_ref().map(|filter| self.condition(filter, schema)).transpose()?;
        let expr = Expr::AggregateFunction(AggregateFunction::new_udf(
            kernel.clone(),
            vec![argument],
            call.is_distinct,
            filter.map(Box::new),
            order_by,
            None,
        ));
        let wanted = if is_binary { JSONB } else { DataType::Utf8View };
        Ok(Some((Typed::new(expr, wanted), Finish { form, is_binary, of })))
    }
}
