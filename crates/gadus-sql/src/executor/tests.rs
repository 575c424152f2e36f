//! Workers stay free while statements compute.

use super::hand_off::HandOff;
use super::runtime;
use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;
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
