//! From text to the part that runs it.

use super::asked::{Asked, Source};
use super::cancel::{Cancel, Flag};
use super::for_update::refuse_nested_locks;
use super::locking::blocking;
use super::maintenance::Maintenance;
use super::transact::{refuse_read_only, transact};
use super::views::is_deep_by_views;
use super::{Outcome, Prepared, Session, State};
use crate::compiled::Writes;
use crate::error::{input, unsupported};
use crate::executor::{HandOff, WorkFor};
use crate::explained::Request;
use crate::kept::{Found, KEPT_TEXT_BYTES_MAX, scalars};
use crate::names::written;
use crate::panics::caught;
use crate::room::Roomy;
use crate::statements::{Meter, charged};
use crate::value::Value;
use datafusion::sql::sqlparser::ast::Statement;
use gadus_engine::{Autocommit, ErrorKind, Result, Transaction};
use std::sync::Arc;

/// What became of a statement that might have a kept plan.
enum Kept {
    Ran(Outcome),
    /// It has none; `again` says that it came before.
    Not {
        again: bool,
    },
}

/// How often a statement is run again after a conflict. Each time another commit has made progress.
const CONFLICT_RETRIES_MAX: usize = 100;

impl Session {
    /// Runs a statement, and counts what it cost.
    pub(super) async fn run(&self, source: Source<'_>, parameters: &[Value]) -> Result<Outcome> {
        let meter = Meter::begin();
        // Before anything is waited for: in a forked child nobody is there to end it.
        self.engine.check_usable()?;
        let state = &mut *self.state.lock().await;
        self.run_in_turn(state, meter, source, parameters).await
    }

