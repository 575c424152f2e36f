//! A statement in the words that the planner knows.

use super::columns::name_apart;
use super::modify::folded;
use super::{ordered, outer_names};
use crate::error::from_parser;
use crate::names::kept;
use crate::{characters, intervals, json, lists, row_values, times};
use datafusion::sql::sqlparser::ast::{ObjectName, Statement};
use gadus_engine::{Result, Snapshot};

/// What a statement is planned as; `is_column` says what columns are called, `columns_of` those of a table.
pub(crate) fn respell(
    statement: &mut Statement,
    is_column: impl Fn(&str) -> bool,
    columns_of: &dyn Fn(&ObjectName) -> Option<Vec<String>>,
) -> Result<()> {
    ordered::respell(statement, columns_of).map_err(|error| from_parser(&error))?;
    name_apart(statement);
    lists::respell(statement).map_err(|error| from_parser(&error))?;
    json::respell(statement);
    characters::respell(statement);
    intervals::respell(statement)?;
    times::respell(statement);
    row_values::respell(statement).map_err(|error| from_parser(&error))?;
    outer_names::respell(statement, is_column);
    Ok(())
}

/// The same, with the tables and views of a snapshot.
pub(super) fn respell_for(snapshot: &Snapshot, statement: &mut Statement) -> Result<()> {
    let columns_of = |name: &ObjectName| {
        let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>()?;
        let name = match parts.as_slice() {
            [table] => folded(table),
            [schema, table] => kept(&folded(schema), &folded(table)),
            _ => return None,
        };
        if let Some(table) = snapshot.find_table(&name) {
            let columns = &table.schema().columns;
            return Some(columns.iter().map(|column| column.name.clone()).collect());
        }
        let view = snapshot.find_view(&name)?;
        Some(view.columns.iter().map(|column| column.name.clone()).collect())
    };
    respell(statement, |name| has_column(snapshot, name), &columns_of)
}

/// Whether a column of any table or view has a name.
fn has_column(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.tables().iter().any(|table| table.schema().column_index(name).is_some())
        || snapshot.views().any(|view| view.columns.iter().any(|column| column.name == name))
}
