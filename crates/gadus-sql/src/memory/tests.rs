//! Turns of plans to gather rows, and which operators write out what they hold.

use super::gather::in_turn_unwatched;
use super::plan::PlanMemory;
use super::{Memory, PlanPool, SpillFolder};
use arrow::datatypes::Schema;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{FutureExt, StreamExt, stream};
use gadus_base::ByteCount;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

/// Counts how often it is woken.
#[derive(Debug, Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A plan, and what is woken when it may gather on.
struct One {
    plan: Arc<PlanMemory>,
    woken: Arc<Woken>,
}

impl One {
    /// That holds so many MiB.
    fn new(memory: &Memory, held: u64) -> Self {
        let plan = PlanMemory::new(memory.clone());
        plan.hold(held << 20);
        memory.await_plan(plan.number, true);
        Self { plan, woken: Arc::default() }
    }

    fn may_gather(&self) -> bool {
        let waker = Waker::from(self.woken.clone());
        self.plan.poll_gather(&Context::from_waker(&waker)).is_ready()
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::SeqCst)
    }

    fn end(&self, memory: &Memory) {
        self.plan.release(self.plan.held());
        memory.await_plan(self.plan.number, false);
    }
}

fn memory() -> Memory {
    Memory::new(1, ByteCount::mib(10), None, SpillFolder::new(None))
}

/// Within the limit all gather; beyond it those that came first, and after them the next.
#[test]
fn those_that_came_later_wait_for_those_that_came_first() {
    let memory = memory();
    let plans = [3, 3, 4].map(|held| One::new(&memory, held));
    assert!(plans.iter().all(One::may_gather));
    plans[1].plan.hold(5 << 20);
    assert!(plans[0].may_gather());
    assert!(!plans[1].may_gather() && !plans[2].may_gather());
    assert!(!plans[2].may_gather(), "asked a second time");
    plans[0].end(&memory);
    assert_eq!([plans[1].woken(), plans[2].woken()], [1, 0], "12 MiB are still held");
    assert!(plans[1].may_gather() && !plans[2].may_gather());
    plans[1].end(&memory);
    assert_eq!(plans[2].woken(), 1);
    assert!(plans[2].may_gather());
}

/// A plan whose reader does something else may hold what it holds for ever.
#[test]
fn nobody_waits_for_a_plan_whose_reader_is_away() {
    let memory = memory();
    let plans = [11, 11].map(|held| One::new(&memory, held));
    assert!(!plans[1].may_gather());
    memory.await_plan(plans[0].plan.number, false);
    assert_eq!(plans[1].woken(), 1);
    assert!(plans[1].may_gather());
    memory.await_plan(plans[0].plan.number, true);
    assert!(plans[0].may_gather() && !plans[1].may_gather(), "it came first");
}

/// What is little is not behind what is much; a higher limit lets all go on.
#[test]
fn plans_that_hold_little_do_not_wait() {
    let memory = memory();
    let plans = [20, 5, 1].map(|held| One::new(&memory, held));
    assert!(!plans[1].may_gather() && plans[2].may_gather());
    memory.set_limit(ByteCount::mib(100));
    assert_eq!(plans[1].woken(), 1);
    assert!(plans[1].may_gather());
}

/// Where there is not as much room again to put it in order, a plan that has half of the limit writes out what is
/// worth it.
#[test]
fn who_holds_much_writes_it_out() {
    let memory = memory();
    let [large, small] = [6, 2].map(|held| One::new(&memory, held).plan);
    let mib = |count: u64| count << 20;
    assert!(!large.is_to_spill(mib(2)), "there is room to put it in order");
    assert!(large.is_to_spill(mib(3)));
    small.hold(mib(3));
    assert!(!large.is_to_spill(mib(1) - 1), "so little is not worth it");
    assert!(!small.is_to_spill(mib(5)), "the other has more");
}

/// Spills large batches between partitions, after any operator on the same thread.
#[test]
fn batches_between_partitions_are_written_out() {
    let asked_of = |name: &str, mebibytes: usize| {
        let runtime =
            RuntimeEnvBuilder::new().with_memory_pool(Arc::new(memory())).build().unwrap();
        let task = TaskContext::default().with_runtime(Arc::new(runtime));
        let (task, pool) = PlanPool::below(task);
        let pool: Arc<dyn MemoryPool> = pool;
        let mut rows = in_turn_unwatched(one_row(), &task);
        rows.next().now_or_never().expect("a plan without memory has its turn").unwrap().unwrap();
        let others = MemoryConsumer::new("others").register(&pool);
        others.grow(8 << 20);
        let held = spilling(name, &pool);
        held.grow(mebibytes << 20);
        held.try_grow(1)
    };
    assert!(asked_of("GroupedHashAggregateStream[0] (count(1))", 3).is_err());
    assert!(asked_of("RepartitionExec[0]", 3).is_err());
    assert!(asked_of("RepartitionExec[0]", 0).is_ok());
}

fn spilling(name: &str, pool: &Arc<dyn MemoryPool>) -> MemoryReservation {
    MemoryConsumer::new(name).with_can_spill(true).register(pool)
}

fn one_row() -> SendableRecordBatchStream {
    let schema = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(schema.clone(), Vec::new(), &options).unwrap();
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter([Ok(batch)])))
}
