//! Statements that stand for one that the planner does not know as it is: planned to describe it, and never
//! run.

use super::returning::returned_items;
use crate::error::from_parser;
use datafusion::sql::sqlparser::ast::{
    Delete, FromTable, Insert, SetExpr, Statement, TableObject, Update,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::{Error, Result};

/// The statements whose plans describe one: the first has its columns, all of them its parameters.
pub(super) fn probes(statement: &Statement) -> Result<Vec<Statement>> {
    let Some(items) = returned_items(statement) else {
        return Ok(vec![without_returning(statement)]);
    };
    let mut returned = query_of(&rows_of(statement))?;
    if let Statement::Query(query) = &mut returned
        && let SetExpr::Select(select) = &mut *query.body
    {
        select.projection = items.to_vec();
    }
    Ok(vec![returned, without_returning(statement)])
}

/// What stands behind FROM in a query of the rows that a statement changes.
fn rows_of(statement: &Statement) -> String {
    match statement {
        Statement::Insert(Insert { table: TableObject::TableName(name), table_alias, .. }) => {
            match table_alias {
                Some(alias) => format!("{name} AS {}", alias.alias),
                None => name.to_string(),
            }
        }
        Statement::Update(update) => update.table.to_string(),
        Statement::Delete(Delete {
            from: FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables),
            ..
        }) => tables.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

fn query_of(from: &str) -> Result<Statement> {
    let parsed = Parser::parse_sql(&GenericDialect {}, &format!("SELECT 1 FROM {from}"));
    let query = parsed.map_err(|error| from_parser(&error))?.pop();
    query.ok_or_else(|| Error::internal("a query was expected"))
}

/// The statement without what no plan has a place for.
fn without_returning(statement: &Statement) -> Statement {
    let mut rest = statement.clone();
    match &mut rest {
        Statement::Insert(Insert { returning, table_alias, .. }) => {
            (*returning, *table_alias) = (None, None);
        }
        Statement::Update(Update { returning, .. })
        | Statement::Delete(Delete { returning, .. }) => *returning = None,
        _ => {}
    }
    rest
}
