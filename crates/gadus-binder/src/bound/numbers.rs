//! Numbers of columns: which operators make them, and equality of queries whatever the numbers.

use super::{
    ColumnId, CommonTableId, JoinKind, Relational, Scalar, ScalarKind, Subquery, SubqueryKind,
};
use crate::types::{SqlType, constants};
use std::collections::HashMap;

impl Relational {
    /// Calls a function for each column that this operator makes; one that it passes on is made elsewhere.
    pub(crate) fn for_each_made(&self, visit: &mut dyn FnMut(ColumnId, SqlType)) {
        let is_passed = |id: ColumnId, value: &Scalar| value.as_column() == Some(id);
        match self {
            Self::Scan { relation, columns } => {
                for (place, id) in columns {
                    let known = relation.columns.get(*place).map(|column| column.data_type);
                    visit(*id, known.unwrap_or(constants::UNKNOWN.plain()));
                }
            }
            Self::Values { columns, .. } => {
                columns.iter().for_each(|(id, data_type)| visit(*id, *data_type));
            }
            Self::TableFunctions { calls, ordinality } => {
                let columns = calls.iter().flat_map(|call| &call.columns);
                columns.for_each(|(id, data_type)| visit(*id, *data_type));
                ordinality.iter().for_each(|id| visit(*id, constants::INT8.plain()));
            }
            Self::Project { items, .. } => {
                for (id, item) in items.iter().filter(|(id, item)| !is_passed(*id, item)) {
                    visit(*id, item.data_type);
                }
            }
            Self::ProjectSets { calls, .. } => {
                calls.iter().for_each(|call| visit(call.id, call.call.data_type));
            }
            Self::Aggregate { groups, aggregates, set_number, .. } => {
                for (id, group) in groups.iter().filter(|(id, group)| !is_passed(*id, group)) {
                    visit(*id, group.data_type);
                }
                aggregates.iter().for_each(|(id, call)| visit(*id, call.data_type));
                set_number.iter().for_each(|id| visit(*id, constants::INT4.plain()));
            }
            Self::Window { calls, .. } => {
                calls.iter().for_each(|(id, call)| visit(*id, call.call.data_type));
            }
            Self::SetOperation(operation) => {
                operation.columns.iter().for_each(|(id, data_type)| visit(*id, *data_type));
            }
            Self::CommonTableScan { columns, .. } => {
                columns.iter().for_each(|id| visit(*id, constants::UNKNOWN.plain()));
            }
            Self::Join(join) => {
                if let JoinKind::Mark(id) = join.kind {
                    visit(id, constants::BOOL.plain());
                }
            }
            _ => {}
        }
    }

    /// Calls a function for each number of a column that stands in this operator, not in its expressions.
    fn for_each_number(&mut self, visit: &mut dyn FnMut(&mut ColumnId)) {
        match self {
            Self::OneRow | Self::Filter { .. } | Self::Limit(_) => {}
            Self::Join(join) => {
                if let JoinKind::Mark(id) = &mut join.kind {
                    visit(id);
                }
            }
            Self::Lock { .. } | Self::Change(_) => {}
            Self::Scan { columns, .. } => columns.iter_mut().for_each(|(_, id)| visit(id)),
            Self::Values { columns, .. } => columns.iter_mut().for_each(|(id, _)| visit(id)),
            Self::TableFunctions { calls, ordinality } => {
                let columns = calls.iter_mut().flat_map(|call| &mut call.columns);
                columns.map(|(id, _)| id).chain(ordinality).for_each(visit);
            }
            Self::Project { items, .. } => items.iter_mut().for_each(|(id, _)| visit(id)),
            Self::ProjectSets { calls, .. } => {
                calls.iter_mut().for_each(|call| visit(&mut call.id))
            }
            Self::Aggregate { groups, aggregates, set_number, .. } => {
                groups.iter_mut().for_each(|(id, _)| visit(id));
                aggregates.iter_mut().map(|(id, _)| id).chain(set_number).for_each(visit);
            }
            Self::Window { calls, .. } => calls.iter_mut().for_each(|(id, _)| visit(id)),
            Self::Distinct { on, columns, .. } => {
                columns.iter_mut().chain(on.iter_mut().flatten()).for_each(visit);
            }
            Self::SetOperation(operation) => {
                operation.columns.iter_mut().for_each(|(id, _)| visit(id));
                let outputs = operation.left.outputs.iter_mut().chain(&mut operation.right.outputs);
                outputs.for_each(|output| visit(&mut output.id));
            }
            Self::Sort { keys, .. } => keys.iter_mut().for_each(|key| visit(&mut key.column)),
            Self::With { tables, .. } => {
                for table in tables {
                    let steps = table.recursive.iter_mut().flat_map(|(step, _)| &mut step.outputs);
                    let outputs = table.query.outputs.iter_mut().chain(steps);
                    outputs.for_each(|output| visit(&mut output.id));
                }
            }
            Self::CommonTableScan { columns, .. } => columns.iter_mut().for_each(visit),
        }
    }
}

/// Queries are equal if they are so up to the numbers that they give to their columns and common tables.
impl PartialEq for Subquery {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (renumbered(self.clone()), renumbered(other.clone()));
        one.kind == other.kind && one.query == other.query
    }
}

/// Numbers the columns and common tables that a query makes by their order.
fn renumbered(mut subquery: Subquery) -> Subquery {
    let mut columns = HashMap::<ColumnId, ColumnId>::new();
    let mut tables = HashMap::<CommonTableId, CommonTableId>::new();
    let mut next = u32::MAX;
    subquery.query.root.for_each_operator(&mut |operator| {
        operator.for_each_made(&mut |id, _| {
            next -= 1;
            columns.entry(id).or_insert(ColumnId(next));
        });
        if let Relational::With { tables: made, .. } = operator {
            for table in made {
                next -= 1;
                tables.entry(table.id).or_insert(CommonTableId(next));
            }
        }
    });
    let number = |id: &mut ColumnId| *id = columns.get(id).copied().unwrap_or(*id);
    let table_number = |id: &mut CommonTableId| *id = tables.get(id).copied().unwrap_or(*id);
    let column = |scalar: &mut Scalar| {
        if let ScalarKind::Column(id) = &mut scalar.kind {
            number(id);
        }
    };
    subquery.query.root.for_each_operator(&mut |operator| {
        operator.for_each_number(&mut |id| number(id));
        match operator {
            Relational::With { tables, .. } => {
                tables.iter_mut().for_each(|table| table_number(&mut table.id));
            }
            Relational::CommonTableScan { table, .. } => table_number(table),
            _ => {}
        }
        operator.for_each_own_scalar(&mut |scalar| for_each_own(scalar, &column));
    });
    subquery.query.outputs.iter_mut().for_each(|output| number(&mut output.id));
    if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind {
        for_each_own(condition, &column);
    }
    subquery
}

/// Calls a function for an expression and its parts, not for what is within the operators of queries, but for their
/// outputs.
fn for_each_own(scalar: &mut Scalar, visit: &dyn Fn(&mut Scalar)) {
    visit(scalar);
    match &mut scalar.kind {
        ScalarKind::Subquery(subquery) => {
            if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind
            {
                for_each_own(condition, visit);
            }
            for output in &mut subquery.query.outputs {
                let kind = ScalarKind::Column(output.id);
                let mut column = Scalar::new(kind, output.data_type, Default::default());
                visit(&mut column);
                output.id = column.as_column().unwrap_or(output.id);
            }
        }
        _ => scalar.for_each_part(&mut |part| for_each_own(part, visit)),
    }
}
