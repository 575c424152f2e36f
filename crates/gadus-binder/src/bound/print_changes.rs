//! Changes as text: the table, its values, then the inputs.

use super::print::{indent, write_items, write_operator};
use super::{
    Arbiter, Assignments, Change, ChangeKind, ColumnValue, InsertChange, MergeChange, MergeStep,
    OnConflict, RowColumns, SubscriptItem,
};
use std::fmt::{self, Formatter, Write};

/// Writes a change and its inputs.
pub(super) fn write_change(change: &Change, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let name = match change.kind {
        ChangeKind::Insert(_) => "Insert",
        ChangeKind::Update(_) => "Update",
        ChangeKind::Delete { .. } => "Delete",
        ChangeKind::Merge(_) => "Merge",
    };
    write!(f, "{name} {}.{}", change.relation.schema, change.relation.name)?;
    write_row(&change.row, change, f)?;
    f.write_char('\n')?;
    if let Some(returning) = &change.returning {
        indent(depth + 1, f)?;
        write_items("returning", returning.iter().map(|(id, item)| (*id, item)), f)?;
    }
    match &change.kind {
        ChangeKind::Insert(insert) => write_insert(insert, change, depth + 1, f),
        ChangeKind::Update(update) => {
            write_assignments(&update.assignments, change, depth + 1, f)?;
            write_operator(&update.input, depth + 1, f)
        }
        ChangeKind::Delete { input } => write_operator(input, depth + 1, f),
        ChangeKind::Merge(merge) => write_merge(merge, change, depth + 1, f),
    }
}

fn column_name(column: usize, change: &Change) -> &str {
    change.relation.columns.get(column).map_or("?", |column| &column.name)
}

fn write_row(row: &RowColumns, change: &Change, f: &mut Formatter<'_>) -> fmt::Result {
    row.iter().try_for_each(|(column, id)| write!(f, " {id}={}", column_name(*column, change)))
}

fn write_insert(
    insert: &InsertChange,
    change: &Change,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    if let Some(overriding) = insert.overriding {
        indent(depth, f)?;
        writeln!(f, "overriding {overriding:?}")?;
    }
    write_values(&insert.values, change, depth, f)?;
    if let Some(conflict) = &insert.on_conflict {
        write_conflict(conflict, change, depth, f)?;
    }
    write_operator(&insert.input, depth, f)
}

fn write_conflict(
    conflict: &OnConflict,
    change: &Change,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    indent(depth, f)?;
    f.write_str("on conflict")?;
    match &conflict.arbiter {
        None => {}
        Some(Arbiter::Constraint(name)) => write!(f, " {name}")?,
        Some(Arbiter::Elements { elements, predicate }) => {
            elements.iter().try_for_each(|element| write!(f, " {element}"))?;
            predicate.iter().try_for_each(|predicate| write!(f, " where {predicate}"))?;
        }
    }
    write_row(&conflict.existing, change, f)?;
    f.write_char('\n')?;
    let Some(update) = &conflict.update else { return Ok(()) };
    indent(depth + 1, f)?;
    f.write_str("excluded")?;
    write_row(&update.excluded, change, f)?;
    update.predicate.iter().try_for_each(|predicate| write!(f, " where {predicate}"))?;
    f.write_char('\n')?;
    write_assignments(&update.assignments, change, depth + 1, f)
}

fn write_assignments(
    assignments: &Assignments,
    change: &Change,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    if !assignments.queries.is_empty() {
        indent(depth, f)?;
        write_items("rows", assignments.queries.iter().map(|(id, query)| (*id, query)), f)?;
    }
    write_values(&assignments.values, change, depth, f)
}

fn write_values(
    values: &[ColumnValue],
    change: &Change,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    for ColumnValue { column, subscripts, value } in values {
        indent(depth, f)?;
        f.write_str(column_name(*column, change))?;
        for subscript in subscripts {
            match subscript {
                SubscriptItem::Index(index) => write!(f, "[{index}]")?,
                SubscriptItem::Slice(low, high) => {
                    f.write_char('[')?;
                    low.iter().try_for_each(|low| write!(f, "{low}"))?;
                    f.write_char(':')?;
                    high.iter().try_for_each(|high| write!(f, "{high}"))?;
                    f.write_char(']')?;
                }
            }
        }
        writeln!(f, " := {value}")?;
    }
    Ok(())
}

fn write_merge(
    merge: &MergeChange,
    change: &Change,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    indent(depth, f)?;
    writeln!(f, "on {}", merge.condition)?;
    for clause in &merge.clauses {
        indent(depth, f)?;
        f.write_str(if clause.is_matched { "matched" } else { "not matched" })?;
        clause.condition.iter().try_for_each(|condition| write!(f, " and {condition}"))?;
        match &clause.action {
            MergeStep::Update(assignments) => {
                f.write_str(" update\n")?;
                write_assignments(assignments, change, depth + 1, f)?;
            }
            MergeStep::Insert { values, .. } => {
                f.write_str(" insert\n")?;
                write_values(values, change, depth + 1, f)?;
            }
            MergeStep::Delete => f.write_str(" delete\n")?,
            MergeStep::Nothing => f.write_str(" nothing\n")?,
        }
    }
    write_operator(&merge.target, depth, f)?;
    write_operator(&merge.source, depth, f)
}
