//! Writes events by a thread of its own: a slow reader keeps no thread that logs an event waiting.
//!
//! Crates for this end the process where the system has no thread for it.

use gadus_base::{clock, spawn};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Events that wait to be written: some megabytes, where each is as long as they become.
const WAITING_MAX: usize = 4_096;

/// Time for writing what waits when the command ends.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// Hands events over to the thread, and loses those that there is no room for.
#[derive(Clone)]
pub(super) struct EventWriter {
    queue: Arc<Queue>,
}

/// Waits, when dropped, until all events are written, or [`LAST_WRITES`] is over.
pub(super) struct LastWrites {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// Notified when an event waits, and when no more will come.
    has_work: Condvar,
    /// Notified when all events are written.
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    will_end: bool,
    has_ended: bool,
}

impl EventWriter {
    /// Starts the thread that writes to `output`.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<(Self, LastWrites)> {
        let queue = Arc::new(Queue::default());
        let of_thread = queue.clone();
        spawn("log", move || of_thread.write_all(output))?;
        Ok((Self { queue: queue.clone() }, LastWrites { queue }))
    }
}

impl Queue {
    fn write_all(&self, mut output: impl Write) {
        while let Some(event) = self.next() {
            // There is no other place to tell of an error.
            let _ = output.write_all(&event);
        }
        let _ = output.flush();
        self.state.lock().has_ended = true;
        self.has_ended.notify_all();
    }

    /// The next event, or nothing when the command ends.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        loop {
            match state.waiting.pop_front() {
                None if !state.will_end => self.has_work.wait(&mut state),
                event => return event,
            }
        }
    }
}

impl Write for EventWriter {
    /// Takes one event: a line is written by one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut state = self.queue.state.lock();
        if state.waiting.len() < WAITING_MAX {
            state.waiting.push_back(event.to_vec());
            self.queue.has_work.notify_one();
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for EventWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for LastWrites {
    fn drop(&mut self) {
        let begun = clock().now();
        let mut state = self.queue.state.lock();
        state.will_end = true;
        self.queue.has_work.notify_one();
        while !state.has_ended {
            let Some(left) = LAST_WRITES.checked_sub(begun.elapsed()) else { return };
            self.queue.has_ended.wait_for(&mut state, left);
        }
    }
}

#[cfg(test)]
mod tests;
