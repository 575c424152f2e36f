//! Processes that hold much memory for plans of one database.

use super::Engine;
use gadus_locks::Busy;
use gadus_storage::Store;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Those that have a database open. Whoever keeps this does not keep it open: plans may outlive it.
#[derive(Debug, Clone)]
pub struct Gatherers {
    store: Weak<Store>,
}

impl Engine {
    /// The processes that hold much memory for plans of the database.
    #[must_use]
    pub fn gatherers(&self) -> Gatherers {
        Gatherers { store: Arc::downgrade(self.inner().blobs.store()) }
    }
}

impl Gatherers {
    /// Says to the others that this process holds much, from now on for about so long.
    pub fn gathers_for(&self, time: Duration) {
        if let Some(store) = self.store.upgrade() {
            store.busy_for(Busy::Gathering, time);
        }
    }

    /// How many others have said so.
    #[must_use]
    pub fn others(&self) -> usize {
        self.store.upgrade().map_or(0, |store| store.busy_others(Busy::Gathering).count)
    }
}
