//! UPDATE

use super::generated::check_updated;
use super::{BoundChange, ChangedTable};
use crate::bind::{Binder, LaterStep};
use crate::bound::{ChangeKind, UpdateChange};
use crate::error::Result;
use gadus_syntax::ast::Update;

impl Binder<'_> {
    /// Binds UPDATE without WITH.
    pub(super) fn update(&mut self, update: &Update) -> Result<BoundChange> {
        let (change, _) = self.in_scope(|binder| {
            let target = binder.changed_table(&update.table, update.alias.as_ref())?;
            let ChangedTable { relation, table, scan, row: old } = target;
            binder.scope().add(table.clone());
            let rows = binder.join_with_changed(scan, &update.from)?;
            let input = binder.change_filter(rows, update.filter.as_ref())?;
            // RETURNING sees the new row under the names of the old one.
            let (row, new) = binder.another_row(&table);
            let scope = binder.scope();
            scope.own.extend(row.iter().map(|(_, id)| *id));
            scope.tables[0] = new;
            let returning = binder.returning(&update.returning)?;
            binder.scope().tables[0] = table;
            let assignments = binder.assignments(&relation, &update.assignments)?;
            let checked = check_updated(&relation, &assignments.values);
            binder.check_later(LaterStep::Rewrite, checked);
            let kind = ChangeKind::Update(UpdateChange { input, old, assignments });
            Ok(BoundChange { kind, row, returning, relation })
        })?;
        Ok(change)
    }
}
