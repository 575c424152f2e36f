//! What an instance does: a thread that pins and reads, and one that catches up.
//!
//! - Each step is one access to what is shared, or to the files; what lies between two of them only
//!   the instance itself sees, and is part of one of the two.
//! - Catching up is `Store::records_after` and `Store::read_again` with the coordinator's lock on
//!   its head; pinning is `Coordinator::pin`, `Store::pin` and `Store::move_pin` with its lock on
//!   pins. The two locks are different ones, so that the two threads meet in the words of the pin.

use super::state::{Instance, Known, NOTHING, ROOTS, State, is_kept_at};
use super::{Recycling, Rules};

/// What the thread that reads does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pinning {
    Idle,
    /// Has looked at the horizon before it stored anything: only where the rules lack the fence.
    Looked {
        version: u8,
    },
    StoresCommit {
        version: u8,
    },
    Looks {
        version: u8,
    },
    /// Reads one version, and perhaps a newer one.
    Reads {
        version: u8,
        newer: u8,
    },
    StoresNewerPosition {
        version: u8,
    },
    ClearsPosition,
    ClearsCommit,
}

/// What the thread that catches up does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Following {
    Idle,
    Announces {
        from: u8,
        is_pinned: bool,
    },
    LooksAtHorizon {
        from: u8,
        is_pinned: bool,
    },
    FindsEnd {
        from: u8,
        chosen: Option<Known>,
    },
    Reads {
        from: u8,
        to: u8,
        chosen: Option<Known>,
    },
    AnnouncesAll,
    ReadsOneHeader,
    ReadsOther {
        one: Option<u8>,
    },
    ReadsRoot {
        chosen: Known,
    },
    Adopts {
        to: u8,
        chosen: Known,
    },
    Applies {
        to: u8,
    },
    Ends,
    /// The same of one that joins, which then clears its whole pin.
    UnpinsReading,
    UnpinsPosition,
    UnpinsCommit,
}

impl Pinning {
    /// The versions that are read.
    pub(super) fn reads(self) -> [u8; 2] {
        match self {
            Self::Reads { version, newer } => [version, newer],
            Self::StoresNewerPosition { version } => [version, NOTHING],
            _ => [NOTHING; 2],
        }
    }

    /// The versions that this thread has a handle of.
    pub(super) fn holds(self) -> [u8; 2] {
        match self {
            Self::Looked { version } | Self::StoresCommit { version } | Self::Looks { version } => {
                [version, NOTHING]
            }
            _ => self.reads(),
        }
    }

    fn is_reading(self) -> bool {
        self.reads()[0] != NOTHING
    }
}

impl Following {
    fn has_read(to: u8, chosen: Option<Known>) -> Self {
        match chosen {
            Some(chosen) => Self::Adopts { to, chosen },
            None => Self::Applies { to },
        }
    }

    /// The headers that it has read.
    pub(super) fn chosen(self) -> Option<Known> {
        match self {
            Self::FindsEnd { chosen, .. } | Self::Reads { chosen, .. } => chosen,
            Self::ReadsRoot { chosen } | Self::Adopts { chosen, .. } => Some(chosen),
            _ => None,
        }
    }
}

impl Recycling {
    /// The next step of the thread that reads.
    pub(super) fn pins(&self, state: &mut State, slot: u8) {
        let looks_first = self.rules == Rules::LooksBeforeItStores;
        let is_recycled = |state: &State, version: u8| state.recycled > version;
        let next = match state.user(slot).pinning {
            Pinning::Idle => {
                let version = state.user(slot).head;
                if looks_first && is_recycled(state, version) {
                    return;
                } else if looks_first {
                    Pinning::Looked { version }
                } else {
                    state.pin(slot).position = version;
                    Pinning::StoresCommit { version }
                }
            }
            Pinning::Looked { version } => {
                state.pin(slot).position = version;
                Pinning::StoresCommit { version }
            }
            Pinning::StoresCommit { version } => {
                state.pin(slot).commit = version;
                let looks = !looks_first && self.rules != Rules::NeverLooks;
                match looks {
                    true => Pinning::Looks { version },
                    false => Pinning::Reads { version, newer: NOTHING },
                }
            }
            Pinning::Looks { version } if is_recycled(state, version) => Pinning::ClearsPosition,
            Pinning::Looks { version } => Pinning::Reads { version, newer: NOTHING },
            Pinning::Reads { newer: NOTHING, .. } | Pinning::ClearsPosition => {
                state.pin(slot).position = NOTHING;
                Pinning::ClearsCommit
            }
            Pinning::Reads { newer, .. } => {
                state.pin(slot).commit = newer;
                Pinning::StoresNewerPosition { version: newer }
            }
            Pinning::StoresNewerPosition { version } => {
                state.pin(slot).position = version;
                Pinning::Reads { version, newer: NOTHING }
            }
            Pinning::ClearsCommit => {
                state.pin(slot).commit = NOTHING;
                Pinning::Idle
            }
        };
        state.change(slot, |user| user.pinning = next);
    }

    /// Begins to read a newer version beside the one that is pinned.
    pub(super) fn pins_newer(state: &mut State, slot: u8) {
        state.change(slot, |user| {
            let head = user.head;
            if let Pinning::Reads { newer, .. } = &mut user.pinning {
                *newer = head;
            }
        });
    }

    pub(super) fn may_pin_newer(user: &Instance) -> bool {
        let reads = |version, newer| newer == NOTHING && user.head > version;
        matches!(user.pinning, Pinning::Reads { version, newer } if reads(version, newer))
    }

