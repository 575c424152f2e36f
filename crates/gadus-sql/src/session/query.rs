//! Queries, planned and run by DataFusion on one snapshot.

use super::as_queries::describe;
use super::columns::headings;
use super::files::take_files;
use super::frames::{Frames, names_frame};
use super::in_order::{plan_to_write, stream_to_write};
use super::modify::table_name;
use super::planners_words::{self, has_column};
use super::scanning::ScanSharing;
use super::{Asking, Outcome, Prepared, Session, State};
use crate::checked::{BesideOthers, Casts, CheckedArithmetic, checked_sum};
use crate::enums::{self, enum_functions};
use crate::error::{from_datafusion, unsupported};
use crate::intervals::{IntervalOperators, average, interval_functions, total};
use crate::json::{JsonOperators, json_functions};
use crate::kept::{Binding, KeptPlan, scalars};
use crate::lists::{ListOperators, quantified_functions};
use crate::memory::{GatherInTurn, JoinsWithinMemory, Memory, SortsWithinMemory, run, task_of};
use crate::mended::{
    ConditionsKept, FiltersByName, KeysOfGroups, NoConstants, OrdersSeen, signed_ranks,
};
use crate::order_keys::OrderKeys;
use crate::pace::PaceJoins;
use crate::postgres;
use crate::provider::{Reading, SYSTEM_SCHEMA, SnapshotCatalog, System, place_functions};
use crate::rows::RowStream;
use crate::subqueries::{
    ConditionsAsValues, JoinSubqueries, Memberships, NamesApart, OuterTypes, QueriesInValues,
};
use crate::uuids::{UuidNamed, UuidOperators, uuid_functions};
use crate::value::Value;
use datafusion::common::ParamValues;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SessionState as PlannerState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{Analyzer, AnalyzerRule, Optimizer, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement, visit_relations};
use gadus_base::Account;
use gadus_engine::{Engine, Result, Snapshot};
use gadus_machine::batch_rows;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The state that all statements of a database are planned with.
pub(super) fn planner_state(engine: &Engine, memory: Memory) -> PlannerState {
    let mut config = SessionConfig::new()
        .with_default_catalog_and_schema("gadus", "main")
        .with_create_default_catalog_and_schema(false)
        .with_target_partitions(engine.options().threads);
    // 1.10 is an exact decimal in SQL, not the double nearest to it.
    config.options_mut().sql_parser.parse_float_as_decimal = true;
    let disk_manager = memory.spill().disk_manager();
    let memory_pool = Arc::new(memory.clone());
    let runtime = RuntimeEnv { memory_pool, disk_manager, ..RuntimeEnv::default() };
    let mut builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::new(runtime))
        .with_default_features()
        .with_analyzer_rules(analyzer_rules())
        .with_optimizer_rules(optimizer_rules())
        .with_physical_optimizer_rules(physical_rules(memory))
        .with_physical_optimizer_rule(Arc::new(PaceJoins))
        .with_physical_optimizer_rule(Arc::new(GatherInTurn))
        .with_type_planner(Arc::new(enums::Named(UuidNamed)));
    let planners = builder.expr_planners().get_or_insert_default();
    let ours = [
        Arc::new(UuidOperators) as _,
        Arc::new(IntervalOperators) as _,
        Arc::new(JsonOperators) as _,
        Arc::new(ListOperators) as _,
    ];
    planners.splice(0..0, ours);
    let aggregates = builder.aggregate_functions().get_or_insert_default();
    aggregates.extend([total(checked_sum()), average()]);
    builder.window_functions().get_or_insert_default().extend(signed_ranks());
    let functions = builder.scalar_functions().get_or_insert_default();
    functions.extend(place_functions());
    functions.extend(quantified_functions());
    functions.extend(uuid_functions());
    functions.extend(interval_functions());
    functions.extend(json_functions());
    functions.extend(enum_functions());
    builder.build()
}

/// What DataFusion does, filters by names that are enough, orders that are seen, and the choice by memory: of joins
/// before inputs are sorted for them, of sorts before scans get their filters.
fn physical_rules(memory: Memory) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = PhysicalOptimizer::new().rules;
    for rule in rules.iter_mut().filter(|rule| rule.name().starts_with("FilterPushdown")) {
        *rule = Arc::new(FiltersByName(rule.clone()));
    }
    if let Some(rule) = rules.iter_mut().find(|rule| rule.name() == OrdersSeen::NAME) {
        *rule = Arc::new(OrdersSeen);
    }
    let selection = rules.iter().position(|rule| rule.name() == "join_selection");
    rules.insert(
        selection.map_or(0, |place| place + 1),
        Arc::new(JoinsWithinMemory(memory.clone())),
    );
    let filters = rules.iter().rposition(|rule| rule.name().starts_with("FilterPushdown"));
    rules.insert(filters.unwrap_or(rules.len()), Arc::new(SortsWithinMemory(memory)));
    // Before inputs are sorted and divided, and all that is known of them asked for.
    let requirements = rules.iter().position(|rule| rule.name() == "EnsureRequirements");
    rules.insert(requirements.unwrap_or(0), Arc::new(NoConstants));
    rules
}

