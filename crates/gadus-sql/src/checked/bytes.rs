//! Bytes written as text, `'\x0102'`, where bytes are wanted.
//!
//! - PostgreSQL and its drivers write them so; DataFusion would take the four letters and digits for the
//!   bytes. An analyzer rule makes them bytes behind type coercion, which says where bytes are wanted.

use super::rewrite::rewritten;
use crate::value::written_bytes;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

/// Makes bytes of literals that are cast to bytes and written so. It runs behind type coercion.
#[derive(Debug)]
pub(crate) struct WrittenBytes;

impl AnalyzerRule for WrittenBytes {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &rewrite)
    }

    fn name(&self) -> &'static str {
        "written_bytes"
    }
}

fn rewrite(mut expr: Expr, _: &DFSchema) -> Result<Transformed<Expr>> {
    if let Expr::Cast(Cast { expr: inner, field }) = &mut expr
        && is_bytes(field.data_type())
        && let Expr::Literal(value, _) = &mut **inner
        && let Some(text) = value.try_as_str().flatten()
        && let Some(bytes) = written_bytes(text).map_err(crate::error::to_datafusion)?
    {
        *value = ScalarValue::Binary(Some(bytes));
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}
