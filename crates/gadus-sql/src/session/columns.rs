//! The columns of queries: their names, apart where DataFusion wants them so, and their headings.
//!
//! - SQL lets columns have the same name, `SELECT a, a`; DataFusion refuses them. The later ones are
//!   given names of their own, behind `*` also without need, and the headings that they had.

use super::precedence::is_arrow;
use super::returning::returned_items;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, Query, Select, SelectItem, SetExpr, Statement, UnaryOperator,
    Value as SqlValue, ValueWithSpan, VisitMut, VisitorMut,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What stands over a query's columns, as far as it is not what they are called: an expression without an alias is its
/// own heading, as it was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Headings {
    /// Of the columns before the first `*`, or of all,
    before: Vec<Option<String>>,
    /// and of those behind the last.
    behind: Option<Vec<Option<String>>>,
}

impl Headings {
    pub(super) fn of(statement: &Statement) -> Self {
        let items = items(statement).unwrap_or_default();
        let mut headings = Self::of_items(statement);
        match (items.iter().position(is_all), items.iter().rposition(is_all)) {
            (Some(first), Some(last)) => {
                let behind = headings.split_off(last + 1);
                headings.truncate(first);
                Self { before: headings, behind: Some(behind) }
            }
            _ => Self::of_each(headings),
        }
    }

    /// One for each item of the list, none for `*`.
    pub(super) fn of_items(statement: &Statement) -> Vec<Option<String>> {
        let mut before = Names::default();
        let heading = |item| heading(item, before.takes(item).is_some());
        items(statement).unwrap_or_default().iter().map(heading).collect()
    }

    /// Of columns that are known one by one.
    pub(super) fn of_each(headings: Vec<Option<String>>) -> Self {
        Self { before: headings, behind: None }
    }

    /// Whether `*` is among the columns.
    pub(super) fn has_all(&self) -> bool {
        self.behind.is_some()
    }

    /// The fields under their headings; as they are where they are not these columns.
    pub(crate) fn over(&self, schema: &Schema) -> SchemaRef {
        let fields = schema.fields();
        let behind = self.behind.as_deref().unwrap_or_default();
        let fits = match self.behind {
            Some(_) => self.before.len() + behind.len() <= fields.len(),
            None => self.before.len() == fields.len(),
        };
        let under = |(index, field): (usize, &FieldRef)| {
            let from_end = (index + behind.len()).checked_sub(fields.len());
            let heading = match from_end {
                Some(place) if self.has_all() => behind.get(place),
                _ => self.before.get(index),
            };
            match heading.filter(|_| fits).and_then(Option::as_ref) {
                Some(heading) => Arc::new(field.as_ref().clone().with_name(heading)),
                None => field.clone(),
            }
        };
        Arc::new(Schema::new(fields.iter().enumerate().map(under).collect::<Vec<_>>()))
    }
}

fn is_all(item: &SelectItem) -> bool {
    !matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
}

fn heading(item: &SelectItem, is_named_apart: bool) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name))
        | SelectItem::ExprWithAlias { alias: name, .. } => {
            is_named_apart.then(|| name.value.clone())
        }
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
            names.last().filter(|_| is_named_apart).map(|name| name.value.clone())
        }
        SelectItem::UnnamedExpr(expr) => Some(bare(expr).to_string()),
        _ => None,
    }
}

/// An expression without parentheses that were put around it to be read again.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) if is_arrow(inner) => inner,
        _ => expr,
    }
}

/// What PostgreSQL calls a query's columns: a function's by its name, most others `?column?`. Empty where the
/// columns are not one for each item.
pub(super) fn postgres_names(statement: &Statement) -> Vec<String> {
    let Some(items) = items(statement) else { return Vec::new() };
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(key(alias)),
        SelectItem::UnnamedExpr(expr) => Some(postgres_name(expr)),
        _ => None,
    };
    items.iter().map(name).collect::<Option<Vec<_>>>().unwrap_or_default()
}

const UNNAMED: &str = "?column?";

fn postgres_name(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => key(name),
        Expr::CompoundIdentifier(names) => names.last().map(key).unwrap_or_default(),
        Expr::Function(function) => {
            let last = function.name.0.last().and_then(|part| part.as_ident());
            last.map_or_else(|| UNNAMED.to_owned(), key)
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => postgres_name(inner),
        Expr::Cast { expr: inner, data_type, .. } => match postgres_name(inner) {
            name if name == UNNAMED => cast_name(data_type),
            name => name,
        },
        Expr::Case { else_result, .. } => {
            let name = else_result.as_ref().map(|result| postgres_name(result));
            name.filter(|name| name != UNNAMED).unwrap_or_else(|| "case".to_owned())
        }
        Expr::Exists { .. } => "exists".to_owned(),
        Expr::Extract { .. } => "extract".to_owned(),
        Expr::Substring { .. } => "substring".to_owned(),
        Expr::Trim { .. } => "btrim".to_owned(),
        Expr::Position { .. } => "position".to_owned(),
        Expr::Array(_) => "array".to_owned(),
        Expr::Value(ValueWithSpan { value: SqlValue::Boolean(_), .. }) => "bool".to_owned(),
        Expr::Subquery(query) => match first_select(&query.body).map(|select| &select.projection) {
            Some(items) => match items.as_slice() {
                [SelectItem::UnnamedExpr(expr)] => postgres_name(expr),
                [SelectItem::ExprWithAlias { alias, .. }] => key(alias),
                _ => UNNAMED.to_owned(),
            },
            None => UNNAMED.to_owned(),
        },
        _ => UNNAMED.to_owned(),
    }
}

