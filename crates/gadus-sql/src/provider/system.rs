//! Who uses the database, as tables of the schema `gadus_system`.
//!
//! - Looked up when a statement is planned: what they hold was true a moment before it ran.

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::error::DataFusionError;
use gadus_base::date_and_time;
use gadus_engine::{Engine, InstanceDescription, LockView, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schema of what the database knows of its users.
pub(crate) const SYSTEM_SCHEMA: &str = "gadus_system";

pub(super) const SYSTEM_TABLES: [&str; 2] = ["locks", "sessions"];

/// A table of the schema, as it is now.
pub(super) fn system_table(
    engine: &Engine,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
    let failed = |error| DataFusionError::External(Box::new(error));
    let batch = match name {
        "locks" => locks(&engine.locks().map_err(failed)?, snapshot)?,
        "sessions" => sessions(&engine.locks().map_err(failed)?, &engine.instances())?,
        _ => return Ok(None),
    };
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    Ok(Some(Arc::new(table)))
}

fn locks(views: &[LockView], snapshot: &Snapshot) -> Result<RecordBatch, DataFusionError> {
    let tables = snapshot.tables();
    let names = tables.iter().map(|table| (table.id(), table.schema().name.as_str()));
    let names = names.collect::<BTreeMap<_, _>>();
    let texts = |text: &dyn Fn(&LockView) -> Option<String>| -> ArrayRef {
        Arc::new(views.iter().map(text).collect::<StringArray>())
    };
    let table = |view: &LockView| names.get(&view.resource.table_id()?).copied();
    let age = views.iter().map(|view| view.holder.age_ms).collect::<UInt64Array>();
    let (pids, connections, programs, _) = whose(&people(views));
    Ok(RecordBatch::try_from_iter([
        ("resource", texts(&|view| Some(view.resource.to_string()))),
        ("table_name", texts(&|view| table(view).map(str::to_owned))),
        ("granted", texts(&|view| view.granted.map(|mode| mode.to_string()))),
        ("wanted", texts(&|view| view.wanted.map(|mode| mode.to_string()))),
        ("age_ms", Arc::new(age)),
        ("pid", pids),
        ("connection", connections),
        ("program", programs),
    ])?)
}

/// Each process, and each of its connections that has locks.
fn sessions(
    views: &[LockView],
    processes: &[InstanceDescription],
) -> Result<RecordBatch, DataFusionError> {
    let mut all = processes.iter().map(|process| (Some(process), 0)).collect::<Vec<_>>();
    all.extend(people(views));
    let key = |one: &Person<'_>| (one.0.map(|process| (process.pid, process.owner.slot)), one.1);
    all.sort_by_key(key);
    all.dedup_by_key(|one| key(one));
    let (pids, connections, programs, since) = whose(&all);
    Ok(RecordBatch::try_from_iter([
        ("pid", pids),
        ("connection", connections),
        ("since", since),
        ("program", programs),
    ])?)
}

/// A process, unless it is gone, and a connection of it; 0 for none in particular.
type Person<'a> = (Option<&'a InstanceDescription>, u32);

fn people(views: &[LockView]) -> Vec<Person<'_>> {
    views.iter().map(|view| (view.holder.instance.as_ref(), view.holder.connection)).collect()
}

/// Process ids, connections, programs, and since when they have the database open.
fn whose(people: &[Person<'_>]) -> (ArrayRef, ArrayRef, ArrayRef, ArrayRef) {
    let of_process = |what: fn(&InstanceDescription) -> String| -> ArrayRef {
        Arc::new(people.iter().map(|(one, _)| one.map(what)).collect::<StringArray>())
    };
    let pids = people.iter().map(|(process, _)| process.map(|process| process.pid));
    let connections = people.iter().map(|(_, number)| Some(*number).filter(|number| *number > 0));
    (
        Arc::new(pids.collect::<UInt32Array>()),
        Arc::new(connections.collect::<UInt32Array>()),
        of_process(|process| process.program.clone()),
        of_process(|process| date_and_time(process.since_seconds)),
    )
}
