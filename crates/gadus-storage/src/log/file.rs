//! The log's file: reading and writing by zone and position, and the places that zones have in it.
//!
//! - One inode, reused in place and never shortened: a zone is zeroed and synced once, when the
//!   file grows, so that later syncs of appended bytes need no change of the file's metadata.
//! - A zone keeps its place from when it is taken until it is recycled, also when its taker dies:
//!   two places never carry the same number.
//! - Zones are taken under the commit latch; they are given back by whoever writes a checkpoint,
//!   after announcing it and reading every instance's pins.

use super::format::LogShape;
use super::is_long;
use super::state::{LogState, ZONES_MAX};
use crate::error::{ErrorKind, StorageError};
use crate::peers::Peers;
use crate::poison::Poison;
use gadus_base::is_interrupted;
use gadus_block::Device;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The file grows by a quarter, so that few commits pay for it, but never by more zones than this.
const GROWTH_ZONES_MAX: u64 = 16;

/// Of a zone, what is no payload of a record that reaches over it: about, and at least.
const ZONE_OVERHEAD_BYTES: u64 = 256;

/// The file of one log, as one instance has it open.
#[derive(Debug)]
pub(crate) struct LogFile {
    device: Arc<dyn Device>,
    pub(super) described: String,
    pub(super) shape: LogShape,
    pub(super) poison: Arc<Poison>,
    pub(super) peers: Arc<Peers>,
    /// Places found before; each is looked at before it is believed.
    known: Mutex<HashMap<u64, u64>>,
}

impl LogFile {
    pub(crate) fn new(
        device: Arc<dyn Device>,
        described: String,
        shape: LogShape,
        poison: Arc<Poison>,
        peers: Arc<Peers>,
    ) -> Self {
        Self { device, described, shape, poison, peers, known: Mutex::default() }
    }

    pub(super) fn state(&self) -> &LogState {
        &self.peers.state().log
    }

    /// The place of a zone, if it has one.
    pub(super) fn find(&self, zone: u64) -> Option<u64> {
        let state = self.state();
        let holds = |place: u64| {
            let entry = usize::try_from(place).ok().and_then(|place| state.zones.get(place));
            entry.is_some_and(|entry| entry.load(Ordering::Acquire) == zone + 1)
        };
        let mut known = self.known.lock();
        if let Some(&place) = known.get(&zone).filter(|place| holds(**place)) {
            return Some(place);
        }
        let place = (0..state.places.load(Ordering::Acquire)).find(|place| holds(*place))?;
        if known.len() > ZONES_MAX {
            known.clear();
        }
        known.insert(zone, place);
        Some(place)
    }

    /// The place of a zone that has one.
    fn place(&self, zone: u64) -> Result<u64, StorageError> {
        self.find(zone).ok_or_else(|| {
            let message = format!("the log's zone {zone} has no place: shared memory is damaged");
            StorageError::new(ErrorKind::Corrupt, &self.described, message)
        })
    }

    /// Reads bytes of one zone.
    pub(super) fn read(&self, zone: u64, at: u64, into: &mut [u8]) -> Result<(), StorageError> {
        Ok(self.device.read_at(self.offset(zone, at)?, into)?)
    }

    /// Writes bytes of one zone.
    pub(super) fn write(&self, zone: u64, at: u64, bytes: &[u8]) -> Result<(), StorageError> {
        let offset = self.offset(zone, at)?;
        Ok(self.device.write_at(offset, &[IoSlice::new(bytes)])?)
    }

    fn offset(&self, zone: u64, at: u64) -> Result<u64, StorageError> {
        Ok(self.place(zone)? * self.shape.zone_bytes + self.shape.within(at))
    }

    /// Refuses to go on with a record whose statement is to end.
    pub(super) fn check_interrupt(&self) -> Result<(), StorageError> {
        match is_interrupted() {
            true => Err(StorageError::cancelled(&self.described)),
            false => Ok(()),
        }
    }

    /// Makes durable what is written.
    pub(super) fn sync(&self) -> Result<(), StorageError> {
        self.device.sync().map_err(|error| self.poison.set(error.into()))
    }

    /// Takes or makes a place for a zone that has none.
    pub(super) fn take(&self, zone: u64) -> Result<(), StorageError> {
        if self.find(zone).is_some() {
            return Ok(());
        }
        let state = self.state();
        loop {
            let places = usize::try_from(state.places.load(Ordering::Acquire)).unwrap_or(ZONES_MAX);
            let free = state.zones[..places.min(ZONES_MAX)]
                .iter()
                .find(|entry| entry.load(Ordering::Acquire) == 0);
            if let Some(free) = free {
                free.store(zone + 1, Ordering::Release);
                return Ok(());
            }
            self.grow(places as u64)?;
        }
    }

