//! INSERT, UPDATE, DELETE and MERGE.
//!
//! - Values are converted to the types of their columns as PostgreSQL's assignments are; DEFAULT stays for the engine.
//! - Clauses are bound in PostgreSQL's order, so that of several errors the same one is told.

mod assignments;
mod conflict;
mod delete;
mod generated;
mod insert;
mod merge;
mod update;

use super::scope::{Clause, ScopeTable};
use super::{Binder, with_stack};
use crate::bound::{
    BoundQuery, Change, ChangeKind, ColumnId, OutputColumn, Relational, RowColumns, Scalar,
};
use crate::error::{BindError, Result};
use crate::provider::Relation;
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{Alias, FromItem, Name, ObjectName, Statement, Target, With};
use std::sync::Arc;

/// Table that is changed, as its statement sees it.
struct ChangedTable {
    relation: Arc<Relation>,
    /// Names of its columns in the scope.
    table: ScopeTable,
    scan: Relational,
    /// Columns of the scan.
    row: RowColumns,
}

/// Change without WITH.
struct BoundChange {
    kind: ChangeKind,
    row: RowColumns,
    returning: Option<Returning>,
    relation: Arc<Relation>,
}

/// RETURNING with its headings.
struct Returning {
    items: Vec<(ColumnId, Scalar)>,
    outputs: Vec<OutputColumn>,
}

impl Binder<'_> {
    /// Binds a change; its outputs are those of RETURNING.
    pub(super) fn change(&mut self, statement: &Statement) -> Result<BoundQuery> {
        with_stack(|| {
            self.nested(|binder| match statement {
                Statement::Insert(insert) => {
                    binder.change_with(insert.with.as_ref(), |binder| binder.insert(insert))
                }
                Statement::Update(update) => {
                    binder.change_with(update.with.as_ref(), |binder| binder.update(update))
                }
                Statement::Delete(delete) => {
                    binder.change_with(delete.with.as_ref(), |binder| binder.delete(delete))
                }
                Statement::Merge(merge) => {
                    binder.change_with(merge.with.as_ref(), |binder| binder.merge_change(merge))
                }
                _ => Err(BindError::unsupported("this statement", Span::default())),
            })
        })
    }

    fn change_with(
        &mut self,
        with: Option<&With>,
        bind: impl FnOnce(&mut Self) -> Result<BoundChange>,
    ) -> Result<BoundQuery> {
        let finish = |change: BoundChange| {
            let BoundChange { kind, row, returning, relation } = change;
            let (returning, outputs) = match returning {
                Some(Returning { items, outputs }) => (Some(items), outputs),
                None => (None, Vec::new()),
            };
            let root = Relational::Change(Box::new(Change { relation, kind, row, returning }));
            BoundQuery { root, outputs }
        };
        match with {
            Some(with) => self.with(with, |binder| Ok(finish(bind(binder)?))),
            None => Ok(finish(bind(self)?)),
        }
    }

    /// Looks up the table of a change.
    fn changed_relation(&mut self, name: &ObjectName) -> Result<Arc<Relation>> {
        let relation = self.relation_named(name)?;
        if relation.view.is_some() {
            return Err(BindError::unsupported("a change of a view", name.span()));
        }
        Ok(relation)
    }

    /// Returns a scan of the table of a change, and the names of its columns.
    fn changed_table(&mut self, name: &ObjectName, alias: Option<&Alias>) -> Result<ChangedTable> {
        let relation = self.changed_relation(name)?;
        let (scan, row, mut table) = self.row_of(&relation, name.span());
        if let Some(alias) = alias {
            super::from::rename(&mut table, alias, name.span())?;
        }
        Ok(ChangedTable { relation, table, scan, row })
    }

    /// Returns a scan of a relation with new columns.
    fn row_of(
        &mut self,
        relation: &Arc<Relation>,
        span: Span,
    ) -> (Relational, RowColumns, ScopeTable) {
        let (scan, outputs) = self.scan(relation);
        let row = outputs.iter().enumerate().map(|(place, output)| (place, output.id)).collect();
        let mut table = super::from::table_of(&relation.name, outputs, span);
        table.schema = Some(relation.schema.clone());
        table.row_type = relation.row_type;
        (scan, row, table)
    }

    /// Returns new columns for a row of a table that is in scope, under the same names.
    fn another_row(&mut self, table: &ScopeTable) -> (RowColumns, ScopeTable) {
        let columns = table.columns.iter();
        let columns = columns.map(|column| {
            (column.name.clone(), self.new_column(), column.value.data_type, column.value.span)
        });
        let columns = columns.collect::<Vec<_>>();
        let row = columns.iter().enumerate().map(|(place, (_, id, ..))| (place, *id)).collect();
        let span = columns.first().map(|(.., span)| *span).unwrap_or_default();
        let columns = columns.into_iter().map(|(name, id, data_type, _)| (name, id, data_type));
        let ScopeTable { columns, .. } = ScopeTable::new("", columns, span);
        (row, ScopeTable { columns, ..table.clone() })
    }

    /// Binds FROM or USING next to the table of a change, which its items do not see.
    fn join_with_changed(&mut self, scan: Relational, items: &[FromItem]) -> Result<Relational> {
        if items.is_empty() {
            return Ok(scan);
        }
        let hidden = self.scope().tables.len();
        let visible = std::mem::replace(&mut self.scope().visible_from, hidden);
        self.scope().is_changed_hidden = true;
        let rows = self.bind_from(items);
        let scope = self.scope();
        (scope.visible_from, scope.is_changed_hidden) = (visible, false);
        let kind = crate::bound::JoinKind::Inner;
        let join = crate::bound::Join {
            kind,
            left: scan,
            right: rows?,
            condition: None,
            is_lateral: false,
        };
        Ok(Relational::Join(Box::new(join)))
    }

    /// Binds WHERE of a change.
    fn change_filter(
        &mut self,
        rows: Relational,
        filter: Option<&gadus_syntax::ast::Expr>,
    ) -> Result<Relational> {
        self.scope().clause = Clause::Where;
        Ok(match filter.map(|filter| self.condition(filter, "WHERE")).transpose()? {
            Some(predicate) => Relational::Filter { input: Box::new(rows), predicate },
            None => rows,
        })
    }

    /// Binds RETURNING; `None` without it.
    fn returning(&mut self, targets: &[Target]) -> Result<Option<Returning>> {
        if targets.is_empty() {
            return Ok(None);
        }
        self.scope().clause = Clause::Returning;
        let (mut items, mut outputs) = (Vec::new(), Vec::new());
        for target in self.targets(targets)? {
            let value = match target.value.data_type.id.is_unknown() {
                true => self.coercion().argument(target.value, constants::TEXT)?,
                false => target.value,
            };
            let id = self.new_column();
            outputs.push(OutputColumn { name: target.name, id, data_type: value.data_type });
            items.push((id, value));
        }
        Ok(Some(Returning { items, outputs }))
    }
}

impl Relation {
    /// Returns the position of a column.
    fn column(&self, name: &Name) -> Result<usize> {
        self.columns.iter().position(|column| column.name == name.text).ok_or_else(|| {
            let message =
                format!("column \"{}\" of relation \"{}\" does not exist", name.text, self.name);
            BindError::new("42703", message, name.span)
        })
    }
}
