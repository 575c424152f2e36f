//! Schemas, the search path, and what goes with a session.
//!
//! - Temporary relations are kept as others are, in a schema of the session's number that nobody is told of: they spill,
//!   index and roll back as others do. They are dropped when the session ends; what a process leaves that is killed is
//!   dropped by the next session that makes any.

use super::define::drop_everything;
use super::{Outcome, Prepared, Session, State};
use crate::error::{input, unsupported};
use crate::functions::Function;
use crate::names::{Names, TEMPORARY_SCHEMAS, found, kept, resolve};
use datafusion::sql::sqlparser::ast::{
    CreateFunctionBody, Expr, ObjectName, SchemaName, Statement, Value, visit_relations,
};
use gadus_engine::{
    DefinitionKey, Engine, Error, ErrorKind, Reason, Result, SCHEMA_SEPARATOR, Snapshot,
    TEMPORARY_PREFIX, Transaction, schema_and_name,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

impl Session {
    /// What names mean; none where they mean what they mean to everybody.
    pub(super) fn names(&self, state: &State) -> Option<Names> {
        let path = state.settings.variables.search_path();
        if path.is_none() && state.temporary.is_empty() {
            return None;
        }
        let temporary = match state.temporary.is_empty() {
            true => None,
            false => self.temporary_schema().ok(),
        };
        Some(Names::new(path, temporary)).filter(|names| !names.are_usual())
    }

    /// Whether a text may mean something to this session that it means to nobody else.
    pub(super) fn may_mean_its_own(&self, state: &State, names: &Names, text: &str) -> bool {
        if names.path != Names::default().path {
            return true;
        }
        let text = text.to_lowercase();
        let own = state.temporary.iter().map(String::as_str).chain(TEMPORARY_SCHEMAS);
        own.into_iter().any(|name| text.contains(name))
    }

    /// The schema of what goes with this session.
    fn temporary_schema(&self) -> Result<String> {
        Ok(format!("{TEMPORARY_PREFIX}{}", self.locker()?.id()))
    }

    /// Returns a CREATE VIEW of what goes with the session as one that goes with it, too; `None` for other statements.
    fn with_temporary_view(&self, state: &State, prepared: &Prepared) -> Result<Option<Prepared>> {
        let Statement::CreateView(create) = &*prepared.statement else { return Ok(None) };
        if create.temporary || create.name.0.len() != 1 || state.temporary.is_empty() {
            return Ok(None);
        }
        let Some(names) = self.names(state) else { return Ok(None) };
        let Some(own) = names.temporary.as_deref() else { return Ok(None) };
        let snapshot = state.snapshot(&self.engine)?;
        let Statement::CreateView(resolved) = self.resolved(&names, &snapshot, &prepared.statement)
        else {
            return Ok(None);
        };
        let reads_own = visit_relations(&resolved.query, |name| {
            let schema = name.0.first().and_then(|part| part.as_ident());
            match name.0.len() > 1 && schema.is_some_and(|schema| schema.value == own) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let mut temporary = create.clone();
        temporary.temporary = true;
        let statement = Arc::new(Statement::CreateView(temporary));
        Ok(reads_own.is_break().then(|| Prepared { statement, ..prepared.clone() }))
    }

    /// Prepares for a relation that goes with the session, if a statement makes one; returns the statement if its view goes
    /// with the session because of what it reads.
    pub(super) fn expect_temporary(
        &self,
        state: &mut State,
        prepared: &Prepared,
    ) -> Result<Option<Prepared>> {
        let view = self.with_temporary_view(state, prepared)?;
        let statement = &*view.as_ref().unwrap_or(prepared).statement;
        let (name, is_temporary) = match statement {
            Statement::CreateTable(create) => (&create.name, create.temporary),
            Statement::CreateView(create) => (&create.name, create.temporary),
            Statement::CreateSequence { name, temporary, .. } => (name, *temporary),
            _ => return Ok(None),
        };
        let parts = name.0.iter().filter_map(|part| part.as_ident()).map(super::folded);
        let parts = parts.collect::<Vec<_>>();
        let is_in =
            matches!(parts.as_slice(), [schema, _] if TEMPORARY_SCHEMAS.contains(&schema.as_str()));
        let Some(own) = parts.last().filter(|_| is_temporary || is_in) else { return Ok(None) };
        if parts.len() > 1 && !is_in {
            let message = "cannot create temporary relation in non-temporary schema";
            return Err(input(message).because(Reason::InvalidDefinition));
        }
        if state.temporary.is_empty() {
            let own = self.temporary_schema()?;
            sweep(&self.engine, |schema| schema == own)?;
        }
        let own = own.to_lowercase();
        if !state.temporary.contains(&own) {
            state.temporary.push(own);
        }
        Ok(view)
    }

    /// Drops what goes with the session.
    pub(super) fn drop_temporary(&self, state: &mut State) -> Result<()> {
        if !state.temporary.is_empty() {
            let own = self.temporary_schema()?;
            sweep(&self.engine, |schema| schema == own)?;
            state.temporary.clear();
        }
        Ok(())
    }

    /// The name under which a relation is kept that a program names.
    pub(super) fn kept_name(&self, state: &State, snapshot: &Snapshot, name: &str) -> String {
        let names = self.names(state);
        let schema = names.as_ref().and_then(|names| names.schema_of(snapshot, name));
        schema.map_or_else(|| found(snapshot, name), |schema| kept(schema, name))
    }

    /// Names relations with their schemas where that is not what everybody means.
    pub(super) fn resolved(
        &self,
        names: &Names,
        snapshot: &Snapshot,
        statement: &Statement,
    ) -> Statement {
        let mut resolved = statement.clone();
        resolve(snapshot, names, &mut resolved);
        if let Statement::CreateFunction(create) = &mut resolved
            && let Ok(mut function) = Function::of_statement(statement)
        {
            // Its body is a text, which nothing has looked at; what is wrong with it is told where it is made.
            function.each_query(|query| resolve(snapshot, names, query));
            create.function_body = Some(CreateFunctionBody::AsBeforeOptions {
                body: Expr::value(Value::SingleQuotedString(function.body_text())),
                link_symbol: None,
            });
        }
        resolved
    }
}

impl Drop for Session {
    /// Drops what goes with the session.
    fn drop(&mut self) {
        let Some(mut state) = self.state.try_lock().ok() else { return };
        if state.temporary.is_empty() || self.engine.check_usable().is_err() {
            return;
        }
        // It may have locks on them.
        state.cursors.close_all();
        (state.transaction, state.unfinished) = (None, None);
        // What is not dropped now is dropped by the next who makes any.
        let _ = self.drop_temporary(&mut state);
    }
}

/// Drops temporary relations: those of sessions that are gone, and those of these schemas.
fn sweep(engine: &Engine, is_own: impl Fn(&str) -> bool) -> Result<()> {
    let snapshot = engine.snapshot()?;
    let kept = snapshot.of_schemas_from(TEMPORARY_PREFIX);
    let schemas = kept.filter_map(|name| schema_and_name(name).0).collect::<HashSet<_>>();
    if schemas.is_empty() {
        return Ok(());
    }
    // Looked at after what there is: who makes something is there by then.
    let sessions = engine.sessions()?.into_iter().filter_map(|session| session.id);
    let alive = sessions.map(|id| format!("{TEMPORARY_PREFIX}{id}")).collect::<HashSet<_>>();
    let gone = schemas.into_iter().filter(|schema| is_own(schema) || !alive.contains(*schema));
    let gone = gone.map(str::to_owned).collect::<Vec<_>>();
    drop(snapshot);
    if gone.is_empty() {
        return Ok(());
    }
    let mut transaction = engine.begin()?;
    for schema in gone {
        drop_everything(&mut transaction, &schema)?;
    }
    transaction.commit().map(drop)
}

pub(super) fn create_schema(
    transaction: &mut Transaction,
    (name, if_not_exists): (&SchemaName, bool),
) -> Result<Outcome> {
    let SchemaName::Simple(name) = name else {
        return Err(unsupported("CREATE SCHEMA … AUTHORIZATION"));
    };
    let name = schema_name(name)?;
    if transaction.snapshot().has_schema(&name) || name == "public" {
        if if_not_exists {
            return Ok(Outcome::Done("CREATE SCHEMA"));
        }
        let message = format!("schema \"{name}\" already exists");
        return Err(Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateSchema));
    }
    let is_reserved = ["pg_", "gadus"].iter().any(|prefix| name.starts_with(prefix));
    if is_reserved || ["information_schema", "temp"].contains(&name.as_str()) {
        let message =
            format!("unacceptable schema name \"{name}\": the database keeps it for itself");
        return Err(input(message).because(Reason::InvalidDefinition));
    }
    transaction.define(DefinitionKey::Schema(name), Some(""))?;
    Ok(Outcome::Done("CREATE SCHEMA"))
}

pub(super) fn drop_schemas(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    for name in names {
        let name = schema_name(name)?;
        let key = DefinitionKey::Schema(name.clone());
        let snapshot = transaction.snapshot();
        if snapshot.definition(&key).is_none() {
            if if_exists {
                continue;
            }
            return Err(unknown_schema(&name));
        }
        let relation = snapshot.of_schema(&name).next().map(|(kept, _)| kept);
        let held = relation.or_else(|| snapshot.enums_of_schema(&name).next());
        let held = held.map(|kept| schema_and_name(kept).1.to_owned());
        if let Some(held) = held.filter(|_| !cascade) {
            let message = format!(
                "cannot drop schema {name} because other objects depend on it: {name}.{held}; DROP … CASCADE drops \
                 them, too"
            );
            return Err(input(message).because(Reason::Depended));
        }
        drop(snapshot);
        drop_everything(transaction, &name)?;
        transaction.define(key, None)?;
    }
    Ok(Outcome::Done("DROP SCHEMA"))
}

pub(super) fn unknown_schema(name: &str) -> Error {
    let message = format!("schema \"{name}\" does not exist");
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownSchema)
}

pub(super) fn schema_name(name: &ObjectName) -> Result<String> {
    let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>();
    match parts.as_deref() {
        Some([name]) if !name.value.contains(SCHEMA_SEPARATOR) => Ok(super::folded(name)),
        _ => Err(input(format!("{name} names no schema: there is one database, gadus"))),
    }
}
