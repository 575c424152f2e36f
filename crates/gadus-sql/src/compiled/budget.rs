//! How much a statement may keep while its table is scanned.
//!
//! - What needs more is answered by a plan, alone: that gives rows away as they are found, and spills what it
//!   sorts and groups.

use gadus_base::ByteCount;

/// A position of a row.
const FOUND_BYTES: u64 = 4;

/// A row that is sorted, or a group, with its values.
const KEPT_BYTES: u64 = 1 << 10;

/// Memory of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) ByteCount);

/// Part of a statement's memory for long values: a plan, which spills, serves those better that have more.
const LONG_PART: u64 = 8;

impl Default for Budget {
    fn default() -> Self {
        Self(ByteCount::mib(64))
    }
}

impl Budget {
    /// Rows that are found before the first is read.
    pub(crate) fn found_rows(self) -> usize {
        self.fit(FOUND_BYTES)
    }

    /// Rows that are sorted, or groups.
    pub(crate) fn kept_rows(self) -> usize {
        self.fit(KEPT_BYTES)
    }

    /// Bytes of long values, beside rows and groups that are counted.
    pub(crate) fn long_bytes(self) -> usize {
        usize::try_from(self.0.0 / LONG_PART).unwrap_or(usize::MAX)
    }

    fn fit(self, bytes: u64) -> usize {
        usize::try_from(self.0.0 / bytes).unwrap_or(usize::MAX)
    }
}
