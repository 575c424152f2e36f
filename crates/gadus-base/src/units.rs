//! Quantities with their unit in the type.

use std::fmt;

/// A number of bytes; shown in binary units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteCount(pub u64);

impl ByteCount {
    /// `count` × 1,024 bytes.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// `count` × 1,024² bytes.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// `count` × 1,024³ bytes.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }
}

impl fmt::Display for ByteCount {
    #[allow(clippy::cast_precision_loss)] // one decimal is shown
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (bytes, unit) in steps {
            if self.0 >= bytes {
                return write!(f, "{:.1} {unit}", self.0 as f64 / bytes as f64);
            }
        }
        write!(f, "{} B", self.0)
    }
}