/// What DataFusion does, once it knows no wrong keys; conditions that it must not move stay.
fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let moves_conditions = ConditionsKept::default();
    if let Some(rule) = rules.iter_mut().find(|rule| rule.name() == moves_conditions.name()) {
        *rule = Arc::new(moves_conditions);
    }
    rules.insert(0, Arc::new(KeysOfGroups::default()));
    rules
}

/// What DataFusion does, and our own rules before and behind type coercion.
fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules = Analyzer::new().rules;
    let coercion = rules.iter().position(|rule| rule.name() == "type_coercion");
    rules.insert(coercion.map_or(0, |place| place + 1), Arc::new(OuterTypes::default()));
    rules.insert(coercion.unwrap_or(0), Arc::new(BesideOthers));
    rules.insert(0, Arc::new(JoinSubqueries::default()));
    rules.insert(0, Arc::new(NamesApart::default()));
    rules.insert(0, Arc::new(ConditionsAsValues::default()));
    rules.insert(0, Arc::new(Memberships::default()));
    rules.insert(0, Arc::new(QueriesInValues));
    rules.push(Arc::new(Casts));
    rules.push(Arc::new(CheckedArithmetic::new()));
    rules.push(Arc::new(OrderKeys));
    rules
}

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
        planners_words::respell(statement, |name| has_column(&snapshot, name))?;
        enums::resolve(&snapshot, statement)?;
        let files = take_files(statement, &self.shared.planner, &self.files).await?;
        let mut state = self.shared.planner.clone();
        let rows = ConfigNonZeroUsize::try_new(batch_rows(self.shared.memory.limit()));
        state.config_mut().options_mut().execution.batch_size = rows.map_err(from_datafusion)?;
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
        let statements = self.shared.statements.clone();
        let settings = self.shown.lock().clone();
        let memory = self.shared.memory.clone();
        let system = System { engine: self.engine.clone(), statements, settings, memory };
        let named = (files, frames);
        let reading = (reading, for_views(&snapshot, &state));
        let catalog = SnapshotCatalog::new(snapshot, named, system, reading);
        state.register_catalog_list(Arc::new(catalog));
        Ok(SessionContext::new_with_state(state))
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
        let version = snapshot.schema_version();
        let plan = match self.plan_to_keep(&snapshot, statement, parameters).await? {
            Some(plan) => plan,
            None => {
                kept.refuse(&prepared.text, &values, version);
                return Ok(None);
            }
        };
        let told = (&self.cancel, self.reading(), self.asking(state));
        let rows = plan.run(kept, &prepared.text, snapshot, values, told)?;
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
        planners_words::respell(&mut rest, |name| has_column(snapshot, name))?;
        enums::resolve(snapshot, &mut rest)?;
        let files = take_files(&mut rest, &self.shared.planner, &self.files).await?;
        if !files.is_empty()
            || names_system(&rest)
            || rewrite_for_catalog(&self.frames(), snapshot, &mut rest)
        {
            return Ok(None);
        }
        let binding = Binding::new(snapshot.clone(), parameters, self.reading());
        let threads = self.engine.options().threads;
        let mut planner = self.shared.planner.clone();
        let (snapshot, views) = (snapshot.clone(), for_views(snapshot, &planner));
        let catalog = SnapshotCatalog::for_keeping(snapshot, threads, binding.clone(), views);
        planner.register_catalog_list(Arc::new(catalog));
        KeptPlan::make(&planner, binding, rest, headings(statement)).await
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
        let headings = headings(&statement);
        let context = self.planner(snapshot, &mut statement).await?;
        let physical = physical_plan(&context, statement, parameters).await?;
        if let Some(asking) = asking {
            asking.begin(&*physical)?;
        }
        let stream = run(physical, task_of(&context)).map_err(from_datafusion)?;
        let rows = RowStream::from_datafusion(stream, &self.cancel);
        Ok(Outcome::Rows(rows.with_headings(&headings)))
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
        let physical = physical_plan(context, statement, parameters).await?;
        run(physical, task_of(context)).map_err(from_datafusion)
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
        stream_to_write(physical, task_of(context), self.engine.options().threads)
    }
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
    context.state().create_physical_plan(&plan).await.map_err(from_datafusion)
}

/// The logical plan of a statement with its parameters' values.
pub(super) async fn plan(
    context: &SessionContext,
    statement: Statement,
    parameters: &[Value],
) -> Result<LogicalPlan> {
    let statement = PlannerStatement::Statement(Box::new(statement));
    let plan = context.state().statement_to_plan(statement).await.map_err(from_datafusion)?;
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
