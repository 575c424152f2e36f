//! Who uses the database, what that costs, and what was decided for it, as tables of the schema `gadus`.
//!
//! - Looked up when a statement is planned: what they hold was true a moment before it ran.

use super::kept_tables::kept_table;
use super::knowledge::{decisions, facts};
use super::scan_threads::{placement, threads};
use crate::memory::Memory;
use crate::session::ShownSetting;
use crate::statements::{ShapeCost, Statements};
use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::error::DataFusionError;
use gadus_base::{ByteCount, date_and_time};
use gadus_engine::{
    ClockStatistics, Engine, InstanceDescription, LookedUp, NamedLock, SessionView, Snapshot,
};
use std::sync::Arc;
use std::time::Duration;

/// The schema of what the database knows of its users.
pub(crate) const SYSTEM_SCHEMA: &str = "gadus";

pub(super) const SYSTEM_TABLES: [&str; 16] = [
    "clock",
    "clock_columns",
    "columns",
    "decisions",
    "facts",
    "functions",
    "locks",
    "memory",
    "placement",
    "segments",
    "sessions",
    "settings",
    "statements",
    "storage",
    "tables",
    "threads",
];

/// What knows it.
#[derive(Debug, Clone)]
pub(crate) struct System {
    pub(crate) engine: Engine,
    pub(crate) statements: Arc<Statements>,
    /// Of the session, as they were when it last ran a statement that reads them.
    pub(crate) settings: Arc<[ShownSetting]>,
    pub(crate) memory: Memory,
}

/// A table of the schema, as it is now.
pub(super) fn system_table(
    System { engine, statements: known, settings: shown, memory: plans }: &System,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
    let failed = |error| DataFusionError::External(Box::new(error));
    let batch = match name {
        "clock" => clock(&engine.statistics().clock)?,
        "clock_columns" => clock_columns(&engine.looked_up())?,
        "decisions" => decisions(&engine.decisions())?,
        "facts" => facts(plans.spill().folder())?,
        "locks" => locks(&engine.locks().map_err(failed)?)?,
        "memory" => memory(engine, plans)?,
        "sessions" => sessions(&engine.sessions().map_err(failed)?)?,
        "settings" => settings(shown)?,
        "statements" => statements(&known.costs())?,
        "placement" => placement(&engine.placement().map_err(failed)?)?,
        "threads" => threads(&engine.scan_threads())?,
        _ => return kept_table(snapshot, engine, name),
    };
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    Ok(Some(Arc::new(table)))
}

/// What shared scans have done in this process.
fn clock(clock: &ClockStatistics) -> Result<RecordBatch, DataFusionError> {
    let rate = |rate: f64| -> ArrayRef { Arc::new(Float64Array::from(vec![rate])) };
    let milliseconds = |time: Duration| rate(time.as_secs_f64() * 1e3);
    let count = |count: u64| -> ArrayRef { Arc::new(UInt64Array::from(vec![count])) };
    Ok(RecordBatch::try_from_iter([
        ("passes", count(clock.passes)),
        ("questions", count(clock.questions)),
        ("shared_answers", count(clock.shared_answers)),
        ("lone_questions", count(clock.lone_questions)),
        ("modifications", count(clock.modifications)),
        ("modified_rows", count(clock.modified_rows)),
        ("modifying_commits", count(clock.modifying_commits)),
        ("modify_ms_total", milliseconds(clock.modify_time)),
        ("pass_ms_total", milliseconds(clock.pass_time)),
        ("last_questions", count(clock.last_questions)),
        ("last_pass_ms", milliseconds(clock.last_pass_time)),
        ("threads", count(clock.threads as u64)),
        ("rows", count(clock.work.rows)),
        ("read_bytes", count(clock.work.bytes.read)),
        ("rows_per_second_per_thread", rate(clock.work.rows_per_second())),
        ("probe_ms_total", milliseconds(clock.work.probe_time)),
        ("check_ms_total", milliseconds(clock.work.check_time)),
        ("fold_ms_total", milliseconds(clock.work.fold_time)),
        ("lone_ms_total", milliseconds(clock.work.lone_time)),
        ("answer_ms_total", milliseconds(clock.work.answer_time)),
        ("plan_scans", count(clock.plan_scans)),
        ("joined_plan_scans", count(clock.joined_plan_scans)),
        ("plan_scan_ms_total", milliseconds(clock.plan_scan_time)),
    ])?)
}

/// By which columns shared scans have looked up statements; NULL for those evaluated by themselves.
fn clock_columns(columns: &[LookedUp]) -> Result<RecordBatch, DataFusionError> {
    let statements = columns.iter().map(|column| column.statements);
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("table_name", texts(columns.iter().map(|column| Some(column.table.clone()))), false),
        ("column_name", texts(columns.iter().map(|column| column.column.clone())), true),
        ("statements", Arc::new(statements.collect::<UInt64Array>()) as ArrayRef, false),
    ])?)
}

