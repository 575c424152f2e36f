//! A queue for devices whose transfers block: a few threads carry them out.
//!
//! - Threads live as long as the queue, and end after what was submitted is done.
//! - A device that never waits for a medium uses no thread: submission carries the transfer out.

use super::{Completion, Queue, Request, Transfer};
use crate::device::Device;
use crate::error::{BlockError, ErrorKind, Operation};
use gadus_base::{Instant, clock, spawn};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;
use std::thread::JoinHandle;

/// More threads than a disk's usual queue depth per core gain nothing with blocking calls.
const THREADS_MAX: usize = 8;

/// Blocking transfers, carried out by threads of the queue.
#[derive(Debug)]
pub(crate) struct WorkerQueue {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    depth_max: usize,
}

#[derive(Debug)]
struct Shared {
    device: Arc<dyn Device>,
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Request>,
    completed: Vec<Completion>,
    running: usize,
    closing: bool,
}

impl WorkerQueue {
    /// A queue with threads, at most one for each transfer in flight.
    pub(crate) fn with_threads(
        device: Arc<dyn Device>,
        depth_max: usize,
    ) -> Result<Box<dyn Queue>, BlockError> {
        let mut queue = Self::inline(device, depth_max);
        for _ in 0..queue.depth_max.min(THREADS_MAX) {
            let shared = Arc::clone(&queue.shared);
            let thread =
                spawn("gadus-block", move || shared.work_until_closed()).map_err(|_| {
                    let name = queue.shared.device.name();
                    BlockError::new(ErrorKind::Io, Operation::Prepare, name)
                        .detailed("the system gave no thread")
                })?;
            queue.threads.push(thread);
        }
        Ok(Box::new(queue))
    }

    /// A queue that carries out each transfer at its submission.
    pub(crate) fn inline(device: Arc<dyn Device>, depth_max: usize) -> Self {
        let shared =
            Shared { device, state: Mutex::default(), work: Condvar::new(), done: Condvar::new() };
        Self { shared: Arc::new(shared), threads: Vec::new(), depth_max: depth_max.max(1) }
    }
}

impl Queue for WorkerQueue {
    fn submit(&mut self, batch: Vec<Request>) {
        let shared = &self.shared;
        if self.threads.is_empty() {
            let done = batch.into_iter().map(|request| shared.carry_out(request));
            shared.state.lock().completed.extend(done.collect::<Vec<_>>());
            return;
        }
        let mut state = shared.state.lock();
        for request in batch {
            while state.waiting.len() + state.running >= self.depth_max {
                shared.done.wait(&mut state);
            }
            state.waiting.push_back(request);
            shared.work.notify_one();
        }
    }

    fn poll(&mut self) -> Vec<Completion> {
        std::mem::take(&mut self.shared.state.lock().completed)
    }

    fn wait(&mut self, at_least: usize, deadline: Option<Instant>) -> Vec<Completion> {
        let mut state = self.shared.state.lock();
        while state.completed.len() < at_least && state.waiting.len() + state.running > 0 {
            match deadline.map(|deadline| deadline.since(clock().now())) {
                None => self.shared.done.wait(&mut state),
                Some(left) if left.is_zero() => break,
                Some(left) => {
                    self.shared.done.wait_for(&mut state, left);
                }
            }
        }
        std::mem::take(&mut state.completed)
    }

    fn in_flight(&self) -> usize {
        let state = self.shared.state.lock();
        state.waiting.len() + state.running + state.completed.len()
    }
}

impl Drop for WorkerQueue {
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has nothing in flight any more.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn work_until_closed(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(request) = state.waiting.pop_front() {
                state.running += 1;
                drop(state);
                let completion = self.carry_out(request);
                state = self.state.lock();
                state.running -= 1;
                state.completed.push(completion);
                self.done.notify_all();
            } else if state.closing {
                return;
            } else {
                self.work.wait(&mut state);
            }
        }
    }

    fn carry_out(&self, request: Request) -> Completion {
        let (buffer, result) = match request.transfer {
            Transfer::Read { offset, mut buffer } => {
                let result = self.device.read_at(offset, &mut buffer);
                (Some(buffer), result)
            }
            Transfer::Write { offset, buffer } => {
                let result = self.device.write_at(offset, &[IoSlice::new(&buffer)]);
                (Some(buffer), result)
            }
            Transfer::Sync => (None, self.device.sync()),
        };
        Completion { tag: request.tag, buffer, result }
    }
}
