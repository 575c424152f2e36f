//! Times for people.

/// Seconds since 1970 as date and time, UTC.
#[must_use]
pub fn date_and_time(seconds: u64) -> String {
    let (year, month, day) = civil((seconds / 86_400).cast_signed());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of days since 1970-01-01, by the Gregorian calendar; the year 0 is 1 BC. The year begins in
/// March here, so that the leap day comes last and the months' lengths repeat every five.
#[must_use]
pub fn civil(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years, each of which begins on a first of March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{civil, date_and_time};

    #[test]
    fn dates_are_right_around_leap_days_and_centuries() {
        assert_eq!(date_and_time(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date_and_time(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(date_and_time(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(date_and_time(4_107_542_400), "2100-03-01 00:00:00 UTC");
        assert_eq!(civil(-719_529), (-1, 12, 31));
    }
}
