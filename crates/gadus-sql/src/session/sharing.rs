//! From how many rows of a table on statements share its scan.
//!
//! - By how fast scans have run alone here, and by how long this kernel takes to wake a thread, where `gadus kub` has
//!   measured that. It is decided anew now and then, as scans are seen.

use super::Shared;
use gadus_base::Instant;
use gadus_engine::Engine;
use gadus_machine::{Facts, Identity, KeptFacts, decide_sharing};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Fewer rows are never shared, and nothing is decided for them.
const ROWS_MIN: u64 = 10_000;

/// Scans of fewer rows say more of statements than of scans.
const SEEN_ROWS_MIN: u64 = 100_000;

/// After so many statements it is decided anew.
const STATEMENTS: u32 = 4096;

/// Another threshold is another decision where it differs by a part of so many.
const DIFFERENCE: u64 = 4;

/// What a scan counts among those before it: a twentieth.
const WEIGHT: f64 = 0.05;

/// The rate at which scans run alone, and what follows.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    measured: OnceLock<Facts>,
    statements: AtomicU32,
    /// 0 before it is decided.
    threshold: AtomicU64,
    /// Rows a second, as bits; 0 before a scan was seen. Of two that end at once, one counts.
    rate: AtomicU64,
}

impl Shared {
    /// Whether a scan of a table with so many rows is worth sharing with others.
    pub(super) fn is_worth_sharing(&self, rows: u64) -> bool {
        self.sharing.is_worth_it(rows, &self.engine, self.memory.spill().folder())
    }
}

impl Sharing {
    /// Whether a scan of a table with so many rows is worth sharing; files are in a folder.
    fn is_worth_it(&self, rows: u64, engine: &Engine, folder: &Path) -> bool {
        if rows < ROWS_MIN {
            return false;
        }
        if self.statements.fetch_add(1, Ordering::Relaxed).is_multiple_of(STATEMENTS) {
            self.decide(engine, folder);
        }
        match self.threshold.load(Ordering::Relaxed) {
            // Somebody is about to decide.
            0 => false,
            threshold => rows >= threshold,
        }
    }

    /// A scan that ran alone since then has read so many rows.
    #[allow(clippy::cast_precision_loss)] // a rate
    pub(super) fn ran_alone(&self, rows: u64, since: Instant) {
        let seconds = since.elapsed().as_secs_f64();
        if rows < SEEN_ROWS_MIN || seconds <= 0.0 {
            return;
        }
        let rate = rows as f64 / seconds;
        let rate = self.rate().map_or(rate, |known| known + WEIGHT * (rate - known));
        self.rate.store(rate.to_bits(), Ordering::Relaxed);
    }

    fn decide(&self, engine: &Engine, folder: &Path) {
        let measured = self.measured.get_or_init(|| {
            let known = KeptFacts::of_this_user()
                .and_then(|kept| kept.load(&Identity::of_this_machine(folder)).ok());
            // What cannot be read is shown by gadus.facts.
            known.unwrap_or_default()
        });
        let (rows, decision) = decide_sharing(measured, self.rate());
        let before = self.threshold.load(Ordering::Relaxed);
        if before == 0 || rows.abs_diff(before) > before / DIFFERENCE {
            self.threshold.store(rows, Ordering::Relaxed);
            engine.record_decision(decision);
        }
    }

    /// In rows a second; none where no scan was seen.
    fn rate(&self) -> Option<f64> {
        let bits = self.rate.load(Ordering::Relaxed);
        (bits != 0).then(|| f64::from_bits(bits))
    }
}
