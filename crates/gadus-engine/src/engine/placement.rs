//! Which threads scan which segments, and where.

use super::Engine;
use crate::error::Result;
use std::ops::Range;

/// A thread's part in the next shared scan of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedThread {
    /// The table's name.
    pub table: String,
    /// The thread's number.
    pub thread: usize,
    /// The processor that it is to stay on; none where the system chooses.
    pub processor: Option<u32>,
    /// The memory node that is nearest to it, where that is known.
    pub node: Option<u32>,
    /// The segments that it may take, counted in the table's order.
    pub segments: Range<usize>,
    /// Their rows.
    pub rows: u64,
    /// Whether no other thread may take them.
    pub is_alone: bool,
    /// Whether it begins with those of its memory node, and helps others then.
    pub is_near_first: bool,
}

impl Engine {
    /// The threads that the next shared scan of each table has, and what they would do in it.
    pub fn placement(&self) -> Result<Vec<PlacedThread>> {
        let (snapshot, clock) = (self.snapshot()?, &self.inner().clock);
        let (threads, is_alone) = (clock.places(), clock.limits().divides());
        let is_near_first = !is_alone && clock.deals_by_node();
        let mut placed = Vec::new();
        for table in snapshot.tables() {
            let segments = table.version().segments.values();
            let rows = segments.map(|segment| u64::from(segment.live_rows()));
            let rows = rows.filter(|rows| *rows > 0).collect::<Vec<_>>();
            for (thread, &(processor, node)) in threads.iter().enumerate() {
                let first = |thread: usize| thread * rows.len() / threads.len();
                let segments = match is_alone {
                    true => first(thread)..first(thread + 1),
                    false => 0..rows.len(),
                };
                placed.push(PlacedThread {
                    table: table.schema().name.clone(),
                    thread,
                    processor,
                    node,
                    rows: rows[segments.clone()].iter().sum(),
                    segments,
                    is_alone,
                    is_near_first,
                });
            }
        }
        Ok(placed)
    }
}
