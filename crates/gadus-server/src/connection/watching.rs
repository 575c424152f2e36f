//! Watching for a client's next message, instead of sleeping until it comes.
//!
//! - To be woken takes a thread some 5 µs on a machine of its own and up to 50 µs in a virtual one: most of
//!   what a client waits for that asks again at once. A thread that has nothing else to do watches for it
//!   for a moment.
//! - One client at a time, and only where there is another processor for the client to run on.
//! - One that did not come in time is passed over, twice as often each time.

use crate::protocol::Channel;
use gadus_base::clock;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::yield_now;

/// How long a client is watched: about twice what it takes to wake it and to be asked again.
const MOMENT: Duration = Duration::from_micros(150);

/// How often in turn a client is passed over, at most.
const PASSED_OVER_MAX: u32 = 1 << 10;

/// Whether somebody is watched, of all clients of a server.
#[derive(Debug)]
pub(crate) struct Watching {
    is_free: AtomicBool,
}

/// Whether it is worth while to watch a client.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// How often it is still passed over.
    left: u32,
    /// How often it is passed over when it is late the next time.
    next: u32,
}

impl Watching {
    /// Nobody is watched where there is one processor.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { is_free: AtomicBool::new(processors > 1) }
    }

    /// Watches for the next bytes of a client for a moment, behind all other work of the thread.
    pub(super) async fn watch(&self, channel: &mut Channel, patience: &mut Patience) {
        if channel.has_input() || patience.passes_over() {
            return;
        }
        let Some(_watched) = Watched::begin(self) else { return };
        let began = clock().now();
        loop {
            if channel.fill_now().await {
                return patience.came();
            }
            if began.elapsed() >= MOMENT {
                return patience.missed();
            }
            yield_now().await;
        }
    }
}

/// A client is watched until this is dropped.
struct Watched<'a>(&'a Watching);

impl<'a> Watched<'a> {
    fn begin(watching: &'a Watching) -> Option<Self> {
        // Made only where it was free: what is made frees it when it is dropped.
        watching.is_free.swap(false, Ordering::Acquire).then(|| Self(watching))
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.is_free.store(true, Ordering::Release);
    }
}

impl Patience {
    fn passes_over(&mut self) -> bool {
        let passes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        passes
    }

    fn came(&mut self) {
        self.next = 0;
    }

    fn missed(&mut self) {
        self.next = (self.next * 2).clamp(1, PASSED_OVER_MAX);
        self.left = self.next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_watched_at_a_time() {
        let watching = Watching { is_free: AtomicBool::new(true) };
        let first = Watched::begin(&watching);
        assert!(first.is_some());
        for _ in 0..2 {
            assert!(Watched::begin(&watching).is_none());
        }
        drop(first);
        assert!(Watched::begin(&watching).is_some());
    }

    #[test]
    fn who_comes_late_is_passed_over_twice_as_often() {
        let mut patience = Patience::default();
        for expected in [0, 1, 2, 4, 8] {
            let mut passed = 0;
            while patience.passes_over() {
                passed += 1;
            }
            assert_eq!(passed, expected);
            patience.missed();
        }
        while patience.passes_over() {}
        patience.came();
        assert!(!patience.passes_over());
    }
}
