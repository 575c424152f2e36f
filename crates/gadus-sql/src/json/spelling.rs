//! JSON as the name of a type, which DataFusion does not know: a cast is a call.

use super::functions::JSON;
use crate::lists::call;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, Statement, TypedString, Value as SqlValue, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Replaces casts to JSON and JSONB by calls.
pub(crate) fn respell(statement: &mut Statement) {
    let _ = statement.visit(&mut Spelling);
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let document = match expr {
            Expr::Cast {
                kind: CastKind::Cast | CastKind::DoubleColon,
                expr,
                data_type: DataType::JSON | DataType::JSONB,
                ..
            } => std::mem::replace(&mut **expr, Expr::Value(SqlValue::Null.into())),
            Expr::TypedString(TypedString {
                data_type: DataType::JSON | DataType::JSONB,
                value,
                ..
            }) => Expr::Value(value.clone()),
            _ => return ControlFlow::Continue(()),
        };
        *expr = call(JSON, vec![document]);
        ControlFlow::Continue(())
    }
}
