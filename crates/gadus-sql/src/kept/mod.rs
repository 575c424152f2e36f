//! Kept plans: a query that comes again is not planned again.
//!
//! - Kept by text and the types of its parameters, for one shape of the schema; made when a text
//!   comes for the second time, since most texts come once.
//! - A kept plan is a template. A run takes it out, binds it to a snapshot and to values, and puts
//!   it back when its rows are read or dropped: two runs at once have two plans.
//! - What a plan cannot bind exactly is planned afresh; a text whose plan depends on more than
//!   snapshot and values is not kept at all.

mod binding;
mod plan;

pub(crate) use plan::scalars;

pub(crate) use binding::{Binding, converted};

use crate::error::from_datafusion;
use crate::memory::{PlanPool, Replan, run_or_replan};
use crate::mended::FiltersByName;
use crate::provider::Reading;
use crate::rows::RowStream;
use crate::session::{Asking, Cancel, Headings};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use gadus_engine::{Result, Snapshot};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Texts that are remembered; all are forgotten when there are more. A plan takes some 50 KiB.
const TEXTS_MAX: usize = 1_024;

/// Texts longer than this are remembered nowhere: many of them would fill the memory.
pub(crate) const KEPT_TEXT_BYTES_MAX: usize = 16 << 10;

/// Plans of one text that wait for a run: as many runs at once find one.
const PLANS_MAX: usize = 8;

/// The plans of a database.
#[derive(Debug, Default)]
pub(crate) struct KeptPlans {
    texts: Mutex<HashMap<Key, Entry>>,
    bound: AtomicU64,
}

/// What a plan is kept by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    text: Arc<str>,
    types: Vec<DataType>,
}

#[derive(Debug)]
struct Entry {
    schema_version: u64,
    state: EntryState,
}

#[derive(Debug)]
enum EntryState {
    /// Came once, or all its plans are in use.
    Seen(Vec<KeptPlan>),
    /// Cannot be kept.
    Unfit,
}

/// A plan that can be bound again and again.
#[derive(Debug)]
pub(crate) struct KeptPlan {
    plan: Arc<dyn ExecutionPlan>,
    binding: Arc<Binding>,
    task: Arc<TaskContext>,
    /// What its runs hold, one run at a time.
    pool: Arc<PlanPool>,
    /// Each over those before it.
    headings: Vec<Headings>,
    /// Whether its joins have filters for scans.
    has_joins: bool,
    /// What it is made again of, where its hash joins may outgrow the memory.
    replan: Option<Arc<Replan>>,
}

/// What is known of a text.
#[derive(Debug)]
pub(crate) enum Found {
    /// A plan to bind.
    Plan(KeptPlan),
    /// It came before: a plan is worth keeping.
    Again,
    /// New, or not to be kept.
    No,
}

impl KeptPlans {
    /// Looks a text up, and remembers that it came.
    pub(crate) fn find(&self, text: &Arc<str>, values: &[ScalarValue], version: u64) -> Found {
        let (mut texts, key) = (self.texts.lock(), Key::new(text, values));
        let fresh = || Entry { schema_version: version, state: EntryState::Seen(Vec::new()) };
        let Some(entry) = texts.get_mut(&key) else {
            if texts.len() >= TEXTS_MAX {
                texts.clear();
            }
            texts.insert(key, fresh());
            return Found::No;
        };
        if entry.schema_version != version {
            *entry = fresh();
            return Found::No;
        }
        match &mut entry.state {
            EntryState::Seen(plans) => plans.pop().map_or(Found::Again, Found::Plan),
            EntryState::Unfit => Found::No,
        }
    }

    /// Remembers that a text cannot be kept.
    pub(crate) fn refuse(&self, text: &Arc<str>, values: &[ScalarValue], version: u64) {
        let entry = Entry { schema_version: version, state: EntryState::Unfit };
        self.texts.lock().insert(Key::new(text, values), entry);
    }

    /// How often a kept plan was bound and run.
    pub(crate) fn bound(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }

    fn put_back(&self, key: &Key, version: u64, plan: KeptPlan) {
        plan.binding.release();
        if let Some(Entry { schema_version, state: EntryState::Seen(plans) }) =
            self.texts.lock().get_mut(key)
            && *schema_version == version
            && plans.len() < PLANS_MAX
        {
            plans.push(plan);
        }
    }
}

impl Key {
    fn new(text: &Arc<str>, values: &[ScalarValue]) -> Self {
        Self { text: text.clone(), types: values.iter().map(ScalarValue::data_type).collect() }
    }
}

impl KeptPlan {
    /// Binds the plan and begins to run it; none when this snapshot or these values need a plan of
    /// their own. The plan goes back to `plans` when its rows are dropped.
    pub(crate) fn run(
        self,
        plans: &Arc<KeptPlans>,
        text: &Arc<str>,
        snapshot: Snapshot,
        values: Vec<ScalarValue>,
        (cancel, reading, asking): (&Arc<Cancel>, Reading, Option<Asking>),
    ) -> Result<Option<RowStream>> {
        let key = Key::new(text, &values);
        let version = snapshot.schema_version();
        let Some(values) = self.binding.converted(values) else { return Ok(None) };
        self.pool.begin();
        self.binding.bind(snapshot, values, reading);
        // The template keeps no state of a run: each has nodes of its own.
        let Ok(bound) = reset_plan_states(self.plan.clone()) else { return Ok(None) };
        let bound = match self.has_joins {
            // Those of a run are of its own nodes.
            true => FiltersByName::anew(bound, self.task.session_config().options())
                .map_err(from_datafusion)?,
            false => bound,
        };
        if let Some(asking) = asking {
            asking.begin(&*bound)?;
        }
        let replan = || self.replan.as_deref().cloned();
        let stream = run_or_replan(bound, self.task.clone(), replan).map_err(from_datafusion)?;
        plans.bound.fetch_add(1, Ordering::Relaxed);
        let headings = self.headings.clone();
        let lease = Lease { plans: plans.clone(), key, version, plan: Some(self) };
        let rows = RowStream::from_datafusion(stream, cancel).holding(lease);
        Ok(Some(headings.iter().fold(rows, RowStream::with_headings)))
    }
}

/// A plan in use.
struct Lease {
    plans: Arc<KeptPlans>,
    key: Key,
    version: u64,
    plan: Option<KeptPlan>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(plan) = self.plan.take() {
            self.plans.put_back(&self.key, self.version, plan);
        }
    }
}
