//! Statements that stand for one that the planner does not know as it is: planned to describe it, and never
//! run.

use super::merge::compared_values;
use super::modify::is_default;
use super::returning::returned_items;
use crate::error::from_parser;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Declare, Delete, Expr, FromTable, Ident, Insert,
    ObjectName, OnConflictAction, OnInsert, SelectItem, SetExpr, Statement, TableFactor,
    TableObject, Update, UpdateTableFromKind, WildcardAdditionalOptions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::{Error, Result};

/// The statements whose plans describe one: the first has its columns, all of them its parameters.
pub(super) fn probes(statement: &Statement) -> Result<Vec<Statement>> {
    let mut probes = Vec::new();
    if let Some(items) = returned_items(statement) {
        probes.push(query_of(&rows_of(statement), items.to_vec(), None)?);
    }
    probes.push(match statement {
        Statement::Update(update) if update.from.is_some() => {
            let table = called(&update.table.relation);
            let compared = compared(&update.assignments, table.as_ref());
            query_of(&rows_of(statement), compared, update.selection.clone())?
        }
        Statement::Delete(delete) if delete.using.is_some() => {
            query_of(&rows_of(statement), Vec::new(), delete.selection.clone())?
        }
        Statement::Merge(merge) => {
            let from = format!("{} JOIN {} ON {}", merge.table, merge.source, merge.on);
            let compared = compared(&compared_values(merge), called(&merge.table).as_ref());
            let conditions = merge.clauses.iter().filter_map(|clause| clause.predicate.clone());
            let both = |left, right| Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(left))),
                op: BinaryOperator::Or,
                right: Box::new(Expr::Nested(Box::new(right))),
            };
            query_of(&from, compared, conditions.reduce(both))?
        }
        statement => planned_part(statement),
    });
    if let Statement::Insert(insert) = statement
        && let Some(OnInsert::OnConflict(conflict)) = &insert.on
        && let OnConflictAction::DoUpdate(update) = &conflict.action
        && let TableObject::TableName(name) = &insert.table
    {
        let table = match &insert.table_alias {
            Some(alias) => Some(alias.alias.clone()),
            None => last_part(name),
        };
        let from = format!("{}, {name} AS excluded", rows_of(statement));
        let compared = compared(&update.assignments, table.as_ref());
        probes.push(query_of(&from, compared, update.selection.clone())?);
    }
    Ok(probes)
}

/// The query of the rows that a statement writes, or changes; none where it does neither.
pub(super) fn query_below(statement: &Statement) -> Result<Option<Statement>> {
    let rows = |selection: &Option<Expr>| {
        query_of(&rows_of(statement), Vec::new(), selection.clone()).map(Some)
    };
    match statement {
        Statement::Insert(insert) => Ok(insert.source.clone().map(Statement::Query)),
        Statement::CreateTable(create) => Ok(create.query.clone().map(Statement::Query)),
        Statement::Update(update) => rows(&update.selection),
        Statement::Delete(delete) => rows(&delete.selection),
        Statement::Merge(merge) => {
            let from = format!("{} RIGHT JOIN {} ON {}", merge.table, merge.source, merge.on);
            let all = SelectItem::Wildcard(WildcardAdditionalOptions::default());
            query_of(&from, vec![all], None).map(Some)
        }
        Statement::Query(query) => {
            let mut query = query.clone();
            query.locks.clear();
            Ok(Some(Statement::Query(query)))
        }
        _ => Ok(None),
    }
}

/// What stands behind FROM in a query of the rows that a statement changes: its table under the name by which
/// RETURNING calls it, and those beside it.
fn rows_of(statement: &Statement) -> String {
    let (table, beside) = match statement {
        Statement::Insert(Insert { table: TableObject::TableName(name), table_alias, .. }) => {
            let alias = table_alias.as_ref().map(|alias| alias.alias.clone());
            return match alias.or_else(|| last_part(name)) {
                Some(alias) => format!("{name} AS {alias}"),
                None => name.to_string(),
            };
        }
        Statement::Update(Update { table, from, .. }) => match from {
            Some(UpdateTableFromKind::AfterSet(from) | UpdateTableFromKind::BeforeSet(from)) => {
                (Some(table), from.as_slice())
            }
            None => (Some(table), &[][..]),
        },
        Statement::Delete(Delete {
            from: FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables),
            using,
            ..
        }) => (tables.first(), using.as_deref().unwrap_or_default()),
        _ => (None, &[][..]),
    };
    let own = table.map(|table| match (&table.relation, called(&table.relation)) {
        (TableFactor::Table { name, alias: None, .. }, Some(alias)) => format!("{name} AS {alias}"),
        (table, _) => table.to_string(),
    });
    let all = own.into_iter().chain(beside.iter().map(ToString::to_string));
    all.collect::<Vec<_>>().join(", ")
}

/// By what name a statement calls a table.
fn called(table: &TableFactor) -> Option<Ident> {
    match table {
        TableFactor::Table { alias: Some(alias), .. } => Some(alias.name.clone()),
        TableFactor::Table { name, .. } => name.0.last().and_then(|part| part.as_ident()).cloned(),
        _ => None,
    }
}

fn last_part(name: &ObjectName) -> Option<Ident> {
    name.0.last().and_then(|part| part.as_ident()).cloned()
}

/// Columns beside the values that they are assigned: a comparison gives both the same type.
fn compared(assignments: &[Assignment], table: Option<&Ident>) -> Vec<SelectItem> {
    let compared = |assignment: &Assignment| {
        let AssignmentTarget::ColumnName(name) = &assignment.target else { return None };
        if matches!(&assignment.value, Expr::Identifier(word) if is_default(word)) {
            return None;
        }
        let column = name.0.last().and_then(|part| part.as_ident());
        let column = table.into_iter().chain(column).cloned().collect();
        Some(SelectItem::UnnamedExpr(Expr::BinaryOp {
            left: Box::new(Expr::CompoundIdentifier(column)),
            op: BinaryOperator::Eq,
            right: Box::new(Expr::Nested(Box::new(assignment.value.clone()))),
        }))
    };
    assignments.iter().filter_map(compared).collect()
}

fn query_of(from: &str, items: Vec<SelectItem>, selection: Option<Expr>) -> Result<Statement> {
    let parsed = Parser::parse_sql(&GenericDialect {}, &format!("SELECT 1 FROM {from}"));
    let Some(Statement::Query(mut query)) = parsed.map_err(|error| from_parser(&error))?.pop()
    else {
        return Err(Error::internal("a query was expected"));
    };
    if let SetExpr::Select(select) = &mut *query.body {
        if !items.is_empty() {
            select.projection = items;
        }
        select.selection = selection;
    }
    Ok(Statement::Query(query))
}

/// The statement without what no plan has a place for.
fn planned_part(statement: &Statement) -> Statement {
    if let Statement::Declare { stmts } = statement
        && let [Declare { for_query: Some(query), .. }] = stmts.as_slice()
    {
        return Statement::Query(query.clone());
    }
    let mut rest = statement.clone();
    match &mut rest {
        Statement::Insert(Insert { returning, table_alias, on, .. }) => {
            (*returning, *table_alias, *on) = (None, None, None);
        }
        Statement::Update(Update { returning, .. })
        | Statement::Delete(Delete { returning, .. }) => *returning = None,
        _ => {}
    }
    rest
}
