//! The query of a view as it is told: in the names that things have by now.
//!
//! - A view is planned by what it reads, whatever that is called; its text is of the time when it was made.

use super::modify::table_name;
use crate::names::{own_name, written_statement};
use crate::provider::MAIN_SCHEMA;
use datafusion::sql::sqlparser::ast::{
    Query, Statement, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use gadus_engine::{Snapshot, ViewSchema, schema_and_name};
use std::ops::ControlFlow;

/// The query of a view, in the names that things have by now.
#[must_use]
pub fn view_definition(snapshot: &Snapshot, view: &ViewSchema) -> String {
    let quoted = |name: &str| crate::postgres::quoted(name);
    let (mut renamed, mut query) = (Vec::new(), view.query.clone());
    for used in &view.uses {
        let (name, columns) = if let Some(table) = snapshot.table_by_id(used.id) {
            let schema = table.schema();
            let now = |id: u32| {
                let place = schema.column_with_id(id);
                place.map(|place| schema.columns[place].name.clone())
            };
            let columns = used.columns.iter().map(|column| now(column.id)).collect::<Vec<_>>();
            let is_whole = columns.len() == schema.columns.len();
            (schema.name.clone(), (columns, is_whole))
        } else if let Some(of) = snapshot.view_by_id(used.id) {
            let now = |id: u32| of.columns.get(id as usize).map(|column| column.name.clone());
            let columns = used.columns.iter().map(|column| now(column.id)).collect::<Vec<_>>();
            let is_whole = columns.len() == of.columns.len();
            (of.name.clone(), (columns, is_whole))
        } else {
            continue;
        };
        let (columns, is_whole) = columns;
        let is_same = columns
            .iter()
            .zip(&used.columns)
            .all(|(now, then)| now.as_deref() == Some(then.name.as_str()));
        if is_same && is_whole && name == used.name {
            continue;
        }
        let items = columns.iter().zip(&used.columns).filter_map(|(now, then)| {
            Some(format!("{} AS {}", quoted(now.as_ref()?), quoted(&then.name)))
        });
        let items = items.collect::<Vec<_>>().join(", ");
        let now = match schema_and_name(&name).0 {
            None => format!("{MAIN_SCHEMA}.{}", quoted(&name)),
            Some(_) => quoted(&name),
        };
        let rows = format!("SELECT {items} FROM {now}");
        match schema_and_name(&used.name).0 {
            None => renamed.push(format!("{} AS ({rows})", quoted(&used.name))),
            // WITH gives no names in schemas.
            Some(_) => query = instead(&query, &used.name, &rows).unwrap_or(query),
        }
    }
    let query = written_statement(&query);
    match renamed.is_empty() {
        true => query,
        // Its own WITH stays inside.
        false => format!("WITH {} SELECT * FROM ({query}) AS renamed", renamed.join(", ")),
    }
}

/// A query that reads these rows in the place of a relation.
fn instead(query: &str, relation: &str, rows: &str) -> Option<String> {
    struct Instead<'a>(&'a str, &'a Query);
    impl VisitorMut for Instead<'_> {
        type Break = ();
        fn post_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
            if let TableFactor::Table { name, alias, args: None, .. } = table
                && table_name(name).is_ok_and(|name| name == self.0)
            {
                let (name, columns) = (own_name(self.0), Vec::new());
                let own = TableAlias { explicit: true, name, columns, at: None };
                *table = TableFactor::Derived {
                    lateral: false,
                    subquery: Box::new(self.1.clone()),
                    alias: Some(alias.take().unwrap_or(own)),
                    sample: None,
                };
            }
            ControlFlow::Continue(())
        }
    }
    let rows = super::parse(rows).ok()?;
    let Statement::Query(rows) = rows.statement() else { return None };
    let mut statement = Statement::clone(super::parse(query).ok()?.statement());
    let _ = VisitMut::visit(&mut statement, &mut Instead(relation, rows));
    Some(statement.to_string())
}
