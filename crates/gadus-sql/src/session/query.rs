//! Queries, planned and run by DataFusion on one snapshot.

use super::as_queries::describe;
use super::columns::Headings;
use super::files::take_files;
use super::frames::{Frames, names_frame};
use super::in_order::{plan_to_write, stream_to_write};
use super::modify::table_name;
use super::parse::{SELECT_LIST_MAX, too_many_columns};
use super::planners_words::respell_for;
use super::scanning::ScanSharing;
use super::{Asking, Outcome, Prepared, Session, State};
use crate::enums::{self};
use crate::error::{from_datafusion, unsupported};
use crate::executor::{self, logical_plan};
use crate::kept::{Binding, KeptPlan, scalars};
use crate::memory::{Replan, run_or_replan, task_of};
use crate::names::Names;
use crate::postgres;
use crate::provider::{Files, Reading, SYSTEM_SCHEMA, SnapshotCatalog, System};
use crate::rows::RowStream;
use crate::value::Value;
use datafusion::common::ParamValues;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement, visit_relations};
use gadus_base::Account;
use gadus_engine::{Result, Snapshot};
use gadus_machine::batch_rows;
use std::ops::ControlFlow;
use std::sync::Arc;

impl Session {
    /// A planner that sees one snapshot, and the files that the statement names; these are replaced
    /// in the statement by names of their own.
    pub(super) async fn planner(
        &self,
        snapshot: Snapshot,
        statement: &mut Statement,
    ) -> Result<SessionContext> {
        self.planner_with(self.frames(), snapshot, statement).await
    }

    /// The same with Arrow data under these names.
    pub(super) async fn planner_with(
        &self,
        frames: Arc<Frames>,
        snapshot: Snapshot,
        statement: &mut Statement,
    ) -> Result<SessionContext> {
        self.planner_reading(self.reading(), frames, snapshot, statement).await
    }

    /// The same, reading tables in this way.
    pub(super) async fn planner_reading(
        &self,
        reading: Reading,
        frames: Arc<Frames>,
        snapshot: Snapshot,
        statement: &mut Statement,
    ) -> Result<SessionContext> {
        respell_for(&snapshot, statement)?;
        check_step()?;
        enums::resolve(&snapshot, statement)?;
        let files = take_files(statement, &self.shared.planner, &self.files).await?;
        check_step()?;
        let mut state = self.shared.planner.clone();
        self.set_batch_rows(&mut state)?;
        if crate::sequences::find_calls(statement) {
            for function in crate::sequences::functions(self.sequences(snapshot.clone())) {
                state.register_udf(function).map_err(from_datafusion)?;
            }
        }
        if rewrite_for_catalog(&frames, &snapshot, statement) {
            let session = self.locker().ok().map(|locker| locker.id());
            let asking = postgres::Asking { engine: self.engine.clone(), session };
            for function in postgres::functions(&snapshot, asking) {
                state.register_udf(function).map_err(from_datafusion)?;
            }
        }
        Ok(self.context(state, snapshot, (files, frames), reading))
    }

    /// Gives a planner the tables of a snapshot, files and Arrow data.
    fn context(
        &self,
        mut state: PlannerState,
        snapshot: Snapshot,
        named: (Files, Arc<Frames>),
        reading: Reading,
    ) -> SessionContext {
        let statements = self.shared.statements.clone();
        let settings = self.shown.lock().clone();
        let memory = self.shared.memory.clone();
        let system = System { engine: self.engine.clone(), statements, settings, memory };
        let reading = (reading, for_views(&snapshot, &state));
        let catalog = SnapshotCatalog::new(snapshot, named, system, reading);
        state.register_catalog_list(Arc::new(catalog));
        SessionContext::new_with_state(state)
    }

    /// Returns a planner for bound queries: it sees the tables of a snapshot.
    pub(super) fn planner_of_tables(
        &self,
        snapshot: Snapshot,
        reading: Reading,
    ) -> Result<SessionContext> {
        let mut state = self.shared.planner.clone();
        self.set_batch_rows(&mut state)?;
        Ok(self.context(state, snapshot, Default::default(), reading))
    }

    /// Returns a planner for a bound statement that may call functions of sequences: by their whole names, which a
    /// session with names of its own does not give.
    pub(super) fn planner_with_sequences(
        &self,
        (snapshot, names): (&Snapshot, Option<&Names>),
        reading: Reading,
    ) -> Result<SessionContext> {
        let context = self.planner_of_tables(snapshot.clone(), reading)?;
        if names.is_none() {
            for function in crate::sequences::functions(self.sequences(snapshot.clone())) {
                context.register_udf(ScalarUDF::clone(&function));
            }
        }
        Ok(context)
    }

