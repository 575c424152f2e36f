//! JSON as the name of a type, which DataFusion does not know: a cast is a call.

use super::functions::{JSON, JSONB_NAME};
use crate::lists::call;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, Query, SetExpr, Statement, TypedString, Value as SqlValue, Values,
    VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Replaces casts to JSON and JSONB by calls, and NULLs beside them.
pub(crate) fn respell(statement: &mut Statement) {
    let _ = statement.visit(&mut Spelling);
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (document, is_json) = match expr {
            Expr::Cast {
                kind: CastKind::Cast | CastKind::DoubleColon,
                expr,
                data_type: of @ (DataType::JSON | DataType::JSONB),
                ..
            } => {
                let null = Expr::Value(SqlValue::Null.into());
                (std::mem::replace(&mut **expr, null), *of == DataType::JSON)
            }
            Expr::TypedString(TypedString {
                data_type: of @ (DataType::JSON | DataType::JSONB),
                value,
                ..
            }) => (Expr::Value(value.clone()), *of == DataType::JSON),
            _ => return ControlFlow::Continue(()),
        };
        *expr = call(if is_json { JSON } else { JSONB_NAME }, vec![document]);
        ControlFlow::Continue(())
    }

    /// What is NULL beside documents in a list of rows is told to be one, too.
    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let SetExpr::Values(Values { rows, .. }) = &mut *query.body else {
            return ControlFlow::Continue(());
        };
        let columns = rows.iter().map(|row| row.len()).min().unwrap_or(0);
        for column in 0..columns {
            if !rows.iter().any(|row| is_document(&row[column])) {
                continue;
            }
            let name = if rows.iter().any(|row| is_call(&row[column], JSONB_NAME)) {
                JSONB_NAME
            } else {
                JSON
            };
            for value in rows.iter_mut().map(|row| &mut row[column]).filter(|value| is_null(value))
            {
                *value = call(name, vec![Expr::Value(SqlValue::Null.into())]);
            }
        }
        ControlFlow::Continue(())
    }
}

fn is_document(value: &Expr) -> bool {
    is_call(value, JSON) || is_call(value, JSONB_NAME)
}

fn is_call(value: &Expr, function_name: &str) -> bool {
    let Expr::Function(function) = value else { return false };
    matches!(function.name.0.as_slice(), [name] if name.as_ident().is_some_and(|name| name.value == function_name))
}

fn is_null(value: &Expr) -> bool {
    matches!(value, Expr::Value(value) if value.value == SqlValue::Null)
}
