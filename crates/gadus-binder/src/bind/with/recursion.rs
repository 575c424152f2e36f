//! WITH RECURSIVE: the order of common tables, and the form of those that read themselves (`checkWellFormedRecursion`).

use super::references::{Context, References};
use crate::error::{BindError, Result};
use gadus_syntax::Span;
use gadus_syntax::ast::{CommonTable, Query, QueryBody, SetOperator, With};

/// Common table with what it reads.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) table: &'a CommonTable,
    pub(super) reads_itself: bool,
}

/// Parts of a query that reads itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) start: &'a Query,
    pub(super) step: &'a Query,
    /// UNION ALL
    pub(super) all: bool,
}

/// Returns the tables of a WITH in an order in which each comes after those that it reads.
pub(super) fn in_order(with: &With) -> Result<Vec<Item<'_>>> {
    if !with.recursive {
        let item = |table| Item { table, reads_itself: false };
        return Ok(with.tables.iter().map(item).collect());
    }
    let mut waiting = Vec::with_capacity(with.tables.len());
    for (place, table) in with.tables.iter().enumerate() {
        let mut reads = Vec::new();
        let mut found = |name: &gadus_syntax::ast::Name, _| {
            reads.extend(with.tables.iter().position(|other| other.name.text == name.text));
            Ok(())
        };
        References::new(Context::Allowed, &mut found).query(&table.query)?;
        let reads_itself = reads.contains(&place);
        reads.retain(|other| *other != place);
        waiting.push((place, reads, Item { table, reads_itself }));
    }
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let Some(next) = waiting.iter().position(|(_, reads, _)| reads.is_empty()) else {
            let message = "mutual recursion between WITH items is not implemented";
            return Err(BindError::new("0A000", message, waiting[0].2.table.name.span));
        };
        // As PostgreSQL does, the first one that waits takes the free position.
        waiting.swap(0, next);
        let (place, _, item) = waiting.remove(0);
        waiting.iter_mut().for_each(|(_, reads, _)| reads.retain(|other| *other != place));
        ordered.push(item);
    }
    for item in ordered.iter().filter(|item| item.reads_itself) {
        check(item.table)?;
    }
    Ok(ordered)
}

/// Returns the parts of a query that reads itself.
pub(super) fn parts(table: &CommonTable) -> Result<Parts<'_>> {
    match &table.query.body {
        QueryBody::SetOperation {
            operator: SetOperator::Union,
            all,
            left,
            right,
            by_name: false,
        } => Ok(Parts { start: left, step: right, all: *all }),
        QueryBody::Modification(_) => {
            let what = "must not contain data-modifying statements";
            let message = format!("recursive query \"{}\" {what}", table.name.text);
            Err(BindError::new("42P19", message, table.name.span))
        }
        _ => {
            let what = "does not have the form non-recursive-term UNION [ALL] recursive-term";
            let message = format!("recursive query \"{}\" {what}", table.name.text);
            Err(BindError::new("42P19", message, table.name.span))
        }
    }
}

/// Checks the form of a query that reads itself.
fn check(table: &CommonTable) -> Result<()> {
    let Parts { start, step, .. } = parts(table)?;
    let query = &table.query;
    if let Some(with) = &query.with {
        let mut found = |name: &_, context| refuse(table, name, context);
        let tables = with.tables.iter().map(|table| &table.query);
        let mut references = References::new(Context::Subquery, &mut found);
        tables.into_iter().try_for_each(|query| references.query(query))?;
    }
    let refused = |what: &str, span: Option<Span>| {
        let message = format!("{what} in a recursive query is not implemented");
        Err(BindError { span, ..BindError::new("0A000", message, Span::default()) })
    };
    if let Some(key) = query.order_by.first() {
        return refused("ORDER BY", Some(key.expr.span));
    }
    if let Some(offset) = &query.offset {
        return refused("OFFSET", Some(offset.span));
    }
    if let Some(limit) = &query.limit {
        return refused("LIMIT", Some(limit.span));
    }
    if !query.locking.is_empty() {
        return refused("FOR UPDATE/SHARE", None);
    }
    let mut found = |name: &_, context| refuse(table, name, context);
    References::new(Context::NonRecursiveTerm, &mut found).query(start)?;
    let mut count = 0;
    let mut found = |name: &gadus_syntax::ast::Name, context| {
        refuse(table, name, context)?;
        if name.text != table.name.text {
            return Ok(());
        }
        count += 1;
        match count {
            1 => Ok(()),
            _ => Err(misplaced(table, name.span, "more than once")),
        }
    };
    References::new(Context::Allowed, &mut found).query(step)?;
    Ok(())
}

/// Refuses a reference to the table itself in a context where none may be.
fn refuse(table: &CommonTable, name: &gadus_syntax::ast::Name, context: Context) -> Result<()> {
    if name.text != table.name.text {
        return Ok(());
    }
    let place = match context {
        Context::Allowed => return Ok(()),
        Context::NonRecursiveTerm => "within its non-recursive term",
        Context::Subquery => "within a subquery",
        Context::OuterJoin => "within an outer join",
        Context::Intersect => "within INTERSECT",
        Context::Except => "within EXCEPT",
    };
    Err(misplaced(table, name.span, place))
}

fn misplaced(table: &CommonTable, span: Span, place: &str) -> BindError {
    let name = &table.name.text;
    let message = format!("recursive reference to query \"{name}\" must not appear {place}");
    BindError::new("42P19", message, span)
}