    /// Returns a planner for a bound query whose plan is kept: it sees the tables of a binding.
    pub(super) fn planner_of_binding(
        &self,
        snapshot: &Snapshot,
        binding: Arc<Binding>,
    ) -> Result<PlannerState> {
        let threads = self.engine.options().threads;
        let mut planner = self.shared.planner.clone();
        self.set_batch_rows(&mut planner)?;
        let views = for_views(snapshot, &planner);
        let catalog = SnapshotCatalog::for_keeping(snapshot.clone(), threads, binding, views);
        planner.register_catalog_list(Arc::new(catalog));
        Ok(planner)
    }

    /// Has plans give as many rows at a time as the memory limit is for.
    fn set_batch_rows(&self, planner: &mut PlannerState) -> Result<()> {
        let rows = ConfigNonZeroUsize::try_new(batch_rows(self.shared.memory.limit()));
        let options = planner.config_mut().options_mut();
        options.execution.batch_size = rows.map_err(from_datafusion)?;
        Ok(())
    }

    /// Runs a query by a plan that is kept afterwards; none where its plan cannot be kept.
    pub(super) async fn query_and_keep(
        &self,
        state: &State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        let statement = &*prepared.statement;
        refuse_locks(statement)?;
        let snapshot = state.snapshot(&self.engine)?;
        let (kept, values) = (&self.shared.kept, scalars(parameters));
        let (version, text) = (snapshot.schema_version(), state.plan_text(&prepared.text));
        let bound = self.bound_plan_to_keep(state, prepared, parameters).await?;
        let plan = match bound {
            Some(plan) => Some(plan),
            None => self.plan_to_keep(&snapshot, statement, parameters).await?,
        };
        let Some(plan) = plan else {
            kept.refuse(&text, &values, version);
            return Ok(None);
        };
        let told = (&self.cancel, self.reading(), self.asking(state));
        let rows = plan.run(kept, &text, snapshot, values, told)?;
        Ok(rows.map(Outcome::Rows))
    }

