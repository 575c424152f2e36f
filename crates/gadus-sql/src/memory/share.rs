//! The part of the limit that is this process's, while others gather much for the same database.
//!
//! - Equal parts: who gathers much says so again and again in the memory that the processes share. Nobody is
//!   asked, and who dies is soon forgotten.

use gadus_base::{Instant, clock};
use gadus_engine::Gatherers;
use parking_lot::Mutex;
use std::time::Duration;

/// Others are looked at so often, and told.
const LOOK: Duration = Duration::from_millis(20);

/// Who has not said for so long that he gathers much does not any more.
const PAUSE: Duration = Duration::from_millis(200);

/// This process among those that have the database open.
#[derive(Debug)]
pub(super) struct Share {
    /// None for a database that is nobody's, as in tests.
    gatherers: Option<Gatherers>,
    seen: Mutex<Seen>,
}

/// What others said when they were looked at last.
#[derive(Debug, Default)]
struct Seen {
    others: u64,
    looked: Option<Instant>,
    told: Option<Instant>,
}

impl Share {
    pub(super) fn new(gatherers: Option<Gatherers>) -> Self {
        Self { gatherers, seen: Mutex::default() }
    }

    /// This process's part of a limit. `gathers` says that it holds much, of which others are told.
    pub(super) fn of(&self, limit: u64, gathers: bool) -> u64 {
        let Some(gatherers) = &self.gatherers else { return limit };
        let now = clock().now();
        let is_over = |last: Option<Instant>| last.is_none_or(|last| now.since(last) >= LOOK);
        let mut seen = self.seen.lock();
        if gathers && is_over(seen.told) {
            seen.told = Some(now);
            gatherers.gathers_for(PAUSE);
        }
        if is_over(seen.looked) {
            seen.looked = Some(now);
            seen.others = gatherers.others() as u64;
        }
        limit / (1 + seen.others)
    }
}
