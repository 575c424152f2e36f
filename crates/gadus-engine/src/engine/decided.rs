//! What is decided by what the machine gives, and why.
//!
//! - Limits are read when a database is opened, once: some ten small files.
//! - Who decides later for the same database records it here as well.
//! - What `gadus kub` has measured is followed where it is known; where it is not, nothing is done otherwise than
//!   without it.

use super::cache_size::CacheSettings;
use super::{Engine, Options};
use crate::scan::decided_chunk_rows;
use gadus_base::ByteCount;
use gadus_machine::{
    Decision, Decisions, Facts, Limits, Reached, decide_announcing, decide_cache,
    decide_cache_beside_plans, decide_client_transport, decide_gathering, decide_latch_looks,
    decide_scan_helpers, decide_scan_threads, known_wake, measure_look,
};
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::time::Duration;

/// The decisions of an open database.
#[derive(Debug)]
pub(crate) struct Decided {
    limits: Limits,
    decisions: Mutex<Decisions>,
}

/// What a client and a server tell each other, about: for whoever looks how to reach one.
const MESSAGE: ByteCount = ByteCount::kib(4);

/// What a database is opened with, as it was decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Followed {
    /// What the cache has at most.
    pub(super) cache: ByteCount,
    /// See [`gadus_storage::Options::gather_from`].
    pub(super) gather_from: Duration,
    /// Whether the kernel is told what will be read of the file.
    pub(super) announces: bool,
    /// From which work on other threads help with a scan; none for all.
    pub(super) helped_from: Option<Duration>,
}

impl Decided {
    /// Decides what the options leave open, the size of the cache for reasons that are returned.
    pub(super) fn complete(options: &mut Options) -> (Self, Followed, Decision) {
        let limits = Limits::of_this_process();
        let (threads, decision) = decide_scan_threads(&limits);
        let decision = match options.threads {
            0 => {
                options.threads = threads;
                decision
            }
            told => decision.told(told.to_string(), format!("threads = {told}")),
        };
        let mut decisions = Decisions::default();
        decisions.record(decision);
        let size = options.cache.map(|size| (size, format!("cache = '{}'", size.exact())));
        let settings = CacheSettings { size, memory_limit: None };
        let (cache, decision) = decided_cache(&limits, &settings);
        options.cache = Some(cache);
        decisions.record(decision.clone());
        decisions.record(decided_chunk_rows().1.clone());
        let (gather_from, gathering) = decide_gathering(&options.measured);
        let (announces, announcing) = decide_announcing(&options.measured);
        let latches = decide_latches(&limits, &options.measured);
        let (_, transport) = decide_client_transport(&options.measured, MESSAGE, Reached::Server);
        let (helped_from, helping) = decide_scan_helpers(&options.measured);
        [gathering, announcing, latches, transport, helping]
            .into_iter()
            .for_each(|one| _ = decisions.record(one));
        let followed = Followed { cache, gather_from, announces, helped_from };
        (Self { limits, decisions: Mutex::new(decisions) }, followed, decision)
    }

    pub(super) fn record(&self, decision: Decision) {
        self.decisions.lock().record(decision);
    }
}

/// How often to try to have a latch is decided for the whole process, by facts alone: latches are those of all its
/// databases, and the kernel is one.
fn decide_latches(limits: &Limits, measured: &Facts) -> Decision {
    static LOOK: OnceLock<Duration> = OnceLock::new();
    let is_known = known_wake(measured).is_some();
    let look = is_known.then(|| *LOOK.get_or_init(measure_look));
    let (looks, decision) = decide_latch_looks(limits, measured, look);
    if is_known {
        gadus_locks::set_latch_tries(looks);
    }
    decision
}

/// Decides the greatest size of the cache: the one that was set, by some means, or what the process may take beside
/// plans whose memory limit was set.
pub(super) fn decided_cache(limits: &Limits, settings: &CacheSettings) -> (ByteCount, Decision) {
    let (usual, decision) = match settings.memory_limit {
        None => decide_cache(limits),
        Some(memory_limit) => decide_cache_beside_plans(limits, memory_limit),
    };
    match &settings.size {
        None => (usual, decision),
        Some((size, by)) => (*size, decision.told(size.exact(), by.clone())),
    }
}

impl Engine {
    /// What this process might take of the machine when the database was opened.
    #[must_use]
    pub fn machine_limits(&self) -> &Limits {
        &self.inner().decided.limits
    }

    /// Remembers what was decided for the database in this process.
    pub fn record_decision(&self, decision: Decision) {
        self.inner().decided.record(decision);
    }

    /// What has been decided for the database in this process, and why.
    #[must_use]
    pub fn decisions(&self) -> Decisions {
        self.inner().decided.decisions.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_those_of_the_machine_unless_somebody_says_how_many() {
        let decided = |options: Options| {
            let engine = Engine::in_memory(options).unwrap();
            let decisions = engine.decisions();
            let decision = decisions.iter().next().unwrap().decision.clone();
            assert_eq!(decision.question, "scan threads");
            assert_eq!(decision.choice, engine.options().threads.to_string());
            assert!(decision.facts.iter().any(|fact| fact.name == "processors"));
            (engine.options().threads, decision.overridden)
        };
        let (threads, overridden) = decided(Options::default());
        let (expected, _) = decide_scan_threads(&Limits::of_this_process());
        assert_eq!((threads, overridden), (expected, None));
        let (threads, overridden) = decided(Options { threads: 3, ..Options::default() });
        assert_eq!((threads, overridden.as_deref()), (3, Some("threads = 3")));
    }
}
