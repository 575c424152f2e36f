//! Fields of a point in time, read by a template.

use super::keys::{Convention, DAYS, Key, MONTHS, ROMAN_MONTHS};
use super::template::{Field, Item, is_separator, parse};
use crate::error::{DATETIME_OVERFLOW, FunctionError, NOT_SUPPORTED, Result};

/// SQLSTATE of a text that does not fit its template.
pub(super) const INVALID_DATETIME: &str = "22007";

/// Fields that a text has. What is 0 is not there.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) convention: Option<Convention>,
    pub(super) hour: i32,
    pub(super) is_after_noon: i32,
    pub(super) minute: i32,
    pub(super) second: i32,
    pub(super) second_of_day: i32,
    /// From 1 of Sunday.
    pub(super) weekday: i32,
    pub(super) day: i32,
    pub(super) day_of_year: i32,
    pub(super) month: i32,
    pub(super) millisecond: i32,
    pub(super) year: i32,
    pub(super) is_before_christ: i32,
    pub(super) week: i32,
    pub(super) week_of_month: i32,
    pub(super) century: i32,
    pub(super) julian: i32,
    pub(super) microsecond: i32,
    /// Digits of the year's field.
    pub(super) year_digits: usize,
    pub(super) has_12_hours: bool,
    /// Digits of `FF1` to `FF6`.
    pub(super) fraction_digits: usize,
    /// 1 or -1, if there is a zone.
    pub(super) zone_sign: i32,
    pub(super) zone_hour: i32,
    pub(super) zone_minute: i32,
}

/// Position within a text, and what was skipped before it.
#[derive(Debug)]
struct Reader<'a> {
    text: &'a str,
    at: usize,
    is_fixed: bool,
    /// Characters that were skipped beyond those of the template.
    skipped: i32,
    items: &'a [Item],
    index: usize,
    fields: Fields,
}