/// A type as PostgreSQL's catalog calls it.
fn cast_name(data_type: &DataType) -> String {
    match crate::types::column_type(data_type) {
        Ok(column) => crate::postgres::type_name(column).to_owned(),
        Err(_) => match data_type {
            // An enumeration, by its name in its schema.
            DataType::Custom(name, _) => {
                let last = name.0.last().and_then(|part| part.as_ident());
                last.map_or_else(|| name.to_string(), key)
            }
            other => other.to_string().to_lowercase(),
        },
    }
}

/// The list whose items are a statement's columns.
fn items(statement: &Statement) -> Option<&[SelectItem]> {
    match statement {
        Statement::Query(query) => first_select(&query.body).map(|select| &*select.projection),
        statement => returned_items(statement),
    }
}

/// The query whose columns name those of a whole.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        SetExpr::Query(query) => first_select(&query.body),
        _ => None,
    }
}

/// Names columns apart in all queries of a statement.
pub(super) fn name_apart(statement: &mut Statement) {
    struct Queries;
    impl VisitorMut for Queries {
        type Break = ();
        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            in_body(&mut query.body);
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Queries);
}

fn in_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut before = Names::default();
            for item in &mut select.projection {
                let Some(name) = before.takes(item) else { continue };
                let alias = Ident::with_quote('"', name);
                match item {
                    SelectItem::UnnamedExpr(expr) => {
                        let expr = expr.clone();
                        *item = SelectItem::ExprWithAlias { expr, alias };
                    }
                    SelectItem::ExprWithAlias { alias: old, .. } => *old = alias,
                    _ => {}
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left);
            in_body(right);
        }
        // A query of its own is visited as such.
        _ => {}
    }
}

/// The names of a query's columns, from the left.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// What stands behind the last period of each.
    last_parts: HashSet<String>,
    /// The next number that may set a name apart.
    numbers: HashMap<String, usize>,
    behind_all: bool,
}

impl Names {
    /// Adds an item; gives the name that sets it apart, where its own does not.
    fn takes(&mut self, item: &SelectItem) -> Option<String> {
        let (name, is_column) = match item {
            SelectItem::ExprWithAlias { alias, .. } => (key(alias), false),
            SelectItem::UnnamedExpr(expr) => match without_casts(expr) {
                Expr::Identifier(name) => (key(name), true),
                Expr::CompoundIdentifier(names) => {
                    (names.iter().map(key).collect::<Vec<_>>().join("."), true)
                }
                Expr::Subquery(query) => (name_of_first(&query.body), false),
                expr => (planned_name(expr), false),
            },
            _ => {
                self.behind_all = true;
                return None;
            }
        };
        // `t.a` may be what `a` is, but not what `u.a` is.
        let column = last_part(&name).to_owned();
        let is_called = self.taken.contains(&name) || self.last_parts.contains(&name);
        let is_taken = match is_column {
            true => self.behind_all || is_called || self.taken.contains(&column),
            // A column may be there that is called so.
            false => is_called,
        };
        if !is_taken {
            self.add(name);
            return None;
        }
        let base = if is_column { column } else { name };
        // Not what a column is called: it would be hidden from ORDER BY.
        let first = self.numbers.get(&base).copied().unwrap_or(1);
        let mut apart = (first..).map(|number| (number, format!("{base}:{number}")));
        let (number, apart) = apart.find(|(_, name)| !self.taken.contains(name))?;
        self.numbers.insert(base, number + 1);
        self.add(apart.clone());
        Some(apart)
    }

    fn add(&mut self, name: String) {
        self.last_parts.insert(last_part(&name).to_owned());
        self.taken.insert(name);
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// What a value is called: the planner calls a cast as what it casts, and knows no sign that changes nothing.
pub(super) fn without_casts(expr: &Expr) -> &Expr {
    match expr {
        Expr::Cast { expr, .. }
        | Expr::Nested(expr)
        | Expr::UnaryOp { op: UnaryOperator::Plus, expr } => without_casts(expr),
        expr => expr,
    }
}

/// What a query that stands for a value is called: as its column is.
fn name_of_first(body: &SetExpr) -> String {
    match body {
        SetExpr::Select(select) => match select.projection.first() {
            Some(SelectItem::ExprWithAlias { alias, .. }) => key(alias),
            Some(SelectItem::UnnamedExpr(expr)) => match without_casts(expr) {
                Expr::Identifier(name) => key(name),
                Expr::CompoundIdentifier(names) => names.last().map(key).unwrap_or_default(),
                Expr::Subquery(query) => name_of_first(&query.body),
                expr => planned_name(expr),
            },
            _ => String::new(),
        },
        SetExpr::Query(query) => name_of_first(&query.body),
        SetExpr::SetOperation { left, .. } => name_of_first(left),
        _ => String::new(),
    }
}

/// A name that two expressions share where the planner calls them the same; perhaps also where it does not.
fn planned_name(expr: &Expr) -> String {
    struct Plain;
    impl VisitorMut for Plain {
        type Break = ();
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            match expr {
                // It does not call them by what they say.
                Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                    *expr = Expr::Identifier(Ident::new("subquery"));
                }
                Expr::Cast { .. }
                | Expr::Nested(_)
                | Expr::UnaryOp { op: UnaryOperator::Plus, .. } => {
                    *expr = without_casts(expr).clone();
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut plain = expr.clone();
    let _ = plain.visit(&mut Plain);
    plain.to_string().to_lowercase()
}

/// A name as it is compared.
pub(super) fn key(name: &Ident) -> String {
    match name.quote_style {
        None => name.value.to_lowercase(),
        Some(_) => name.value.clone(),
    }
}
