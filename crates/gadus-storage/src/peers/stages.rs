//! What instances are in the middle of, and what those who died were.
//!
//! - Derived from the words that say whose turn it is; written only by who has the checkpoint's turn,
//!   which has several stages, and by who takes over from the dead.

use super::Peers;
use gadus_locks::{InstanceDescription, Owner, shared_struct};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What an instance can be in the middle of while it has what others wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// It appends to the log.
    Commit,
    /// It makes the log durable.
    Sync,
    /// It folds or moves rows, which no checkpoint may fall between.
    Fold,
    /// It writes a checkpoint.
    Checkpoint,
    /// Its checkpoint is complete: it gives back the log and the space that nothing names any more.
    Recycling,
    /// It takes or gives space of the data file.
    Space,
}

/// How often somebody took over from an instance that had died in the middle, by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Takeovers {
    /// While it had the turn to append.
    pub commit: u64,
    /// While it led a sync.
    pub sync: u64,
    /// While it folded or moved rows.
    pub fold: u64,
    /// While it wrote a checkpoint.
    pub checkpoint: u64,
    /// While it gave back what its checkpoint had made free.
    pub recycling: u64,
    /// While it took or gave space of the data file.
    pub space: u64,
}

impl Takeovers {
    /// Counts others, too.
    pub fn add(&mut self, others: &Self) {
        self.commit += others.commit;
        self.sync += others.sync;
        self.fold += others.fold;
        self.checkpoint += others.checkpoint;
        self.recycling += others.recycling;
        self.space += others.space;
    }
}

/// In the order of [`Stage`].
const STAGES: [Stage; 6] =
    [Stage::Commit, Stage::Sync, Stage::Fold, Stage::Checkpoint, Stage::Recycling, Stage::Space];

shared_struct! {
    /// What shared memory knows of stages.
    pub(crate) struct StageState {
        /// The stage of who has the checkpoint's turn, as its index.
        of_checkpointer: AtomicU32,
        reserved: AtomicU32,
        taken_over: [AtomicU64; STAGES.len()],
    }
}

impl Stage {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Sync => "sync",
            Self::Fold => "fold",
            Self::Checkpoint => "checkpoint",
            Self::Recycling => "recycling",
            Self::Space => "space",
        }
    }
}

impl StageState {
    /// The stage of who has the checkpoint's turn, or died with it.
    pub(crate) fn of_checkpointer(&self) -> Stage {
        let index = self.of_checkpointer.load(Ordering::Relaxed) as usize;
        STAGES.get(index).copied().unwrap_or(Stage::Fold)
    }

    /// Says what the caller does in the checkpoint's turn, which it has.
    pub(crate) fn enter(&self, stage: Stage) {
        self.of_checkpointer.store(stage as u32, Ordering::Relaxed);
    }

    /// Notes that somebody took over what an instance had in this stage, and died.
    pub(crate) fn note_takeover(&self, stage: Stage) {
        self.taken_over[stage as usize].fetch_add(1, Ordering::Relaxed);
    }
}

impl Peers {
    /// Which instances are in the middle of what; the same one may be of several.
    pub(crate) fn busy(&self) -> Vec<(InstanceDescription, Stage)> {
        let state = self.state();
        let owners: [(Option<Owner>, Stage); 4] = [
            (state.commit.owner(), Stage::Commit),
            (state.group.leader(), Stage::Sync),
            (state.checkpoint.owner(), state.stages.of_checkpointer()),
            (state.space_latch.owner(), Stage::Space),
        ];
        let described = owners
            .into_iter()
            .filter_map(|(owner, stage)| Some((self.instances().describe(owner?)?, stage)));
        described.collect()
    }

    /// How often somebody took over from the dead, since the first of all instances opened.
    pub(crate) fn takeovers(&self) -> Takeovers {
        let [commit, sync, fold, checkpoint, recycling, space] =
            self.state().stages.taken_over.each_ref().map(|count| count.load(Ordering::Relaxed));
        Takeovers { commit, sync, fold, checkpoint, recycling, space }
    }
}
