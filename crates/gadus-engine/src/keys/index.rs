//! One index as one snapshot sees it.

use super::{KeyCode, KeyEntry, KeyPage, KeyRun, row_code, row_of};
use crate::blobs::Blobs;
use crate::error::Result;
use gadus_base::{CommitNumber, RowId};
use imbl::OrdMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Entries of an index: runs, and those that came since.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyIndex {
    /// The commit that added each entry.
    recent: OrdMap<KeyEntry, CommitNumber>,
    runs: Arc<Vec<Arc<KeyRun>>>,
}

impl KeyIndex {
    pub(crate) fn with_runs(runs: Vec<Arc<KeyRun>>) -> Self {
        Self { recent: OrdMap::new(), runs: Arc::new(runs) }
    }

    pub(crate) fn insert(&mut self, code: KeyCode, row: RowId, at: CommitNumber) {
        self.recent.insert(KeyEntry { code, row: row_code(row) }, at);
    }

    pub(crate) fn add_run(&mut self, run: Arc<KeyRun>) {
        let mut runs = self.runs.to_vec();
        runs.push(run);
        self.runs = Arc::new(runs);
    }

    /// Puts one run behind the others, in the place of those whose entries it has.
    pub(crate) fn merge_runs(&mut self, replaced: &[Arc<KeyRun>], run: Arc<KeyRun>) {
        let stays = |run: &&Arc<KeyRun>| !replaced.iter().any(|old| Arc::ptr_eq(old, run));
        let kept = self.runs.iter().filter(stays).cloned();
        self.runs = Arc::new(kept.chain([run]).collect());
    }

    /// Replaces all runs, and drops the recent entries that were added up to `written`.
    pub(crate) fn replace_runs(&mut self, runs: Vec<Arc<KeyRun>>, written: CommitNumber) {
        self.runs = Arc::new(runs);
        self.recent =
            self.recent.iter().filter(|&(_, &at)| at > written).map(|(&k, &at)| (k, at)).collect();
    }

    pub(crate) fn runs(&self) -> &[Arc<KeyRun>] {
        &self.runs
    }

    /// Entries of all runs.
    pub(crate) fn run_entries(&self) -> u64 {
        self.runs.iter().map(|run| run.entries()).sum()
    }

    pub(crate) fn recent_len(&self) -> usize {
        self.recent.len()
    }

    /// Adds recent entries that a page of their own holds: they were added before all others.
    pub(crate) fn add_recent(&mut self, page: &KeyPage) {
        self.recent.extend(page.entries().map(|entry| (entry, CommitNumber(0))));
    }

    /// Recent entries in the order of a run.
    pub(crate) fn recent_entries(&self) -> Vec<KeyEntry> {
        self.recent.keys().copied().collect()
    }

    /// Recent entries in their order, or backwards.
    pub(crate) fn recent(&self, backwards: bool) -> Box<dyn Iterator<Item = KeyEntry> + '_> {
        match backwards {
            true => Box::new(self.recent.keys().rev().copied()),
            false => Box::new(self.recent.keys().copied()),
        }
    }

    /// Hands every row whose code is among these to `visit`, until it returns false; in no order.
    pub(crate) fn candidates(
        &self,
        blobs: &Blobs,
        codes: &RangeInclusive<KeyCode>,
        mut visit: impl FnMut(RowId) -> Result<bool>,
    ) -> Result<()> {
        let entry = |code: &KeyCode, row: u64| KeyEntry { code: *code, row };
        let recent = entry(codes.start(), 0)..=entry(codes.end(), u64::MAX);
        for (entry, _) in self.recent.range(recent) {
            if !visit(row_of(entry.row))? {
                return Ok(());
            }
        }
        for run in self.runs.iter().rev() {
            if !run.candidates(blobs, codes, &mut visit)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// About how many entries have one of these codes; counts up to `enough` of the recent ones.
    pub(crate) fn estimate(
        &self,
        blobs: &Blobs,
        codes: &RangeInclusive<KeyCode>,
        enough: u64,
    ) -> Result<u64> {
        let entry = |code: &KeyCode, row: u64| KeyEntry { code: *code, row };
        let recent = entry(codes.start(), 0)..=entry(codes.end(), u64::MAX);
        let most = usize::try_from(enough).unwrap_or(usize::MAX);
        let mut count = self.recent.range(recent).take(most).count() as u64;
        for run in self.runs.iter() {
            count += run.estimate(blobs, codes)?;
        }
        Ok(count)
    }
}
