//! The clauses of a MERGE, as the query that finds its rows asks for them.

use super::super::assigned::Assigned;
use super::super::insert::{generated_always, target_columns};
use super::super::modify::{is_default, refuse_extras};
use super::spelling::{is_nothing, names_nothing};
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Ident, Merge, MergeAction, MergeClause, MergeClauseKind,
    MergeInsertExpr, MergeInsertKind, MergeUpdateExpr,
};
use gadus_engine::{Identity, ROW_ID_COLUMN, Result, TableSchema};

/// A clause: for which rows it is, and what becomes of them.
pub(super) struct Clause {
    pub(super) meets: Meets,
    /// What else must hold.
    condition: Option<String>,
    pub(super) action: Action,
    /// Texts of the values that it takes.
    pub(super) values: Vec<String>,
}

/// Which rows there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meets {
    Both,
    /// A source's row meets none of the table.
    NoTarget,
    /// A row of the table meets none of the source.
    NoSource,
}

/// What becomes of a row; values are for these columns.
pub(super) enum Action {
    Nothing,
    Delete,
    Update { assigned: Assigned },
    Insert { columns: Vec<usize> },
}

pub(super) fn clauses(schema: &TableSchema, merge: &Merge) -> Result<Vec<Clause>> {
    merge.clauses.iter().map(|clause| Clause::of(schema, clause)).collect()
}

/// Which of the clauses is a row's: its number, as a text; NULL for none.
pub(super) fn choice(clauses: &[Clause], alias: &Ident) -> String {
    let mut text = "CASE".to_owned();
    for (number, clause) in clauses.iter().enumerate() {
        let is_there = match clause.meets {
            Meets::NoTarget => "IS NULL",
            Meets::Both | Meets::NoSource => "IS NOT NULL",
        };
        text = format!("{text} WHEN {alias}.{ROW_ID_COLUMN} {is_there}");
        if let Some(condition) = &clause.condition {
            text = format!("{text} AND ({condition})");
        }
        text = format!("{text} THEN {number}");
    }
    format!("({text} END)")
}

/// What compares columns with the values that a MERGE gives them: parameters have their types.
pub(in super::super) fn compared_values(merge: &Merge) -> Vec<Assignment> {
    let mut compared = Vec::new();
    for MergeClause { action, .. } in &merge.clauses {
        match action {
            MergeAction::Update(update) => compared.extend(update.assignments.iter().cloned()),
            MergeAction::Insert(MergeInsertExpr {
                columns,
                kind: MergeInsertKind::Values(values),
                ..
            }) => {
                let values = values.rows.first().map_or(&[][..], |row| row.content.as_slice());
                let both = columns.iter().zip(values).map(|(column, value)| Assignment {
                    target: AssignmentTarget::ColumnName(column.clone()),
                    value: value.clone(),
                });
                compared.extend(both);
            }
            _ => {}
        }
    }
    compared.retain(|assignment| !is_nothing(assignment));
    compared
}

impl Clause {
    fn of(schema: &TableSchema, clause: &MergeClause) -> Result<Self> {
        let meets = match clause.clause_kind {
            MergeClauseKind::Matched => Meets::Both,
            MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => Meets::NoTarget,
            MergeClauseKind::NotMatchedBySource => Meets::NoSource,
        };
        let (action, values) = match &clause.action {
            MergeAction::Delete { .. } => (Action::Delete, Vec::new()),
            MergeAction::Update(update) => updated(schema, update)?,
            MergeAction::Insert(insert) => inserted(schema, insert)?,
        };
        let condition = clause.predicate.as_ref().map(ToString::to_string);
        Ok(Self { meets, condition, action, values })
    }
}

fn updated(schema: &TableSchema, update: &MergeUpdateExpr) -> Result<(Action, Vec<String>)> {
    refuse_extras(&[(
        update.update_predicate.is_some() || update.delete_predicate.is_some(),
        "WHERE in a clause of MERGE: say WHEN MATCHED AND …; it",
    )])?;
    if update.assignments.iter().any(is_nothing) {
        return Ok((Action::Nothing, Vec::new()));
    }
    let assigned = Assigned::of(schema, &update.assignments)?;
    let values = assigned.texts();
    Ok((Action::Update { assigned }, values))
}

fn inserted(schema: &TableSchema, insert: &MergeInsertExpr) -> Result<(Action, Vec<String>)> {
    refuse_extras(&[(
        insert.insert_predicate.is_some(),
        "WHERE in a clause of MERGE: say WHEN NOT MATCHED AND …; it",
    )])?;
    let MergeInsertKind::Values(values) = &insert.kind else {
        return Err(unsupported("INSERT ROW"));
    };
    let [row] = values.rows.as_slice() else {
        return Err(input("a clause of MERGE inserts one row"));
    };
    if names_nothing(&insert.columns) {
        return Ok((Action::Nothing, Vec::new()));
    }
    let mut named = target_columns(schema, &insert.columns)?;
    if insert.columns.is_empty() {
        // The first ones.
        named.truncate(row.content.len());
    }
    if row.content.len() != named.len() {
        let (values, columns) = (row.content.len(), named.len());
        return Err(input(format!(
            "{values} values for {columns} columns of a row to be inserted"
        )));
    }
    let (mut columns, mut texts) = (Vec::new(), Vec::new());
    for (column, value) in named.into_iter().zip(&row.content) {
        // As if it were not named.
        if matches!(value, Expr::Identifier(word) if is_default(word)) {
            continue;
        }
        if schema.columns[column].identity == Some(Identity::Always) {
            return Err(generated_always(&schema.columns[column], ""));
        }
        columns.push(column);
        texts.push(format!("({value})"));
    }
    Ok((Action::Insert { columns }, texts))
}
