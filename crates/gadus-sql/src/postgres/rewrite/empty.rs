//! Queries that have no rows because a table of the catalog never has: they are not planned as they are
//! written, whatever they would make of those rows.

use super::{Names, null};
use crate::postgres::relations::{is_always_empty, is_always_null, never_has};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, FunctionArg, FunctionArgExpr, GroupByExpr, Ident,
    Join, JoinOperator, Query, Select, SelectItem, TableFactor, TableWithJoins, Value, Visit,
    Visitor,
};
use std::ops::ControlFlow;

/// Whether a query has no rows, whatever else it asks for.
pub(super) fn is_empty(select: &Select, names: &Names<'_>) -> bool {
    let is_empty_relation = |relation: &TableFactor| match relation {
        TableFactor::Table { name, args, .. } => {
            let name = names.of_catalog(name).unwrap_or_default();
            match args {
                None => is_always_empty(&name),
                // The elements of a list that is always NULL.
                Some(args) => name == "unnest" && args.args.iter().any(is_of_null),
            }
        }
        _ => false,
    };
    let is_empty_from = |from: &TableWithJoins| {
        let is_needed = |join: &Join| {
            use JoinOperator::{CrossJoin, Inner, Join};
            matches!(join.join_operator, Join(_) | Inner(_) | CrossJoin(_))
        };
        let mut joins = from.joins.iter();
        // What stands behind an outer join is not needed, and what stands before it is.
        is_empty_relation(&from.relation)
            || joins.any(|join| is_needed(join) && is_empty_relation(&join.relation))
    };
    let is_plain = |item: &SelectItem| {
        matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
            && !has_aggregate(item)
    };
    let has_right_join = |from: &TableWithJoins| {
        use JoinOperator::{FullOuter, Right, RightOuter};
        let is_right =
            |join: &Join| matches!(join.join_operator, Right(_) | RightOuter(_) | FullOuter(_));
        from.joins.iter().any(is_right)
    };
    select.from.iter().any(is_empty_from)
        && !select.from.iter().any(has_right_join)
        && select.projection.iter().all(is_plain)
}

/// Whether an argument is a column that is always NULL.
fn is_of_null(argument: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return false };
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    name.is_some_and(|name| is_always_null(&name.value.to_lowercase()))
}

/// Whether a condition holds for no row, because a column of the catalog never has that value.
pub(super) fn is_never(condition: &Expr) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return false };
    let column = match &**left {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    match (column, &**right) {
        (Some(column), Expr::Value(value)) => match &value.value {
            Value::SingleQuotedString(value) => never_has(&column.value.to_lowercase(), value),
            _ => false,
        },
        _ => false,
    }
}

/// Leaves the names of the columns, and no rows.
pub(super) fn make_empty(select: &mut Select) {
    for item in &mut select.projection {
        let alias = match &*item {
            SelectItem::ExprWithAlias { alias, .. } => alias.clone(),
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => name.clone(),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                names.last().cloned().unwrap_or_else(|| Ident::new("value"))
            }
            other => Ident::with_quote('"', other.to_string()),
        };
        let expr = Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(null()),
            data_type: DataType::Text,
            array: false,
            format: None,
        };
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
    select.from.clear();
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    select.having = None;
    select.distinct = None;
    select.selection = Some(Expr::Value(Value::Boolean(false).into()));
}

fn has_aggregate(item: &SelectItem) -> bool {
    const AGGREGATES: [&str; 10] = [
        "count",
        "sum",
        "min",
        "max",
        "avg",
        "array_agg",
        "string_agg",
        "bool_and",
        "bool_or",
        "json_agg",
    ];
    /// Counts queries that it is in: their aggregates are their own.
    #[derive(Default)]
    struct Finder(usize);
    impl Visitor for Finder {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(function)
                    if self.0 == 0
                        && AGGREGATES
                            .contains(&function.name.to_string().to_lowercase().as_str()) =>
                {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            expr.visit(&mut Finder::default()).is_break()
        }
        _ => false,
    }
}
