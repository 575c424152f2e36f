//! What all plans of a database hold together: where that is much, those that came later wait.
//!
//! - Sorts, aggregates, windows and one side of each join gather rows before they give any. Beyond the
//!   limit, only the plans that came first gather on, one for each thread; what they hold they give up when
//!   they end, and so does everyone in turn.
//! - The first are counted among those whose next rows somebody waits for: a plan whose reader is away gives
//!   nothing up, so nobody waits for it. Hence those that gather always go on by themselves.
//! - A plan that holds little never waits: small answers are not behind large ones.
//! - The first, beyond the limit, write out what sorts and aggregates hold, as soon as it is much ([`spill`]).
//!   Joins of what is known to be much sort it ([`joins`]), and so do sorts of which many first rows are wanted
//!   ([`sorts`]). Rows that wait for the results of windows are written out, too ([`windows`]). What other joins hold
//!   cannot be, nor the columns that windows compute with: a plan in which they would hold more than the limit, and
//!   some, is made again with joins that spill where that helps ([`replan`]), and fails elsewhere. Those are merge
//!   joins, grace joins for what cannot be merged ([`grace_join`]), and joins by blocks without an equality
//!   ([`block_join`]).
//! - Rows too wide for the batches of a plan are not gathered: the plan is made again with fewer rows per batch
//!   ([`wide_rows`]).
//! - Processes that gather much for one database divide the limit ([`share`]).

mod array_agg;
mod block_join;
mod blocks;
mod coalesce;
mod compact;
mod gather;
mod gathered;
mod grace_join;
#[cfg(test)]
mod joined_rows;
mod joins;
mod limit;
mod plan;
mod pool;
mod replan;
mod share;
mod sorts;
mod spill;
mod stream_exec;
mod string_agg;
mod table_memory;
#[cfg(test)]
mod tests;
mod wide_rows;
mod windows;

pub(crate) use array_agg::counted_array_agg;
pub(crate) use gather::GatherInTurn;
pub(crate) use gathered::Gathered;
pub(crate) use joins::JoinsWithinMemory;
pub(crate) use limit::{decided_limit, memory_of};
pub(crate) use plan::awaited;
pub(crate) use pool::{PlanPool, task_of};
pub(crate) use replan::{LastPlan, Replan, may_replan, run_observed, run_or_replan};
pub(crate) use sorts::SortsWithinMemory;
pub(crate) use spill::{Append, IN_FLIGHT_BYTES_MAX, SpillFolder, append_to_file};
pub(crate) use string_agg::bounded_string_agg;
pub(crate) use windows::WindowsWithinMemory;

use crate::executor::apart_if_long;
use crate::value_limits::is_sliced;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream};
use gadus_base::ByteCount;
use gadus_engine::Gatherers;
use parking_lot::Mutex;
use plan::PlanMemory;
use share::Share;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// The part of the limit that is little for one plan, or this where it is more.
const LITTLE_DIVISOR: u64 = 1024;
const LITTLE_BYTES_MIN: u64 = 1 << 20;

/// Operators that cannot spill may have their plan hold more than the limit by this part of it.
const BEYOND_PART: u64 = 10;

/// A plan with such operators may hold this in any case: joins and windows of ordinary size still run with a limit of a
/// mebibyte.
const UNSPILLED_BYTES_MIN: u64 = 64 << 20;

/// What an operator holds at least when it writes that out.
const SPILL_BYTES_MIN: u64 = 1 << 20;

/// The memory of a database's plans.
#[derive(Debug, Clone)]
pub(crate) struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: AtomicU64,
    share: Share,
    held: AtomicU64,
    /// Plans that gather on beyond the limit.
    abreast: usize,
    spill: SpillFolder,
    numbers: AtomicU64,
    /// Somebody may be waiting; set before it is decided whether he does.
    has_waiting: AtomicBool,
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    /// Whose rows somebody waits for, in the order in which they came.
    awaited: BTreeSet<u64>,
    /// Who waits until less is held, or until he is among the first.
    waiting: Vec<(u64, Waker)>,
}

impl Memory {
    /// For plans that so many threads run, of a database that other processes may have open.
    pub(crate) fn new(
        threads: usize,
        limit: ByteCount,
        gatherers: Option<Gatherers>,
        spill: SpillFolder,
    ) -> Self {
        Self(Arc::new(Inner {
            limit: AtomicU64::new(limit.0),
            share: Share::new(gatherers),
            held: AtomicU64::new(0),
            abreast: threads.max(1),
            spill,
            numbers: AtomicU64::new(0),
            has_waiting: AtomicBool::new(false),
            plans: Mutex::default(),
        }))
    }

    /// What plans may hold together before some wait.
    pub(crate) fn limit(&self) -> ByteCount {
        ByteCount(self.0.limit.load(Ordering::Relaxed))
    }

    pub(crate) fn set_limit(&self, limit: ByteCount) {
        self.0.limit.store(limit.0, Ordering::SeqCst);
        self.wake_all();
    }

    /// Where plans write what they do not hold.
    pub(crate) fn spill(&self) -> &SpillFolder {
        &self.0.spill
    }

    /// What plans hold together.
    pub(crate) fn held(&self) -> ByteCount {
        ByteCount(self.0.held.load(Ordering::Relaxed))
    }

