//! What a subquery calls a table around it, where a column has the same name: `SELECT … FROM c WHERE EXISTS (SELECT 1 FROM o
//! WHERE o.c = c.id)`.
//!
//! - DataFusion takes `c.id` for a field of the column `c` of `o`. In SQL it is the table that is meant; a field of a column
//!   is written `(c).id`.
//! - Such a table is called otherwise in the statement that is planned.

use super::modify::folded;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins,
    Visit, VisitMut, Visitor, VisitorMut,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// What sets a table's name apart from those of columns.
const APART: &str = " (table)";

/// Calls tables otherwise that subqueries name by what `is_column` says that a column is called.
pub(super) fn respell(statement: &mut Statement, is_column: impl Fn(&str) -> bool) {
    let mut finding = Finding::default();
    let _ = Visit::visit(statement, &mut finding);
    let Finding { found: mut apart, given, .. } = finding;
    apart.retain(|(_, name)| given.contains(name) || is_column(name));
    if !apart.is_empty() {
        let _ = VisitMut::visit(statement, &mut Renaming { scopes: Scopes::default(), apart });
    }
}

/// The queries around, by the order in which they begin, and what tables are called in each.
#[derive(Default)]
struct Scopes {
    around: Vec<(usize, HashSet<String>)>,
    begun: usize,
}

impl Scopes {
    fn enter(&mut self, query: &Query) -> usize {
        let mut names = HashSet::new();
        selects(&query.body, &mut |select| {
            for from in &select.from {
                tables(from, &mut |table| names.extend(called(table).map(|name| folded(&name))));
            }
        });
        self.begun += 1;
        self.around.push((self.begun, names));
        self.begun
    }

    fn leave(&mut self) {
        self.around.pop();
    }

    /// The query whose table a name is, and how far it is around.
    fn of(&self, name: &str) -> Option<(usize, usize)> {
        let mut around = self.around.iter().rev().enumerate();
        around.find_map(|(far, (query, names))| names.contains(name).then_some((*query, far)))
    }
}

/// Finds tables that subqueries name.
#[derive(Default)]
struct Finding {
    scopes: Scopes,
    found: HashSet<(usize, String)>,
    /// The names that the statement gives to columns.
    given: HashSet<String>,
}

impl Visitor for Finding {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scopes.enter(query);
        selects(&query.body, &mut |select| {
            let given = select.projection.iter().filter_map(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
                _ => None,
            });
            self.given.extend(given);
        });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.scopes.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [name, _] = parts.as_slice()
        {
            let name = folded(name);
            if let Some((query, 1..)) = self.scopes.of(&name) {
                self.found.insert((query, name));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Gives those tables other names.
struct Renaming {
    scopes: Scopes,
    apart: HashSet<(usize, String)>,
}

impl Renaming {
    fn rename(&self, name: &mut Ident) {
        let is_apart = |(query, _)| self.apart.contains(&(query, folded(name)));
        if self.scopes.of(&folded(name)).is_some_and(is_apart) {
            *name = apart(name);
        }
    }
}

fn apart(name: &Ident) -> Ident {
    Ident::with_quote('"', folded(name) + APART)
}

impl VisitorMut for Renaming {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let number = self.scopes.enter(query);
        selects_mut(&mut query.body, &mut |select| {
            for item in &mut select.projection {
                if let SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(ObjectName(parts)),
                    _,
                ) = item
                    && let [part] = parts.as_mut_slice()
                    && let Some(name) = part.as_ident()
                {
                    let mut name = name.clone();
                    self.rename(&mut name);
                    *part = ObjectNamePart::Identifier(name);
                }
            }
            for from in &mut select.from {
                tables_mut(from, &mut |table| {
                    let name =
                        called(table).filter(|name| self.apart.contains(&(number, folded(name))));
                    if let (Some(name), Some(alias)) = (name, alias_of(table)) {
                        let columns = alias.take().map_or_else(Vec::new, |alias| alias.columns);
                        let name = apart(&name);
                        *alias = Some(TableAlias { explicit: true, name, columns, at: None });
                    }
                });
            }
        });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.scopes.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [name, _] = parts.as_mut_slice()
        {
            self.rename(name);
        }
        ControlFlow::Continue(())
    }
}

/// What a table is called in its query.
fn called(table: &TableFactor) -> Option<Ident> {
    match table {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. }
        | TableFactor::UNNEST { alias: Some(alias), .. } => Some(alias.name.clone()),
        TableFactor::Table { name, .. } => name.0.last()?.as_ident().cloned(),
        _ => None,
    }
}

fn alias_of(table: &mut TableFactor) -> Option<&mut Option<TableAlias>> {
    match table {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::UNNEST { alias, .. } => Some(alias),
        _ => None,
    }
}

fn selects<'a>(body: &'a SetExpr, each: &mut impl FnMut(&'a Select)) {
    match body {
        SetExpr::Select(select) => each(select),
        SetExpr::SetOperation { left, right, .. } => {
            selects(left, each);
            selects(right, each);
        }
        _ => {}
    }
}

fn selects_mut(body: &mut SetExpr, each: &mut impl FnMut(&mut Select)) {
    match body {
        SetExpr::Select(select) => each(select),
        SetExpr::SetOperation { left, right, .. } => {
            selects_mut(left, each);
            selects_mut(right, each);
        }
        _ => {}
    }
}

fn tables<'a>(from: &'a TableWithJoins, each: &mut impl FnMut(&'a TableFactor)) {
    let all = std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation));
    for table in all {
        match table {
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                tables(table_with_joins, each);
            }
            table => each(table),
        }
    }
}

fn tables_mut(from: &mut TableWithJoins, each: &mut impl FnMut(&mut TableFactor)) {
    let joined = from.joins.iter_mut().map(|join| &mut join.relation);
    for table in std::iter::once(&mut from.relation).chain(joined) {
        match table {
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                tables_mut(table_with_joins, each);
            }
            table => each(table),
        }
    }
}
