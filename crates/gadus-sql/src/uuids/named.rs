//! What DataFusion asks while it reads a statement: what type UUID is, and what operators mean.

use super::{is_text, is_uuid};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr, TypePlanner};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType as SqlType};
use gadus_engine::ColumnType;
use std::sync::Arc;

/// Tells what UUID is, which DataFusion refuses.
#[derive(Debug)]
pub(crate) struct UuidNamed;

impl TypePlanner for UuidNamed {
    fn plan_type_field(&self, named: &SqlType) -> Result<Option<FieldRef>> {
        let field = |data_type: DataType| Arc::new(Field::new("", data_type, true));
        Ok(matches!(named, SqlType::Uuid).then(|| field(ColumnType::Uuid.arrow())))
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
                false if beside_one && is(value, is_text) => ColumnType::Uuid.arrow(),
                _ => continue,
            };
            *value = cast(std::mem::take(value), to);
        }
        Ok(PlannerResult::Original(expr))
    }
}
