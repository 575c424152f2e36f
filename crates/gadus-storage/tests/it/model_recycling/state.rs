//! What the model's instances share, what each knows, and what must be true of it.
//!
//! - A record is one position long, and a zone has room for one: zone `n` is the record that ends at
//!   `n + 1`. The record that ends at `n` makes version `n`, which is one extent, and drops the one
//!   before.
//! - Extents are told apart by numbers that are not used again: a freed one is gone for good, so
//!   that whoever still reaches it is found out, whether or not it was written over by then.

use super::Recycling;
use super::instance::{Following, Pinning};
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// Slots for instances.
pub(super) const SLOTS: usize = LAST_SLOT as usize + 1;
pub(super) const LAST_SLOT: u8 = 2;
/// Headers that are written in one history, the first one included.
pub(super) const HEADERS: usize = 10;
/// Extents 1.. are versions; from here on, roots of headers.
pub(super) const ROOTS: u8 = 6;
pub(super) const EXTENTS: usize = ROOTS as usize + HEADERS;
/// No pin, no version, not pending.
pub(super) const NOTHING: u8 = u8::MAX;

#[derive(Debug, Clone, Hash)]
pub(super) struct State {
    /// The log up to here is published, and durable.
    pub(super) end: u8,
    /// The log before this may be gone.
    pub(super) recycled: u8,
    /// The newest checkpoint that has begun.
    pub(super) begun: u8,
    /// A bit for each zone that has a place.
    pub(super) zones: u8,
    pub(super) slots: [Slot; SLOTS],
    /// Who writes a checkpoint, and how far he is.
    pub(super) turn: Option<Turn>,
    /// The two headers in the file.
    pub(super) file: [Option<u8>; 2],
    /// All that were ever written.
    pub(super) headers: Headers,
    pub(super) written: u8,
    /// A bit for each extent that was given away.
    pub(super) freed: u16,
    pub(super) left: Left,
    /// What somebody has found who read what was gone.
    pub(super) found: Option<&'static str>,
}

/// Headers; only those that are written count.
#[derive(Debug, Clone)]
pub(super) struct Headers([Header; HEADERS]);

/// What may still happen.
#[derive(Debug, Clone, Copy, Hash)]
pub(super) struct Left {
    pub(super) commits: u8,
    pub(super) checkpoints: u8,
    pub(super) deaths: u8,
    pub(super) joins: u8,
}

/// A slot in shared memory, and its user.
#[derive(Debug, Clone, Hash)]
pub(super) struct Slot {
    pub(super) status: Status,
    pub(super) pin: Pin,
    /// None where its user has died, or none has come.
    pub(super) user: Option<Instance>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Status {
    Free,
    Live,
    /// So many words of the pin are cleared.
    Reaped(u8),
}

#[derive(Debug, Clone, Copy, Hash)]
pub(super) struct Pin {
    pub(super) position: u8,
    pub(super) commit: u8,
    pub(super) reading: u8,
}

/// What an instance has in its own memory.
#[derive(Debug, Clone, Hash)]
pub(super) struct Instance {
    pub(super) checkpoints: bool,
    /// Whether it has not read yet what there is.
    pub(super) opens: bool,
    /// The version that it shows.
    pub(super) head: u8,
    pub(super) pinning: Pinning,
    pub(super) following: Following,
    pub(super) known: Known,
    /// The version that the newest checkpoint names, as this instance knows.
    pub(super) named: u8,
    /// For each extent that it has dropped: the newest checkpoint that had begun.
    pub(super) pending: [u8; EXTENTS],
}

/// The headers, as an instance knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub(super) newest: u8,
    pub(super) newest_slot: u8,
    pub(super) older: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Header {
    pub(super) sequence: u8,
    /// The commit that it contains, which is where replay begins.
    pub(super) commit: u8,
    pub(super) pending: [u8; EXTENTS],
}

#[derive(Debug, Clone, Copy, Hash)]
pub(super) struct Turn {
    /// Its slot; nothing when it has died, whoever has the slot by now.
    pub(super) holder: u8,
    pub(super) at: At,
}

/// What the checkpointer does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum At {
    Begins,
    Takes,
    Writes { version: u8 },
    Announces { version: u8 },
    LooksAtPosition { version: u8, slot: u8, oldest: u8 },
    LooksAtReading { version: u8, slot: u8, oldest: u8 },
    Recycles { version: u8, oldest: u8 },
    AsksWhetherOpens { slot: u8, older: u8 },
    AsksForCommit { slot: u8, older: u8 },
    AsksForReading { slot: u8, older: u8 },
    Frees,
}

