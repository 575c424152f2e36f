//! The disk after a crash, from a prefix of the trace.
//!
//! - Durable state is carried forward as the prefix grows; an image adds some, all or none of
//!   the pending events to a copy whose pages are shared.
//! - A pending write survives by 512-byte sectors of the device: the unit that disks never tear.

use super::Event;
use crate::backends::{MemoryFolder, Pages};
use gadus_base::Random;
use std::collections::BTreeMap;
use std::sync::Arc;

const SECTOR_BYTES: u64 = 512;

/// What survives of the events that no sync covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashPolicy {
    /// All: the process was killed, the system lives.
    KeepAll,
    /// Nothing: the power failed before the cache wrote anything back.
    DropUnsynced,
    /// Each event by itself: the power failed while the cache wrote back in its own order. Writes
    /// are kept, lost or torn; new lengths and names are kept or lost.
    Random {
        /// Decides what survives.
        seed: u64,
    },
}

/// A position in the trace with what is durable there and what is pending.
#[derive(Debug, Default)]
pub(super) struct Replay {
    position: usize,
    devices: Vec<ReplayedDevice>,
    names: BTreeMap<Arc<str>, usize>,
    pending_names: Vec<usize>,
}

#[derive(Debug, Default)]
struct ReplayedDevice {
    durable: Pages,
    pending: Vec<usize>,
}

impl Replay {
    /// Moves to the point when `up_to` events had happened; from the start when that is earlier.
    pub(super) fn advance(&mut self, events: &[Event], up_to: usize) {
        if up_to < self.position {
            *self = Self::default();
        }
        for (index, event) in events.iter().enumerate().take(up_to).skip(self.position) {
            self.note(events, index, event);
        }
        self.position = up_to;
    }

    fn note(&mut self, events: &[Event], index: usize, event: &Event) {
        match event {
            Event::Found { name, bytes, .. } => {
                let mut device = ReplayedDevice::default();
                apply_write(&mut device.durable, 0, bytes);
                self.names.insert(Arc::clone(name), self.devices.len());
                self.devices.push(device);
            }
            Event::Create { .. } => {
                self.devices.push(ReplayedDevice::default());
                self.pending_names.push(index);
            }
            Event::Remove { .. } => self.pending_names.push(index),
            Event::SetLength { device, .. } | Event::Write { device, .. } => {
                self.devices[*device].pending.push(index);
            }
            Event::Sync { device, covers } => {
                let ReplayedDevice { durable, pending } = &mut self.devices[*device];
                let covered = pending.partition_point(|pending| pending < covers);
                for pending in pending.drain(..covered) {
                    apply(durable, &events[pending]);
                }
            }
            Event::SyncFolder { covers } => {
                let covered = self.pending_names.partition_point(|pending| pending < covers);
                for pending in self.pending_names.drain(..covered) {
                    apply_name(&mut self.names, &events[pending]);
                }
            }
        }
    }

    pub(super) fn image(&self, events: &[Event], policy: CrashPolicy) -> MemoryFolder {
        let mut chance = match policy {
            CrashPolicy::Random { seed } => Some(Random::seeded(seed).child(self.position as u64)),
            CrashPolicy::KeepAll | CrashPolicy::DropUnsynced => None,
        };
        let mut names = self.names.clone();
        for pending in &self.pending_names {
            let kept = match &mut chance {
                Some(random) => random.chance(0.5),
                None => policy == CrashPolicy::KeepAll,
            };
            if kept {
                apply_name(&mut names, &events[*pending]);
            }
        }
        let folder = MemoryFolder::new();
        for (name, device) in names {
            let ReplayedDevice { durable, pending } = &self.devices[device];
            let mut pages = durable.clone();
            match (&mut chance, policy) {
                (Some(random), _) => apply_some(&mut pages, events, pending, random),
                (None, CrashPolicy::KeepAll) => {
                    pending.iter().for_each(|pending| apply(&mut pages, &events[*pending]));
                }
                (None, _) => {}
            }
            folder.put(&name, pages);
        }
        folder
    }
}

fn apply_name(names: &mut BTreeMap<Arc<str>, usize>, event: &Event) {
    match event {
        Event::Create { device, name } => {
            names.insert(Arc::clone(name), *device);
        }
        Event::Remove { name } => {
            names.remove(name);
        }
        _ => {}
    }
}

fn apply(pages: &mut Pages, event: &Event) {
    match event {
        Event::SetLength { bytes, .. } => {
            assert!(pages.set_length(*bytes), "the traced folder held that length");
        }
        Event::Write { offset, bytes, .. } => apply_write(pages, *offset, bytes),
        _ => {}
    }
}

fn apply_write(pages: &mut Pages, offset: u64, bytes: &[u8]) {
    assert!(pages.write(offset, bytes), "the traced folder held those bytes");
}

/// The caches of disk and system have written back some of the pending events: about half of the
/// images lose or keep most of them, because mistakes hide in both.
fn apply_some(pages: &mut Pages, events: &[Event], pending: &[usize], random: &mut Random) {
    let kept = [0.1, 0.5, 0.9][usize::try_from(random.below(3)).expect("below 3")];
    let torn = 0.3;
    for index in pending {
        match &events[*index] {
            Event::Write { offset, bytes, .. } if random.chance(torn) => {
                for (offset, sector) in sectors(*offset, bytes) {
                    if random.chance(kept) {
                        apply_write(pages, offset, sector);
                    }
                }
            }
            event if random.chance(kept) => apply(pages, event),
            _ => {}
        }
    }
}

/// Cuts a write where the device's sectors begin.
fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut offset = offset;
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let room = usize::try_from(SECTOR_BYTES - offset % SECTOR_BYTES).expect("at most 512");
        let (sector, after) = rest.split_at(room.min(rest.len()));
        let at = offset;
        offset += sector.len() as u64;
        rest = after;
        Some((at, sector))
    })
}
