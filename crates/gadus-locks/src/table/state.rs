//! The two words of a request that are its truth: its state and its owner.
//!
//! State:
//!
//! | bits | content |
//! |---|---|
//! | 0..4 | status: 0 free, 1 granted, 2 converting, 3 waiting |
//! | 4..8 | mode granted |
//! | 8..12 | mode wanted |
//! | 12..16 | mode that others are waiting for and its owner has not been told of; NL for none |
//! | 16..24 | how many conversions have passed over it |
//! | 24 | it was moved ahead to undo a deadlock |
//! | 25 | the last wish was refused: its owner was the victim of a deadlock |
//!
//! Owner:
//!
//! | bits | content |
//! |---|---|
//! | 0..22 | record of the connection |
//! | 22..32 | slot of its instance |
//! | 32..64 | generation of its instance |
//!
//! - All of a transition is one store of the state; other bits are zero, or the word is damaged.

use super::modes::Mode;
use crate::instances::INSTANCES_MAX;
use crate::latch::Owner;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// Nobody's.
    Free,
    /// Its owner has `granted` and wants no more.
    Granted,
    /// Its owner has `granted` and waits for `wanted`.
    Converting,
    /// Its owner has nothing and waits for `wanted`.
    Waiting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) status: Status,
    pub(super) granted: Mode,
    pub(super) wanted: Mode,
    pub(super) noticed: Mode,
    pub(super) passed: u8,
    pub(super) moved: bool,
    pub(super) refused: bool,
}

/// A connection of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) instance: Owner,
    pub(super) record: u32,
}

const RECORD_BITS: u32 = 22;
const SLOT_BITS: u32 = 10;
const _: () = assert!(INSTANCES_MAX <= 1 << SLOT_BITS && RECORD_BITS + SLOT_BITS == 32);

/// The most records of connections that an owner word can name.
pub(super) const RECORDS_MAX: u32 = 1 << RECORD_BITS;

const MOVED: u64 = 1 << 24;
const REFUSED: u64 = 1 << 25;

impl State {
    pub(super) const FREE: Self = Self {
        status: Status::Free,
        granted: Mode::Null,
        wanted: Mode::Null,
        noticed: Mode::Null,
        passed: 0,
        moved: false,
        refused: false,
    };

    pub(super) fn granted(mode: Mode) -> Self {
        Self { status: Status::Granted, granted: mode, wanted: mode, ..Self::FREE }
    }

    pub(super) fn waiting(mode: Mode) -> Self {
        Self { status: Status::Waiting, wanted: mode, ..Self::FREE }
    }

    /// This granted request, as it waits for more.
    pub(super) fn converting(self, wanted: Mode) -> Self {
        Self { status: Status::Converting, wanted, passed: 0, moved: false, refused: false, ..self }
    }

    /// With the wish fulfilled.
    pub(super) fn fulfilled(self) -> Self {
        Self { noticed: self.noticed, ..Self::granted(self.wanted) }
    }

    /// With the wish withdrawn; what was granted stays.
    pub(super) fn withdrawn(self) -> Self {
        Self { noticed: self.noticed, ..Self::granted(self.granted) }
    }

    pub(super) fn is_waiting(self) -> bool {
        matches!(self.status, Status::Converting | Status::Waiting)
    }

    /// What its owner holds; nothing is as good as NL.
    pub(super) fn held(self) -> Mode {
        self.granted
    }

    pub(super) fn to_word(self) -> u64 {
        let mut word = self.status as u64 | (self.granted as u64) << 4 | (self.wanted as u64) << 8;
        word |= (self.noticed as u64) << 12 | u64::from(self.passed) << 16;
        word |= if self.moved { MOVED } else { 0 };
        word | if self.refused { REFUSED } else { 0 }
    }

    /// Nothing, when the word cannot be.
    #[inline]
    pub(super) fn from_word(word: u64) -> Option<Self> {
        let status = match word & 0xF {
            0 if word == 0 => return Some(Self::FREE),
            1 => Status::Granted,
            2 => Status::Converting,
            3 => Status::Waiting,
            _ => return None,
        };
        if word >> 26 != 0 {
            return None;
        }
        Some(Self {
            status,
            granted: Mode::from_number((word >> 4) & 0xF)?,
            wanted: Mode::from_number((word >> 8) & 0xF)?,
            noticed: Mode::from_number((word >> 12) & 0xF)?,
            passed: word.to_le_bytes()[2],
            moved: word & MOVED != 0,
            refused: word & REFUSED != 0,
        })
    }
}

impl Holder {
    pub(super) fn to_word(self) -> u64 {
        let Owner { slot, generation } = self.instance;
        u64::from(generation) << 32 | u64::from(slot) << RECORD_BITS | u64::from(self.record)
    }

    pub(super) fn from_word(word: u64) -> Self {
        let [low, generation] = [word & 0xFFFF_FFFF, word >> 32]
            .map(|half| u32::try_from(half).expect("a half has 32 bits"));
        let instance = Owner { slot: low >> RECORD_BITS, generation };
        Self { instance, record: low & (RECORDS_MAX - 1) }
    }
}

#[cfg(test)]
mod tests;
