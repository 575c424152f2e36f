//! Submission and completion: many transfers in flight, with buffers that the queue owns meanwhile.
//!
//! - A submitted buffer belongs to the queue until its completion gives it back, also on failure.
//! - Completions come in any order; a sync covers the writes *completed* before it was submitted.
//! - At most `depth_max` transfers are in flight; submission past that waits for room.
//! - Dropping a queue waits for what is in flight.

mod workers;

pub(crate) use workers::WorkerQueue;

use crate::buffer::PooledBuffer;
use crate::error::BlockError;
use gadus_base::Instant;
use std::fmt::Debug;

/// Transfers in flight on one device.
pub trait Queue: Send + Debug {
    /// Hands over a batch; waits only while the queue is full.
    fn submit(&mut self, batch: Vec<Request>);

    /// Completions that are there already.
    fn poll(&mut self) -> Vec<Completion>;

    /// Waits until `at_least` completions are there, none is in flight, or `deadline` has passed.
    fn wait(&mut self, at_least: usize, deadline: Option<Instant>) -> Vec<Completion>;

    /// Submitted and not yet given back.
    fn in_flight(&self) -> usize;
}

/// One thing to do.
#[derive(Debug)]
pub struct Request {
    /// Comes back with the completion.
    pub tag: u64,
    /// What to do.
    pub transfer: Transfer,
}

/// What to do.
#[derive(Debug)]
pub enum Transfer {
    /// Fill the buffer from the offset.
    Read {
        /// Where in the device.
        offset: u64,
        /// Filled whole.
        buffer: PooledBuffer,
    },
    /// Write the buffer at the offset.
    Write {
        /// Where in the device.
        offset: u64,
        /// Written whole.
        buffer: PooledBuffer,
    },
    /// Make completed writes durable.
    Sync,
}

/// One thing done, or failed.
#[derive(Debug)]
pub struct Completion {
    /// The request's tag.
    pub tag: u64,
    /// The buffer of a read or write.
    pub buffer: Option<PooledBuffer>,
    /// How it ended.
    pub result: Result<(), BlockError>,
}
