//! Ids and numbers that name things in a database, each its own type.
//!
//! - None is ever reused within one database.

use crate::Random;
use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($type:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $type);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, " {}"), self.0)
            }
        }
    };
}

number!(
    /// The place of a commit in the one order of all commits; 0 is the empty database.
    CommitNumber(u64), "commit"
);
number!(
    /// A byte position in the endless log of a database; only ever grows.
    LogPosition(u64), "log position"
);
number!(
    /// A table, for ever.
    TableId(u32), "table"
);
number!(
    /// A segment of a table, for ever.
    SegmentId(u32), "segment"
);

impl CommitNumber {
    /// The commit after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A row of a table: a segment and a position within it, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The segment that holds the row.
    pub segment: SegmentId,
    /// The row's position within the segment.
    pub position: u32,
}

impl RowId {
    /// Segment in the upper, position in the lower 32 bits.
    #[must_use]
    pub fn to_u64(self) -> u64 {
        (u64::from(self.segment.0) << 32) | u64::from(self.position)
    }

    /// The inverse of [`RowId::to_u64`].
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // both halves are taken on purpose
    pub fn from_u64(value: u64) -> Self {
        Self { segment: SegmentId((value >> 32) as u32), position: value as u32 }
    }
}

/// Identity of a database file, drawn at its creation; the log carries it too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DatabaseId(pub [u8; 16]);

impl DatabaseId {
    /// A new identity.
    #[must_use]
    pub fn new(random: &mut Random) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&random.next_u64().to_le_bytes());
        bytes[8..].copy_from_slice(&random.next_u64().to_le_bytes());
        Self(bytes)
    }
}

impl fmt::Display for DatabaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DatabaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseId({self})")
    }
}
