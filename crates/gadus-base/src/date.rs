//! Times for people.

/// Seconds since 1970 as date and time, UTC. The year begins in March, so that the leap day comes
/// last and the months' lengths repeat every five.
#[must_use]
pub fn date_and_time(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::date_and_time;

    #[test]
    fn dates_are_right_around_leap_days_and_centuries() {
        assert_eq!(date_and_time(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date_and_time(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(date_and_time(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(date_and_time(4_107_542_400), "2100-03-01 00:00:00 UTC");
    }
}
