//! Lists as tables: `unnest(list)` behind FROM, also of lists that depend on the row around, in the ways in which
//! PostgreSQL has it and DataFusion does not.
//!
//! - The name of what has one column is that column's name, too.
//! - WITH ORDINALITY numbers the elements.
//! - Numbers of a series that depends on the row around are those of a list of them.

use super::call;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, Query, TableAlias, TableAliasColumnDef,
    TableFactor, TableFunctionArgs, visit_expressions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// A table of a list's elements, in a way that DataFusion knows; none where it is no such table, or is known.
pub(super) fn respelled(table: &TableFactor) -> Option<TableFactor> {
    let (lists, with_ordinality, alias) = match table {
        TableFactor::UNNEST { array_exprs, with_ordinality, alias, with_offset: false, .. } => {
            (array_exprs.clone(), *with_ordinality, alias.clone())
        }
        TableFactor::Function { name, args, with_ordinality, alias, lateral } => {
            let is_known = !lateral && !with_ordinality;
            (lists_of(name, args, is_known)?, *with_ordinality, alias.clone())
        }
        TableFactor::Table {
            name,
            args: Some(TableFunctionArgs { args, settings: None }),
            with_ordinality,
            alias,
            ..
        } => (lists_of(name, args, !with_ordinality)?, *with_ordinality, alias.clone()),
        _ => return None,
    };
    let alias = alias.unwrap_or_else(|| named(Ident::new(function_name(table))));
    let names = alias.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    if with_ordinality {
        let [list] = lists.as_slice() else { return None };
        let value = names.first().cloned().unwrap_or_else(|| alias.name.clone());
        let number = names.get(1).cloned().unwrap_or_else(|| Ident::new("ordinality"));
        let subquery = numbered(list, &value, &number)?;
        let alias = Some(TableAlias { columns: Vec::new(), ..alias });
        return Some(TableFactor::Derived { lateral: true, subquery, alias, sample: None });
    }
    let columns = match (names.is_empty(), lists.as_slice()) {
        (true, [list]) if !is_structure(list) => vec![column(alias.name.clone())],
        _ => alias.columns.clone(),
    };
    let respelled = TableFactor::UNNEST {
        alias: Some(TableAlias { columns, ..alias }),
        array_exprs: lists,
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    };
    (respelled != *table).then_some(respelled)
}

/// The name of a table that has no other: PostgreSQL names it by its function.
fn function_name(table: &TableFactor) -> String {
    let name = match table {
        TableFactor::Function { name, .. } | TableFactor::Table { name, .. } => name.to_string(),
        _ => return "unnest".to_owned(),
    };
    let name = name.to_lowercase();
    if list_of_rows(&name).is_some() { name } else { "unnest".to_owned() }
}

/// The function that gives the rows of a set-returning function as a list.
pub(super) fn list_of_rows(name: &str) -> Option<&'static str> {
    match name {
        "regexp_matches" => Some("gadus_regexp_matches"),
        "regexp_split_to_table" => Some("gadus_regexp_split_to_table"),
        _ => None,
    }
}

/// The lists that a function gives the elements of; none of other functions, and of those that DataFusion knows as they
/// are.
fn lists_of(name: &ObjectName, args: &[FunctionArg], is_known: bool) -> Option<Vec<Expr>> {
    let [part] = name.0.as_slice() else { return None };
    let name = part.as_ident()?.value.to_lowercase();
    let plain = args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    let plain = plain.collect::<Option<Vec<_>>>()?;
    match name.as_str() {
        "unnest" => Some(plain),
        "generate_series" | "range" if !is_known || plain.iter().any(names_columns) => {
            Some(vec![call(&name, plain)])
        }
        other => list_of_rows(other).map(|list| vec![call(list, plain)]),
    }
}

/// Whether a value is made as a structure, which has a column for each field.
fn is_structure(value: &Expr) -> bool {
    match value {
        Expr::Dictionary(_) | Expr::Struct { .. } => true,
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            matches!(name.as_str(), "struct" | "named_struct")
        }
        _ => false,
    }
}

fn names_columns(expr: &Expr) -> bool {
    let named = visit_expressions(expr, |expr| match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    named.is_break()
}

fn numbered(list: &Expr, value: &Ident, number: &Ident) -> Option<Box<Query>> {
    let text = format!(
        "SELECT unnest({list}) AS {value}, unnest(generate_series(1, array_length({list}))) AS {number}"
    );
    Parser::new(&GenericDialect {}).try_with_sql(&text).ok()?.parse_query().ok()
}

fn named(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}

fn column(name: Ident) -> TableAliasColumnDef {
    TableAliasColumnDef { name, data_type: None }
}
