//! The cache of a process: its threads share it, within one limit.
//!
//! - What nobody can name any more is forgotten when its extent is dropped: where bases are written
//!   anew all the time, the cache would else fill with their predecessors.

use super::Opened;
use gadus_base::ByteCount;
use gadus_storage::ExtentRef;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::BTreeSet;

/// Blobs that threads of the process have read, the most used of them.
#[derive(Debug)]
pub(super) struct SharedCache {
    opened: Cache<u64, Opened, ByBytes>,
    /// The ids of those that are cached, and of some that were.
    ids: Mutex<BTreeSet<u64>>,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<u64, Opened> for ByBytes {
    fn weight(&self, _: &u64, opened: &Opened) -> u64 {
        // The constant stands for the opened form beside the blob's bytes.
        256 + match opened {
            Opened::Column(column) => column.bytes as u64,
            Opened::Keys(page) => page.bytes() as u64,
        }
    }
}

impl SharedCache {
    pub(super) fn new(limit: ByteCount) -> Self {
        // Columns of a segment take about 64 KiB each: the number that sizes the cache's tables.
        let items = usize::try_from(limit.0 >> 16).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        let opened = Cache::with_weighter(items, limit.0, ByBytes);
        Self { opened, ids: Mutex::default() }
    }

    pub(super) fn get(&self, id: u64) -> Option<Opened> {
        self.opened.get(&id)
    }

    pub(super) fn insert(&self, id: u64, opened: Opened) {
        self.ids.lock().insert(id);
        self.opened.insert(id, opened);
    }

    /// Forgets the blobs of an extent that nobody here holds any more.
    pub(super) fn forget(&self, extent: ExtentRef) {
        let mut ids = self.ids.lock();
        let gone = ids.range(extent.ids()).copied().collect::<Vec<_>>();
        for id in gone {
            ids.remove(&id);
            self.opened.remove(&id);
        }
    }

    pub(super) fn set_limit(&self, limit: ByteCount) {
        self.opened.set_capacity(limit.0);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.opened.weight()
    }
}
