//! How a database is opened.

use gadus_base::ByteCount;
use gadus_block::{Delays, FileFolder, Folder, ThrottledFolder};
use gadus_engine::Durability;
use std::sync::Arc;
use std::time::Duration;

/// How a database is opened: `Options::new().read_only(true)`.
#[derive(Debug, Clone, Default)]
pub struct Options {
    engine: gadus_engine::Options,
    sync_delay: Duration,
}

impl Options {
    /// For reading and writing; created where it does not exist; commits survive a power cut; one
    /// statement may use every core; up to a gibibyte of cached data.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to create the database when it does not exist.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.engine.create = create;
        self
    }

    /// Whether to refuse every change.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.engine.read_only = read_only;
        self
    }

    /// What a commit waits for; a session changes its own by `SET gadus.durability`.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.engine.durability = durability;
        self
    }

    /// Memory for data read from the file and kept. What a running statement needs comes on top.
    #[must_use]
    pub fn cache(mut self, limit: ByteCount) -> Self {
        self.engine.cache = limit;
        self
    }

    /// How many threads one statement may use, at least 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.engine.threads = threads.max(1);
        self
    }

    /// Bytes of log after which a checkpoint is written in the background: what opening after a
    /// crash has to read at most, about.
    #[must_use]
    pub fn checkpoint_log(mut self, limit: ByteCount) -> Self {
        self.engine.checkpoint_log = limit;
        self
    }

    /// Lets each sync take this much longer: to see how a program behaves on a slower disk.
    /// Without effect in memory.
    #[must_use]
    pub fn sync_delay(mut self, delay: Duration) -> Self {
        self.sync_delay = delay;
        self
    }

    /// The folder as these options want it.
    pub(crate) fn slowed(&self, folder: FileFolder) -> Arc<dyn Folder> {
        let folder = Arc::new(folder);
        if self.sync_delay.is_zero() {
            return folder;
        }
        let delays = Delays { sync: self.sync_delay, ..Delays::default() };
        Arc::new(ThrottledFolder::new(folder, delays))
    }

    pub(crate) fn into_engine(self) -> gadus_engine::Options {
        self.engine
    }
}
