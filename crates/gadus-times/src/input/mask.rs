//! Masks of fields that tokens have set.

/// Set of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Mask(pub(super) u32);

impl Mask {
    pub(super) const NONE: Self = Self(0);
    pub(super) const RESERVED: Self = Self(1);
    pub(super) const MONTH: Self = Self(1 << 1);
    pub(super) const YEAR: Self = Self(1 << 2);
    pub(super) const DAY: Self = Self(1 << 3);
    pub(super) const ZONE: Self = Self(1 << 5);
    pub(super) const DAYLIGHT_ZONE: Self = Self(1 << 6);
    pub(super) const NAMED_ZONE: Self = Self(1 << 7);
    pub(super) const MERIDIEM: Self = Self(1 << 9);
    pub(super) const HOUR: Self = Self(1 << 10);
    pub(super) const MINUTE: Self = Self(1 << 11);
    pub(super) const SECOND: Self = Self(1 << 12);
    pub(super) const MILLISECOND: Self = Self(1 << 13);
    pub(super) const MICROSECOND: Self = Self(1 << 14);
    pub(super) const YEAR_DAY: Self = Self(1 << 15);
    pub(super) const WEEKDAY: Self = Self(1 << 16);
    pub(super) const ERA: Self = Self(1 << 18);
    pub(super) const WEEK: Self = Self(1 << 24);
    pub(super) const DECADE: Self = Self(1 << 25);
    pub(super) const CENTURY: Self = Self(1 << 26);
    pub(super) const MILLENNIUM: Self = Self(1 << 27);
    pub(super) const DAYLIGHT: Self = Self(1 << 28);
    /// Year, month and day.
    pub(super) const DATE: Self = Self::YEAR.and(Self::MONTH).and(Self::DAY);
    /// Seconds and their fractions.
    pub(super) const SECONDS: Self = Self::SECOND.and(Self::MILLISECOND).and(Self::MICROSECOND);
    /// Hour, minute and seconds.
    pub(super) const TIME: Self = Self::HOUR.and(Self::MINUTE).and(Self::SECONDS);

    /// Returns the fields of both.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the fields that are in both.
    pub(super) const fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns true if all of the others are set.
    pub(super) const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns true if one of the others is set.
    pub(super) const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}
