//! Casts to character types in lists of rows, where DataFusion wants one type for each column.

use super::characters_of;
use super::functions::TEXT;
use crate::lists::call;
use datafusion::sql::sqlparser::ast::{
    Expr, Query, SetExpr, Statement, Value as SqlValue, Values, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Makes values of lists of rows plain texts if they are cast to a character type.
pub(crate) fn respell(statement: &mut Statement) {
    let _ = statement.visit(&mut Rows);
}

struct Rows;

impl VisitorMut for Rows {
    type Break = ();

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Values(Values { rows, .. }) = &mut *query.body {
            let values = rows.iter_mut().flat_map(|row| row.iter_mut());
            for value in values.filter(|value| is_cast(value)) {
                let null = Expr::Value(SqlValue::Null.into());
                *value = call(TEXT, vec![std::mem::replace(value, null)]);
            }
        }
        ControlFlow::Continue(())
    }
}

fn is_cast(value: &Expr) -> bool {
    match value {
        Expr::Cast { data_type, .. } => matches!(characters_of(data_type), Ok(Some(_))),
        Expr::TypedString(typed) => matches!(characters_of(&typed.data_type), Ok(Some(_))),
        Expr::Nested(inner) => is_cast(inner),
        _ => false,
    }
}
