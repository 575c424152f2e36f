//! Days and microseconds of dates in PostgreSQL's range.

/// Microseconds of a day.
pub(super) const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// Days between day zero of Julian numbering and 2000-01-01.
const EPOCH_DAYS: i64 = 2_451_545;
/// First day after those that a date may be.
const DATE_END: i64 = 2_147_483_494 - EPOCH_DAYS;
/// First and last points in time, the latter excluded, in microseconds since 2000-01-01.
pub(super) const TIMESTAMP_RANGE: std::ops::Range<i64> =
    -211_813_488_000_000_000..9_223_371_331_200_000_000;

/// Date whose years are counted with a year zero, which is 1 BC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

/// Returns the number of days of a month.
pub(super) fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// Returns true if the date is within the range that days are counted in.
    pub(super) fn is_countable(self) -> bool {
        let Self { year, month, .. } = self;
        (year > -4713 || (year == -4713 && month >= 11))
            && (year < 5_874_898 || (year == 5_874_898 && month < 6))
    }

    /// Returns the days since 2000-01-01 (`date2j`).
    pub(super) fn days(self) -> i64 {
        let (mut year, mut month) = (self.year, self.month);
        if month > 2 {
            month += 1;
            year += 4800;
        } else {
            month += 13;
            year += 4799;
        }
        let century = year / 100;
        let days = year * 365 - 32_167 + year / 4 - century + century / 4;
        days + 7834 * month / 256 + self.day - EPOCH_DAYS
    }

    /// Returns the date of a number of days since 2000-01-01 (`j2date`).
    pub(super) fn of_days(days: i64) -> Self {
        // Proleptic Gregorian calendar, in eras of 400 years that begin on 1 March.
        let shifted = days + 730_425;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Self { year, month, day }
    }

    /// Returns true if a column can store the date.
    pub(super) fn is_valid(self) -> bool {
        self.is_countable() && self.days() < DATE_END && self.days() >= -EPOCH_DAYS
    }

    /// Returns the date as it is written, without the era.
    pub(super) fn shown(self) -> String {
        let year = if self.year > 0 { self.year } else { 1 - self.year };
        format!("{year:04}-{:02}-{:02}", self.month, self.day)
    }

    /// Returns what follows a date of the years before the first one.
    pub(super) fn era(self) -> &'static str {
        if self.year > 0 { "" } else { " BC" }
    }
}

/// Returns a time of day as it is written.
pub(super) fn time_shown(microseconds: i64) -> String {
    let seconds = microseconds / 1_000_000;
    let (minutes, fraction) = (seconds / 60, microseconds % 1_000_000);
    let mut shown = format!("{:02}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
    if fraction > 0 {
        let digits = format!(".{fraction:06}");
        shown.push_str(digits.trim_end_matches('0'));
    }
    shown
}
