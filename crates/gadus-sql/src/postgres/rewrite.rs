//! Statements about the catalog, in words that the planner knows.

mod empty;
mod types;

use crate::lists::call;
use crate::session::folded;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    ObjectName, Query, SetExpr, Statement, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use empty::{is_empty, is_never, make_empty};
use std::ops::ControlFlow;
use types::{CatalogType, catalog_type, is_by_bytes, is_text, is_vector};

/// Rewrites a statement that concerns the catalog; says whether it does. A name without a schema means what
/// `is_taken` says it does, before it means a table of the catalog.
pub(crate) fn rewrite(statement: &mut Statement, is_taken: &dyn Fn(&str) -> bool) -> bool {
    let mut queries = Queries { names: Names { is_taken, given: Vec::new() } };
    let _ = Visit::visit(statement, &mut queries.names);
    if Visit::visit(statement, &mut Concern(&queries.names)).is_continue() {
        return false;
    }
    let _ = VisitMut::visit(statement, &mut Expressions);
    let _ = VisitMut::visit(statement, &mut queries);
    true
}

/// What the names of tables mean.
struct Names<'a> {
    is_taken: &'a dyn Fn(&str) -> bool,
    /// Those that the statement gives to queries of its own.
    given: Vec<String>,
}

impl Names<'_> {
    /// The name of a table of the catalog; none where another is meant.
    fn of_catalog(&self, name: &ObjectName) -> Option<String> {
        let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>()?;
        let (schema, last) = match parts.as_slice() {
            [last] => (None, folded(last)),
            [schema, last] => (Some(folded(schema)), folded(last)),
            _ => return None,
        };
        let is_meant = match schema {
            None => !(self.is_taken)(&last) && !self.given.contains(&last),
            Some(schema) => schema == super::SCHEMA,
        };
        is_meant.then_some(last)
    }
}

impl Visitor for Names<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.given.extend(named.map(|named| folded(&named.alias.name)));
        ControlFlow::Continue(())
    }
}

/// Finds what is about the catalog.
struct Concern<'a>(&'a Names<'a>);

impl Visitor for Concern<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        match self.0.of_catalog(relation).is_some_and(|name| super::is_relation(&name)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let concerns = match expr {
            Expr::Cast { data_type, .. } => catalog_type(data_type).is_some(),
            Expr::Function(function) => {
                let last = function.name.0.last().and_then(|part| part.as_ident());
                last.is_some_and(|name| super::functions::is_function(&name.value))
            }
            _ => false,
        };
        if concerns { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// PostgreSQL's function that gives each element of a list with its place.
const EXPAND: &str = "information_schema._pg_expandarray";

/// Rewrites expressions wherever they stand.
struct Expressions;

impl VisitorMut for Expressions {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Cast { data_type, expr: inner, .. } if is_text(data_type) && is_vector(inner) => {
                let blank = Value::SingleQuotedString(" ".to_owned());
                let inner = std::mem::replace(&mut **inner, null());
                *expr = call("array_to_string", vec![inner, Expr::Value(blank.into())]);
            }
            Expr::Cast { data_type, expr: inner, .. } => match catalog_type(data_type) {
                Some(CatalogType::Is(other)) => *data_type = other,
                Some(CatalogType::By(function)) => {
                    let inner = std::mem::replace(&mut **inner, null());
                    *expr = call(function, vec![inner]);
                }
                Some(CatalogType::Any) => *expr = std::mem::replace(&mut **inner, null()),
                None => {}
            },
            Expr::Collate { expr: inner, collation } if is_by_bytes(collation) => {
                *expr = std::mem::replace(&mut **inner, null())
            }
            Expr::BinaryOp { op, .. } => {
                if let BinaryOperator::PGCustomBinaryOperator(words) = op
                    && let Some(known) = words.last().and_then(|word| operator(word))
                {
                    *op = known;
                }
            }
            // (a).b
            Expr::CompoundFieldAccess { root, access_chain } => {
                if let [AccessExpr::Dot(Expr::Identifier(field))] = access_chain.as_slice() {
                    let field = Value::SingleQuotedString(folded(field));
                    let root = std::mem::replace(&mut **root, null());
                    *expr = call("get_field", vec![root, Expr::Value(field.into())]);
                }
            }
            Expr::Case { .. } => drop_impossible(expr),
            // The elements of a list as rows.
            Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
                if name.to_string().eq_ignore_ascii_case(EXPAND) =>
            {
                if let [FunctionArg::Unnamed(FunctionArgExpr::Expr(list))] = list.args.as_slice() {
                    *expr = call("unnest", vec![call("gadus_placed", vec![list.clone()])]);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Leaves out the cases that never are.
fn drop_impossible(expr: &mut Expr) {
    let Expr::Case { operand: None, conditions, else_result, .. } = expr else { return };
    conditions.retain(|case| !is_never(&case.condition));
    if conditions.is_empty() {
        let otherwise = else_result.take();
        *expr = otherwise.map_or_else(null, |otherwise| *otherwise);
    }
}

fn operator(word: &str) -> Option<BinaryOperator> {
    Some(match word {
        "~" => BinaryOperator::PGRegexMatch,
        "~*" => BinaryOperator::PGRegexIMatch,
        "!~" => BinaryOperator::PGRegexNotMatch,
        "!~*" => BinaryOperator::PGRegexNotIMatch,
        "=" => BinaryOperator::Eq,
        "<>" => BinaryOperator::NotEq,
        "||" => BinaryOperator::StringConcat,
        _ => return None,
    })
}

/// Rewrites queries over what is always empty.
struct Queries<'a> {
    names: Names<'a>,
}

impl VisitorMut for Queries<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = &*query.body
            && is_empty(select, &self.names)
        {
            query.order_by = None;
        }
        self.in_body(&mut query.body);
        ControlFlow::Continue(())
    }
}

impl Queries<'_> {
    fn in_body(&mut self, body: &mut SetExpr) {
        match body {
            SetExpr::Select(select) if is_empty(select, &self.names) => make_empty(select),
            SetExpr::SetOperation { left, right, .. } => {
                self.in_body(left);
                self.in_body(right);
            }
            _ => {}
        }
    }
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}
