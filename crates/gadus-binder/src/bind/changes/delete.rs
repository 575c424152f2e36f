//! DELETE

use super::{BoundChange, ChangedTable};
use crate::bind::Binder;
use crate::bound::ChangeKind;
use crate::error::Result;
use gadus_syntax::ast::Delete;

impl Binder<'_> {
    /// Binds DELETE without WITH.
    pub(super) fn delete(&mut self, delete: &Delete) -> Result<BoundChange> {
        let (change, _) = self.in_scope(|binder| {
            let target = binder.changed_table(&delete.table, delete.alias.as_ref())?;
            let ChangedTable { relation, table, scan, row } = target;
            binder.scope().add(table);
            let rows = binder.join_with_changed(scan, &delete.using)?;
            let input = binder.change_filter(rows, delete.filter.as_ref())?;
            let returning = binder.returning(&delete.returning)?;
            Ok(BoundChange { kind: ChangeKind::Delete { input }, row, returning, relation })
        })?;
        Ok(change)
    }
}