    /// This process's part of the limit; `gathers` says that it holds much.
    pub(crate) fn part(&self, gathers: bool) -> ByteCount {
        ByteCount(self.0.share.of(self.limit().0, gathers))
    }

    /// Of that, what a plan may hold in any case: half of it is for those that may gather on.
    fn plan_part(&self) -> u64 {
        self.part(false).0 / (2 * self.0.abreast as u64)
    }

    /// Whether all plans hold more than is this process's part.
    fn is_over(&self, gathers: bool) -> bool {
        self.0.held.load(Ordering::SeqCst) > self.part(gathers).0
    }

    /// Whether, of a plan that holds `of_plan`, an operator that holds `held` writes that out: where all would hold
    /// too much with as much again, which it takes to put it in order, and the plan has more than its part.
    fn is_to_spill(&self, of_plan: u64, held: u64) -> bool {
        held >= SPILL_BYTES_MIN
            && self.0.held.load(Ordering::SeqCst) + held > self.part(true).0
            && of_plan > self.plan_part()
    }

    /// True if a plan that holds so much has more than this process's part, and some: an operator that cannot
    /// spill must not go on then.
    fn is_beyond(&self, of_plan: u64) -> bool {
        let part = self.part(true).0;
        of_plan > part.saturating_add(part / BEYOND_PART).max(UNSPILLED_BYTES_MIN)
    }

    fn wake_all(&self) {
        let mut plans = self.0.plans.lock();
        self.0.has_waiting.store(false, Ordering::SeqCst);
        let waiting = std::mem::take(&mut plans.waiting);
        drop(plans);
        wake(waiting);
    }

    fn hold(&self, bytes: u64) {
        self.0.held.fetch_add(bytes, Ordering::Relaxed);
    }

    fn release(&self, bytes: u64) {
        self.0.held.fetch_sub(bytes, Ordering::SeqCst);
        if self.0.has_waiting.load(Ordering::SeqCst) && !self.is_over(false) {
            self.wake_all();
        }
    }

    /// Whether a plan that holds so much may gather more; where not, its task is woken when that changes.
    fn poll_gather(&self, plan: &PlanMemory, context: &Context<'_>) -> Poll<()> {
        let little = (self.limit().0 / LITTLE_DIVISOR).max(LITTLE_BYTES_MIN);
        let is_much = plan.held() > little;
        if !self.is_over(is_much) {
            // Another process may have left its part to this one, which nobody here has noticed.
            if self.0.has_waiting.load(Ordering::SeqCst) {
                self.wake_all();
            }
            return Poll::Ready(());
        }
        if !is_much {
            return Poll::Ready(());
        }
        let mut plans = self.0.plans.lock();
        // Before it is read again what is held: whoever releases some reads this after that.
        self.0.has_waiting.store(true, Ordering::SeqCst);
        if !self.is_over(is_much) || plans.first(self.0.abreast).any(|first| first == plan.number) {
            return Poll::Ready(());
        }
        let waker = context.waker();
        let is_known =
            |(number, known): &(u64, Waker)| *number == plan.number && known.will_wake(waker);
        if !plans.waiting.iter().any(is_known) {
            plans.waiting.push((plan.number, waker.clone()));
        }
        Poll::Pending
    }

    /// Somebody begins to wait for rows of a plan, or ends.
    fn await_plan(&self, number: u64, is_awaited: bool) {
        let mut plans = self.0.plans.lock();
        match is_awaited {
            true => plans.awaited.insert(number),
            false => plans.awaited.remove(&number),
        };
        if plans.waiting.is_empty() {
            return;
        }
        let first = plans.first(self.0.abreast).collect::<Vec<_>>();
        let is_first = |(number, _): &mut (u64, Waker)| first.contains(number);
        let woken = plans.waiting.extract_if(.., is_first).collect();
        drop(plans);
        wake(woken);
    }
}

/// Equal only to itself: functions that measure their results by it are compared in plans.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Memory {}

impl Hash for Memory {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory of plans, waiting beyond {}", self.limit())
    }
}

/// What no plan holds, as a file does that is looked at while a statement is planned, counts all the same.
impl MemoryPool for Memory {
    fn name(&self) -> &'static str {
        "gadus"
    }

    fn grow(&self, _: &MemoryReservation, additional: usize) {
        self.hold(additional as u64);
    }

    fn shrink(&self, _: &MemoryReservation, shrink: usize) {
        self.release(shrink as u64);
    }

    fn try_grow(&self, _: &MemoryReservation, additional: usize) -> Result<()> {
        self.hold(additional as u64);
        Ok(())
    }

    fn reserved(&self) -> usize {
        usize::try_from(self.0.held.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Infinite
    }
}

impl Plans {
    fn first(&self, count: usize) -> impl Iterator<Item = u64> {
        self.awaited.iter().copied().take(count)
    }
}

fn wake(waiting: Vec<(u64, Waker)>) {
    waiting.into_iter().for_each(|(_, waker)| waker.wake());
}

/// Begins to run a plan in such a task. A plan that spills is long from its first step on: if it has one partition, it
/// has no tasks of its own that a cancelled statement could leave behind while they write.
fn run(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    is_long: bool,
) -> Result<SendableRecordBatchStream> {
    let is_long = is_long || is_sliced(&*plan);
    let rows = execute_stream(plan, task.clone())?;
    Ok(awaited(&task, apart_if_long(rows, is_long)))
}