    /// Makes the log have room for a record of so many bytes behind `end`, and for a reserve of half
    /// a zone behind that.
    ///
    /// On a full disk rows can then be deleted, and a checkpoint gives zones back.
    pub(super) fn keep_reserve(&self, end: u64, payload_bytes: usize) -> Result<(), StorageError> {
        let zone_bytes = self.shape.zone_bytes;
        // Each zone that the record reaches over has a header, a fragment's header and a rest.
        let zones = 1 + payload_bytes as u64 / (zone_bytes - ZONE_OVERHEAD_BYTES);
        let wanted = payload_bytes as u64 + zones * ZONE_OVERHEAD_BYTES + zone_bytes / 2;
        // At the beginning of a zone, nobody may have taken it yet.
        let next = end.div_ceil(zone_bytes);
        let room = next * zone_bytes - end;
        let Some(missing) = wanted.checked_sub(room).filter(|missing| *missing > 0) else {
            return Ok(());
        };
        let free_wanted = missing.div_ceil(zone_bytes);
        while self.free_places(free_wanted, next) < free_wanted {
            if is_long(payload_bytes) {
                self.check_interrupt()?;
            }
            self.grow(self.state().places.load(Ordering::Acquire))?;
        }
        Ok(())
    }

    /// How many places no zone has, but those from `next` on, which a record that failed may have
    /// taken; at most `wanted`.
    fn free_places(&self, wanted: u64, next: u64) -> u64 {
        let state = self.state();
        let places = usize::try_from(state.places.load(Ordering::Acquire)).unwrap_or(ZONES_MAX);
        let wanted = usize::try_from(wanted).unwrap_or(ZONES_MAX);
        let places = state.zones[..places.min(ZONES_MAX)].iter();
        let is_free = |entry: &&AtomicU64| {
            let zone = entry.load(Ordering::Acquire);
            zone == 0 || zone > next
        };
        places.filter(is_free).take(wanted).count() as u64
    }

    /// Bytes of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.state().places.load(Ordering::Relaxed) * self.shape.zone_bytes
    }

    /// Adds zeroed, synced places; only one when there is no space for more.
    fn grow(&self, places: u64) -> Result<(), StorageError> {
        let room = (ZONES_MAX as u64).saturating_sub(places);
        let wanted = (places / 4).clamp(1, GROWTH_ZONES_MAX).min(room);
        if wanted == 0 {
            let message = format!(
                "the log has {ZONES_MAX} zones, which is all it can have: something keeps it from \
                 being recycled; end the oldest transaction"
            );
            return Err(StorageError::new(ErrorKind::NoSpace, &self.described, message));
        }
        let mut count = wanted;
        if let Err(error) = self.write_zeros(places, wanted) {
            if error.kind != ErrorKind::NoSpace || wanted == 1 {
                return Err(self.poison_unless_full(error));
            }
            count = 1;
            self.write_zeros(places, 1).map_err(|error| self.poison_unless_full(error))?;
        }
        // Unlike a write, a sync that fails for want of space has lost bytes of others, too.
        self.sync()?;
        self.state().places.store(places + count, Ordering::Release);
        Ok(())
    }

    fn poison_unless_full(&self, error: StorageError) -> StorageError {
        if error.kind == ErrorKind::NoSpace { error } else { self.poison.set(error) }
    }

    fn write_zeros(&self, first_place: u64, count: u64) -> Result<(), StorageError> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let count_each = usize::try_from(self.shape.zone_bytes / 4096);
        let pieces = vec![IoSlice::new(&ZEROS); count_each.expect("a zone is below 4 GiB")];
        for place in first_place..first_place + count {
            self.device.write_at(place * self.shape.zone_bytes, &pieces)?;
        }
        Ok(())
    }

    /// Gives back the zones before the one with the byte before `position`, as far as no instance
    /// pins them: that one is kept, to prove at recovery that the log's part from there on is
    /// present.
    pub(super) fn recycle_before(&self, position: u64) {
        let state = self.state();
        state.recycled.fetch_max(position, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let kept = position.min(self.peers.oldest_position());
        let keep = self.shape.zone_of(kept.saturating_sub(1));
        let places = usize::try_from(state.places.load(Ordering::Acquire)).unwrap_or(ZONES_MAX);
        for entry in &state.zones[..places.min(ZONES_MAX)] {
            let zone = entry.load(Ordering::Acquire);
            if zone != 0 && zone - 1 < keep {
                entry.store(0, Ordering::Release);
            }
        }
    }
}
