//! How much memory the process keeps blobs in, while there is more or less of it.
//!
//! - What is decided, or told, is the most. Where memory is short the cache gives way, and it comes back when
//!   there is plenty: see [`Elastic`].
//! - `gadus.memory_limit`, where it is set, bounds the cache, too: a part of it, unless `gadus.cache` is set.
//! - The thread that listens to other instances looks, as often as is worth it: somebody who keeps little has
//!   little to give.
//! - Caches of connections are small, and stay as they are.

use super::Engine;
use super::decided::{Decided, decided_cache};
use crate::blobs::Blobs;
use gadus_base::{ByteCount, Instant, clock};
use gadus_machine::{Decision, Elastic, Limits, MemoryWatch, Room};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// The memory is looked at so often where the cache might give some of it,
const LOOK: Duration = Duration::from_secs(2);

/// and else so often.
const LOOK_IDLE: Duration = Duration::from_secs(15);

/// The size of the cache that the threads of a process share.
#[derive(Debug)]
pub(crate) struct CacheSize {
    blobs: Arc<Blobs>,
    decided: Arc<Decided>,
    state: Mutex<State>,
}

/// Settings that decide the size of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CacheSettings {
    /// The size, and by what means it was set.
    pub(super) size: Option<(ByteCount, String)>,
    /// `gadus.memory_limit`.
    pub(super) memory_limit: Option<ByteCount>,
}

#[derive(Debug)]
struct State {
    elastic: Elastic,
    /// Why its most is what it is.
    decision: Decision,
    settings: CacheSettings,
    watch: Option<MemoryWatch>,
    looked: Option<Instant>,
}

impl CacheSize {
    /// Of blobs that are cached up to `most`, for the reasons of that decision.
    pub(super) fn new(
        blobs: Arc<Blobs>,
        decided: Arc<Decided>,
        most: ByteCount,
        decision: Decision,
    ) -> Self {
        let state = State {
            elastic: Elastic::new(most),
            settings: CacheSettings {
                size: decision.overridden.clone().map(|by| (most, by)),
                memory_limit: None,
            },
            decision,
            watch: None,
            looked: None,
        };
        Self { blobs, decided, state: Mutex::new(state) }
    }

    /// Sets the greatest size; none has it decided by what the process may take now.
    pub(super) fn set(&self, size: Option<ByteCount>) {
        let size = size.map(|size| (size, format!("gadus.cache = '{}'", size.exact())));
        self.decide_anew(|settings| settings.size = size);
    }

    /// Sets the memory limit of plans, a part of which bounds a size that was not set; none lifts the bound.
    pub(super) fn set_memory_limit(&self, memory_limit: Option<ByteCount>) {
        self.decide_anew(|settings| settings.memory_limit = memory_limit);
    }

    fn decide_anew(&self, change: impl FnOnce(&mut CacheSettings)) {
        let mut state = self.state.lock();
        let before = state.settings.clone();
        change(&mut state.settings);
        let (most, decision) = decided_cache(&Limits::of_this_process(), &state.settings);
        // A cache that has given way stays as it is.
        if most == state.elastic.most() && state.settings == before {
            return;
        }
        state.elastic = Elastic::new(most);
        state.decision = decision.clone();
        self.blobs.limit_cache(most);
        self.decided.record(decision);
    }

    /// What it has at most where memory is not short.
    pub(super) fn most(&self) -> ByteCount {
        self.state.lock().elastic.most()
    }

    /// What it may have now.
    pub(super) fn size(&self) -> ByteCount {
        self.state.lock().elastic.size()
    }

    /// How long nobody needs to look; for ever where there is nothing to give.
    pub(super) fn patience(&self) -> Option<Duration> {
        let gives = self.blobs.cached() > self.state.lock().elastic.least();
        let patience = if gives { LOOK } else { LOOK_IDLE };
        self.blobs.are_of_process().then_some(patience)
    }

    /// Looks whether memory is short, unless that was done just before.
    pub(super) fn look(&self) {
        let Some(patience) = self.patience() else { return };
        let room = {
            let (mut state, now) = (self.state.lock(), clock().now());
            if state.looked.is_some_and(|looked| now.since(looked) < patience) {
                return;
            }
            state.looked = Some(now);
            state.watch.get_or_insert_with(MemoryWatch::begin).look()
        };
        self.fit(&room);
    }

    fn fit(&self, room: &Room) {
        let mut state = self.state.lock();
        if state.elastic.look(room) {
            self.blobs.limit_cache(state.elastic.size());
            self.decided.record(state.given_way(room));
        }
    }
}

impl State {
    fn given_way(&self, room: &Room) -> Decision {
        let (size, most) = (self.elastic.size(), self.elastic.most());
        let unknown = || "an unknown part".to_owned();
        let shown =
            |bytes: Option<ByteCount>| bytes.map_or_else(unknown, |bytes| bytes.to_string());
        let waits = room.pressure.unwrap_or(0.0) * 100.0;
        let (left, given) = (shown(room.left), shown(room.given));
        let short = format!(
            "memory is short, or was a moment ago: {left} of {given} are left, and somebody waits for memory \
             {waits:.0} % of the time; otherwise {}: {}",
            most.exact(),
            self.decision.reason
        );
        Decision {
            choice: size.exact(),
            reason: if size < most { short } else { self.decision.reason.clone() },
            seconds: clock().wall_time().0.as_secs(),
            ..self.decision.clone()
        }
    }
}

impl Engine {
    /// What the process may cache of the database's file now: no more than [`Engine::cache_most`], and less
    /// where memory is short.
    #[must_use]
    pub fn cache_size(&self) -> ByteCount {
        self.inner().cache_size.size()
    }

    /// What it may cache where memory is not short.
    #[must_use]
    pub fn cache_most(&self) -> ByteCount {
        self.inner().cache_size.most()
    }

    /// Has the process cache so much at most, or as much as the machine gives it now.
    pub fn set_cache_most(&self, told: Option<ByteCount>) {
        self.inner().cache_size.set(told);
    }

    /// Bounds the cache by a part of this memory limit of plans, unless [`Self::set_cache_most`] has set its size; none
    /// lifts the bound.
    pub fn set_memory_limit(&self, told: Option<ByteCount>) {
        self.inner().cache_size.set_memory_limit(told);
    }
}

#[cfg(test)]
mod tests;
