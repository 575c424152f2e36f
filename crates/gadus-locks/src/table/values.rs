//! Value blocks: 64 bytes that belong to a resource for as long as anybody has a lock on it.
//!
//! State:
//!
//! | bits | content |
//! |---|---|
//! | 0..8 | 0 free, 1 not valid, 2 valid |
//! | 8..64 | how often it was written |
//!
//! - Written by who holds U, SIX or X, read by who holds anything, both under the partition's latch.
//! - While it is written it is not valid; after the death of an instance that could have written it,
//!   it is not valid either, until somebody writes it again.
//! - A lock that is in its owner's record only, as the fast path's are, does not keep it in being.
//! - It says what its users could find out without it, and only saves them the trouble: it is gone
//!   when the last lock is.

use super::chunks::Use;
use super::error::{LockError, LockErrorKind};
use super::layout::{VALUE_BUCKETS, VALUE_WORDS, VALUES_PER_CHUNK, ValueRecord};
use super::owner::LockOwner;
use super::partition::Place;
use super::resource::Resource;
use super::store::{put, put32};
use super::visit::Inside;
use crate::steps::{self, Omission};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a value block.
pub const VALUE_BYTES: usize = 8 * VALUE_WORDS;

/// A value block, as a holder of a lock finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Nobody has written it since the resource came into being.
    Missing,
    /// Who might have changed what it describes has died: find out, and write it anew.
    Invalid,
    /// As it was written last.
    Valid {
        /// How often it was written.
        sequence: u64,
        /// What was written.
        bytes: [u8; VALUE_BYTES],
    },
}

const NOT_VALID: u64 = 1;
const VALID: u64 = 2;

impl LockOwner {
    /// The value block of a resource on which this owner has a lock.
    ///
    /// # Errors
    /// `NotHeld`, or `Damaged`.
    pub fn value(&self, resource: Resource) -> Result<Value, LockError> {
        if self.mode(resource).is_none() {
            return Err(not_held("it is not locked").about(resource));
        }
        let inside = self.table().enter(Place::of(resource).partition)?;
        let Some((_, record)) = inside.find_value(resource)? else { return Ok(Value::Missing) };
        let state = record.state.load(Ordering::Acquire);
        if state & 0xFF != VALID {
            return Ok(Value::Invalid);
        }
        let mut bytes = [0; VALUE_BYTES];
        for (piece, word) in bytes.chunks_mut(8).zip(&record.words) {
            piece.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        Ok(Value::Valid { sequence: state >> 8, bytes })
    }

    /// Writes the value block of a resource that this owner holds in U, SIX or X. It is good once
    /// the mode is lowered or released; should the owner die before, it is not valid.
    ///
    /// # Errors
    /// `NotHeld`, also for resources that have none; `NoSpace`; or `Damaged`.
    pub fn set_value(
        &mut self,
        resource: Resource,
        bytes: &[u8; VALUE_BYTES],
    ) -> Result<(), LockError> {
        if !resource.may_have_value() {
            return Err(not_held("it has no value block").about(resource));
        }
        if !self.mode(resource).is_some_and(super::modes::Mode::may_write_value) {
            return Err(not_held("its value needs U, SIX or X").about(resource));
        }
        let mut inside = self.table().enter(Place::of(resource).partition)?;
        inside.write_value(resource, bytes).map_err(|error| error.about(resource))
    }
}

impl Inside<'_> {
    fn value_record(&self, number: u32) -> Result<&ValueRecord, LockError> {
        self.noting(self.table.record(Use::Values(self.index), number))
    }

    fn find_value(&self, resource: Resource) -> Result<Option<(u32, &ValueRecord)>, LockError> {
        let mut link = self.value_bucket(resource).load(Ordering::Relaxed);
        let mut patience = self.part.values_used.load(Ordering::Relaxed);
        while let Some(number) = link.checked_sub(1) {
            if patience == 0 {
                return self.noting(Err(LockError::damaged("a chain of values has no end")));
            }
            patience -= 1;
            let record = self.value_record(number)?;
            if record.is_for(resource) {
                return Ok(Some((number, record)));
            }
            link = record.next.load(Ordering::Relaxed);
        }
        Ok(None)
    }

    pub(super) fn has_value(&self, resource: Resource) -> Result<bool, LockError> {
        Ok(self.find_value(resource)?.is_some())
    }

    fn write_value(
        &mut self,
        resource: Resource,
        bytes: &[u8; VALUE_BYTES],
    ) -> Result<(), LockError> {
        let found = self.find_value(resource)?.map(|(number, _)| number);
        let number = match found {
            Some(number) => number,
            None => self.take_value_record()?,
        };
        let record = self.value_record(number)?;
        let sequence = if found.is_some() { record.state.load(Ordering::Relaxed) >> 8 } else { 0 };
        if found.is_some() {
            put(&record.state, sequence << 8 | NOT_VALID);
        } else {
            let (high, low) = resource.words();
            put(&record.high, high);
            put(&record.low, low);
        }
        for (piece, word) in bytes.chunks(8).zip(&record.words) {
            put(word, u64::from_le_bytes(piece.try_into().expect("words have eight bytes")));
        }
        put(&record.state, (sequence + 1) << 8 | VALID);
        if found.is_none() {
            self.link_value(number, record, resource);
        }
        Ok(())
    }

