//! What statements are planned by: DataFusion's rules and functions, and our own among them.
//!
//! - The order of the rules is a matter of correctness: each says in its module what it has to come before or behind.

use crate::characters::character_functions;
use crate::checked::{BesideOthers, Casts, CheckedArithmetic, checked_sum, extremes};
use crate::common_rows::CommonTablesPlanner;
use crate::enums::{self, enum_functions};
use crate::executor::{Cancellable, CancellableExpressions, CancellableRequirements};
use crate::intervals::{IntervalOperators, average, interval_functions, total};
use crate::json::{JsonOperators, json_functions};
use crate::lists::{ListOperators, quantified_functions};
use crate::memory::{
    GatherInTurn, IN_FLIGHT_BYTES_MAX, JoinsWithinMemory, Memory, SortsWithinMemory,
    WindowsWithinMemory, bounded_string_agg, counted_array_agg,
};
use crate::mended::{
    ConditionsKept, FiltersByName, KeysOfGroups, NoConstants, NullSafeJoins, OrdersSeen,
    signed_ranks,
};
use crate::order_keys::OrderKeys;
use crate::pace::PaceJoins;
use crate::provider::place_functions;
use crate::scalar_functions::{PatternOperators, SimilarTo, scalar_functions};
use crate::string_functions::LongPatterns;
use crate::subqueries::{
    ConditionsAsValues, JoinSubqueries, Memberships, NamesApart, OuterTypes, QueriesInValues,
};
use crate::times::plan_functions;
use crate::uuids::{UuidNamed, UuidOperators, uuid_functions};
use crate::value_limits::{SliceByBytes, bounded_functions};
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::optimizer::{Analyzer, AnalyzerRule, Optimizer, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;
use gadus_engine::Engine;
use std::sync::Arc;

/// The state that all statements of a database are planned with.
pub(super) fn planner_state(engine: &Engine, memory: Memory) -> SessionState {
    let mut config = SessionConfig::new()
        .with_default_catalog_and_schema("gadus", "main")
        .with_create_default_catalog_and_schema(false)
        .with_target_partitions(engine.options().threads);
    // 1.10 is an exact decimal in SQL, not the double nearest to it.
    config.options_mut().sql_parser.parse_float_as_decimal = true;
    // Points in time are counted in UTC; what depends on a session's zone are functions of our own.
    config.options_mut().execution.time_zone = Some("UTC".to_owned());
    // Its table of groups takes each NaN for another group.
    config.options_mut().optimizer.enable_topk_aggregation = false;
    config.options_mut().execution.max_spill_file_size_bytes =
        ConfigNonZeroUsize::try_new(IN_FLIGHT_BYTES_MAX).expect("it is not zero");
    let limits = memory.clone();
    let disk_manager = memory.spill().disk_manager();
    let memory_pool = Arc::new(memory.clone());
    let runtime = RuntimeEnv { memory_pool, disk_manager, ..RuntimeEnv::default() };
    let mut builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::new(runtime))
        .with_default_features()
        .with_query_planner(Arc::new(CommonTablesPlanner))
        .with_analyzer_rules(analyzer_rules(&limits))
        .with_optimizer_rules(optimizer_rules())
        .with_physical_optimizer_rules(physical_rules(memory))
        .with_physical_optimizer_rule(Arc::new(SliceByBytes(limits.clone())))
        .with_physical_optimizer_rule(Arc::new(PaceJoins))
        .with_physical_optimizer_rule(Arc::new(WindowsWithinMemory))
        .with_physical_optimizer_rule(Arc::new(GatherInTurn))
        .with_type_planner(Arc::new(enums::Named(UuidNamed)));
    let planners = builder.expr_planners().get_or_insert_default();
    let ours = [
        Arc::new(CancellableExpressions) as _,
        Arc::new(UuidOperators) as _,
        Arc::new(IntervalOperators) as _,
        Arc::new(JsonOperators::new(&limits)) as _,
        Arc::new(ListOperators) as _,
        Arc::new(PatternOperators::new(&limits)) as _,
    ];
    planners.splice(0..0, ours);
    let aggregates = builder.aggregate_functions().get_or_insert_default();
    let texts = bounded_string_agg(&limits);
    aggregates.extend(extremes());
    aggregates.extend([total(checked_sum()), average(), counted_array_agg(), texts]);
    builder.window_functions().get_or_insert_default().extend(signed_ranks());
    let functions = builder.scalar_functions().get_or_insert_default();
    functions.extend(place_functions());
    functions.extend(quantified_functions());
    functions.extend(uuid_functions());
    functions.extend(interval_functions());
    functions.extend(json_functions());
    functions.extend(enum_functions());
    functions.extend(character_functions());
    functions.extend(scalar_functions(&limits));
    functions.extend(plan_functions());
    bounded_functions(functions, &limits);
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
    let requirements = rules.iter().position(|rule| rule.name() == CancellableRequirements::NAME);
    let requirements = requirements.expect("DataFusion has the rule for which ours stands");
    rules[requirements] = Arc::new(CancellableRequirements);
    rules.insert(requirements, Arc::new(NoConstants));
    rules.into_iter().map(|rule| Arc::new(Cancellable(rule)) as _).collect()
}

/// What DataFusion does, once it knows no wrong keys; conditions that it must not move, or make keys of, stay.
fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let moves_conditions = ConditionsKept::default();
    if let Some(rule) = rules.iter_mut().find(|rule| rule.name() == moves_conditions.name()) {
        *rule = Arc::new(moves_conditions);
    }
    for rule in rules.iter_mut().filter(|rule| NullSafeJoins::NAMES.contains(&rule.name())) {
        *rule = Arc::new(NullSafeJoins(rule.clone()));
    }
    rules.insert(0, Arc::new(KeysOfGroups::default()));
    rules.into_iter().map(|rule| Arc::new(Cancellable(rule)) as _).collect()
}

/// What DataFusion does, and our own rules before and behind type coercion.
fn analyzer_rules(memory: &Memory) -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let mut rules = Analyzer::new().rules;
    let coercion = rules.iter().position(|rule| rule.name() == "type_coercion");
    rules.insert(coercion.map_or(0, |place| place + 1), Arc::new(OuterTypes::default()));
    rules.insert(coercion.unwrap_or(0), Arc::new(BesideOthers));
    // Before type coercion, which gives the call its overload.
    rules.insert(0, Arc::new(SimilarTo::new(memory)));
    rules.insert(0, Arc::new(JoinSubqueries::default()));
    rules.insert(0, Arc::new(NamesApart::default()));
    rules.insert(0, Arc::new(ConditionsAsValues::default()));
    rules.insert(0, Arc::new(Memberships::default()));
    rules.insert(0, Arc::new(QueriesInValues));
    rules.push(Arc::new(Casts));
    rules.push(Arc::new(CheckedArithmetic::new()));
    rules.push(Arc::new(OrderKeys));
    rules.push(Arc::new(LongPatterns));
    rules.into_iter().map(|rule| Arc::new(Cancellable(rule)) as _).collect()
}
