//! A progress bar for statements that take long.

use gadus::CancelHandle;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Statements that are done by then show no bar.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(250);

/// A bar that is shown while a statement runs, until this is dropped.
pub(crate) struct Bar {
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Shows nothing where the system has no thread to give.
    pub(crate) fn begin(statement: CancelHandle) -> Self {
        let (ended, end) = channel::<()>();
        let show = move || {
            let mut wait = PATIENCE;
            let mut shown = false;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = STEP;
                if let Some(fraction) = statement.progress().fraction {
                    shown |= draw(Some(fraction));
                }
            }
            if shown {
                draw(None);
            }
        };
        Self { ended: Some(ended), thread: gadus_base::spawn("gadus-progress", show).ok() }
    }
}

/// Draws the bar, or takes it away; a terminal that refuses it is no reason to stop.
fn draw(fraction: Option<f64>) -> bool {
    let drawn = Python::try_attach(|py| {
        let display = py.import("gadus._display")?;
        display.call_method1("progress", (fraction,)).map(|_| ())
    });
    matches!(drawn, Some(Ok(())))
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.ended = None;
        if let Some(thread) = self.thread.take() {
            // A bar that broke off has nothing to take away.
            let _ = thread.join();
        }
    }
}