impl State {
    /// Version 2, of which a checkpoint was written, and of the one before; the first instances know
    /// them, and pin nothing.
    pub(super) fn new(model: &Recycling) -> Self {
        let nothing = Pin { position: NOTHING, commit: NOTHING, reading: NOTHING };
        let everything = Pin { position: 0, commit: 0, reading: 0 };
        let known = Known { newest: 1, newest_slot: 1, older: Some(0) };
        let first = Header { sequence: 1, commit: 1, pending: [NOTHING; EXTENTS] };
        let mut second = Header { sequence: 2, commit: 2, ..first };
        // Version 1 was dropped when the first was the newest.
        second.pending[1] = 1;
        let slot = |slot: usize| {
            if slot >= model.instances {
                return Slot { status: Status::Free, pin: everything, user: None };
            }
            let following = Following::Idle;
            let mut user =
                Instance { opens: false, head: 2, following, ..Instance::opening(false) };
            if model.checkpoints[slot] {
                let pending = second.pending;
                user = Instance { checkpoints: true, named: 2, known, pending, ..user };
            }
            Slot { status: Status::Live, pin: nothing, user: Some(user) }
        };
        let mut headers = [Header { sequence: 0, ..first }; HEADERS];
        (headers[0], headers[1]) = (first, second);
        Self {
            end: 2,
            recycled: 1,
            begun: 2,
            zones: 0b11,
            slots: std::array::from_fn(slot),
            turn: None,
            file: [Some(0), Some(1)],
            headers: Headers(headers),
            written: 2,
            freed: 0,
            left: model.left,
            found: None,
        }
    }

    pub(super) fn user(&self, slot: u8) -> &Instance {
        self.slots[slot as usize].user.as_ref().expect("it lives")
    }

    pub(super) fn pin(&mut self, slot: u8) -> &mut Pin {
        &mut self.slots[slot as usize].pin
    }

    /// Changes what an instance knows; what it drops by that is pending from now on.
    pub(super) fn change(&mut self, slot: u8, change: impl FnOnce(&mut Instance)) {
        let (begun, freed) = (self.begun, self.freed);
        let user = self.slots[slot as usize].user.as_mut().expect("it lives");
        let before = user.live();
        change(user);
        if !user.checkpoints {
            // Nobody will ask what it knows of space.
            return;
        }
        let after = user.live();
        let set = |pending: &mut [u8; EXTENTS], mut extents: u16, to: u8| {
            while extents != 0 {
                pending[extents.trailing_zeros() as usize] = to;
                extents &= extents - 1;
            }
        };
        set(&mut user.pending, after & !before, NOTHING);
        set(&mut user.pending, before & !after & !freed, begun);
    }

    /// Reads an extent.
    pub(super) fn read(&mut self, extent: u8, who: &'static str) {
        if self.freed & (1 << extent) != 0 {
            self.found = Some(who);
        }
    }

    /// Gives extents away. Nobody needs to remember that they were dropped.
    pub(super) fn free(&mut self, extents: u16) {
        self.freed |= extents;
        let pendings = self.slots.iter_mut().filter_map(|slot| slot.user.as_mut());
        let pendings = pendings.map(|user| &mut user.pending);
        let pendings = pendings.chain(self.headers.iter_mut().map(|header| &mut header.pending));
        for pending in pendings {
            let gone = (0..EXTENTS).filter(|extent| extents & (1 << extent) != 0);
            gone.for_each(|extent| pending[extent] = NOTHING);
        }
    }

