//! Words of dates and of intervals: PostgreSQL's two tables.
//!
//! - Words are compared by their first ten bytes: `microseconds` is `microsecon`.

/// Bytes of a word that are compared.
const WORD_BYTES_MAX: usize = 10;

/// Word of a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Text that stands for a whole value.
    Reserved(Reserved),
    /// `AD` or `BC`; true for BC.
    Era(bool),
    /// Month from 1.
    Month(i32),
    /// Word without a meaning, such as `at`.
    Ignored,
    /// Unit: labels the number after it in a date, the one before it in an interval.
    Unit(Unit),
    /// `AM` or `PM`; true for PM.
    Meridiem(bool),
    /// `DST`: an hour of daylight saving time.
    Daylight,
    /// Day of the week, which is ignored.
    Weekday,
    /// `T` before the time in ISO 8601.
    IsoTime,
    /// `ago`: negates an interval.
    Ago,
}

/// Text that stands for a whole value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// `-infinity`
    Early,
    /// `infinity`
    Late,
    /// 1970-01-01 00:00:00 UTC
    Epoch,
    /// Start of the transaction.
    Now,
    /// Midnight before the day of the transaction.
    Yesterday,
    /// Midnight of the day of the transaction.
    Today,
    /// Midnight after the day of the transaction.
    Tomorrow,
    /// `allballs`: 00:00:00 UTC
    Zulu,
}

/// Unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is its name
pub(crate) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    JulianDay,
    Weekday,
    IsoWeekday,
    YearDay,
    IsoYear,
    Zone,
    ZoneHour,
    ZoneMinute,
}

/// Returns the meaning of a word in lower case in a date, or as a field of `extract`.
pub(crate) fn date_word(word: &[u8]) -> Option<Word> {
    use Word::{Daylight, Era, Ignored, IsoTime, Meridiem, Month, Weekday};
    let word = &word[..word.len().min(WORD_BYTES_MAX)];
    let reserved = |value| Some(Word::Reserved(value));
    let unit = |value| Some(Word::Unit(value));
    match word {
        b"-infinity" => reserved(Reserved::Early),
        b"infinity" => reserved(Reserved::Late),
        b"epoch" => reserved(Reserved::Epoch),
        b"now" => reserved(Reserved::Now),
        b"yesterday" => reserved(Reserved::Yesterday),
        b"today" => reserved(Reserved::Today),
        b"tomorrow" => reserved(Reserved::Tomorrow),
        b"allballs" => reserved(Reserved::Zulu),
        b"ad" | b"bc" => Some(Era(word == b"bc")),
        b"am" | b"pm" => Some(Meridiem(word == b"pm")),
        b"at" | b"on" => Some(Ignored),
        b"dst" => Some(Daylight),
        b"t" => Some(IsoTime),
        b"d" => unit(Unit::Day),
        b"dow" => unit(Unit::Weekday),
        b"doy" => unit(Unit::YearDay),
        b"h" => unit(Unit::Hour),
        b"isodow" => unit(Unit::IsoWeekday),
        b"isoyear" => unit(Unit::IsoYear),
        b"j" | b"jd" | b"julian" => unit(Unit::JulianDay),
        b"m" => unit(Unit::Month),
        b"mm" => unit(Unit::Minute),
        b"s" => unit(Unit::Second),
        b"y" => unit(Unit::Year),
        b"mon" | b"monday" | b"tue" | b"tues" | b"tuesday" | b"wed" | b"wednesday" | b"weds"
        | b"thu" | b"thur" | b"thurs" | b"thursday" | b"fri" | b"friday" | b"sat" | b"saturday"
        | b"sun" | b"sunday" => Some(Weekday),
        _ => month(word).map(Month),
    }
}

/// Returns the number of a month.
fn month(word: &[u8]) -> Option<i32> {
    Some(match word {
        b"jan" | b"january" => 1,
        b"feb" | b"february" => 2,
        b"mar" | b"march" => 3,
        b"apr" | b"april" => 4,
        b"may" => 5,
        b"jun" | b"june" => 6,
        b"jul" | b"july" => 7,
        b"aug" | b"august" => 8,
        b"sep" | b"sept" | b"september" => 9,
        b"oct" | b"october" => 10,
        b"nov" | b"november" => 11,
        b"dec" | b"december" => 12,
        _ => return None,
    })
}

/// Returns true for a word of dates.
pub(super) fn is_date_word(word: &[u8]) -> bool {
    date_word(word).is_some()
}

/// Returns the meaning of a word in lower case in an interval, or as a unit of `extract` and `date_trunc`.
pub(crate) fn interval_word(word: &[u8]) -> Option<Word> {
    let word = &word[..word.len().min(WORD_BYTES_MAX)];
    let unit = match word {
        b"@" => return Some(Word::Ignored),
        b"ago" => return Some(Word::Ago),
        b"us" | b"usec" | b"usecs" | b"useconds" | b"microsecon" => Unit::Microsecond,
        b"ms" | b"msec" | b"msecs" | b"mseconds" | b"millisecon" => Unit::Millisecond,
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => Unit::Second,
        b"m" | b"min" | b"mins" | b"minute" | b"minutes" => Unit::Minute,
        b"h" | b"hr" | b"hrs" | b"hour" | b"hours" => Unit::Hour,
        b"d" | b"day" | b"days" => Unit::Day,
        b"w" | b"week" | b"weeks" => Unit::Week,
        b"mon" | b"mons" | b"month" | b"months" => Unit::Month,
        b"qtr" | b"quarter" => Unit::Quarter,
        b"y" | b"yr" | b"yrs" | b"year" | b"years" => Unit::Year,
        b"dec" | b"decs" | b"decade" | b"decades" => Unit::Decade,
        b"c" | b"cent" | b"century" | b"centuries" => Unit::Century,
        b"mil" | b"mils" | b"millennium" | b"millennia" => Unit::Millennium,
        b"timezone" => Unit::Zone,
        b"timezone_h" => Unit::ZoneHour,
        b"timezone_m" => Unit::ZoneMinute,
        _ => return None,
    };
    Some(Word::Unit(unit))
}