    /// Runs a statement whose turn it is in the session, and counts what it cost.
    pub(super) async fn run_in_turn(
        &self,
        state: &mut State,
        meter: Meter,
        source: Source<'_>,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let executed = match source {
            Source::Text(text) => self.executed(text)?,
            Source::Prepared(_) => None,
        };
        let source = executed.as_ref().map_or(source, Source::Prepared);
        let asked = Asked::new(source, parameters);
        let outcome = {
            let run = std::pin::pin!(self.run_uncounted(state, &asked));
            charged(meter.account(), run).await
        };
        meter.end(&self.shared.statements, asked.counted(), outcome)
    }

    async fn run_uncounted(&self, state: &mut State, asked: &Asked<'_>) -> Result<Outcome> {
        let flag = self.begin_statement(state)?;
        self.put_in_place(asked.source.frames());
        let is_part = state.transaction.is_some();
        let begun = match is_part || self.autocommit() {
            true => Ok(()),
            false => self.begin_before(state, asked.source, &flag).await,
        };
        let outcome = match begun {
            Ok(()) => self.run_until_done(state, asked, &flag).await,
            Err(error) => Err(error),
        };
        self.end_statement(state, outcome)
    }

    /// Begins the transaction that a statement is to be part of, where it is not to commit by itself.
    async fn begin_before(&self, state: &mut State, source: Source<'_>, flag: &Flag) -> Result<()> {
        match source {
            Source::Prepared(prepared) => self.begin_implicit(state, prepared),
            Source::Text(text) => self.begin_implicit(state, &self.parse_within(text, flag).await?),
        }
    }

    /// Runs a statement, again where it had to wait for others or where they were first.
    pub(super) async fn run_until_done(
        &self,
        state: &mut State,
        asked: &Asked<'_>,
        flag: &Flag,
    ) -> Result<Outcome> {
        let mut conflicts = 0;
        let outcome = loop {
            let in_transaction = state.transaction.is_some();
            let error = match caught(self.attempt(state, asked, flag)).await {
                Ok(outcome) => break Ok(outcome),
                Err(error) => error,
            };
            let same = in_transaction == state.transaction.is_some();
            let again = same && state.sees_newer() && conflicts < CONFLICT_RETRIES_MAX;
            if error.kind() == ErrorKind::Conflict && again {
                conflicts += 1;
                continue;
            }
            if let Err(error) = self.wait_for_lock(state, flag, error) {
                break Err(error);
            }
        };
        // What looks at the flag by itself does not know why it is set.
        outcome.map_err(|error| match error.kind() {
            ErrorKind::Cancelled if flag.is_set() => flag.reason(),
            _ => self.diagnosed(state, asked.source, error).reworded(written),
        })
    }

    pub(super) async fn attempt(
        &self,
        state: &mut State,
        asked: &Asked<'_>,
        flag: &Flag,
    ) -> Result<Outcome> {
        let &Asked { source, parameters, .. } = asked;
        // What ends a transaction needs no newer snapshot, and must not fail for want of one.
        let refresh = |transaction: &mut Transaction| {
            self.sequences.settle(transaction)?;
            transaction.refresh()
        };
        let refreshed = state.transaction.as_mut().map_or(Ok(()), refresh);
        let again = match refreshed.is_ok() {
            true => match self.run_known_for(state, asked, flag).await? {
                Kept::Ran(outcome) => return Ok(outcome),
                Kept::Not { again } => again,
            },
            false => false,
        };
        let parsed;
        let prepared = match source {
            Source::Prepared(prepared) => prepared,
            Source::Text(text) => {
                parsed = self.parse_within(text, flag).await?;
                &parsed
            }
        };
        if let Some(outcome) = transact(self, state, &prepared.statement)? {
            return Ok(outcome);
        }
        refreshed?;
        let with_settings = self.with_settings(state, prepared, Some(parameters))?;
        let prepared = with_settings.as_ref().unwrap_or(prepared);
        if prepared.reads_settings {
            self.show_to_planner(state);
        }
        let temporary = self.expect_temporary(state, prepared)?;
        let prepared = temporary.as_ref().unwrap_or(prepared);
        let names = self.names(state);
        let snapshot = state.snapshot(&self.engine)?;
        flag.check()?;
        let with_catalog = self.with_catalog(&snapshot, names.as_ref(), prepared)?;
        let prepared = with_catalog.as_ref().unwrap_or(prepared);
        flag.check()?;
        let views = is_deep_by_views(&snapshot, &prepared.statement)?;
        // So that a transaction changes its version in place instead of copying it.
        drop(snapshot);
        let is_deep = prepared.is_deep || views;
        if let Some(request) = Request::of(&prepared.statement)? {
            refuse_parameters(prepared, parameters)?;
            let explained =
                Box::pin(self.explain_unplanned(state, (prepared, request), parameters, flag));
            if let Some(outcome) = if is_deep { Roomy(explained).await? } else { explained.await? }
            {
                return Ok(outcome);
            }
        }
        // A kept plan would run without room.
        let again = again && !is_deep && !prepared.calls_settings && !prepared.calls_sequences;
        let dispatched = self.dispatch_off_worker(state, prepared, parameters, again);
        if !is_deep {
            return flag.run(dispatched).await;
        }
        let outcome = flag.run(Roomy(dispatched)).await?;
        Ok(match outcome {
            Outcome::Rows(rows) => Outcome::Rows(rows.with_room()),
            other => other,
        })
    }

    /// Plans and runs a statement; no other task of this thread waits for that.
    ///
    /// The future is boxed: DataFusion needs a large one, and that of every statement would be moved with room
    /// for it.
    fn dispatch_off_worker<'a>(
        &'a self,
        state: &'a mut State,
        prepared: &'a Prepared,
        parameters: &'a [Value],
        again: bool,
    ) -> impl Future<Output = Result<Outcome>> + Unpin {
        let work = Box::pin(self.dispatch(state, prepared, parameters, again));
        HandOff(WorkFor { cancel: Cancel::of(self.cancel.current()), work })
    }

    /// Runs what need not be parsed, for the statement whose turn it is.
    async fn run_known_for(
        &self,
        state: &mut State,
        asked: &Asked<'_>,
        flag: &Flag,
    ) -> Result<Kept> {
        let work = std::pin::pin!(self.run_known(state, asked, flag));
        WorkFor { cancel: Cancel::of(self.cancel.current()), work }.await
    }

    /// Runs what need not be parsed: what is compiled, or has a plan that is kept, or acts on the database's files.
    async fn run_known(&self, state: &mut State, asked: &Asked<'_>, flag: &Flag) -> Result<Kept> {
        let text = asked.source.text();
        let names = self.names(state);
        // What others know of the text is of other relations.
        let is_own = names.is_some_and(|names| self.may_mean_its_own(state, &names, text));
        if !is_own && let Some(outcome) = self.run_compiled(state, asked, flag).await? {
            return Ok(Kept::Ran(outcome));
        }
        if let Some(outcome) = self.run_maintenance(state, flag, text)? {
            return Ok(Kept::Ran(outcome));
        }
        match is_own {
            true => Ok(Kept::Not { again: false }),
            false => self.run_kept(state, &asked.source.shared_text(), asked.parameters),
        }
    }

    /// Runs a statement whose shape has been, or now can be, compiled.
    async fn run_compiled(
        &self,
        state: &mut State,
        asked: &Asked<'_>,
        flag: &Flag,
    ) -> Result<Option<Outcome>> {
        let Some((shape, parameters)) = asked.shape() else { return Ok(None) };
        let engine = &self.engine;
        let snapshot = state.snapshot(engine)?;
        let compiled = self.shared.compiled.get(shape, parameters.len(), &snapshot);
        let Some(compiled) = compiled else { return Ok(None) };
        if compiled.scans() {
            // A shared scan has a newer one.
            drop(snapshot);
            if compiled.modifies() {
                refuse_read_only(&self.engine, state)?;
                return Box::pin(self.run_modification(state, &compiled, parameters, flag)).await;
            }
            return Box::pin(self.run_scan(state, &compiled, parameters, flag)).await;
        }
        if !compiled.writes() {
            return compiled.look_up(&snapshot, parameters);
        }
        refuse_read_only(&self.engine, state)?;
        let numbers =
            compiled.numbers(|name, count| self.sequences(snapshot.clone()).next(name, count))?;
        // So that a transaction changes its version in place instead of copying it.
        drop(snapshot);
        let writes = match &mut state.transaction {
            Some(transaction) => Writes::Joining(transaction),
            None => Writes::Alone(
                engine,
                Autocommit {
                    durability: state.settings.durability.unwrap_or(engine.options().durability),
                    locker: self.locker.get().map(|locker| &**locker),
                },
            ),
        };
        compiled.write(writes, &numbers, parameters)
    }

    /// Runs a statement whose plan is kept.
    fn run_kept(&self, state: &State, text: &Arc<str>, parameters: &[Value]) -> Result<Kept> {
        if text.len() > KEPT_TEXT_BYTES_MAX || !may_be_query(text) {
            return Ok(Kept::Not { again: false });
        }
        let snapshot = state.snapshot(&self.engine)?;
        let (text, values) = (&state.plan_text(text), scalars(parameters));
        match self.shared.kept.find(text, &values, snapshot.schema_version()) {
            Found::No => Ok(Kept::Not { again: false }),
            Found::Again => Ok(Kept::Not { again: true }),
            Found::Plan(plan) => {
                let told = (&self.cancel, self.reading(), self.asking(state));
                let rows = plan.run(&self.shared.kept, text, snapshot, values, told)?;
                Ok(rows.map_or(Kept::Not { again: true }, |rows| Kept::Ran(Outcome::Rows(rows))))
            }
        }
    }

    /// Runs the statements that act on the database's files and are part of no transaction.
    fn run_maintenance(&self, state: &State, flag: &Flag, text: &str) -> Result<Option<Outcome>> {
        match Maintenance::of(text)? {
            None => Ok(None),
            Some(Maintenance::Checkpoint) => {
                blocking(|| self.engine.checkpoint())?;
                Ok(Some(Outcome::Done("CHECKPOINT")))
            }
            Some(Maintenance::Backup { file }) => self.back_up(state, flag, &file).map(Some),
            Some(Maintenance::Reindex(reindex)) => self.reindex(state, &reindex).map(Some),
        }
    }

    async fn dispatch(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: &[Value],
        again: bool,
    ) -> Result<Outcome> {
        refuse_parameters(prepared, parameters)?;
        let statement = &*prepared.statement;
        refuse_nested_locks(statement)?;
        if let Some(outcome) = self.command(state, statement)? {
            return Ok(outcome);
        }
        if let Some(request) = Request::of(statement)? {
            return self.explain_planned(state, (prepared, request), parameters).await;
        }
        if prepared.changes_within {
            refuse_read_only(&self.engine, state)?;
            return self.write(state, prepared, parameters).await;
        }
        match statement {
            Statement::Copy { to, .. } => {
                if !to {
                    refuse_read_only(&self.engine, state)?;
                }
                self.copy(state, prepared, parameters).await
            }
            statement if is_write(statement) => {
                refuse_read_only(&self.engine, state)?;
                self.write(state, prepared, parameters).await
            }
            Statement::Prepare { .. } => self.prepare_by_name(prepared.text()),
            Statement::Deallocate { .. } => self.by_name.deallocate(prepared.deallocated()),
            Statement::Declare { stmts } => self.declare(state, stmts, parameters).await,
            Statement::Fetch { name, direction, into, .. } => {
                self.fetch(state, (name, direction, into.as_ref())).await
            }
            Statement::Query(query) if !query.locks.is_empty() => {
                self.query_locking(state, query, parameters).await
            }
            Statement::Query(_) => {
                if again
                    && prepared.unread.is_none()
                    && let Some(outcome) = self.query_and_keep(state, prepared, parameters).await?
                {
                    return Ok(outcome);
                }
                if let Some(outcome) = self.query_bound(state, prepared, parameters).await? {
                    return Ok(outcome);
                }
                self.query(state, statement, parameters).await
            }
            Statement::Explain { .. }
            | Statement::ExplainTable { .. }
            | Statement::ShowTables { .. }
            | Statement::ShowColumns { .. } => self.query(state, statement, parameters).await,
            other => {
                let text = other.to_string();
                let verb = text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                Err(unsupported(&verb))
            }
        }
    }
}

