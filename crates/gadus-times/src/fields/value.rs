//! Value of a field, and how `extract` and `date_part` represent it.

use crate::integers::float;

/// Value of a field as `extract` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue {
    /// The number `unscaled / 10^scale`, of just as many digits after the decimal point.
    Decimal {
        /// Integer without the decimal point.
        unscaled: i128,
        /// Digits after the decimal point.
        scale: u8,
    },
    /// Infinity.
    Infinity,
    /// Negative infinity.
    NegativeInfinity,
}

/// Representation of results: exact or double precision.
pub(super) trait Number: Sized {
    fn integer(value: i64) -> Self;
    /// Returns milliseconds of a second and microseconds.
    fn milliseconds(second: i32, microsecond: i32) -> Self;
    /// Returns a second and microseconds.
    fn seconds(second: i32, microsecond: i32) -> Self;
    fn infinity(is_negative: bool) -> Self;
    /// Returns a Julian day and the microseconds of it.
    fn julian(day: i32, microseconds: i64) -> Self;
    /// Returns seconds of microseconds.
    fn epoch(microseconds: i128) -> Self;
    /// Returns seconds of microseconds since 1970, which are beyond 64 bits in the last years.
    fn timestamp_epoch(microseconds: i128) -> Self {
        Self::epoch(microseconds)
    }
}

impl Number for FieldValue {
    fn integer(value: i64) -> Self {
        Self::Decimal { unscaled: i128::from(value), scale: 0 }
    }

    fn milliseconds(second: i32, microsecond: i32) -> Self {
        Self::Decimal {
            unscaled: i128::from(second) * 1_000_000 + i128::from(microsecond),
            scale: 3,
        }
    }

    fn seconds(second: i32, microsecond: i32) -> Self {
        Self::Decimal {
            unscaled: i128::from(second) * 1_000_000 + i128::from(microsecond),
            scale: 6,
        }
    }

    fn infinity(is_negative: bool) -> Self {
        if is_negative { Self::NegativeInfinity } else { Self::Infinity }
    }

    /// The scale is that of PostgreSQL's quotient of numerics: 16 significant digits, in groups of four.
    fn julian(day: i32, microseconds: i64) -> Self {
        const DAY: i128 = crate::calendar::DAY as i128;
        // A divisor of 864 in the third group; the quotient begins a group later if the dividend's first is no greater.
        let (group, first) = match microseconds {
            0..10_000 => (0, microseconds),
            10_000..100_000_000 => (1, microseconds / 10_000),
            _ => (2, microseconds / 100_000_000),
        };
        let scale: u8 = 16 + 4 * (2 - group + u8::from(first <= 864));
        let power = 10_i128.pow(u32::from(scale));
        let fraction = (i128::from(microseconds) * power * 2 + DAY) / (DAY * 2);
        Self::Decimal { unscaled: i128::from(day) * power + fraction, scale }
    }

    fn epoch(microseconds: i128) -> Self {
        Self::Decimal { unscaled: microseconds, scale: 6 }
    }

    /// The last years are a quotient of numerics in PostgreSQL, which has four digits after the decimal point there.
    fn timestamp_epoch(microseconds: i128) -> Self {
        if microseconds < i128::from(i64::MAX) {
            return Self::epoch(microseconds);
        }
        Self::epoch((microseconds + 50) / 100 * 100)
    }
}

impl Number for f64 {
    fn integer(value: i64) -> Self {
        float(value)
    }

    fn milliseconds(second: i32, microsecond: i32) -> Self {
        Self::from(second) * 1000.0 + Self::from(microsecond) / 1000.0
    }

    fn seconds(second: i32, microsecond: i32) -> Self {
        Self::from(second) + Self::from(microsecond) / 1_000_000.0
    }

    fn infinity(is_negative: bool) -> Self {
        if is_negative { Self::NEG_INFINITY } else { Self::INFINITY }
    }

    fn julian(day: i32, microseconds: i64) -> Self {
        let seconds = microseconds / 1_000_000;
        let fraction = float(microseconds % 1_000_000) / 1_000_000.0;
        Self::from(day) + (float(seconds) + fraction) / 86_400.0
    }

    fn epoch(microseconds: i128) -> Self {
        match i64::try_from(microseconds) {
            Ok(microseconds) => float(microseconds) / 1_000_000.0,
            // PostgreSQL subtracts in double precision then.
            Err(_) => {
                let epoch = i128::from(crate::calendar::MICROSECONDS_1970_TO_2000);
                let since_2000 = i64::try_from(microseconds - epoch).unwrap_or(i64::MAX);
                (float(since_2000) + 946_684_800_000_000.0) / 1_000_000.0
            }
        }
    }
}
