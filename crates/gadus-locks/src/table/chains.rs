//! The chains and lists of a partition, all of them derived.
//!
//! - A chain per bucket, a list of free slots, and a list, linked both ways, of those that wait.
//! - A chain is followed for as many links as the partition has slots, and no further.

use super::chunks::Use;
use super::error::LockError;
use super::layout::{REQUESTS_PER_CHUNK, Request};
use super::partition::Place;
use super::state::State;
use super::store::put32;
use super::visit::Inside;
use std::sync::atomic::{AtomicU32, Ordering};

impl Inside<'_> {
    /// Puts a request into the chain, and the list, that it belongs in.
    #[inline]
    pub(super) fn link(&self, slot: u32, request: &Request, place: Place, state: State) {
        let bucket = &self.part.buckets[place.bucket];
        put32(&request.next, bucket.load(Ordering::Relaxed));
        put32(bucket, slot + 1);
        put32(&self.part.used, self.part.used.load(Ordering::Relaxed).wrapping_add(1));
        if state.is_waiting() {
            self.list(slot, request);
        }
    }

    /// The slots of the requests that wait in this partition.
    pub(super) fn waiting(&self) -> Result<Vec<u32>, LockError> {
        let mut slots = Vec::new();
        let mut link = self.part.waiting_first.load(Ordering::Relaxed);
        while let Some(slot) = link.checked_sub(1) {
            if slots.len() >= self.part.slots.load(Ordering::Relaxed) as usize {
                return self.noting(Err(LockError::damaged("a list has no end")));
            }
            slots.push(slot);
            link = self.request(slot)?.waiting_next.load(Ordering::Relaxed);
        }
        Ok(slots)
    }

    /// Calls `visit` for each request of a chain until it says no.
    #[inline]
    pub(super) fn follow<'b>(
        &'b self,
        head: &'b AtomicU32,
        mut visit: impl FnMut(u32, &'b Request) -> Result<bool, LockError>,
    ) -> Result<(), LockError> {
        let mut link = head.load(Ordering::Relaxed);
        let mut patience = self.part.slots.load(Ordering::Relaxed);
        while let Some(slot) = link.checked_sub(1) {
            if patience == 0 {
                return self.noting(Err(LockError::damaged("a chain has no end")));
            }
            patience -= 1;
            let request = self.request(slot)?;
            if !visit(slot, request)? {
                break;
            }
            link = request.next.load(Ordering::Relaxed);
        }
        Ok(())
    }

    /// Adds slots. There may be no room, which is no damage.
    pub(super) fn grow(&self) -> Result<(), LockError> {
        let first = self.table.claim_chunk::<Request>(Use::Requests(self.index))?;
        let mut link = self.part.free.load(Ordering::Relaxed);
        for slot in (first..first + REQUESTS_PER_CHUNK).rev() {
            put32(&self.request(slot)?.next, link);
            link = slot + 1;
        }
        put32(&self.part.free, link);
        let slots = self.part.slots.load(Ordering::Relaxed);
        put32(&self.part.slots, slots.wrapping_add(REQUESTS_PER_CHUNK));
        Ok(())
    }

    pub(super) fn list(&self, slot: u32, request: &Request) {
        let first = self.part.waiting_first.load(Ordering::Relaxed);
        put32(&request.waiting_next, first);
        put32(&request.waiting_before, 0);
        if let Some(after) = first.checked_sub(1)
            && let Ok(after) = self.request(after)
        {
            put32(&after.waiting_before, slot + 1);
        }
        put32(&self.part.waiting_first, slot + 1);
        put32(&self.part.waiting, self.part.waiting.load(Ordering::Relaxed).wrapping_add(1));
    }

    pub(super) fn unlist(&self, request: &Request) -> Result<(), LockError> {
        let next = request.waiting_next.load(Ordering::Relaxed);
        let before = request.waiting_before.load(Ordering::Relaxed);
        match before.checked_sub(1) {
            Some(before) => put32(&self.request(before)?.waiting_next, next),
            None => put32(&self.part.waiting_first, next),
        }
        if let Some(next) = next.checked_sub(1) {
            put32(&self.request(next)?.waiting_before, before);
        }
        put32(&self.part.waiting, self.part.waiting.load(Ordering::Relaxed).wrapping_sub(1));
        Ok(())
    }
}
