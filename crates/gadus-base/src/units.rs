//! Quantities with their unit in the type.

use std::fmt;
use std::str::FromStr;

/// A number with its thousands apart, for people.
#[must_use]
pub fn counted(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes; shown in binary units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteCount(pub u64);

impl ByteCount {
    /// `count` × 1,024 bytes.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// The same number in the largest binary unit of which it is a multiple, to be read again.
    #[must_use]
    pub fn exact(self) -> String {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        let whole = |(shift, _): &(u32, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift;
        match units.into_iter().find(whole) {
            Some((shift, unit)) => format!("{} {unit}", self.0 >> shift),
            None => format!("{} B", self.0),
        }
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

/// Text that is no number of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAByteCount;

impl fmt::Display for NotAByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a size is a number of B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as '16GiB' or '1.5 GiB'",
        )
    }
}

impl std::error::Error for NotAByteCount {}

/// A number with a unit, bytes where there is none: `16GiB`, `500 MB`, `1.5 GiB`. A part of a byte is left out.
impl FromStr for ByteCount {
    type Err = NotAByteCount;

    fn from_str(text: &str) -> Result<Self, NotAByteCount> {
        let text = text.trim();
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &text[..text.len() - unit.len()];
        let bytes: u64 = match unit.trim_start().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            _ => return Err(NotAByteCount),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if bytes == 1 && number.contains('.') {
            return Err(NotAByteCount);
        }
        let whole = whole.parse::<u64>().map_err(|_| NotAByteCount)?;
        let digits =
            u32::try_from(fraction.len()).ok().filter(|digits| *digits <= FRACTION_DIGITS_MAX);
        let scale = 10_u128.pow(digits.ok_or(NotAByteCount)?);
        let fraction = fraction.parse::<u128>().map_err(|_| NotAByteCount)?;
        let count = (u128::from(whole) * scale + fraction) * u128::from(bytes) / scale;
        u64::try_from(count).map(Self).map_err(|_| NotAByteCount)
    }
}

/// More are no size that anybody means.
const FRACTION_DIGITS_MAX: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0, 999, 1_000, 12_345_678].map(counted);
        assert_eq!(shown, ["0", "999", "1,000", "12,345,678"]);
    }

    #[test]
    fn sizes_are_read_in_binary_and_decimal_units() {
        let read = |text: &str| text.parse::<ByteCount>().map(|count| count.0);
        assert_eq!(read("16GiB"), Ok(16 << 30));
        assert_eq!(read(" 500 mb "), Ok(500_000_000));
        assert_eq!((read("7"), read("0 B")), (Ok(7), Ok(0)));
        assert_eq!((read("1.5GiB"), read("0.1 kB")), (Ok(3 << 29), Ok(100)));
        assert_eq!(read("2.3456 KiB"), Ok(2_401));
        for nonsense in [
            "",
            "GiB",
            "-1",
            "1.5",
            "1.5.5GiB",
            ".5GiB",
            "1.GiB",
            "1.0000000001GiB",
            "1 PB",
            "1 G",
            "99999999999999999999",
            "999999999TiB",
        ] {
            assert_eq!(read(nonsense), Err(NotAByteCount), "{nonsense}");
        }
        assert_eq!(ByteCount::gib(16).to_string(), "16.0 GiB");
        for (bytes, exact) in [(16 << 30, "16 GiB"), (1000, "1000 B"), (0, "0 B"), (1536, "1536 B")]
        {
            assert_eq!(ByteCount(bytes).exact(), exact);
            assert_eq!(read(exact), Ok(bytes));
        }
        assert_eq!(read(&ByteCount(u64::MAX).exact()), Ok(u64::MAX));
    }
}
