//! What a query is ordered by, where its own columns hide it.
//!
//! - `SELECT a::text FROM t ORDER BY a` and `SELECT -a AS a FROM t ORDER BY t.a` are ordered by the table's column.
//!   DataFusion calls a cast what it calls the value, and refuses two columns of a name; here the order is a column of a
//!   query within, and the query around it has those that are wanted.
//! - So is `SELECT -a AS a FROM t ORDER BY -a`, where DataFusion took `a` for the alias: in an expression it is the table's,
//!   as in PostgreSQL and DuckDB. `SELECT max(a) AS a … ORDER BY max(a), b` was refused for that.
//! - `SELECT max(a)::text … ORDER BY max(a)` was ordered by the text for the same reason: such a column gets a name.
//! - So does one that is meant by its number, which DataFusion looks for among the columns of tables where it is an
//!   expression over aggregates.

use super::columns::{bare, key, without_casts};
use crate::error::or_break;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, ObjectName, OrderBy, OrderByExpr, OrderByKind, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableWithJoins, Value, Visit, VisitMut, Visitor,
    VisitorMut, visit_expressions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Says what the queries of a statement are ordered by; `columns_of` knows the columns of tables and views by name.
pub(super) fn respell(
    statement: &mut Statement,
    columns_of: &dyn Fn(&ObjectName) -> Option<Vec<String>>,
) -> Result<(), ParserError> {
    match VisitMut::visit(statement, &mut Spelling { columns_of, given: HashSet::new() }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling<'a> {
    columns_of: &'a dyn Fn(&ObjectName) -> Option<Vec<String>>,
    /// The names that the statement gives to queries of its own.
    given: HashSet<String>,
}

impl VisitorMut for Spelling<'_> {
    type Break = ParserError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<ParserError> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.given.extend(named.map(|named| key(&named.alias.name)));
        or_break(self.spell(query))
    }
}

impl Spelling<'_> {
    fn spell(&self, query: &mut Query) -> Result<(), ParserError> {
        let Query { body, order_by: Some(order), .. } = query else { return Ok(()) };
        let (SetExpr::Select(select), OrderBy { kind: OrderByKind::Expressions(order), .. }) =
            (&mut **body, order)
        else {
            return Ok(());
        };
        name_items(select, order);
        let mut inputs = HashSet::new();
        for from in &select.from {
            self.add_inputs(from, &mut inputs);
        }
        let is_hidden = |item| order.iter().any(|by| hides(item, &by.expr, &inputs));
        if select.projection.iter().any(is_hidden)
            && let Some(around) = with_order_within(select, order)?
        {
            **body = around;
        }
        Ok(())
    }

    /// What the columns of tables are called, as far as that is known.
    fn add_inputs(&self, from: &TableWithJoins, inputs: &mut HashSet<String>) {
        let joined = from.joins.iter().map(|join| &join.relation);
        for table in std::iter::once(&from.relation).chain(joined) {
            match table {
                TableFactor::Table { name, args: None, .. } => {
                    let is_given = matches!(name.0.as_slice(), [part]
                        if part.as_ident().is_some_and(|name| self.given.contains(&key(name))));
                    if !is_given {
                        inputs.extend((self.columns_of)(name).into_iter().flatten());
                    }
                }
                TableFactor::Derived { subquery, alias, .. } => {
                    let named = alias.iter().flat_map(|alias| &alias.columns);
                    inputs.extend(named.map(|column| key(&column.name)));
                    if let SetExpr::Select(select) = &*subquery.body {
                        inputs.extend(select.projection.iter().filter_map(name_of).map(key));
                    }
                }
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    self.add_inputs(table_with_joins, inputs);
                }
                _ => {}
            }
        }
    }
}

/// What a column of a query is called, where it has a name.
fn name_of(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        SelectItem::UnnamedExpr(expr) => last(without_casts(expr)),
        _ => None,
    }
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
fn hides(item: &SelectItem, by: &Expr, inputs: &HashSet<String>) -> bool {
    let (expr, alias) = match item {
        SelectItem::UnnamedExpr(expr) => (expr, None),
        SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
        _ => return false,
    };
    let value = without_casts(expr);
    let Some(name) = alias.or_else(|| last(value).filter(|_| value != expr)) else { return false };
    // An alias is what stands alone for it, and what is no column of a table.
    let is_alias = alias.is_some()
        && (matches!(by, Expr::Identifier(_))
            || !inputs.contains(&key(name))
            || !knows(inputs, by));
    by.visit(&mut Columns { name: key(name), is_alias, itself: expr }).is_break()
}

/// Whether all columns that an expression names without their tables are among these.
fn knows(inputs: &HashSet<String>, expr: &Expr) -> bool {
    let named = visit_expressions(expr, |expr| match expr {
        Expr::Identifier(name) if !inputs.contains(&key(name)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    named.is_continue()
}

/// Looks for a column of tables that is called as one of the result.
struct Columns<'a> {
    name: String,
    /// The name alone means the column of the result.
    is_alias: bool,
    /// What the column of the result is.
    itself: &'a Expr,
}

impl Visitor for Columns<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_called = |name: &Ident| key(name) == self.name;
        let is_it = match expr {
            Expr::Identifier(name) => !self.is_alias && is_called(name) && expr != self.itself,
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
    let column = |place: usize| Ident::with_quote('"', format!("column:{}", place + 1));
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
        within.push(SelectItem::ExprWithAlias { expr: expr.clone(), alias: column(index) });
        wanted
            .push(SelectItem::ExprWithAlias { expr: Expr::Identifier(column(index)), alias: name });
    }
    // By an alias, whatever else is called so.
    let aliased = |by: &Expr| {
        let Expr::Identifier(name) = by else { return None };
        select.projection.iter().position(|item| {
            matches!(item, SelectItem::ExprWithAlias { alias, .. } if key(alias) == key(name))
        })
    };
    for (index, by) in order.iter_mut().enumerate() {
        if number(&by.expr).is_some() {
            continue;
        }
        if let Some(place) = aliased(&by.expr) {
            by.expr = Expr::Identifier(column(place));
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
