//! How a database is opened.

use gadus_base::ByteCount;
use gadus_engine::Durability;

/// How a database is opened: `Options::new().read_only(true)`.
#[derive(Debug, Clone, Default)]
pub struct Options {
    engine: gadus_engine::Options,
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

    pub(crate) fn into_engine(self) -> gadus_engine::Options {
        self.engine
    }
}
