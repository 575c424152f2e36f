//! What numbers of intervals count, and what PostgreSQL calls it.

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    /// A millionth of a second.
    Microsecond,
    /// A thousandth of a second.
    Millisecond,
    /// A second.
    Second,
    /// 60 seconds.
    Minute,
    /// 60 minutes.
    Hour,
    /// A day, which is not always 24 hours.
    Day,
    /// Seven days.
    Week,
    /// A month, which is not always 30 days.
    Month,
    /// Twelve months.
    Year,
    /// Ten years.
    Decade,
    /// A hundred years.
    Century,
    /// A thousand years.
    Millennium,
}

/// The characters of a name that count: PostgreSQL compares no more.
const NAME_BYTES_MAX: usize = 10;

impl IntervalUnit {
    /// The unit of a name in lower case, as PostgreSQL abbreviates them.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let counted = name.get(..NAME_BYTES_MAX).unwrap_or(name);
        Some(match counted {
            "us" | "usec" | "usecs" | "useconds" | "usecond" | "microsecon" => Self::Microsecond,
            "ms" | "msec" | "msecs" | "mseconds" | "msecond" | "millisecon" => Self::Millisecond,
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "week" | "weeks" => Self::Week,
            "mon" | "mons" | "month" | "months" => Self::Month,
            "y" | "yr" | "yrs" | "year" | "years" => Self::Year,
            "dec" | "decs" | "decade" | "decades" => Self::Decade,
            "c" | "cent" | "century" | "centuries" => Self::Century,
            "mil" | "mils" | "millennium" | "millennia" => Self::Millennium,
            _ => return None,
        })
    }
}
