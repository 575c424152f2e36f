//! Ids for new segments, unique in the database among all instances.
//!
//! - An id is taken before the commit that uses it; one that is never used is lost.
//! - A transaction's own view gives its segments private ids, which no commit names.

use crate::error::Result;
use gadus_base::SegmentId;
use gadus_storage::{NUMBERS_MAX, Store};
use std::sync::Arc;

/// Ids from here on are private.
pub(crate) const PRIVATE_SEGMENTS: u32 = NUMBERS_MAX;

/// Gives ids of segments; clones give from the same.
#[derive(Debug, Clone)]
pub(crate) struct SegmentIds(Arc<Store>);

impl SegmentIds {
    /// The ids of a database.
    pub(crate) fn new(store: Arc<Store>) -> Self {
        store.raise_number(1);
        Self(store)
    }

    /// Takes an id.
    pub(crate) fn take(&self) -> Result<SegmentId> {
        Ok(SegmentId(self.0.take_number()?))
    }

    /// The next id to be taken.
    pub(crate) fn next(&self) -> u32 {
        self.0.next_number()
    }

    /// Makes sure that no id below `next` is taken again.
    pub(crate) fn raise(&self, next: u32) {
        if next <= PRIVATE_SEGMENTS {
            self.0.raise_number(next);
        }
    }
}