    /// The slot of the newest header that can be read.
    pub(super) fn newest_slot(&self) -> Option<u8> {
        let written = (0..2).filter_map(|slot| Some((slot, self.file[slot as usize]?)));
        let newest = written.max_by_key(|(_, header)| self.headers[*header as usize].sequence);
        newest.map(|(slot, _)| slot)
    }

    /// What is wrong here, whatever comes next.
    pub(super) fn wrong(&self) -> Option<String> {
        if let Some(found) = self.found {
            return Some(found.to_owned());
        }
        for user in self.slots.iter().filter_map(|slot| slot.user.as_ref()) {
            for version in user.pinning.reads().into_iter().filter(|version| *version != NOTHING) {
                if self.freed & (1 << version) != 0 {
                    return Some(format!("version {version} is read, and its extent was freed"));
                }
                if !self.has_log(version, self.end) {
                    return Some(format!(
                        "version {version} is read, and the log after it is gone"
                    ));
                }
            }
        }
        self.wrong_in_file()
    }

    /// If everybody died now: whoever opens finds the newest header, or the older one.
    fn wrong_in_file(&self) -> Option<String> {
        let Some(slot) = self.newest_slot() else { return Some("no header is whole".to_owned()) };
        for header in self.file.into_iter().flatten() {
            let commit = self.headers[header as usize].commit;
            let named = 1 << (ROOTS + header) | 1 << commit;
            // The record before is kept, too: it proves that the log from there on is present.
            if self.freed & named != 0 || !self.has_log(commit - 1, self.end) {
                let which =
                    if self.file[slot as usize] == Some(header) { "newest" } else { "older" };
                return Some(format!("what the {which} header names is gone"));
            }
        }
        None
    }

    /// Whether the log between two positions is there.
    pub(super) fn has_log(&self, from: u8, to: u8) -> bool {
        (from..to).all(|zone| self.zones & (1 << zone) != 0)
    }
}

impl Deref for Headers {
    type Target = [Header; HEADERS];
    fn deref(&self) -> &[Header; HEADERS] {
        &self.0
    }
}

impl DerefMut for Headers {
    fn deref_mut(&mut self) -> &mut [Header; HEADERS] {
        &mut self.0
    }
}

impl Hash for Headers {
    fn hash<H: Hasher>(&self, into: &mut H) {
        let written = self.0.iter().take_while(|header| header.sequence > 0);
        written.for_each(|header| header.hash(into));
    }
}

impl Instance {
    /// One that has just taken its slot.
    pub(super) fn opening(checkpoints: bool) -> Self {
        Self {
            checkpoints,
            opens: true,
            head: NOTHING,
            pinning: Pinning::Idle,
            following: Following::ReadsOneHeader,
            known: Known { newest: NOTHING, newest_slot: 0, older: None },
            named: NOTHING,
            pending: [NOTHING; EXTENTS],
        }
    }

    /// The extents that it has handles of.
    pub(super) fn live(&self) -> u16 {
        let mut live = roots(&self.known) | bit(self.head) | bit(self.named);
        live |= self.pinning.holds().into_iter().map(bit).fold(0, |all, one| all | one);
        live | self.following.chosen().map_or(0, |chosen| roots(&chosen))
    }
}

fn bit(extent: u8) -> u16 {
    if extent == NOTHING { 0 } else { 1 << extent }
}

fn roots(known: &Known) -> u16 {
    let newest = Some(known.newest).filter(|newest| *newest != NOTHING);
    [newest, known.older].into_iter().flatten().fold(0, |all, header| all | bit(ROOTS + header))
}

/// Whether what was dropped then may be named by a header, once this checkpoint is complete.
pub(super) fn is_kept_at(sequence: u8, dropped_after: u8) -> bool {
    dropped_after != NOTHING && dropped_after + 2 > sequence
}