/// Refuses values that are more or fewer than a statement's parameters.
fn refuse_parameters(prepared: &Prepared, parameters: &[Value]) -> Result<()> {
    if parameters.len() == prepared.parameters {
        return Ok(());
    }
    Err(input(format!(
        "the statement has {} parameters, {} values were given",
        prepared.parameters,
        parameters.len()
    )))
}

/// Whether a statement changes rows or the catalog.
fn is_write(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Truncate(_)
            | Statement::CreateTable(_)
            | Statement::CreateView(_)
            | Statement::CreateFunction(_)
            | Statement::CreateMacro { .. }
            | Statement::DropFunction(_)
            | Statement::CreateSchema { .. }
            | Statement::CreateType { .. }
            | Statement::AlterType(_)
            | Statement::Comment { .. }
            | Statement::AlterTable(_)
            | Statement::CreateIndex(_)
            | Statement::CreateSequence { .. }
            | Statement::AlterIndex { .. }
            | Statement::CreateRole(_)
            | Statement::AlterRole { .. }
            | Statement::Drop { .. }
    )
}

/// Whether a text begins as queries do.
fn may_be_query(text: &str) -> bool {
    let text = text.trim_start();
    let begins =
        |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    text.starts_with('(') || ["SELECT", "WITH", "VALUES"].into_iter().any(begins)
}
