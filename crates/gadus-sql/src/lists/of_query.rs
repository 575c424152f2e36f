//! The list of a query's rows: `ARRAY(SELECT …)`, which DataFusion has no word for.
//!
//! - It is an aggregate over the query as a table; what the query is ordered by, the aggregate is, too. Of no rows it is
//!   an empty list, where the aggregate is NULL.

use crate::session::{NESTING_MAX, folded};
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArguments, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem,
    SetExpr, Value as SqlValue,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};

const VALUE: &str = "gadus.value";

/// The query of `ARRAY(SELECT …)`.
pub(super) fn query_of(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::Function(Function { name, args: FunctionArguments::Subquery(query), .. })
            if name.to_string().eq_ignore_ascii_case("array") =>
        {
            Some(query)
        }
        _ => None,
    }
}

/// The list as a value.
pub(super) fn list_of_query(query: &Query) -> Result<Expr, ParserError> {
    let mut within = query.clone();
    let mut keys = Vec::new();
    match within.order_by.as_mut().map(|order| &mut order.kind) {
        None => {}
        Some(OrderByKind::Expressions(given)) => keys.append(given),
        Some(OrderByKind::All(_)) => return Err(refused("has ORDER BY ALL: name what it is")),
    }
    let (columns, order) = match &mut *within.body {
        SetExpr::Select(select) if select.distinct.is_none() => {
            (String::new(), order_of(select, &mut keys)?)
        }
        body => {
            let (value, name) = value_of(body)?;
            if !keys.iter().all(|key| is_value(&key.expr, &value, name.as_ref())) {
                return Err(refused("is ordered by what it does not give"));
            }
            (format!("(\"{VALUE}\")"), keys.iter().map(|key| by(VALUE, key)).collect())
        }
    };
    within.order_by = within.order_by.filter(|_| {
        // Only what is left out has to do with the order within.
        within.limit_clause.is_some() || within.fetch.is_some()
    });
    if let Some(order) = &mut within.order_by {
        order.kind = OrderByKind::Expressions(keys);
    }
    let order = match order.is_empty() {
        true => String::new(),
        false => format!(" ORDER BY {}", order.join(", ")),
    };
    let text = format!(
        "coalesce((SELECT array_agg(\"{VALUE}\"{order}) FROM ({within}) AS \"gadus.rows\"{columns}), \
         make_array())"
    );
    Parser::new(&GenericDialect {})
        .with_recursion_limit(NESTING_MAX)
        .try_with_sql(&text)?
        .parse_expr()
}

/// Gives the columns of a query names: the value, and by what it is ordered; says which.
fn order_of(select: &mut Select, keys: &mut [OrderByExpr]) -> Result<Vec<String>, ParserError> {
    let (value, name) = item_of(select)?;
    let named = |expr: &Expr, name: &str| SelectItem::ExprWithAlias {
        expr: expr.clone(),
        alias: Ident::with_quote('"', name),
    };
    select.projection = vec![named(&value, VALUE)];
    let mut order = Vec::new();
    for (place, key) in keys.iter_mut().enumerate() {
        if is_value(&key.expr, &value, name.as_ref()) {
            // It is not called any more as it was.
            key.expr = value.clone();
            order.push(by(VALUE, key));
        } else {
            let name = format!("gadus.order:{}", place + 1);
            select.projection.push(named(&key.expr, &name));
            order.push(by(&name, key));
        }
    }
    Ok(order)
}

/// The one value that a query gives, and its name.
fn item_of(select: &Select) -> Result<(Expr, Option<Ident>), ParserError> {
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(value)] => Ok((value.clone(), None)),
        [SelectItem::ExprWithAlias { expr, alias }] => Ok((expr.clone(), Some(alias.clone()))),
        [_] => Err(refused("gives all columns: name one")),
        _ => Err(refused("gives several columns: it is to give one")),
    }
}

/// The same of a query whose columns are those of its first part.
fn value_of(body: &SetExpr) -> Result<(Expr, Option<Ident>), ParserError> {
    match body {
        SetExpr::Select(select) => item_of(select),
        SetExpr::SetOperation { left, .. } => value_of(left),
        SetExpr::Query(query) => value_of(&query.body),
        _ => Ok((Expr::Identifier(Ident::new("column1")), None)),
    }
}

/// Whether a query is ordered by the value that it gives.
fn is_value(key: &Expr, value: &Expr, name: Option<&Ident>) -> bool {
    match key {
        Expr::Value(number) => {
            matches!(&number.value, SqlValue::Number(number, _) if *number == "1")
        }
        Expr::Identifier(key) => {
            let is_it = |name: &Ident| folded(name) == folded(key);
            name.is_some_and(is_it) || matches!(value, Expr::Identifier(value) if is_it(value))
        }
        key => key == value,
    }
}

fn refused(what: &str) -> ParserError {
    ParserError::ParserError(format!("the query of ARRAY(SELECT …) {what}"))
}

/// A column in the direction of a key.
fn by(column: &str, key: &OrderByExpr) -> String {
    let expr = Expr::Identifier(Ident::with_quote('"', column));
    OrderByExpr { expr, ..key.clone() }.to_string()
}
