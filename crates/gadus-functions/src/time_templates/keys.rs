//! Words of templates of points in time.

/// Letters of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Upper,
    Title,
    Lower,
}

/// Word that stands for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Meridiem { has_dots: bool, letters: Letters },
    Era { has_dots: bool, letters: Letters },
    Century,
    DayName(Letters),
    ShortDayName(Letters),
    DayOfYear,
    DayOfMonth,
    DayOfWeek,
    Fraction(usize),
    Fixed,
    Hour24,
    Hour12,
    IsoDayOfYear,
    IsoDay,
    IsoWeek,
    IsoYear(usize),
    Julian,
    Minute,
    Month,
    MonthName(Letters),
    ShortMonthName(Letters),
    Millisecond,
    Offset,
    Quarter,
    RomanMonth(Letters),
    SecondOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    Zone(Letters),
    Microsecond,
    Week,
    WeekOfMonth,
    YearWithComma,
    Year(usize),
}

/// Calendar that a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    Gregorian,
    IsoWeek,
}

use Key::*;
use Letters::{Lower, Title, Upper};

const fn meridiem(has_dots: bool, letters: Letters) -> Key {
    Meridiem { has_dots, letters }
}

const fn era(has_dots: bool, letters: Letters) -> Key {
    Era { has_dots, letters }
}

/// Words in the order in which they are tried.
#[rustfmt::skip]
pub(super) const KEYS: &[(&str, Key)] = &[
    ("A.D.", era(true, Upper)), ("A.M.", meridiem(true, Upper)),
    ("AD", era(false, Upper)), ("AM", meridiem(false, Upper)),
    ("B.C.", era(true, Upper)), ("BC", era(false, Upper)),
    ("CC", Century),
    ("DAY", DayName(Upper)), ("DDD", DayOfYear), ("DD", DayOfMonth), ("DY", ShortDayName(Upper)),
    ("Day", DayName(Title)), ("Dy", ShortDayName(Title)), ("D", DayOfWeek),
    ("FF1", Fraction(1)), ("FF2", Fraction(2)), ("FF3", Fraction(3)),
    ("FF4", Fraction(4)), ("FF5", Fraction(5)), ("FF6", Fraction(6)), ("FX", Fixed),
    ("HH24", Hour24), ("HH12", Hour12), ("HH", Hour12),
    ("IDDD", IsoDayOfYear), ("ID", IsoDay), ("IW", IsoWeek),
    ("IYYY", IsoYear(4)), ("IYY", IsoYear(3)), ("IY", IsoYear(2)), ("I", IsoYear(1)),
    ("J", Julian),
    ("MI", Minute), ("MM", Month), ("MONTH", MonthName(Upper)), ("MON", ShortMonthName(Upper)),
    ("MS", Millisecond), ("Month", MonthName(Title)), ("Mon", ShortMonthName(Title)),
    ("OF", Offset),
    ("P.M.", meridiem(true, Upper)), ("PM", meridiem(false, Upper)),
    ("Q", Quarter), ("RM", RomanMonth(Upper)),
    ("SSSSS", SecondOfDay), ("SSSS", SecondOfDay), ("SS", Second),
    ("TZH", ZoneHour), ("TZM", ZoneMinute), ("TZ", Zone(Upper)),
    ("US", Microsecond), ("WW", Week), ("W", WeekOfMonth),
    ("Y,YYY", YearWithComma), ("YYYY", Year(4)), ("YYY", Year(3)), ("YY", Year(2)), ("Y", Year(1)),
    ("a.d.", era(true, Lower)), ("a.m.", meridiem(true, Lower)),
    ("ad", era(false, Lower)), ("am", meridiem(false, Lower)),
    ("b.c.", era(true, Lower)), ("bc", era(false, Lower)),
    ("cc", Century),
    ("day", DayName(Lower)), ("ddd", DayOfYear), ("dd", DayOfMonth), ("dy", ShortDayName(Lower)),
    ("d", DayOfWeek),
    ("ff1", Fraction(1)), ("ff2", Fraction(2)), ("ff3", Fraction(3)),
    ("ff4", Fraction(4)), ("ff5", Fraction(5)), ("ff6", Fraction(6)), ("fx", Fixed),
    ("hh24", Hour24), ("hh12", Hour12), ("hh", Hour12),
    ("iddd", IsoDayOfYear), ("id", IsoDay), ("iw", IsoWeek),
    ("iyyy", IsoYear(4)), ("iyy", IsoYear(3)), ("iy", IsoYear(2)), ("i", IsoYear(1)),
    ("j", Julian),
    ("mi", Minute), ("mm", Month), ("month", MonthName(Lower)), ("mon", ShortMonthName(Lower)),
    ("ms", Millisecond),
    ("of", Offset),
    ("p.m.", meridiem(true, Lower)), ("pm", meridiem(false, Lower)),
    ("q", Quarter), ("rm", RomanMonth(Lower)),
    ("sssss", SecondOfDay), ("ssss", SecondOfDay), ("ss", Second),
    ("tzh", ZoneHour), ("tzm", ZoneMinute), ("tz", Zone(Lower)),
    ("us", Microsecond), ("ww", Week), ("w", WeekOfMonth),
    ("y,yyy", YearWithComma), ("yyyy", Year(4)), ("yyy", Year(3)), ("yy", Year(2)), ("y", Year(1)),
];

impl Key {
    /// True of fields that begin with a digit.
    pub(super) fn is_digit(self) -> bool {
        !matches!(
            self,
            Meridiem { .. }
                | Era { .. }
                | DayName(_)
                | ShortDayName(_)
                | Fixed
                | MonthName(_)
                | ShortMonthName(_)
                | Offset
                | RomanMonth(_)
                | ZoneHour
                | Zone(_)
        )
    }

    pub(super) fn convention(self) -> Option<Convention> {
        match self {
            DayOfYear | DayOfMonth | DayOfWeek | Month | MonthName(_) | ShortMonthName(_)
            | RomanMonth(_) | Week | WeekOfMonth | YearWithComma | Year(_) => {
                Some(Convention::Gregorian)
            }
            IsoDayOfYear | IsoDay | IsoWeek | IsoYear(_) => Some(Convention::IsoWeek),
            _ => None,
        }
    }
}

impl Letters {
    /// Spells a name that is given in title case.
    pub(super) fn of(self, name: &str) -> String {
        match self {
            Upper => name.to_ascii_uppercase(),
            Title => name.to_owned(),
            Lower => name.to_ascii_lowercase(),
        }
    }
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Roman months, from the last to the first, so that none begins with an earlier one.
pub(super) const ROMAN_MONTHS: [&str; 12] =
    ["XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"];
