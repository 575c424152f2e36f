//! Workers stay free while statements compute.

use super::cancellation::work_for;
use super::hand_off::HandOff;
use super::step_slots::steps_max;
use super::{apart, apart_if_long, is_large_statement, runtime};
use crate::error::from_datafusion;
use crate::session::{Cancel, Flag};
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::common::exec_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use futures::{FutureExt, StreamExt, stream};
use gadus_base::{clock, spawn};
use gadus_engine::ErrorKind;
use std::future::poll_fn;
use std::hint;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// The only worker of a runtime polls a computation that ends when another task of that runtime has run.
#[test]
fn a_computation_that_never_yields_leaves_its_worker_to_other_tasks() {
    let server = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ran, has_run) = mpsc::channel();
    let computing = server.spawn(HandOff(poll_fn(move |_| {
        Handle::current();
        has_run.recv().unwrap();
        Poll::Ready(())
    })));
    server.spawn(async move { ran.send(()).unwrap() });
    server.block_on(computing).unwrap();
}

/// Steps of which each takes some milliseconds, of more tasks than a statement may have at work.
#[test]
fn slow_steps_of_a_statement_run_a_few_at_a_time() {
    const STEPS: u32 = 5;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let task = || {
        let (running, most, mut step) = (running.clone(), most.clone(), 0);
        let steps = poll_fn(move |context| {
            step += 1;
            // The first is not known to be slow before.
            let counts = step > 1;
            if counts {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            }
            let began = clock().now();
            while began.elapsed() < Duration::from_millis(3) {
                hint::spin_loop();
            }
            if counts {
                running.fetch_sub(1, Ordering::SeqCst);
            }
            context.waker().wake_by_ref();
            if step == STEPS { Poll::Ready(()) } else { Poll::Pending }
        });
        SpawnedTask::spawn(steps)
    };
    let statement = Cancel::of(Arc::default());
    runtime().unwrap().block_on(async {
        let spawn_all = || (0..10 * steps_max()).map(|_| task()).collect::<Vec<_>>();
        for task in work_for(Some(&statement), spawn_all) {
            task.await.unwrap();
        }
    });
    let most = most.load(Ordering::SeqCst);
    assert!((1..=steps_max()).contains(&most), "{most} steps at the same time");
}

#[test]
fn tasks_that_a_computation_spawns_run_on_the_runtime_of_statements() {
    let server = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let computing = async { tokio::spawn(async { Handle::current().id() }).await.unwrap() };
    let id = server.block_on(server.spawn(HandOff(Box::pin(computing)))).unwrap();
    assert_eq!(id, runtime().unwrap().handle().id());
}

/// Without a budget, a source that is always ready would never yield, and no cancellation would be seen.
#[test]
fn a_computation_has_a_task_budget() {
    let server = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let endless = HandOff(Box::pin(async {
        loop {
            tokio::task::consume_budget().await;
        }
    }));
    let task = server.spawn(endless);
    task.abort();
    assert!(server.block_on(task).unwrap_err().is_cancelled());
}

/// The planning ends when the statement has failed, and cannot before.
#[test]
fn a_cancelled_statement_does_not_wait_for_its_large_plan() {
    let runtime = runtime().unwrap();
    let (has_begun, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let flag = Arc::new(Flag::default());
    let cancelling = spawn("cancelling", {
        let flag = flag.clone();
        move || {
            begun.recv().unwrap();
            flag.end();
        }
    });
    let planning = async move {
        has_begun.send(()).unwrap();
        let _ = released.recv();
        Ok(())
    };
    let planned = async { apart(true, planning.boxed()).await.map_err(from_datafusion) };
    let cancelled = runtime.block_on(flag.run(planned)).unwrap_err();
    assert_eq!(cancelled.kind(), ErrorKind::Cancelled);
    drop(release);
    cancelling.unwrap().join().unwrap();
}

/// The first step takes long, where it is asked for; the second one ends when the statement has failed, and cannot
/// before.
#[test]
fn a_cancelled_statement_does_not_wait_for_a_long_step() {
    let runtime = runtime().unwrap();
    let flag = Arc::new(Flag::default());
    let (release, released) = mpsc::channel::<()>();
    let (clock, cancel) = (clock(), flag.clone());
    let steps = stream::iter(0..2).map(move |step| {
        let began = clock.now();
        while step == 0 && began.elapsed() < Duration::from_millis(20) {
            hint::spin_loop();
        }
        if step == 1 {
            cancel.end();
            let _ = released.recv();
        }
        Ok(RecordBatch::new_empty(Arc::new(Schema::empty())))
    });
    let schema = Arc::new(Schema::empty());
    let mut rows = apart_if_long(Box::pin(RecordBatchStreamAdapter::new(schema, steps)), false);
    let mut step =
        async || flag.run(async { rows.next().await.transpose().map_err(from_datafusion) }).await;
    assert!(runtime.block_on(step()).unwrap().is_some());
    assert_eq!(runtime.block_on(step()).unwrap_err().kind(), ErrorKind::Cancelled);
    drop(release);
}

#[test]
fn steps_in_tasks_give_what_steps_give_and_end() {
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::new_empty(schema.clone());
    let steps = stream::iter([Ok(batch), exec_err!("a step fails")]);
    let rows = apart_if_long(Box::pin(RecordBatchStreamAdapter::new(schema, steps)), true);
    let given = runtime().unwrap().block_on(rows.map(|step| step.is_ok()).collect::<Vec<_>>());
    assert_eq!(given, [true, false]);
}

#[test]
fn statements_are_large_by_their_expressions_and_literals() {
    let is_large = |sql: &str| {
        let statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        statements.iter().any(is_large_statement)
    };
    assert!(!is_large("SELECT a + 1 FROM t WHERE b = 'text'"));
    assert!(is_large(&format!("SELECT a {} FROM t", "+ 1".repeat(600))));
    assert!(is_large(&format!("SELECT '{}' || a FROM t", "x".repeat(2 << 20))));
    assert!(is_large(&format!("INSERT INTO t SELECT $${}$$ || a FROM t", "x".repeat(2 << 20))));
}

#[test]
fn a_panic_of_a_large_plan_is_that_of_its_statement() {
    let planned = async {
        let planning = async { if true { panic!("a planner's bug") } else { Ok(()) } };
        apart(true, planning.boxed()).await
    };
    let caught =
        std::panic::catch_unwind(AssertUnwindSafe(|| runtime().unwrap().block_on(planned)));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"a planner's bug"));
}
