//! `WITH … INSERT`, UPDATE, DELETE and MERGE: queries that have names in a statement that changes rows.
//!
//! - The parser reads a query whose body is that statement. It becomes the statement, in which a subquery stands for each
//!   table that is one of the names, `(WITH … SELECT * FROM name)`: a planner makes the same of them.
//! - A query within may have names of its own, which are meant within it.

use super::modify::folded;
use crate::error::{from_parser, input};
use datafusion::sql::sqlparser::ast::{
    FromTable, Ident, Insert, ObjectName, Query, SetExpr, Statement, TableAlias, TableFactor,
    TableObject, Values, VisitMut, VisitorMut, With,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::{Error, Reason, Result};
use std::ops::ControlFlow;

/// Takes WITH off a statement that changes rows.
pub(super) fn take_with(statement: &mut Statement) -> Option<With> {
    let query = match statement {
        Statement::Explain { statement, .. } => return take_with(statement),
        Statement::Query(query) if is_change(query) => query,
        _ => return None,
    };
    let nothing =
        SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows: vec![] });
    let (with, body) = (query.with.take(), std::mem::replace(&mut *query.body, nothing));
    match body {
        SetExpr::Insert(changing)
        | SetExpr::Update(changing)
        | SetExpr::Delete(changing)
        | SetExpr::Merge(changing) => *statement = changing,
        other => *query.body = other,
    }
    with
}

/// Whether a query is a statement that changes rows.
pub(super) fn is_change(query: &Query) -> bool {
    matches!(
        *query.body,
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_)
    )
}

/// Gives the names that were taken off a statement their meaning in it.
pub(super) fn mean(with: &With, statement: &mut Statement) -> Result<()> {
    if let Some(target) = target(statement)
        && let [part] = target.0.as_slice()
        && let Some(name) = part.as_ident().map(folded)
        && names(with).any(|known| known == name)
    {
        let message = format!(
            "relation \"{name}\" cannot be the target of a modifying statement: WITH gives the name to a query"
        );
        return Err(input(message).because(Reason::WrongObject));
    }
    let mut meaning = Meaning { with, names: names(with).collect(), around: vec![], put: 0 };
    match VisitMut::visit(statement, &mut meaning) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// What a statement changes.
fn target(statement: &Statement) -> Option<&ObjectName> {
    match statement {
        Statement::Explain { statement, .. } => target(statement),
        Statement::Insert(Insert { table: TableObject::TableName(name), .. }) => Some(name),
        Statement::Update(update) => name_of(&update.table.relation),
        Statement::Merge(merge) => name_of(&merge.table),
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            name_of(&from.first()?.relation)
        }
        _ => None,
    }
}

fn name_of(table: &TableFactor) -> Option<&ObjectName> {
    match table {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}

fn names(with: &With) -> impl Iterator<Item = String> {
    with.cte_tables.iter().map(|cte| folded(&cte.alias.name))
}

/// Puts subqueries where names stand.
struct Meaning<'a> {
    with: &'a With,
    /// Those of the names that no query around here has itself.
    names: Vec<String>,
    /// Of the queries around: their own WITH, and the names outside of it.
    around: Vec<(Option<With>, Vec<String>)>,
    /// Levels below a subquery that was put, in which nothing is to be done.
    put: usize,
}

impl Meaning<'_> {
    fn subquery(&self, name: &ObjectName) -> Result<Box<Query>> {
        let text = format!("SELECT * FROM {name}");
        let parsed = Parser::new(&GenericDialect {}).try_with_sql(&text);
        let mut query = parsed.and_then(|mut parser| parser.parse_query());
        if let Ok(query) = &mut query {
            query.with = Some(self.with.clone());
        }
        query.map_err(|error| from_parser(&error))
    }

    fn put(&mut self, table: &mut TableFactor) -> Result<()> {
        let TableFactor::Table { name, alias, args: None, .. } = table else { return Ok(()) };
        let ident = match name.0.as_slice() {
            [part] => part.as_ident().filter(|ident| self.names.contains(&folded(ident))),
            _ => None,
        };
        let Some(ident) = ident else { return Ok(()) };
        let alias = alias.take().unwrap_or_else(|| named(ident));
        let subquery = self.subquery(name)?;
        *table =
            TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
        self.put = 1;
        Ok(())
    }

    /// What a query has of its own is not meant within it.
    fn enter(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let outside = self.names.clone();
        let mut own = query.with.take();
        if let Some(own) = &mut own {
            let all = names(own).collect::<Vec<_>>();
            if own.recursive {
                self.names.retain(|name| !all.contains(name));
            }
            for (cte, name) in own.cte_tables.iter_mut().zip(all) {
                VisitMut::visit(&mut cte.query, self)?;
                self.names.retain(|other| *other != name);
            }
        }
        self.around.push((own, outside));
        ControlFlow::Continue(())
    }
}

fn named(name: &Ident) -> TableAlias {
    TableAlias { explicit: true, name: name.clone(), columns: vec![], at: None }
}

impl VisitorMut for Meaning<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match self.put {
            0 => self.enter(query),
            _ => ControlFlow::Continue(()),
        }
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if self.put == 0
            && let Some((own, outside)) = self.around.pop()
        {
            (query.with, self.names) = (own, outside);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
        match self.put {
            0 => match self.put(table) {
                Err(error) => ControlFlow::Break(error),
                Ok(()) => ControlFlow::Continue(()),
            },
            _ => {
                self.put += 1;
                ControlFlow::Continue(())
            }
        }
    }

    fn post_visit_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<Error> {
        self.put = self.put.saturating_sub(1);
        ControlFlow::Continue(())
    }
}
