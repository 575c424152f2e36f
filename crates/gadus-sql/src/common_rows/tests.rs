//! Rows of common tables that several readers read.

use super::buffer::Buffer;
use crate::memory::SpillFolder;
use arrow::array::AsArray;
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::channel::mpsc;
use futures::executor::block_on;
use futures::{FutureExt, SinkExt, StreamExt, stream};
use std::sync::Arc;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]))
}

fn batch(number: i64) -> RecordBatch {
    let numbers = Arc::new(Int64Array::from(vec![number; 100])) as ArrayRef;
    RecordBatch::try_new(schema(), vec![numbers]).unwrap()
}

fn buffer(
    rows: impl futures::Stream<Item = Result<RecordBatch>> + Send + 'static,
    limit: usize,
) -> Arc<Buffer> {
    let memory_pool = Arc::new(GreedyMemoryPool::new(limit));
    let disk_manager = SpillFolder::new(None).disk_manager();
    let runtime = RuntimeEnv { memory_pool, disk_manager, ..RuntimeEnv::default() };
    let task = TaskContext::default().with_runtime(Arc::new(runtime));
    let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
    let rows = Box::pin(RecordBatchStreamAdapter::new(schema(), rows));
    Arc::new(Buffer::new(rows, metrics, &task))
}

fn number(batch: &RecordBatch) -> i64 {
    batch.column(0).as_primitive::<Int64Type>().value(0)
}

/// Two readers, of which one is a batch ahead, read all rows.
fn both_read_all(limit: usize) {
    let buffer = buffer(stream::iter((0..50).map(|number| Ok(batch(number)))), limit);
    let (mut one, mut other) = (buffer.read(), buffer.read());
    block_on(async {
        let mut ahead = Vec::new();
        let mut behind = Vec::new();
        while let Some(batch) = one.next().await.transpose().unwrap() {
            ahead.push(number(&batch));
            if ahead.len() > 1 {
                behind.push(number(&other.next().await.unwrap().unwrap()));
            }
        }
        while let Some(batch) = other.next().await.transpose().unwrap() {
            behind.push(number(&batch));
        }
        assert_eq!(ahead, (0..50).collect::<Vec<_>>());
        assert_eq!(behind, ahead);
        let late = buffer.read().map(|batch| number(&batch.unwrap())).collect::<Vec<_>>().await;
        assert_eq!(late, ahead);
    });
}

#[test]
fn rows_in_memory_are_read_by_all() {
    both_read_all(1 << 20);
}

#[test]
fn rows_beyond_the_memory_are_read_by_all() {
    both_read_all(10 * 1024);
    both_read_all(0);
}

#[test]
fn an_error_reaches_all_readers() {
    let rows = [Ok(batch(1)), Err(DataFusionError::Execution("broken".to_owned()))];
    let buffer = buffer(stream::iter(rows), 1 << 20);
    for mut reader in [buffer.read(), buffer.read()] {
        block_on(async {
            assert_eq!(number(&reader.next().await.unwrap().unwrap()), 1);
            let error = reader.next().await.unwrap().unwrap_err();
            assert!(error.to_string().contains("broken"), "{error}");
        });
    }
}

#[test]
fn a_reader_that_is_dropped_keeps_no_other_waiting() {
    let (mut sender, rows) = mpsc::channel(1);
    let buffer = buffer(rows, 1 << 20);
    let (mut one, mut other) = (buffer.read(), buffer.read());
    block_on(async {
        // Both wait; the one that the input would wake last goes away.
        assert!(other.next().now_or_never().is_none());
        assert!(one.next().now_or_never().is_none());
        drop(one);
        let read = async { number(&other.next().await.unwrap().unwrap()) };
        let send = async { sender.send(Ok(batch(7))).await.unwrap() };
        assert_eq!(futures::join!(read, send).0, 7);
    });
}
