//! A statement in the words that the planner knows.

use super::columns::name_apart;
use super::{ordered, outer_names};
use crate::error::from_parser;
use crate::{intervals, json, lists, row_values};
use datafusion::sql::sqlparser::ast::Statement;
use gadus_engine::{Result, Snapshot};

/// What a statement is planned as; `is_column` says what columns are called.
pub(crate) fn respell(statement: &mut Statement, is_column: impl Fn(&str) -> bool) -> Result<()> {
    ordered::respell(statement).map_err(|error| from_parser(&error))?;
    name_apart(statement);
    lists::respell(statement).map_err(|error| from_parser(&error))?;
    json::respell(statement);
    intervals::respell(statement)?;
    row_values::respell(statement).map_err(|error| from_parser(&error))?;
    outer_names::respell(statement, is_column);
    Ok(())
}

/// Whether a column of any table or view has a name.
pub(super) fn has_column(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.tables().iter().any(|table| table.schema().column_index(name).is_some())
        || snapshot.views().any(|view| view.columns.iter().any(|column| column.name == name))
}
