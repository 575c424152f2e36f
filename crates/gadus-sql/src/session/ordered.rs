//! What a query is ordered by, where its own columns hide it.
//!
//! - `SELECT a::text FROM t ORDER BY a` and `SELECT -a AS a FROM t ORDER BY t.a` are ordered by the table's column.
//!   DataFusion calls a cast what it calls the value, and refuses two columns of a name; here the order is a column of a
//!   query within, and the query around it has those that are wanted.
//! - `SELECT max(a)::text … ORDER BY max(a)` was ordered by the text for the same reason: such a column gets a name.
//! - So does one that is meant by its number, which DataFusion looks for among the columns of tables where it is an
//!   expression over aggregates.

use super::columns::{bare, key, without_casts};
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr,
    Statement, TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::ops::ControlFlow;

/// Says what the queries of a statement are ordered by.
pub(super) fn respell(statement: &mut Statement) -> Result<(), ParserError> {
    match VisitMut::visit(statement, &mut Spelling) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ParserError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<ParserError> {
        match spell(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn spell(query: &mut Query) -> Result<(), ParserError> {
    let Query { body, order_by: Some(order), .. } = query else { return Ok(()) };
    let (SetExpr::Select(select), OrderBy { kind: OrderByKind::Expressions(order), .. }) =
        (&mut **body, order)
    else {
        return Ok(());
    };
    name_items(select, order);
    let hides = select.projection.iter().any(|item| order.iter().any(|by| hides(item, &by.expr)));
    if hides && let Some(around) = with_order_within(select, order)? {
        **body = around;
    }
    Ok(())
}

/// Gives names to casts of expressions, and to expressions that are meant by their number.
fn name_items(select: &mut Select, order: &[OrderByExpr]) {
    for (index, item) in select.projection.iter_mut().enumerate() {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let value = without_casts(expr);
        let is_meant = || order.iter().any(|by| number(&by.expr) == Some(index + 1));
        if !is_column(value) && (value != expr || is_meant()) {
            let alias = Ident::with_quote('"', bare(expr).to_string());
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}

/// The number of the column that stands in ORDER BY.
fn number(by: &Expr) -> Option<usize> {
    match by {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// The last part of a column's name.
fn last(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    }
}

/// Whether a column of the result is called as a column of tables by which it is ordered, and is another.
fn hides(item: &SelectItem, by: &Expr) -> bool {
    let (expr, alias) = match item {
        SelectItem::UnnamedExpr(expr) => (expr, None),
        SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
        _ => return false,
    };
    let value = without_casts(expr);
    let Some(name) = alias.or_else(|| last(value).filter(|_| value != expr)) else { return false };
    let mut columns = Columns { name: key(name), has_alias: alias.is_some(), itself: expr };
    by.visit(&mut columns).is_break()
}

/// Looks for a column of tables that is called as one of the result.
struct Columns<'a> {
    name: String,
    has_alias: bool,
    /// What the column of the result is.
    itself: &'a Expr,
}

impl Visitor for Columns<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_called = |name: &Ident| key(name) == self.name;
        let is_it = match expr {
            // An alias is what stands alone for it.
            Expr::Identifier(name) => !self.has_alias && is_called(name),
            Expr::CompoundIdentifier(names) => {
                names.last().is_some_and(is_called) && expr != self.itself
            }
            _ => false,
        };
        if is_it { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The query around one that has what it is ordered by among its columns; the order then names these. None where
/// the columns are not known one by one.
fn with_order_within(
    select: &Select,
    order: &mut [OrderByExpr],
) -> Result<Option<SetExpr>, ParserError> {
    if matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_)))
        || select.into.is_some()
    {
        return Ok(None);
    }
    let (mut within, mut wanted) = (Vec::new(), Vec::new());
    for (index, item) in select.projection.iter().enumerate() {
        let (expr, name) = match item {
            SelectItem::ExprWithAlias { expr, alias } => (expr, alias.clone()),
            SelectItem::UnnamedExpr(expr) => match last(without_casts(expr)) {
                Some(name) => (expr, name.clone()),
                None => (expr, Ident::with_quote('"', bare(expr).to_string())),
            },
            _ => return Ok(None),
        };
        let column = Ident::with_quote('"', format!("column:{}", index + 1));
        within.push(SelectItem::ExprWithAlias { expr: expr.clone(), alias: column.clone() });
        wanted.push(SelectItem::ExprWithAlias { expr: Expr::Identifier(column), alias: name });
    }
    let is_alias = |by: &Expr| {
        let Expr::Identifier(name) = by else { return false };
        select.projection.iter().any(|item| {
            matches!(item, SelectItem::ExprWithAlias { alias, .. } if key(alias) == key(name))
        })
    };
    for (index, by) in order.iter_mut().enumerate() {
        if number(&by.expr).is_some() || is_alias(&by.expr) {
            continue;
        }
        let alias = Ident::with_quote('"', format!("order:{}", index + 1));
        let expr = std::mem::replace(&mut by.expr, Expr::Identifier(alias.clone()));
        within.push(SelectItem::ExprWithAlias { expr, alias });
    }
    let inner = Select { projection: within, ..select.clone() };
    around(inner, wanted).map(Some)
}

/// A query of these columns of another.
fn around(inner: Select, wanted: Vec<SelectItem>) -> Result<SetExpr, ParserError> {
    let text = "SELECT 1 FROM (SELECT 1) AS \"gadus.ordered\"";
    let mut around = Parser::new(&GenericDialect {}).try_with_sql(text)?.parse_query()?.body;
    if let SetExpr::Select(select) = &mut *around {
        select.projection = wanted;
        let within = select.from.first_mut().map(|from| &mut from.relation);
        if let Some(TableFactor::Derived { subquery, .. }) = within {
            *subquery.body = SetExpr::Select(Box::new(inner));
        }
    }
    Ok(*around)
}
