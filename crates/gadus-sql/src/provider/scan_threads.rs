//! The threads of shared scans: what each is to do, where it runs, and what it gets there.

use crate::session::is_hidden;
use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use datafusion::error::DataFusionError;
use gadus_engine::{PlacedThread, ScanThread};
use std::sync::Arc;
use std::time::Duration;

/// The threads in this process, where they run, and what they get there.
pub(super) fn threads(threads: &[ScanThread]) -> Result<RecordBatch, DataFusionError> {
    let numbers = |of: fn(&ScanThread) -> Option<u32>| -> ArrayRef {
        Arc::new(threads.iter().map(of).collect::<UInt32Array>())
    };
    let milliseconds = |of: fn(&ScanThread) -> Duration| -> ArrayRef {
        let times = threads.iter().map(|thread| Some(of(thread).as_secs_f64() * 1e3));
        Arc::new(times.collect::<Float64Array>())
    };
    let numbered = (0_u32..).zip(threads).map(|(number, _)| Some(number));
    let moves = threads.iter().map(|thread| Some(thread.moves));
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("thread", Arc::new(numbered.collect::<UInt32Array>()) as ArrayRef, false),
        ("pinned_to", numbers(|thread| thread.pinned), true),
        ("processor", numbers(|thread| Some(thread.cpu)), false),
        ("moves", Arc::new(moves.collect::<UInt64Array>()), false),
        ("working_ms_total", milliseconds(|thread| thread.working_time), false),
        ("processor_ms_total", milliseconds(|thread| thread.processor_time), false),
    ])?)
}

/// The threads that the next scan of each table has, and the segments that they may take.
pub(super) fn placement(placed: &[PlacedThread]) -> Result<RecordBatch, DataFusionError> {
    let placed = placed.iter().filter(|one| !is_hidden(&one.table)).collect::<Vec<_>>();
    let counts = |of: fn(&PlacedThread) -> u64| -> ArrayRef {
        Arc::new(placed.iter().map(|one| Some(of(one))).collect::<UInt64Array>())
    };
    let numbers = |of: fn(&PlacedThread) -> Option<u32>| -> ArrayRef {
        Arc::new(placed.iter().map(|one| of(one)).collect::<UInt32Array>())
    };
    let tables = placed.iter().map(|one| Some(one.table.as_str()));
    let dealt = placed.iter().map(|one| match one.is_alone {
        true => Some("to this thread alone"),
        false if one.is_near_first => {
            Some("those of its memory node first, then to whichever thread is free")
        }
        false => Some("to whichever thread is free"),
    });
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("table_name", Arc::new(tables.collect::<StringArray>()) as ArrayRef, false),
        ("thread", counts(|one| one.thread as u64), false),
        ("processor", numbers(|one| one.processor), true),
        ("memory_node", numbers(|one| one.node), true),
        ("first_segment", counts(|one| one.segments.start as u64), false),
        ("segments", counts(|one| one.segments.len() as u64), false),
        ("rows", counts(|one| one.rows), false),
        ("dealt", Arc::new(dealt.collect::<StringArray>()), false),
    ])?)
}
