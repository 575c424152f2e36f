//! Progress of long work, on stderr, for people only.
//!
//! - Silent unless stderr is a terminal and the work has lasted a second: nothing flickers, and no
//!   log fills with bars.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use gadus::CancelHandle;
use gadus_base::{Instant, clock};
use indicatif::{
    HumanCount, HumanDuration, HumanFloatCount, ProgressBar, ProgressDrawTarget, ProgressStyle,
};

const SILENT: Duration = Duration::from_secs(1);
/// Often enough to look alive.
const STEP: Duration = Duration::from_millis(100);
/// Parts of a statement's bar: more than it has characters.
const PARTS: u64 = 1000;
const STATEMENT: &str = "{msg} {bar:24} {percent} %, {prefix} left";
const STATEMENT_UNKNOWN: &str = "{msg} {spinner} {elapsed}";
const TEMPLATE: &str = "{msg} {bar:24} {human_pos}/{human_len} {per_sec}, {eta} left";

/// The progress of one piece of work; it disappears when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// Whether the bar waits for its first second to pass.
    waiting: bool,
}

impl Progress {
    /// Work named `what`, of about `total` units.
    pub(crate) fn new(what: &str, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
            .with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self { bar, started: clock().now(), waiting: io::stderr().is_terminal() }
    }

    /// `units` more are done.
    pub(crate) fn advance(&mut self, units: u64) {
        if self.waiting && self.started.elapsed() >= SILENT {
            self.waiting = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(units);
    }
}

/// Shows how far a statement has come, from another thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Dropped to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches a connection's statement; does nothing where nobody sees it.
    pub(crate) fn start(statement: CancelHandle) -> Self {
        if !io::stderr().is_terminal() {
            return Self { running: None, thread: None };
        }
        let (running, ended) = channel();
        let show = move || show_until(&ended, &statement);
        // A statement runs without its bar, too.
        let thread = gadus_base::spawn("progress", show).ok();
        Self { running: Some(running), thread }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // A bar that broke off is no reason to fail.
            let _ = thread.join();
        }
    }
}

fn show_until(ended: &Receiver<()>, statement: &CancelHandle) {
    let started = clock().now();
    if ended.recv_timeout(SILENT) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::hidden());
    let styles = [STATEMENT, STATEMENT_UNKNOWN].map(ProgressStyle::with_template);
    let [Ok(known), Ok(unknown)] = styles else { return };
    bar.set_style(unknown.clone());
    bar.set_draw_target(ProgressDrawTarget::stderr());
    loop {
        let reading = statement.progress();
        let seconds = started.elapsed().as_secs_f64();
        #[allow(clippy::cast_precision_loss)] // shown with a few digits
        let rate = reading.rows_written as f64 / seconds;
        let message = match reading.rows_written {
            0 => "running".to_owned(),
            rows => format!("{} rows, {}/s", HumanCount(rows), HumanFloatCount(rate.round())),
        };
        bar.set_message(message);
        match reading.fraction.filter(|fraction| *fraction > 0.0) {
            Some(fraction) => {
                let left = Duration::from_secs_f64(seconds * (1.0 - fraction) / fraction);
                bar.set_style(known.clone());
                bar.set_prefix(HumanDuration(left).to_string());
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to PARTS
                bar.set_position((fraction * PARTS as f64) as u64);
            }
            None => bar.set_style(unknown.clone()),
        }
        bar.tick();
        if ended.recv_timeout(STEP) != Err(RecvTimeoutError::Timeout) {
            bar.finish_and_clear();
            return;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