    /// A record from the list of free ones, in no list.
    fn take_value_record(&mut self) -> Result<u32, LockError> {
        if self.part.values_free.load(Ordering::Relaxed) == 0 {
            let first = self.table.claim_chunk::<ValueRecord>(Use::Values(self.index))?;
            for number in (first..first + VALUES_PER_CHUNK).rev() {
                self.free_value(number, self.value_record(number)?);
            }
        }
        let number = self.part.values_free.load(Ordering::Relaxed).wrapping_sub(1);
        let record = self.value_record(number)?;
        put32(&self.part.values_free, record.next.load(Ordering::Relaxed));
        Ok(number)
    }

    fn free_value(&self, number: u32, record: &ValueRecord) {
        put32(&record.next, self.part.values_free.load(Ordering::Relaxed));
        put32(&self.part.values_free, number + 1);
    }

    fn link_value(&self, number: u32, record: &ValueRecord, resource: Resource) {
        let used = self.part.values_used.load(Ordering::Relaxed);
        put32(&self.part.values_used, used.wrapping_add(1));
        let bucket = self.value_bucket(resource);
        put32(&record.next, bucket.load(Ordering::Relaxed));
        put32(bucket, number + 1);
    }

    /// Whoever might have been writing the value of a request's resource has died.
    pub(super) fn invalidate_value(&self, slot: u32) -> Result<(), LockError> {
        let resource = self.resource(slot)?;
        if !resource.may_have_value() || steps::omits(Omission::Invalidation) {
            return Ok(());
        }
        // The chains may be half done, so all records are looked at.
        for first in self.table.chunks_of::<ValueRecord>(Use::Values(self.index)) {
            for number in first..first + VALUES_PER_CHUNK {
                let record = self.value_record(number)?;
                let state = record.state.load(Ordering::Acquire);
                if state & 0xFF == VALID && record.is_for(resource) {
                    put(&record.state, state & !0xFF | NOT_VALID);
                }
            }
        }
        Ok(())
    }

    /// Nobody has a lock on the resource any more.
    #[inline]
    pub(super) fn drop_value(&self, resource: Resource) -> Result<(), LockError> {
        if self.part.values_used.load(Ordering::Relaxed) == 0 || !resource.may_have_value() {
            return Ok(());
        }
        self.drop_found_value(resource)
    }

    fn drop_found_value(&self, resource: Resource) -> Result<(), LockError> {
        let Some((number, record)) = self.find_value(resource)? else { return Ok(()) };
        let mut link = self.value_bucket(resource);
        while link.load(Ordering::Relaxed) != number + 1 {
            // The same way has just led to the record.
            link = &self.value_record(link.load(Ordering::Relaxed).wrapping_sub(1))?.next;
        }
        put(&record.state, 0);
        put32(link, record.next.load(Ordering::Relaxed));
        let used = self.part.values_used.load(Ordering::Relaxed);
        put32(&self.part.values_used, used.wrapping_sub(1));
        self.free_value(number, record);
        Ok(())
    }

    /// Makes the chains of values anew; frees those of resources on which nobody has a lock.
    pub(super) fn rebuild_values(&mut self) -> Result<(), LockError> {
        let used = self.part.value_buckets.iter().filter(|head| head.load(Ordering::Relaxed) != 0);
        used.for_each(|head| put32(head, 0));
        put32(&self.part.values_free, 0);
        put32(&self.part.values_used, 0);
        for first in self.table.chunks_of::<ValueRecord>(Use::Values(self.index)) {
            for number in (first..first + VALUES_PER_CHUNK).rev() {
                let record = self.value_record(number)?;
                let state = record.state.load(Ordering::Acquire);
                if state == 0 {
                    self.free_value(number, record);
                    continue;
                }
                let resource = record
                    .resource()
                    .filter(|one| state & 0xFF <= VALID && Place::of(*one).partition == self.index)
                    .ok_or_else(|| LockError::damaged("a value cannot be"))?;
                let mut entries = Vec::new();
                self.gather(resource, &mut entries)?;
                if entries.is_empty() {
                    put(&record.state, 0);
                    self.free_value(number, record);
                } else {
                    self.link_value(number, record, resource);
                }
            }
        }
        Ok(())
    }

    fn value_bucket(&self, resource: Resource) -> &AtomicU32 {
        &self.part.value_buckets[Place::of(resource).bucket % VALUE_BUCKETS]
    }
}

impl ValueRecord {
    fn is_for(&self, resource: Resource) -> bool {
        self.resource() == Some(resource)
    }

    pub(super) fn resource(&self) -> Option<Resource> {
        let (high, low) = (self.high.load(Ordering::Relaxed), self.low.load(Ordering::Relaxed));
        Resource::from_words(high, low)
    }
}

fn not_held(message: &str) -> LockError {
    LockError::new(LockErrorKind::NotHeld, message)
}