    /// The next step of the thread that catches up.
    pub(super) fn follows(&self, state: &mut State, slot: u8) {
        let user = state.user(slot);
        let (head, is_reading) = (user.head, user.pinning.is_reading());
        let next = match user.following {
            Following::Idle if self.looks_at_pin_first() => {
                let is_pinned = state.pin(slot).position <= head;
                Following::Announces { from: head, is_pinned }
            }
            Following::Idle => {
                state.pin(slot).reading = head;
                Following::LooksAtHorizon { from: head, is_pinned: false }
            }
            Following::Announces { from, is_pinned } => {
                state.pin(slot).reading = from;
                Following::LooksAtHorizon { from, is_pinned }
            }
            Following::LooksAtHorizon { from, is_pinned } => {
                // What is pinned, its own threads know; and they pin nothing that is recycled.
                let mended = !self.looks_at_pin_first() && is_reading;
                match state.recycled <= from || is_pinned || mended {
                    true => Following::FindsEnd { from, chosen: None },
                    // Clears it first; nobody waits for that.
                    false => Following::AnnouncesAll,
                }
            }
            Following::FindsEnd { from, chosen } => {
                let to = state.end;
                match from < to {
                    true => Following::Reads { from, to, chosen },
                    false => Following::has_read(to, chosen),
                }
            }
            Following::Reads { from, to, chosen } => {
                if !state.has_log(from, to) {
                    state.found = Some("a record that is read has no place any more");
                }
                Following::has_read(to, chosen)
            }
            Following::Applies { to } => {
                Self::applies(state, slot, to);
                Following::Ends
            }
            Following::Ends => {
                state.pin(slot).reading = NOTHING;
                Following::Idle
            }
            _ => Self::begins_anew(state, slot),
        };
        state.change(slot, |user| user.following = next);
    }

    /// The next step of one that reads the newest checkpoint, and what comes behind it.
    fn begins_anew(state: &mut State, slot: u8) -> Following {
        let user = state.user(slot);
        let (opens, is_reading) = (user.opens, user.pinning.is_reading());
        match user.following {
            Following::AnnouncesAll => {
                state.pin(slot).reading = 0;
                Following::ReadsOneHeader
            }
            Following::ReadsOneHeader => Following::ReadsOther { one: state.file[0] },
            Following::ReadsOther { one } => match choose(state, one, state.file[1]) {
                Some(chosen) => Following::ReadsRoot { chosen },
                None => {
                    state.found = Some("no header is found by one that begins anew");
                    Following::Ends
                }
            },
            Following::ReadsRoot { chosen } => {
                state.read(ROOTS + chosen.newest, "the root that is read was freed");
                let from = state.headers[chosen.newest as usize].commit;
                Following::FindsEnd { from, chosen: Some(chosen) }
            }
            Following::Adopts { to, chosen } => {
                let header = state.headers[chosen.newest as usize];
                state.read(header.commit, "a part that is read at opening was freed");
                if is_reading {
                    state.found = Some("an instance begins anew although it reads a version");
                }
                Self::adopts(state, slot, chosen);
                state.change(slot, |user| {
                    user.head = header.commit;
                    // What it has named before stays, until it takes its turn again.
                    if opens && user.checkpoints {
                        user.named = header.commit;
                    }
                });
                Self::applies(state, slot, to);
                if opens { Following::UnpinsReading } else { Following::Ends }
            }
            Following::UnpinsReading => {
                state.pin(slot).reading = NOTHING;
                Following::UnpinsPosition
            }
            Following::UnpinsPosition => {
                state.pin(slot).position = NOTHING;
                Following::UnpinsCommit
            }
            Following::UnpinsCommit => {
                state.pin(slot).commit = NOTHING;
                state.change(slot, |user| user.opens = false);
                Following::Idle
            }
            other => unreachable!("{other:?} is a step of catching up"),
        }
    }

    /// Takes over what headers say; what was pending when the newer was written stays so.
    pub(super) fn adopts(state: &mut State, slot: u8, chosen: Known) {
        let header = state.headers[chosen.newest as usize];
        let complete = header.sequence + u8::from(chosen.older.is_none());
        state.change(slot, |user| {
            if !user.checkpoints {
                return;
            }
            let pending = user.pending.iter_mut().zip(header.pending);
            for (own, its) in pending.filter(|(_, its)| is_kept_at(complete, *its)) {
                *own = its;
            }
            user.known = chosen;
        });
    }

    /// Goes on to a newer version; those in between come and go.
    fn applies(state: &mut State, slot: u8, to: u8) {
        let from = state.user(slot).head;
        for version in from + 1..=to {
            state.change(slot, |user| user.head = version);
        }
    }
}

/// The headers that one finds who has read both slots, one after the other.
pub(super) fn choose(state: &State, one: Option<u8>, other: Option<u8>) -> Option<Known> {
    let sequence = |header: u8| state.headers[header as usize].sequence;
    let is_newer = |one: u8, other: u8| sequence(one) > sequence(other);
    match (one, other) {
        (Some(one), Some(other)) if is_newer(one, other) => {
            Some(Known { newest: one, newest_slot: 0, older: Some(other) })
        }
        (one, Some(other)) => {
            let older = one.filter(|one| is_newer(other, *one));
            Some(Known { newest: other, newest_slot: 1, older })
        }
        (one, None) => one.map(|newest| Known { newest, newest_slot: 0, older: None }),
    }
}
