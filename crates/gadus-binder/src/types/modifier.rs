//! Modifiers of types: lengths, precisions, scales, fields of intervals.

use gadus_syntax::ast::IntervalFields;
use std::fmt;

/// Modifier of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Modifier {
    /// Without a limit.
    #[default]
    None,
    /// Characters of `varchar` and `char`, bits of `bit` and `varbit`.
    Length(u32),
    /// Digits of `numeric`, and of these after the point.
    Numeric {
        /// 1 to 1,000
        precision: u16,
        /// -1,000 to 1,000
        scale: i16,
    },
    /// Digits of fractional seconds, 0 to 6.
    Precision(u8),
    /// Fields of an interval that are kept.
    Interval(IntervalPrecision),
}

/// Fields of an interval, and digits of its seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntervalPrecision {
    /// All if `None`.
    pub fields: Option<FieldRange>,
    /// 0 to 6; all if `None`.
    pub precision: Option<u8>,
}

/// First and last field of an interval, as bits of PostgreSQL's modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldRange(u16);

/// Bytes that PostgreSQL counts in front of a value of variable length.
const HEADER: i32 = 4;

impl FieldRange {
    const MONTH: u16 = 1 << 1;
    const YEAR: u16 = 1 << 2;
    const DAY: u16 = 1 << 3;
    const HOUR: u16 = 1 << 10;
    const MINUTE: u16 = 1 << 11;
    const SECOND: u16 = 1 << 12;

    const NAMES: [(u16, &str); 13] = [
        (Self::YEAR, "year"),
        (Self::MONTH, "month"),
        (Self::DAY, "day"),
        (Self::HOUR, "hour"),
        (Self::MINUTE, "minute"),
        (Self::SECOND, "second"),
        (Self::YEAR | Self::MONTH, "year to month"),
        (Self::DAY | Self::HOUR, "day to hour"),
        (Self::DAY | Self::HOUR | Self::MINUTE, "day to minute"),
        (Self::DAY | Self::HOUR | Self::MINUTE | Self::SECOND, "day to second"),
        (Self::HOUR | Self::MINUTE, "hour to minute"),
        (Self::HOUR | Self::MINUTE | Self::SECOND, "hour to second"),
        (Self::MINUTE | Self::SECOND, "minute to second"),
    ];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(bits, _)| *bits == self.0).map_or("", |(_, name)| name)
    }
}

impl From<IntervalFields> for FieldRange {
    fn from(fields: IntervalFields) -> Self {
        let index = match fields {
            IntervalFields::Year => 0,
            IntervalFields::Month => 1,
            IntervalFields::Day => 2,
            IntervalFields::Hour => 3,
            IntervalFields::Minute => 4,
            IntervalFields::Second => 5,
            IntervalFields::YearToMonth => 6,
            IntervalFields::DayToHour => 7,
            IntervalFields::DayToMinute => 8,
            IntervalFields::DayToSecond => 9,
            IntervalFields::HourToMinute => 10,
            IntervalFields::HourToSecond => 11,
            IntervalFields::MinuteToSecond => 12,
        };
        Self(Self::NAMES[index].0)
    }
}

impl Modifier {
    /// Returns the number that PostgreSQL sends for it, -1 for none.
    #[must_use]
    pub fn code(self, is_bit_string: bool) -> i32 {
        match self {
            Self::None => -1,
            Self::Length(length) => {
                let length = i32::try_from(length).unwrap_or(i32::MAX - HEADER);
                if is_bit_string { length } else { length + HEADER }
            }
            Self::Numeric { precision, scale } => {
                let scale = i32::from(scale) & 0x7FF;
                (i32::from(precision) << 16 | scale) + HEADER
            }
            Self::Precision(digits) => digits.into(),
            Self::Interval(IntervalPrecision { fields, precision }) => {
                let fields = fields.map_or(0x7FFF, |fields| i32::from(fields.0));
                let digits = precision.map_or(0xFFFF, i32::from);
                fields << 16 | digits
            }
        }
    }

    /// Writes a type's name with this modifier, as PostgreSQL's `format_type` does.
    pub(super) fn write(self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(name),
            Self::Length(length) => write!(f, "{name}({length})"),
            Self::Numeric { precision, scale } => write!(f, "{name}({precision},{scale})"),
            // `timestamp(3) without time zone`
            Self::Precision(digits) => match name.split_once(' ') {
                Some((first, rest)) => write!(f, "{first}({digits}) {rest}"),
                None => write!(f, "{name}({digits})"),
            },
            Self::Interval(IntervalPrecision { fields, precision }) => {
                f.write_str(name)?;
                if let Some(fields) = fields {
                    write!(f, " {}", fields.name())?;
                }
                precision.map_or(Ok(()), |digits| write!(f, "({digits})"))
            }
        }
    }
}
