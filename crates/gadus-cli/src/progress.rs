//! Progress of long work, on stderr, for people only.
//!
//! - Silent unless stderr is a terminal and the work has lasted a second: nothing flickers, and no
//!   log fills with bars.

use std::io::{self, IsTerminal};
use std::time::Duration;

use gadus_base::{Instant, clock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const SILENT: Duration = Duration::from_secs(1);
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