/// Reads the fields of a text.
pub(super) fn read(text: &str, template: &str) -> Result<Fields> {
    let items = parse(template);
    let (is_fixed, fields) = (false, Fields::default());
    let mut reader = Reader { text, at: 0, is_fixed, skipped: 0, items: &items, index: 0, fields };
    while reader.index < items.len() && reader.at < text.len() {
        reader.item(items[reader.index])?;
        reader.index += 1;
    }
    Ok(reader.fields)
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_character(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
            self.skipped += 1;
        }
    }

    fn item(&mut self, item: Item) -> Result<()> {
        let is_field = matches!(item, Item::Field(_));
        let is_fx = matches!(item, Item::Field(Field { key: Key::Fixed, .. }));
        if !self.is_fixed && !is_fx && (is_field || self.index == 0) {
            self.skip_spaces();
        }
        match item {
            Item::Space(_) | Item::Separator(_) if self.is_fixed => self.skip_character(),
            Item::Space(_) | Item::Separator(_) => {
                self.skipped -= 1;
                if self.peek().is_some_and(|next| is_space(next) || is_separator(next)) {
                    self.at += 1;
                    self.skipped += 1;
                }
            }
            Item::Text(_) if !self.is_fixed && self.skipped > 0 => self.skipped -= 1,
            Item::Text(_) => self.skip_character(),
            Item::Field(field) => {
                self.set_convention(field.key)?;
                self.field(&field)?;
                if !self.is_fixed {
                    self.skipped = 0;
                    self.skip_spaces();
                }
            }
        }
        Ok(())
    }

    fn set_convention(&mut self, key: Key) -> Result<()> {
        let Some(convention) = key.convention() else { return Ok(()) };
        if *self.fields.convention.get_or_insert(convention) == convention {
            return Ok(());
        }
        let hint = "Do not mix Gregorian and ISO week date conventions in a formatting template.";
        Err(invalid("invalid combination of date conventions").hint(hint))
    }

    fn field(&mut self, field: &Field) -> Result<()> {
        match field.key {
            Key::Fixed => self.is_fixed = true,
            Key::Meridiem { has_dots, .. } => {
                let names = if has_dots { ["a.m.", "p.m."] } else { ["am", "pm"] };
                let value = self.name(&names, field)?;
                set(&mut self.fields.is_after_noon, value, field)?;
                self.fields.has_12_hours = true;
            }
            Key::Era { has_dots, .. } => {
                let names = if has_dots { ["a.d.", "b.c."] } else { ["ad", "bc"] };
                let value = self.name(&names, field)?;
                set(&mut self.fields.is_before_christ, value, field)?;
            }
            Key::MonthName(_) => {
                let value = self.name(&MONTHS, field)? + 1;
                set(&mut self.fields.month, value, field)?;
            }
            Key::ShortMonthName(_) => {
                let value = self.name(&MONTHS.map(|month| &month[..3]), field)? + 1;
                set(&mut self.fields.month, value, field)?;
            }
            Key::RomanMonth(_) => {
                let value = 12 - self.name(&ROMAN_MONTHS, field)?;
                set(&mut self.fields.month, value, field)?;
            }
            Key::DayName(_) => {
                let value = self.name(&DAYS, field)?;
                set(&mut self.fields.weekday, value, field)?;
                self.fields.weekday += 1;
            }
            Key::ShortDayName(_) => {
                let value = self.name(&DAYS.map(|day| &day[..3]), field)?;
                set(&mut self.fields.weekday, value, field)?;
                self.fields.weekday += 1;
            }
            Key::Zone(_) | Key::Offset => {
                let name = field.name;
                let message = format!("formatting field \"{name}\" is only supported in to_char");
                return Err(FunctionError::new(NOT_SUPPORTED, message));
            }
            Key::ZoneHour => self.zone_hour(field)?,
            Key::ZoneMinute => {
                if self.fields.zone_sign == 0 {
                    self.fields.zone_sign = 1;
                }
                let (value, _) = self.number(2, field)?;
                set(&mut self.fields.zone_minute, value, field)?;
            }
            _ => {
                self.numeric(field)?;
                if field.ordinal.is_some() {
                    self.skip_character();
                    self.skip_character();
                }
            }
        }
        Ok(())
    }

    fn zone_hour(&mut self, field: &Field) -> Result<()> {
        let before = self.at.checked_sub(1).map(|at| self.text.as_bytes()[at]);
        self.fields.zone_sign = match self.peek() {
            Some(sign @ ('+' | '-' | ' ')) => {
                self.at += 1;
                if sign == '-' { -1 } else { 1 }
            }
            _ if self.skipped > 0 && before == Some(b'-') => -1,
            _ => 1,
        };
        let (value, _) = self.number(2, field)?;
        set(&mut self.fields.zone_hour, value, field)
    }

    /// Reads a field that is a number.
    fn numeric(&mut self, field: &Field) -> Result<()> {
        let length = match field.key {
            Key::YearWithComma => return self.year_with_comma(field),
            Key::Hour12 | Key::Hour24 => 2,
            Key::IsoDayOfYear | Key::Millisecond => 3,
            Key::IsoDay => 1,
            Key::Microsecond => 6,
            Key::Fraction(digits) => digits,
            _ => field.name.len(),
        };
        let (value, used) = self.number(length, field)?;
        let fields = &mut self.fields;
        let target = match field.key {
            Key::Hour12 | Key::Hour24 => &mut fields.hour,
            Key::Minute => &mut fields.minute,
            Key::Second => &mut fields.second,
            Key::Millisecond => &mut fields.millisecond,
            Key::Microsecond | Key::Fraction(_) => &mut fields.microsecond,
            Key::SecondOfDay => &mut fields.second_of_day,
            Key::Month => &mut fields.month,
            Key::DayOfYear | Key::IsoDayOfYear => &mut fields.day_of_year,
            Key::DayOfMonth => &mut fields.day,
            Key::DayOfWeek | Key::IsoDay => &mut fields.weekday,
            Key::Week | Key::IsoWeek => &mut fields.week,
            Key::WeekOfMonth => &mut fields.week_of_month,
            Key::Century => &mut fields.century,
            Key::Julian => &mut fields.julian,
            Key::Year(_) | Key::IsoYear(_) => &mut fields.year,
            // A quarter is read and ignored: it may conflict with the month.
            _ => return Ok(()),
        };
        set(target, value, field)?;
        match field.key {
            Key::Hour12 => fields.has_12_hours = true,
            Key::Millisecond => fields.millisecond = scaled(fields.millisecond, 3, used),
            Key::Microsecond => fields.microsecond = scaled(fields.microsecond, 6, used),
            Key::Fraction(digits) => {
                fields.fraction_digits = digits;
                fields.microsecond = scaled(fields.microsecond, 6, used);
            }
            Key::IsoDay => fields.weekday = if value >= 7 { 1 } else { value + 1 },
            Key::Year(digits) | Key::IsoYear(digits) => {
                if digits < 4 && used < 4 {
                    fields.year = nearest_to_2020(fields.year);
                }
                fields.year_digits = digits;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads thousands, a comma and up to three digits.
    fn year_with_comma(&mut self, field: &Field) -> Result<()> {
        let failed = || invalid("invalid input string for \"Y,YYY\"");
        let (thousands, used) = leading_number(self.rest().as_bytes());
        let behind = &self.rest()[used..];
        let years = behind.strip_prefix(',').filter(|_| used > 0).ok_or_else(failed)?;
        let blanks = years.len() - years.trim_start_matches(is_space).len();
        let end = (blanks + 3).min(years.len());
        let (year, length) = leading_number(&years.as_bytes()[..end]);
        if length == 0 {
            return Err(failed());
        }
        #[expect(clippy::cast_possible_truncation)] // as C's sscanf
        let year = (thousands as i32).wrapping_mul(1000).wrapping_add(year as i32);
        set(&mut self.fields.year, year, field)?;
        self.fields.year_digits = 4;
        self.at += used + 1 + length;
        Ok(())
    }

    /// Reads an integer: of exactly so many characters if a digit may follow, or of all digits there are. Returns also
    /// the characters that were read.
    fn number(&mut self, length: usize, field: &Field) -> Result<(i32, usize)> {
        let start = self.at;
        let rest = self.rest();
        let trimmed = rest.trim_start_matches(is_space);
        let blanks = rest.len() - trimmed.len();
        let copy = String::from_utf8_lossy(&trimmed.as_bytes()[..length.min(trimmed.len())]);
        let name = field.name;
        let hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
        let (value, used) = if field.is_fill_mode || self.is_separated(field) {
            leading_number(rest.as_bytes())
        } else {
            if trimmed.len() < length {
                let message = format!("source string too short for \"{name}\" formatting field");
                let remain = trimmed.len();
                let detail =
                    format!("Field requires {length} characters, but only {remain} remain.");
                return Err(invalid(message).detail(detail).hint(hint));
            }
            let (value, used) = leading_number(&trimmed.as_bytes()[..length]);
            if used > 0 && used < length {
                let message = format!("invalid value \"{copy}\" for \"{name}\"");
                let detail =
                    format!("Field requires {length} characters, but only {used} could be parsed.");
                return Err(invalid(message).detail(detail).hint(hint));
            }
            (value, blanks + used)
        };
        if used == 0 {
            let message = format!("invalid value \"{copy}\" for \"{name}\"");
            return Err(invalid(message).detail("Value must be an integer."));
        }
        let value = i32::try_from(value).map_err(|_| {
            let message = format!("value for \"{name}\" in source string is out of range");
            let detail = "Value must be in the range -2147483648 to 2147483647.";
            FunctionError::new(DATETIME_OVERFLOW, message).detail(detail)
        })?;
        self.at = start + used;
        Ok((value, used))
    }

    /// True if no digit follows a field in the template.
    fn is_separated(&self, field: &Field) -> bool {
        field.ordinal.is_some()
            || match self.items.get(self.index + 1) {
                None => true,
                Some(Item::Field(next)) => !next.key.is_digit(),
                Some(Item::Text(next) | Item::Space(next) | Item::Separator(next)) => {
                    !next.is_ascii_digit()
                }
            }
    }

    /// Reads one of some names, and returns its index.
    fn name(&mut self, names: &[&str], field: &Field) -> Result<i32> {
        let rest = self.rest();
        let is_prefix = |name: &&&str| {
            let start = rest.as_bytes().get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        let Some((index, name)) = names.iter().enumerate().find(|(_, name)| is_prefix(name)) else {
            let end = rest.find([' ', '\t', '\n', '\r', '\x0c']).unwrap_or(rest.len());
            let message = format!("invalid value \"{}\" for \"{}\"", &rest[..end], field.name);
            let detail = "The given value did not match any of the allowed values for this field.";
            return Err(invalid(message).detail(detail));
        };
        self.at += name.len();
        Ok(i32::try_from(index).unwrap_or(0))
    }
}

fn invalid(message: impl Into<String>) -> FunctionError {
    FunctionError::new(INVALID_DATETIME, message)
}

fn is_space(character: char) -> bool {
    character.is_ascii_whitespace() || character == '\x0b'
}

/// Sets a field that has no other value yet.
fn set(field: &mut i32, value: i32, of: &Field) -> Result<()> {
    if *field != 0 && *field != value {
        let message = format!("conflicting values for \"{}\" field in formatting string", of.name);
        let detail = "This value contradicts a previous setting for the same field type.";
        return Err(invalid(message).detail(detail));
    }
    *field = value;
    Ok(())
}

/// Reads blanks, a sign and digits, and returns how many bytes these are; none without a digit.
fn leading_number(bytes: &[u8]) -> (i64, usize) {
    let blanks = bytes.iter().take_while(|byte| is_space(char::from(**byte))).count();
    let sign = bytes.get(blanks).filter(|byte| matches!(byte, b'+' | b'-'));
    let start = blanks + usize::from(sign.is_some());
    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit());
    let (mut value, mut length) = (0_i64, 0);
    for digit in digits {
        value = value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
        length += 1;
    }
    match length {
        0 => (0, 0),
        _ => (if sign == Some(&b'-') { -value } else { value }, start + length),
    }
}

/// Scales a fraction by the characters that were read: 25 is 0.25, and so is 250.
fn scaled(value: i32, digits: usize, used: usize) -> i32 {
    match digits.checked_sub(used) {
        Some(missing) => value.wrapping_mul(10_i32.pow(u32::try_from(missing).unwrap_or(0))),
        None => value,
    }
}

/// Returns the year near 2020 that two or three digits mean.
fn nearest_to_2020(year: i32) -> i32 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}
