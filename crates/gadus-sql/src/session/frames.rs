//! Arrow data of the program under names, for the statements of one session or for one statement.
//!
//! - A name means such data only where no table has it. Batches are read in place; nothing is copied.
//! - A statement's own data is seen by nobody else, also where several threads use the session: it is
//!   put in place when the statement's turn has come.
//! - A plan with such data is not kept: the next statement may find other data under the name.

use super::{Prepared, Session};
use crate::error::from_datafusion;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query, Statement, Visit, Visitor};
use gadus_engine::Result;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The data by its names, in lower case: they mean the same however they are written.
pub(crate) type Frames = HashMap<String, Arc<dyn TableProvider>>;

/// Whose data it is.
#[derive(Debug, Default)]
pub(crate) struct Named {
    registered: Arc<Frames>,
    /// Of the statement whose turn it is.
    own: Option<Arc<Frames>>,
}

impl Session {
    /// Lets statements of this session read Arrow data as a table, until the name is given away or taken
    /// back. Tables of the database have precedence.
    ///
    /// # Errors
    /// `Input` where a batch has another schema.
    pub fn register(&self, name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
        let table = self.table_of(schema, batches)?;
        Arc::make_mut(&mut self.frames.lock().registered).insert(name.to_lowercase(), table);
        Ok(())
    }

    /// Lets one statement read Arrow data as a table. Tables of the database have precedence.
    ///
    /// # Errors
    /// `Input` where a batch has another schema.
    pub fn with_table(
        &self,
        mut prepared: Prepared,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Prepared> {
        let table = self.table_of(schema, batches)?;
        let frames = prepared.frames.get_or_insert_default();
        Arc::make_mut(frames).insert(name.to_lowercase(), table);
        Ok(prepared)
    }

    fn table_of(
        &self,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Arc<dyn TableProvider>> {
        // As many parts as threads may read at once.
        let threads = self.engine.options().threads.clamp(1, batches.len().max(1));
        let mut parts = vec![Vec::new(); threads];
        for (number, batch) in batches.into_iter().enumerate() {
            parts[number % threads].push(batch);
        }
        Ok(Arc::new(MemTable::try_new(schema, parts).map_err(from_datafusion)?))
    }

    /// A statement's turn has come, which has such data of its own, or none.
    pub(super) fn put_in_place(&self, own: Option<&Arc<Frames>>) {
        let mut frames = self.frames.lock();
        if own.is_some() || frames.own.is_some() {
            frames.own = own.cloned();
        }
    }

    /// Takes such a name back; says whether there was data of this name.
    pub fn unregister(&self, name: &str) -> bool {
        Arc::make_mut(&mut self.frames.lock().registered).remove(&name.to_lowercase()).is_some()
    }

    /// The names in the place of tables that mean nothing at the moment, as they are written.
    ///
    /// # Errors
    /// `Input` where the text is no statement, or the snapshot cannot be taken.
    pub fn unknown_tables(&self, text: &str) -> Result<Vec<String>> {
        let prepared = super::parse(text)?;
        let (snapshot, frames) = (self.engine.snapshot()?, self.frames.lock().registered.clone());
        let mut names = Names::default();
        let _ = prepared.statement.visit(&mut names);
        let is_unknown = |name: &&Ident| {
            let meant = meant_by(name);
            let is_table = || snapshot.has_relation(&meant);
            let is_frame = || frames.contains_key(&name.value.to_lowercase());
            !names.queries.contains(&meant) && !is_table() && !is_frame()
        };
        Ok(names.tables.iter().filter(is_unknown).map(|name| name.value.clone()).collect())
    }

    /// What the statement that runs may read.
    pub(super) fn frames(&self) -> Arc<Frames> {
        self.frames.lock().all()
    }

    /// What a statement may read, whichever runs.
    pub(super) fn frames_of(&self, prepared: &Prepared) -> Arc<Frames> {
        let registered = self.frames.lock().registered.clone();
        Named { registered, own: prepared.frames.clone() }.all()
    }
}

impl Named {
    fn all(&self) -> Arc<Frames> {
        let Some(own) = &self.own else { return self.registered.clone() };
        let mut all = Frames::clone(&self.registered);
        all.extend(own.iter().map(|(name, table)| (name.clone(), table.clone())));
        Arc::new(all)
    }
}

/// Whether a statement may read such data.
pub(super) fn names_frame(frames: &Frames, statement: &Statement) -> bool {
    if frames.is_empty() {
        return false;
    }
    let mut names = Names::default();
    let _ = statement.visit(&mut names);
    names.tables.iter().any(|name| frames.contains_key(&name.value.to_lowercase()))
}

/// A name as it is looked up.
fn meant_by(name: &Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    }
}

/// Tables that a statement names without a schema, and the names that it gives to queries.
#[derive(Default)]
struct Names {
    tables: Vec<Ident>,
    queries: Vec<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        if let [part] = relation.0.as_slice()
            && let Some(name) = part.as_ident()
            && !self.tables.contains(name)
        {
            self.tables.push(name.clone());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.queries.extend(named.map(|named| meant_by(&named.alias.name)));
        ControlFlow::Continue(())
    }
}
