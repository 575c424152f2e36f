//! What DataFusion asks while it reads a statement: what type UUID is, and what operators mean.

use super::is_uuid;
use crate::value::is_text;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr, TypePlanner};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType as SqlType};
use gadus_engine::UUID;
use std::sync::Arc;

/// Tells what UUID is, which DataFusion refuses.
#[derive(Debug)]
pub(crate) struct UuidNamed;

impl TypePlanner for UuidNamed {
    fn plan_type_field(&self, named: &SqlType) -> Result<Option<FieldRef>> {
        Ok(matches!(named, SqlType::Uuid).then(|| Arc::new(Field::new("", UUID, true))))
    }
}

/// Casts a text beside an identifier to one, and an identifier that is joined to a text to a text.
#[derive(Debug)]
pub(crate) struct UuidOperators;

impl ExprPlanner for UuidOperators {
    fn plan_binary_op(
        &self,
        mut expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        // What has no type yet is somebody else's business.
        let is = |value: &Expr, kind: fn(&DataType) -> bool| {
            value.get_type(schema).is_ok_and(|data_type| kind(&data_type))
        };
        let joins = expr.op == BinaryOperator::StringConcat;
        let (is_left, is_right) = (is(&expr.left, is_uuid), is(&expr.right, is_uuid));
        for (value, is_one, beside_one) in
            [(&mut expr.left, is_left, is_right), (&mut expr.right, is_right, is_left)]
        {
            let to = match joins {
                true if is_one => DataType::Utf8View,
                false if beside_one && is(value, is_text) => UUID,
                _ => continue,
            };
            *value = cast(std::mem::take(value), to);
        }
        Ok(PlannerResult::Original(expr))
    }
}
