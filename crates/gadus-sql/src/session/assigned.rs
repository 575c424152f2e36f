//! What SET assigns: `a = 1`, `(a, b) = (1, 2)`, `(a, b) = (SELECT …)`.
//!
//! - Values that stand in parentheses are assigned one by one, which is said where a statement is parsed.
//! - A query for several columns is asked once: its row comes as a structure, which is taken apart here.

use super::modify::{column_index, is_default};
use crate::error::input;
use crate::row_values::{names, rows, values_of_row};
use crate::value::assign_array;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{is_null, nullif};
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Insert, MergeAction, ObjectName, OnConflictAction,
    OnInsert, Query, Statement,
};
use gadus_engine::{Error, Identity, Reason, Result, TableSchema};

/// Columns, and the texts of their new values.
pub(super) struct Assigned {
    columns: Vec<usize>,
    values: Vec<New>,
}

/// A text that gives the new values of so many columns.
struct New {
    text: String,
    columns: usize,
}

impl Assigned {
    pub(super) fn of(schema: &TableSchema, assignments: &[Assignment]) -> Result<Self> {
        let mut assigned = Self { columns: Vec::new(), values: Vec::new() };
        for Assignment { target, value } in assignments {
            let new = match (target, value) {
                (AssignmentTarget::ColumnName(name), value) => {
                    New { text: assigned.value(schema, name, value)?, columns: 1 }
                }
                (AssignmentTarget::Tuple(names), Expr::Subquery(query)) => {
                    for name in names {
                        assigned.column(schema, name, false)?;
                    }
                    New { text: row_of(query, names.len()), columns: names.len() }
                }
                (AssignmentTarget::Tuple(_), _) => {
                    let message = "several columns are assigned (…), ROW (…) or (SELECT …)";
                    return Err(input(message).because(Reason::Syntax));
                }
            };
            assigned.values.push(new);
        }
        Ok(assigned)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What is asked for, each under a name that no column beside it has.
    pub(super) fn items(&self) -> Vec<String> {
        let both = self.values.iter().enumerate();
        both.map(|(place, value)| format!("{} AS \"gadus.new{place}\"", value.text)).collect()
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| value.text.clone()).collect()
    }

    /// The new values in the types of their columns; what was asked for comes first in `found`.
    pub(super) fn arrays(&self, schema: &TableSchema, found: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let mut apart = Vec::with_capacity(self.columns.len());
        for (value, array) in self.values.iter().zip(found) {
            match value.columns {
                1 => apart.push(array.clone()),
                _ => apart.extend(fields_of(array)?),
            }
        }
        let both = self.columns.iter().zip(apart);
        both.map(|(&column, values)| assign_array(&values, schema.columns[column].column_type))
            .collect()
    }

    /// Adds a column.
    fn column(
        &mut self,
        schema: &TableSchema,
        name: &ObjectName,
        has_default: bool,
    ) -> Result<usize> {
        let column = column_index(schema, name)?;
        if self.columns.contains(&column) {
            return Err(input(format!("column {name} is assigned twice")));
        }
        self.columns.push(column);
        let definition = &schema.columns[column];
        let is_always = definition.identity == Some(Identity::Always);
        if (is_always || definition.generated.is_some()) && !has_default {
            let message = format!("column {name} can only be updated to DEFAULT");
            return Err(input(message).because(Reason::GeneratedAlways));
        }
        Ok(column)
    }

    /// Adds a column; returns the text of its value.
    fn value(&mut self, schema: &TableSchema, name: &ObjectName, value: &Expr) -> Result<String> {
        let has_default = matches!(value, Expr::Identifier(word) if is_default(word));
        let column = self.column(schema, name, has_default)?;
        let default = schema.columns[column].default.as_ref();
        Ok(match has_default {
            true => default.map_or_else(|| "NULL".to_owned(), |default| format!("({})", default.0)),
            false => format!("({value})"),
        })
    }
}

/// A query's row as a structure.
fn row_of(query: &Query, columns: usize) -> String {
    let fields = names(columns).into_iter().enumerate();
    let fields = fields.map(|(place, name)| format!("'{place}', {name}"));
    let fields = fields.collect::<Vec<_>>().join(", ");
    format!("(SELECT named_struct({fields}) FROM {})", rows(query, columns))
}

/// The fields of structures: where there is none, each is NULL.
fn fields_of(array: &ArrayRef) -> Result<Vec<ArrayRef>> {
    let rows = array.as_struct_opt().ok_or_else(|| Error::internal("a row is no structure"))?;
    if rows.null_count() == 0 {
        return Ok(rows.columns().to_vec());
    }
    let is_missing = is_null(array)?;
    rows.columns().iter().map(|field| Ok(nullif(field, &is_missing)?)).collect()
}

/// Lets values in parentheses be assigned one by one.
pub(super) fn take_apart(statement: &mut Statement) -> Result<()> {
    match statement {
        Statement::Explain { statement, .. } => take_apart(statement),
        Statement::Update(update) => one_by_one(&mut update.assignments),
        Statement::Insert(Insert { on: Some(OnInsert::OnConflict(conflict)), .. }) => {
            match &mut conflict.action {
                OnConflictAction::DoUpdate(update) => one_by_one(&mut update.assignments),
                OnConflictAction::DoNothing => Ok(()),
            }
        }
        Statement::Merge(merge) => {
            for clause in &mut merge.clauses {
                if let MergeAction::Update(update) = &mut clause.action {
                    one_by_one(&mut update.assignments)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn one_by_one(assignments: &mut Vec<Assignment>) -> Result<()> {
    if assignments.iter().all(|one| matches!(one.target, AssignmentTarget::ColumnName(_))) {
        return Ok(());
    }
    let mut apart = Vec::with_capacity(assignments.len());
    for assignment in assignments.drain(..) {
        let AssignmentTarget::Tuple(names) = &assignment.target else {
            apart.push(assignment);
            continue;
        };
        let values = match (assignment.value, names.as_slice()) {
            (Expr::Tuple(values), _) => values,
            (Expr::Nested(value), [_]) => vec![*value],
            (value @ Expr::Subquery(_), [_]) => vec![value],
            (value, _) => match row_of_call(&value) {
                Some(values) => values,
                None => {
                    apart.push(Assignment { value, ..assignment });
                    continue;
                }
            },
        };
        if values.len() != names.len() {
            let message = "number of columns does not match number of values";
            return Err(input(message).because(Reason::Syntax));
        }
        apart.extend(names.iter().zip(values).map(|(name, value)| Assignment {
            target: AssignmentTarget::ColumnName(name.clone()),
            value,
        }));
    }
    *assignments = apart;
    Ok(())
}

/// The values of `ROW (…)`.
fn row_of_call(value: &Expr) -> Option<Vec<Expr>> {
    match value {
        Expr::Function(call) => Some(values_of_row(call)?.into_iter().cloned().collect()),
        _ => None,
    }
}
