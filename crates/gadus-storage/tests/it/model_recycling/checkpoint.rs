//! What the holder of the checkpoint's turn does, from taking over the headers to giving space away.
//!
//! - Steps as in `store/checkpoint.rs`, `LogFile::recycle_before` and `Peers::others_read_from`, and
//!   in the engine's `checkpoint_if`, which puts them in order.
//! - Where the engine takes its lock on the head, a step waits until the thread that catches up is
//!   through, and nothing is left to catch up with.

use super::instance::{Following, choose};
use super::state::{
    At, EXTENTS, HEADERS, Header, Known, LAST_SLOT, NOTHING, ROOTS, State, Status, Turn, is_kept_at,
};
use super::{Recycling, Rules};

impl Recycling {
    /// Whether an instance may go on with a checkpoint, or begin one.
    pub(super) fn may_checkpoint(state: &State, slot: u8) -> bool {
        let user = state.user(slot);
        let may_take = usize::from(state.written) < HEADERS && state.left.checkpoints > 0;
        match state.turn {
            None | Some(Turn { holder: NOTHING, .. }) => may_take && !user.opens,
            Some(turn) if turn.holder != slot => false,
            Some(Turn { at: At::Takes | At::Frees, .. }) => {
                user.following == Following::Idle && user.head == state.end
            }
            _ => true,
        }
    }

    /// Whether an instance's checkpoint needs its head to be the newest.
    pub(super) fn waits_for_head(state: &State, slot: u8) -> bool {
        let waits = |turn: Turn| turn.holder == slot && matches!(turn.at, At::Takes | At::Frees);
        state.turn.is_some_and(waits)
    }

    /// Takes the turn, or the next step in it.
    pub(super) fn checkpoints(&self, state: &mut State, slot: u8) {
        let at = match state.turn {
            Some(turn) if turn.holder == slot => turn.at,
            _ => {
                Self::takes_turn(state, slot);
                return;
            }
        };
        let known = state.user(slot).known;
        let older = known.older.map_or(0, |older| state.headers[older as usize].commit);
        let next = match at {
            At::Begins => {
                let newest = state.headers[known.newest as usize].sequence;
                state.begun = state.begun.max(newest + 1);
                At::Takes
            }
            At::Takes => At::Writes { version: state.end },
            At::Writes { version } => Self::writes(state, slot, version),
            At::Announces { version } => {
                state.recycled = state.recycled.max(older);
                At::LooksAtPosition { version, slot: 0, oldest: older }
            }
            At::LooksAtPosition { version, slot, oldest } => {
                if state.slots[slot as usize].status == Status::Free {
                    Self::looks_at(version, slot + 1, oldest)
                } else {
                    let oldest = oldest.min(state.pin(slot).position);
                    At::LooksAtReading { version, slot, oldest }
                }
            }
            At::LooksAtReading { version, slot, oldest } => {
                let oldest = oldest.min(state.pin(slot).reading);
                Self::looks_at(version, slot + 1, oldest)
            }
            At::Recycles { version, oldest } => {
                // The zone with the byte before is kept.
                let keep = oldest.saturating_sub(1);
                state.zones &= u8::MAX << keep;
                state.change(slot, |user| user.named = version);
                match self.rules {
                    Rules::FreesWithoutAsking => At::Frees,
                    _ => Self::asks(slot, 0, older),
                }
            }
            At::AsksWhetherOpens { slot: other, older } => {
                let is_free = state.slots[other as usize].status == Status::Free;
                match state.pin(other).reading {
                    _ if is_free => Self::asks(slot, other + 1, older),
                    0 if older > 0 => return state.turn = None,
                    _ => At::AsksForCommit { slot: other, older },
                }
            }
            At::AsksForCommit { slot: other, older } => match state.pin(other).commit < older {
                true => return state.turn = None,
                false => At::AsksForReading { slot: other, older },
            },
            At::AsksForReading { slot: other, older } => match state.pin(other).reading < older {
                true => return state.turn = None,
                false => Self::asks(slot, other + 1, older),
            },
            At::Frees => {
                Self::frees(state, slot);
                return state.turn = None;
            }
        };
        state.turn = Some(Turn { holder: slot, at: next });
    }

    /// Takes the turn, learns which header is the newest, and reads what it names.
    fn takes_turn(state: &mut State, slot: u8) {
        state.left.checkpoints -= 1;
        state.turn = Some(Turn { holder: slot, at: At::Begins });
        let Some(chosen) = choose(state, state.file[0], state.file[1]) else {
            state.found = Some("no header is found in a turn");
            return;
        };
        if state.user(slot).known.newest != chosen.newest {
            Self::adopts(state, slot, chosen);
            state.read(ROOTS + chosen.newest, "a root that is read in a turn was freed");
            let named = state.headers[chosen.newest as usize].commit;
            state.change(slot, |user| user.named = named);
        }
    }

    /// Writes a header over the older one, in one piece.
    fn writes(state: &mut State, slot: u8, version: u8) -> At {
        let user = state.user(slot);
        let (Known { newest, newest_slot, .. }, mut pending) = (user.known, user.pending);
        let sequence = state.headers[newest as usize].sequence + 1;
        forget_completed(&mut pending, sequence);
        let (header, place) = (state.written, 1 - newest_slot);
        state.begun = state.begun.max(sequence);
        state.headers[header as usize] = Header { sequence, commit: version, pending };
        state.written += 1;
        state.file[place as usize] = Some(header);
        let known = Known { newest: header, newest_slot: place, older: Some(newest) };
        state.change(slot, |user| user.known = known);
        state.change(slot, |user| forget_completed(&mut user.pending, sequence));
        At::Announces { version }
    }

    fn looks_at(version: u8, slot: u8, oldest: u8) -> At {
        match slot {
            0..=LAST_SLOT => At::LooksAtPosition { version, slot, oldest },
            _ => At::Recycles { version, oldest },
        }
    }

    /// Asks the next of the others.
    fn asks(me: u8, slot: u8, older: u8) -> At {
        match if slot == me { slot + 1 } else { slot } {
            slot @ 0..=LAST_SLOT => At::AsksWhetherOpens { slot, older },
            _ => At::Frees,
        }
    }

    /// Gives away what this instance neither has in use nor has dropped too recently.
    fn frees(state: &mut State, slot: u8) {
        let user = state.user(slot);
        let pending = user.pending.iter().enumerate().filter(|(_, dropped)| **dropped != NOTHING);
        let used = pending.fold(user.live(), |used, (extent, _)| used | 1 << extent);
        let versions = (1..=state.end).fold(0, |all, version| all | 1_u16 << version);
        let roots = (0..state.written).fold(0, |all, header| all | 1_u16 << (ROOTS + header));
        state.free((versions | roots) & !used & !state.freed);
    }
}

/// What was dropped long enough before a checkpoint that no header names it any more.
fn forget_completed(pending: &mut [u8; EXTENTS], sequence: u8) {
    let forgotten = pending.iter_mut().filter(|dropped| !is_kept_at(sequence, **dropped));
    forgotten.for_each(|dropped| *dropped = NOTHING);
}