    async fn plan_to_keep(
        &self,
        snapshot: &Snapshot,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Option<KeptPlan>> {
        if names_frame(&self.frames(), statement) || names_sequence(snapshot, statement) {
            return Ok(None);
        }
        let mut rest = statement.clone();
        check_step()?;
        respell_for(snapshot, &mut rest)?;
        check_step()?;
        enums::resolve(snapshot, &mut rest)?;
        let files = take_files(&mut rest, &self.shared.planner, &self.files).await?;
        check_step()?;
        if !files.is_empty()
            || names_system(&rest)
            || rewrite_for_catalog(&self.frames(), snapshot, &mut rest)
        {
            return Ok(None);
        }
        let binding = Binding::new(snapshot.clone(), parameters, self.reading());
        let planner = self.planner_of_binding(snapshot, binding.clone())?;
        KeptPlan::make(planner, binding, rest, Headings::of(statement)).await
    }

    pub(super) fn reading(&self) -> Reading {
        let together = self.outside.lock().scan_sharing != ScanSharing::Never;
        let account = Account::current();
        Reading { progress: self.progress.clone(), account, together, measured: false }
    }

    pub(super) async fn query(
        &self,
        state: &State,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let read = (state.snapshot(&self.engine)?, self.asking(state));
        self.query_on(read, statement, parameters).await
    }

    /// Runs a query on a snapshot; where it may ask others, on a newer one.
    pub(super) async fn query_on(
        &self,
        (snapshot, asking): (Snapshot, Option<Asking>),
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let mut statement = describe(statement)?.unwrap_or_else(|| statement.clone());
        refuse_locks(&statement)?;
        let headings = Headings::of(&statement);
        let context = self.planner(snapshot, &mut statement).await?;
        let plan = plan(&context, statement, parameters).await?;
        let physical = executor::physical_plan(context.state(), &plan).await;
        let physical = physical.map_err(from_datafusion)?;
        let rows = self.run_plan(&context, plan, physical, asking)?;
        Ok(Outcome::Rows(rows.with_headings(&headings)))
    }

    /// Begins to run a plan; where it may ask others, on a newer snapshot.
    pub(super) fn run_plan(
        &self,
        context: &SessionContext,
        plan: LogicalPlan,
        physical: Arc<dyn ExecutionPlan>,
        asking: Option<Asking>,
    ) -> Result<RowStream> {
        if let Some(asking) = asking {
            asking.begin(&*physical)?;
        }
        let replan = || Some(Replan::new(context, plan));
        let stream = run_or_replan(physical, task_of(context), replan).map_err(from_datafusion)?;
        Ok(RowStream::from_datafusion(stream, &self.cancel))
    }

    /// Tells how many rows a plan will give, where it knows.
    pub(super) fn expect_rows(&self, plan: &dyn ExecutionPlan) {
        let known = StatisticsContext::new().compute(plan, &StatisticsArgs::new());
        if let Ok(statistics) = known
            && let Some(rows) = statistics.num_rows.get_value()
        {
            self.progress.rows_expected(*rows);
        }
    }

    /// Plans a statement and begins to run it.
    pub(super) async fn stream(
        &self,
        context: &SessionContext,
        statement: Statement,
        parameters: &[Value],
    ) -> Result<SendableRecordBatchStream> {
        let plan = plan(context, statement, parameters).await?;
        self.stream_plan(context, plan).await
    }

    /// Begins to run a plan.
    pub(super) async fn stream_plan(
        &self,
        context: &SessionContext,
        plan: LogicalPlan,
    ) -> Result<SendableRecordBatchStream> {
        let physical =
            executor::physical_plan(context.state(), &plan).await.map_err(from_datafusion)?;
        let replan = || Some(Replan::new(context, plan));
        run_or_replan(physical, task_of(context), replan).map_err(from_datafusion)
    }

    /// The same for rows that are to be written: tells how many there will be.
    pub(super) async fn stream_to_write(
        &self,
        context: &SessionContext,
        statement: Statement,
        parameters: &[Value],
    ) -> Result<SendableRecordBatchStream> {
        let plan = plan(context, statement, parameters).await?;
        self.stream_plan_to_write(context, &plan).await
    }

    /// The same for what is planned.
    pub(super) async fn stream_plan_to_write(
        &self,
        context: &SessionContext,
        plan: &LogicalPlan,
    ) -> Result<SendableRecordBatchStream> {
        let physical = plan_to_write(context.state(), plan).await?;
        self.expect_rows(&*physical);
        let replan = || Some(Replan::new(context, plan.clone()));
        stream_to_write(physical, task_of(context), self.engine.options().threads, replan)
    }
}

/// Ends planning between two of its steps: with a large statement each takes some milliseconds.
fn check_step() -> Result<()> {
    executor::check_cancelled().map_err(from_datafusion)
}

/// What views are planned with, where there are any: a copy costs a part of what planning does.
fn for_views(snapshot: &Snapshot, planner: &PlannerState) -> Option<Arc<PlannerState>> {
    snapshot.views().next().map(|_| Arc::new(planner.clone()))
}

/// Rewrites a statement about PostgreSQL's catalog; says whether it is one.
pub(super) fn rewrite_for_catalog(
    frames: &Frames,
    snapshot: &Snapshot,
    statement: &mut Statement,
) -> bool {
    let is_taken =
        |name: &str| snapshot.has_relation(name) || frames.contains_key(&name.to_lowercase());
    postgres::rewrite(statement, &is_taken)
}

pub(super) async fn physical_plan(
    context: &SessionContext,
    statement: Statement,
    parameters: &[Value],
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan(context, statement, parameters).await?;
    executor::physical_plan(context.state(), &plan).await.map_err(from_datafusion)
}

/// The logical plan of a statement with its parameters' values.
pub(super) async fn plan(
    context: &SessionContext,
    statement: Statement,
    parameters: &[Value],
) -> Result<LogicalPlan> {
    let plan = logical_plan(context.state(), statement).await.map_err(from_datafusion)?;
    // Behind a star stand as many columns as a table has.
    if plan.schema().fields().len() > SELECT_LIST_MAX {
        return Err(too_many_columns());
    }
    if parameters.is_empty() {
        return Ok(plan);
    }
    let values = parameters.iter().map(|value| value.to_scalar().into()).collect();
    plan.with_param_values(ParamValues::List(values)).map_err(from_datafusion)
}

/// Whether a statement reads who uses the database, which is different each time.
fn names_system(statement: &Statement) -> bool {
    names_schema(statement, SYSTEM_SCHEMA)
}

/// Whether a statement reads a sequence as a table, which has other rows each time.
fn names_sequence(snapshot: &Snapshot, statement: &Statement) -> bool {
    let is_sequence = |name: &ObjectName| {
        table_name(name).is_ok_and(|name| snapshot.find_sequence(&name).is_some())
    };
    visit_relations(statement, |name| match is_sequence(name) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Whether a statement names a table of a schema.
pub(super) fn names_schema(statement: &Statement, schema: &str) -> bool {
    let is_of_schema = |name: &ObjectName| {
        // The schema stands before the table; the catalog, which may be named, too, before the schema.
        let named = name.0.iter().rev().nth(1).and_then(|part| part.as_ident());
        named.is_some_and(|part| part.value.eq_ignore_ascii_case(schema))
    };
    visit_relations(statement, |name| match is_of_schema(name) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Refuses a clause that DataFusion reads without locking anything.
pub(super) fn refuse_locks(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Query(query) if !query.locks.is_empty() => {
            Err(unsupported("SELECT … FOR UPDATE"))
        }
        _ => Ok(()),
    }
}
