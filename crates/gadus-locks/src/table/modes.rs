//! The ten modes of a lock: which exclude each other, and which one covers two.
//!
//! Compatible (`y`), held across, wanted down; the table is symmetric:
//!
//! | | NL | Sch-S | IS | IX | S | U | SIX | BU | X | Sch-M |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | NL | y | y | y | y | y | y | y | y | y | y |
//! | Sch-S | y | y | y | y | y | y | y | y | y | - |
//! | IS | y | y | y | y | y | y | y | - | - | - |
//! | IX | y | y | y | y | - | - | - | - | - | - |
//! | S | y | y | y | - | y | y | - | - | - | - |
//! | U | y | y | y | - | y | - | - | - | - | - |
//! | SIX | y | y | y | - | - | - | - | - | - | - |
//! | BU | y | y | - | - | - | - | - | y | - | - |
//! | X | y | y | - | - | - | - | - | - | - | - |
//! | Sch-M | y | - | - | - | - | - | - | - | - | - |
//!
//! The least mode that covers two, which is what a holder of one gets that asks for the other:
//!
//! | | NL | Sch-S | IS | IX | S | U | SIX | BU | X | Sch-M |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | NL | NL | Sch-S | IS | IX | S | U | SIX | BU | X | Sch-M |
//! | Sch-S | Sch-S | Sch-S | IS | IX | S | U | SIX | BU | X | Sch-M |
//! | IS | IS | IS | IS | IX | S | U | SIX | X | X | Sch-M |
//! | IX | IX | IX | IX | IX | SIX | SIX | SIX | X | X | Sch-M |
//! | S | S | S | S | SIX | S | U | SIX | X | X | Sch-M |
//! | U | U | U | U | SIX | U | U | SIX | X | X | Sch-M |
//! | SIX | SIX | SIX | SIX | SIX | SIX | SIX | SIX | X | X | Sch-M |
//! | BU | BU | BU | X | X | X | X | X | BU | X | Sch-M |
//! | X | X | X | X | X | X | X | X | X | X | Sch-M |
//! | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M | Sch-M |
//!
//! - S and U are compatible, two U are not: who reads in order to write does not meet another such.
//! - A mode covers another when everything that the other excludes is excluded by it.
//! - The numbers of the modes are part of the shared format.

use std::fmt;

/// How a lock excludes others. In brackets the names of the VMS lock manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mode {
    /// NL: excludes nobody; keeps the resource, and its value block, in being.
    Null = 0,
    /// Sch-S: what is looked at keeps its schema.
    SchemaStability = 1,
    /// IS (CR): something inside is read.
    IntentShared = 2,
    /// IX (CW): something inside is written.
    IntentExclusive = 3,
    /// S (PR): all of it is read.
    Shared = 4,
    /// U: it is read and will be written.
    Update = 5,
    /// SIX (PW): all of it is read, something inside is written.
    SharedIntentExclusive = 6,
    /// BU: loaded in bulk, by several side by side.
    BulkUpdate = 7,
    /// X (EX): all of it is written.
    Exclusive = 8,
    /// Sch-M: its schema is changed.
    SchemaModification = 9,
}

/// A set of modes, one bit each.
pub(super) type ModeSet = u16;

pub(super) const MODES: usize = 10;

/// What each mode excludes, by number.
const EXCLUDED: [ModeSet; MODES] = [
    0,
    0b10_0000_0000,
    0b11_1000_0000,
    0b11_1111_0000,
    0b11_1100_1000,
    0b11_1110_1000,
    0b11_1111_1000,
    0b11_0111_1100,
    0b11_1111_1100,
    0b11_1111_1110,
];

const SUPREMA: [[Mode; MODES]; MODES] = suprema();

impl Mode {
    /// All modes, in the order of the tables above.
    pub const ALL: [Self; MODES] = [
        Self::Null,
        Self::SchemaStability,
        Self::IntentShared,
        Self::IntentExclusive,
        Self::Shared,
        Self::Update,
        Self::SharedIntentExclusive,
        Self::BulkUpdate,
        Self::Exclusive,
        Self::SchemaModification,
    ];

    /// Whether two owners may hold a resource in these modes at a time.
    #[inline]
    #[must_use]
    pub const fn is_compatible_with(self, other: Self) -> bool {
        EXCLUDED[self as usize] & other.bit() == 0
    }

    /// The least mode that covers both.
    #[inline]
    #[must_use]
    pub const fn supremum(self, other: Self) -> Self {
        SUPREMA[self as usize][other as usize]
    }

    /// Whether who holds this mode needs nothing more for the other.
    #[inline]
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.supremum(other) as u8 == self as u8
    }

    /// Whether its holder may change the resource's value block.
    #[must_use]
    pub const fn may_write_value(self) -> bool {
        matches!(self, Self::Update | Self::SharedIntentExclusive | Self::Exclusive)
    }

    #[inline]
    pub(super) const fn bit(self) -> ModeSet {
        1 << (self as u8)
    }

    #[inline]
    pub(super) const fn excluded(self) -> ModeSet {
        EXCLUDED[self as usize]
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "NL",
            Self::SchemaStability => "Sch-S",
            Self::IntentShared => "IS",
            Self::IntentExclusive => "IX",
            Self::Shared => "S",
            Self::Update => "U",
            Self::SharedIntentExclusive => "SIX",
            Self::BulkUpdate => "BU",
            Self::Exclusive => "X",
            Self::SchemaModification => "Sch-M",
        })
    }
}

/// For each two modes the first, in the order of strength, that excludes all that they exclude. The
/// order of the numbers never puts a mode before one that it covers, so the first is the least.
const fn suprema() -> [[Mode; MODES]; MODES] {
    let mut table = [[Mode::SchemaModification; MODES]; MODES];
    let mut one = 0;
    while one < MODES {
        let mut other = 0;
        while other < MODES {
            let both = EXCLUDED[one] | EXCLUDED[other];
            let mut candidate = 0;
            while both & !EXCLUDED[candidate] != 0 {
                candidate += 1;
            }
            table[one][other] = Mode::ALL[candidate];
            other += 1;
        }
        one += 1;
    }
    table
}

#[cfg(test)]
mod tests;
