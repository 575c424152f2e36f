//! Views in a version: what they read is there, and stays as long as they are.

use super::DatabaseVersion;
use crate::types::{UsedRelation, ViewSchema};
use gadus_base::TableId;
use std::sync::Arc;

impl DatabaseVersion {
    pub(crate) fn view_named(&self, name: &str) -> Option<&Arc<ViewSchema>> {
        self.views.get(self.names.get(name)?)
    }

    /// The views that read a table or a view, in the order of their ids.
    pub(crate) fn readers(&self, id: TableId) -> impl Iterator<Item = &Arc<ViewSchema>> {
        self.views.values().filter(move |view| view.reads(id).is_some())
    }

    /// Adds a view, or changes the one with its id.
    pub(super) fn set_view(&mut self, view: &Arc<ViewSchema>) -> Result<(), &'static str> {
        match self.views.get(&view.id) {
            Some(before) if before.name != view.name => return Err("renames a view"),
            Some(_) => {}
            None if view.id < self.next_table || self.names.contains_key(&view.name) => {
                return Err("creates a view whose name is there already");
            }
            None => self.next_table = TableId(view.id.0 + 1),
        }
        self.refuse_homeless(&view.name)?;
        if !view.uses.iter().all(|used| self.has(used)) {
            return Err("creates a view of what is not there");
        }
        if view.uses.iter().any(|used| self.leads_to(used.id, view.id)) {
            return Err("creates a view that reads itself");
        }
        self.names.insert(view.name.clone(), view.id);
        self.views.insert(view.id, view.clone());
        self.schema_version += 1;
        Ok(())
    }

    pub(super) fn drop_view(&mut self, id: TableId) -> Result<(), &'static str> {
        self.refuse_read(id)?;
        let view = self.views.remove(&id).ok_or("drops a view that is not there")?;
        self.names.remove(&view.name);
        self.drop_stale_comments(id);
        self.schema_version += 1;
        Ok(())
    }

    /// Refuses to take away what views read.
    pub(super) fn refuse_read(&self, id: TableId) -> Result<(), &'static str> {
        match self.readers(id).next() {
            Some(_) => Err("drops what a view reads"),
            None => Ok(()),
        }
    }

    /// Whether what a view knows of a relation is there.
    fn has(&self, used: &UsedRelation) -> bool {
        if let Some(table) = self.tables.get(&used.id) {
            let is_there = |id: u32| table.schema.column_with_id(id).is_some();
            return used.columns.iter().all(|column| !column.is_used || is_there(column.id));
        }
        let columns = self.views.get(&used.id).map_or(0, |view| view.columns.len());
        columns > 0 && used.columns.iter().all(|column| (column.id as usize) < columns)
    }

    /// Whether a relation is another one, or a view that reads it, also through others.
    pub(crate) fn leads_to(&self, from: TableId, to: TableId) -> bool {
        let (mut seen, mut rest) = (std::collections::BTreeSet::new(), vec![from]);
        while let Some(id) = rest.pop() {
            if id == to {
                return true;
            }
            let uses = self.views.get(&id).map(|view| view.uses.as_slice()).unwrap_or_default();
            rest.extend(uses.iter().map(|used| used.id).filter(|id| seen.insert(*id)));
        }
        false
    }
}
