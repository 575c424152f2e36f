//! Whether somebody sleeps, as the kernel tells it.

use crate::error::{KubError, Refused};
use crate::run::Deadline;
use std::time::Duration;

/// Who does not sleep by then is not going to.
const PATIENCE: Duration = Duration::from_secs(10);

/// A thread or process that is to sleep.
#[derive(Debug, Clone)]
pub(super) struct Sleeper {
    file: String,
}

impl Sleeper {
    pub(super) fn process(pid: i32) -> Self {
        Self { file: format!("/proc/{pid}/stat") }
    }

    pub(super) fn thread(number: u32) -> Self {
        Self { file: format!("/proc/self/task/{number}/stat") }
    }

    /// Waits until it sleeps, or something else is so.
    pub(super) fn await_sleep(&self, or: impl Fn() -> bool) -> Result<(), KubError> {
        let end = Deadline::after(PATIENCE);
        while !or() && !self.is_asleep()? {
            if end.is_over() {
                return Err(KubError::unavailable("who is to wait for a lock does not sleep"));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    fn is_asleep(&self) -> Result<bool, KubError> {
        let status = std::fs::read_to_string(&self.file).or_refused(&self.file)?;
        // The name in parentheses may hold anything.
        let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        Ok(state == Some('S'))
    }
}