/// What this process holds for the database, and what its plans have written out.
fn memory(engine: &Engine, plans: &Memory) -> Result<RecordBatch, DataFusionError> {
    let spill = plans.spill();
    let columns = [
        ("limit_bytes", plans.limit()),
        ("part_bytes", plans.part(false)),
        ("held_bytes", plans.held()),
        ("cache_bytes", engine.cache_size()),
        ("cached_bytes", engine.statistics().cached),
        ("spilled_bytes", spill.kept()),
        ("spilled_bytes_total", spill.written()),
    ];
    let column = |bytes: ByteCount| Arc::new(UInt64Array::from(vec![bytes.0])) as ArrayRef;
    Ok(RecordBatch::try_from_iter(columns.map(|(name, bytes)| (name, column(bytes))))?)
}

fn locks(locks: &[NamedLock]) -> Result<RecordBatch, DataFusionError> {
    let text = |of: &dyn Fn(&NamedLock) -> Option<String>| texts(locks.iter().map(of));
    let holders = || locks.iter().map(|lock| &lock.view.holder);
    let processes = || holders().map(|holder| holder.instance.as_ref());
    let connections = holders().map(|holder| Some(holder.connection).filter(|one| *one > 0));
    Ok(RecordBatch::try_from_iter([
        ("resource", text(&|lock| Some(lock.view.resource.to_string()))),
        ("table_name", text(&|lock| lock.table.clone())),
        ("granted", text(&|lock| lock.view.granted.map(|mode| mode.to_string()))),
        ("wanted", text(&|lock| lock.view.wanted.map(|mode| mode.to_string()))),
        ("age_ms", Arc::new(holders().map(|holder| holder.age_ms).collect::<UInt64Array>())),
        ("pid", pids(processes())),
        ("connection", Arc::new(connections.collect::<UInt32Array>())),
        ("program", programs(processes())),
    ])?)
}

/// Each process, and each of its connections.
fn sessions(sessions: &[SessionView]) -> Result<RecordBatch, DataFusionError> {
    let numbers = |of: fn(&SessionView) -> Option<u32>| -> ArrayRef {
        Arc::new(sessions.iter().map(of).collect::<UInt32Array>())
    };
    let processes = || sessions.iter().map(|session| session.process.as_ref());
    let since =
        processes().map(|process| process.map(|process| date_and_time(process.since_seconds)));
    let held = sessions.iter().map(|session| session.id.map(|_| session.locks));
    let waits = sessions.iter().map(|session| session.id.map(|_| session.waits));
    Ok(RecordBatch::try_from_iter([
        ("id", numbers(|session| session.id)),
        ("pid", pids(processes())),
        ("connection", numbers(|session| session.connection)),
        ("since", texts(since)),
        ("locks", Arc::new(held.collect::<UInt64Array>()) as ArrayRef),
        ("waits", Arc::new(waits.collect::<BooleanArray>())),
        ("busy", texts(sessions.iter().map(SessionView::busy_with))),
        ("program", programs(processes())),
    ])?)
}

/// The settings of this session, and what they may be.
fn settings(settings: &[ShownSetting]) -> Result<RecordBatch, DataFusionError> {
    let text = |of: fn(&ShownSetting) -> &str| {
        texts(settings.iter().map(|setting| Some(of(setting).to_owned())))
    };
    Ok(RecordBatch::try_from_iter([
        ("name", text(|setting| setting.setting.name)),
        ("value", text(|setting| &setting.value)),
        ("default", text(|setting| &setting.default)),
        ("allowed", text(|setting| setting.setting.values)),
        ("scope", text(|setting| setting.setting.scope.word())),
        ("description", text(|setting| setting.setting.description)),
    ])?)
}

/// What statements of this process have cost, by shape.
fn statements(costs: &[ShapeCost]) -> Result<RecordBatch, DataFusionError> {
    let count = |of: fn(&ShapeCost) -> u64| -> ArrayRef {
        Arc::new(costs.iter().map(|cost| Some(of(cost))).collect::<UInt64Array>())
    };
    let milliseconds = |of: fn(&ShapeCost) -> Duration| -> ArrayRef {
        let times = costs.iter().map(|cost| Some(of(cost).as_secs_f64() * 1e3));
        Arc::new(times.collect::<Float64Array>())
    };
    Ok(RecordBatch::try_from_iter([
        ("statement", texts(costs.iter().map(|cost| Some(cost.statement.to_string())))),
        ("calls", count(|cost| cost.calls)),
        ("errors", count(|cost| cost.errors)),
        ("rows", count(|cost| cost.rows)),
        ("ms_total", milliseconds(|cost| cost.time)),
        ("ms_max", milliseconds(|cost| cost.time_max)),
        ("memory_bytes_max", count(|cost| cost.memory_bytes_max)),
        ("read_bytes", count(|cost| cost.bytes.read)),
        ("written_bytes", count(|cost| cost.bytes.written)),
    ])?)
}

pub(super) fn texts(texts: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(texts.collect::<StringArray>())
}

fn pids<'a>(processes: impl Iterator<Item = Option<&'a InstanceDescription>>) -> ArrayRef {
    let pids = processes.map(|process| process.map(|process| process.pid));
    Arc::new(pids.collect::<UInt32Array>())
}

fn programs<'a>(processes: impl Iterator<Item = Option<&'a InstanceDescription>>) -> ArrayRef {
    texts(processes.map(|process| process.map(|process| process.program.clone())))
}
