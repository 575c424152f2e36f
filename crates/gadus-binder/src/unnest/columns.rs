//! Columns that operators make, and those that they name of queries around them.

use super::Unnesting;
use crate::bound::{
    BoundQuery, ColumnId, CommonTableId, JoinKind, Relational, Scalar, ScalarKind, Subquery,
    SubqueryKind,
};
use crate::types::{SqlType, constants};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Columns by number, with their types.
pub(super) type Columns = BTreeMap<ColumnId, SqlType>;

/// Names and definitions within a tree.
#[derive(Default)]
struct Contents {
    named: Columns,
    made: HashSet<ColumnId>,
    scanned: HashSet<CommonTableId>,
}

impl Contents {
    fn add(&mut self, operator: &mut Relational) {
        operator.for_each_operator(&mut |operator| {
            operator.for_each_made(&mut |id, _| {
                self.made.insert(id);
            });
            if let Relational::CommonTableScan { table, .. } = operator {
                self.scanned.insert(*table);
            }
            operator.for_each_own_scalar(&mut |scalar| add_named(scalar, &mut self.named));
        });
    }
}

/// Adds the columns that an expression names, not those that queries within it do.
fn add_named(scalar: &mut Scalar, named: &mut Columns) {
    match &mut scalar.kind {
        ScalarKind::Column(id) => {
            named.insert(*id, scalar.data_type);
        }
        ScalarKind::Subquery(subquery) => {
            if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind
            {
                add_named(condition, named);
            }
        }
        _ => scalar.for_each_part(&mut |part| add_named(part, named)),
    }
}

impl Unnesting {
    /// Returns the columns that an operator names and does not make.
    pub(super) fn free(&self, operator: &mut Relational) -> Columns {
        let mut contents = Contents::default();
        contents.add(operator);
        self.named_outside(contents)
    }

    /// Returns the columns that a query within an expression names and does not make.
    pub(super) fn free_of_query(&self, subquery: &mut Subquery) -> Columns {
        let mut contents = Contents::default();
        contents.add(&mut subquery.query.root);
        if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind {
            add_named(condition, &mut contents.named);
            condition.for_each_query(&mut |query| contents.add(&mut query.root));
        }
        self.named_outside(contents)
    }

    fn named_outside(&self, contents: Contents) -> Columns {
        let Contents { mut named, made, scanned } = contents;
        let correlated = scanned.iter().filter_map(|table| self.correlated.get(table));
        named.extend(correlated.flatten().map(|(id, data_type)| (*id, *data_type)));
        named.retain(|id, _| !made.contains(id));
        named
    }

    /// Returns true for an operator that names any of some columns.
    pub(super) fn depends(&self, operator: &mut Relational, on: &HashSet<ColumnId>) -> bool {
        self.free(operator).keys().any(|id| on.contains(id))
    }

    /// Returns the columns of an operator's rows.
    pub(super) fn outputs(&self, operator: &Relational) -> Vec<ColumnId> {
        let mut outputs = Vec::new();
        self.add_outputs(operator, &mut outputs);
        outputs
    }

    fn add_outputs(&self, operator: &Relational, outputs: &mut Vec<ColumnId>) {
        match operator {
            Relational::OneRow | Relational::Change(_) => {}
            Relational::Scan { columns, .. } => outputs.extend(columns.iter().map(|(_, id)| *id)),
            Relational::Values { columns, .. } => outputs.extend(columns.iter().map(|(id, _)| *id)),
            Relational::TableFunctions { calls, ordinality } => {
                let columns = calls.iter().flat_map(|call| &call.columns);
                outputs.extend(columns.map(|(id, _)| *id).chain(*ordinality));
            }
            Relational::Project { items, .. } => outputs.extend(items.iter().map(|(id, _)| *id)),
            Relational::ProjectSets { input, calls } => {
                self.add_outputs(input, outputs);
                outputs.extend(calls.iter().map(|call| call.id));
            }
            Relational::Join(join) => {
                self.add_outputs(&join.left, outputs);
                match join.kind {
                    JoinKind::Mark(id) => outputs.push(id),
                    kind if kind.gives_right() => self.add_outputs(&join.right, outputs),
                    _ => {}
                }
            }
            Relational::Aggregate { groups, aggregates, set_number, .. } => {
                outputs.extend(groups.iter().map(|(id, _)| *id));
                outputs.extend(aggregates.iter().map(|(id, _)| *id).chain(*set_number));
            }
            Relational::Window { input, calls } => {
                self.add_outputs(input, outputs);
                outputs.extend(calls.iter().map(|(id, _)| *id));
            }
            Relational::Distinct { on: None, columns, .. } => outputs.extend(columns),
            Relational::SetOperation(operation) => {
                outputs.extend(operation.columns.iter().map(|(id, _)| *id));
            }
            Relational::CommonTableScan { columns, .. } => outputs.extend(columns),
            Relational::Limit(limit) => self.add_outputs(&limit.input, outputs),
            Relational::Filter { input, .. }
            | Relational::Distinct { input, .. }
            | Relational::Sort { input, .. }
            | Relational::With { input, .. }
            | Relational::Lock { input, .. } => self.add_outputs(input, outputs),
        }
    }

    /// Returns the type of a column.
    pub(super) fn type_of(&self, id: ColumnId) -> SqlType {
        self.types.get(&id).copied().unwrap_or(constants::UNKNOWN.plain())
    }

    /// Notes the types of all columns of a query.
    pub(super) fn note_columns(&mut self, query: &mut BoundQuery) {
        let mut tables = HashMap::new();
        let types = &mut self.types;
        query.root.for_each_operator(&mut |operator| {
            operator.for_each_made(&mut |id, data_type| {
                // A common table that is read has the types of its query.
                if data_type.id != constants::UNKNOWN || !types.contains_key(&id) {
                    types.insert(id, data_type);
                }
            });
            if let Relational::With { tables: found, .. } = operator {
                for table in found {
                    let outputs = table.query.outputs.iter();
                    let outputs = outputs.map(|output| output.data_type).collect::<Vec<_>>();
                    tables.insert(table.id, outputs);
                }
            }
            if let Relational::CommonTableScan { table, columns } = operator {
                let known = tables.get(table).into_iter().flatten();
                types.extend(columns.iter().copied().zip(known.copied()));
            }
            operator.for_each_own_scalar(&mut |scalar| {
                scalar.for_each(&mut |part| {
                    if let ScalarKind::Column(id) = part.kind {
                        types.entry(id).or_insert(part.data_type);
                    }
                });
            });
        });
    }
}

/// Returns true for an expression with a query in it.
pub(super) fn has_query(scalar: &mut Scalar) -> bool {
    let mut found = false;
    scalar.for_each(&mut |part| found |= matches!(part.kind, ScalarKind::Subquery(_)));
    found
}

/// Returns the columns that an expression names, those of queries within it included.
pub(super) fn named(scalar: &mut Scalar) -> Columns {
    let mut named = Columns::new();
    scalar.for_each(&mut |part| {
        if let ScalarKind::Column(id) = part.kind {
            named.insert(id, part.data_type);
        }
    });
    named
}
