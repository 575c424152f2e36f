//! What is decided by what the machine gives, and why.
//!
//! - Limits are read when a database is opened, once: some ten small files.
//! - Who decides later for the same database records it here as well.

use super::{Engine, Options};
use crate::scan::decided_chunk_rows;
use gadus_base::ByteCount;
use gadus_machine::{Decision, Decisions, Limits, decide_cache, decide_scan_threads};
use parking_lot::Mutex;

/// The decisions of an open database.
#[derive(Debug)]
pub(crate) struct Decided {
    limits: Limits,
    decisions: Mutex<Decisions>,
}

impl Decided {
    /// Decides what the options leave open, the size of the cache for reasons that are returned.
    pub(super) fn complete(options: &mut Options) -> (Self, ByteCount, Decision) {
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
        let told = options.cache.map(|told| (told, format!("cache = '{}'", told.exact())));
        let (cache, decision) = decided_cache(&limits, told);
        options.cache = Some(cache);
        decisions.record(decision.clone());
        decisions.record(decided_chunk_rows().1.clone());
        (Self { limits, decisions: Mutex::new(decisions) }, cache, decision)
    }

    pub(super) fn record(&self, decision: Decision) {
        self.decisions.lock().record(decision);
    }
}

/// What the cache has at most: as somebody told, by some means, or as the process may take.
pub(super) fn decided_cache(
    limits: &Limits,
    told: Option<(ByteCount, String)>,
) -> (ByteCount, Decision) {
    let (usual, decision) = decide_cache(limits);
    match told {
        None => (usual, decision),
        Some((told, by)) => (told, decision.told(told.exact(), by)),
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
