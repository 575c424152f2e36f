//! Dates and timestamps: which token means what.

use super::clock::clock;
use super::fault::Fault;
use super::mask::Mask;
use super::numerals::leading_i32;
use super::offset::offset;
use super::tokens::{Kind, Tokens};
use super::vocabulary::{Reserved, Unit, Word, date_word};
use super::words::{Draft, Label};
use crate::calendar::{Civil, date_of_julian};
use crate::settings::Settings;
use crate::zone::abbreviation;

/// Value of a text.
pub(super) enum DateTime {
    /// Fields, and the offset in seconds west of UTC.
    Fields(Civil, i32),
    /// The epoch or an infinity.
    Reserved(Reserved),
}

/// Reads a date, perhaps with a time and a zone.
///
/// # Errors
/// The reason to refuse the text.
pub(super) fn date_time(tokens: &Tokens, settings: &Settings) -> Result<DateTime, Fault> {
    let mut draft = Draft::new(settings);
    for index in 0..tokens.count() {
        let Some((kind, token)) = tokens.get(index) else { break };
        let fields = match kind {
            Kind::Date => draft.take_date_token(token)?,
            Kind::Time => {
                if draft.label.take().is_some_and(|label| label != Label::Time) {
                    return Err(Fault::Format);
                }
                clock(token, false)?.set(&mut draft.civil)?;
                draft.check_clock()?;
                Mask::TIME
            }
            Kind::Signed => {
                draft.west = offset(token)?;
                Mask::ZONE
            }
            Kind::Number => draft.take_number_token(token)?,
            Kind::Text | Kind::Special => match draft.take_word(token, tokens.kind(index + 1))? {
                Some(fields) => fields,
                None => continue,
            },
        };
        draft.note(fields)?;
    }
    draft.validate_date()?;
    draft.apply_meridiem()?;
    match draft.reserved {
        Some(reserved) => Ok(DateTime::Reserved(reserved)),
        None => draft.finish(),
    }
}

impl Draft<'_> {
    /// Takes a token with delimiters: a date, a zone, or a time with an offset.
    fn take_date_token(&mut self, token: &[u8]) -> Result<Mask, Fault> {
        if self.label == Some(Label::Unit(Unit::JulianDay)) {
            let (day, rest) =
                leading_i32(token).filter(|(day, _)| *day >= 0).ok_or(Fault::Field)?;
            self.civil.set_date(date_of_julian(day));
            self.is_julian = true;
            self.west = offset(rest)?;
            self.label = None;
            return Ok(Mask::DATE.and(Mask::TIME).and(Mask::ZONE));
        }
        if self.label.is_none() && !self.set.has(Mask::MONTH.and(Mask::DAY)) {
            return self.take_date(token);
        }
        if self.label.is_none() && !token.first().is_some_and(u8::is_ascii_digit) {
            return self.take_zone_name(token);
        }
        if self.label.take().is_some_and(|label| label != Label::Time) {
            return Err(Fault::Format);
        }
        if self.set.has(Mask::TIME) {
            return Err(Fault::Format);
        }
        self.take_run_with_offset(token, self.set)
    }

    /// Takes `hhmmss-zz`.
    pub(super) fn take_run_with_offset(&mut self, token: &[u8], set: Mask) -> Result<Mask, Fault> {
        let minus = token.iter().position(|byte| *byte == b'-').ok_or(Fault::Format)?;
        let (run, zone) = token.split_at(minus);
        self.west = offset(zone)?;
        Ok(self.take_run(run, set)?.and(Mask::ZONE))
    }

    /// Takes a number, by its digits and the fields before it.
    fn take_number_token(&mut self, token: &[u8]) -> Result<Mask, Fault> {
        if let Some(label) = self.label {
            return self.take_labelled(token, label);
        }
        let point = token.iter().position(|byte| *byte == b'.');
        let (has_date, has_time) = (self.set.has_any(Mask::DATE), self.set.has_any(Mask::TIME));
        match point {
            Some(_) if !has_date => self.take_date(token),
            Some(point) if point > 2 => self.take_run(token, self.set),
            // Years of six digits come last, or in ISO's form.
            _ if token.len() >= 6 && !(has_date && has_time) => self.take_run(token, self.set),
            _ => self.take_number(token, self.has_text_month, self.set),
        }
    }

    /// Takes a word; `None` for one without a meaning.
    fn take_word(&mut self, word: &[u8], next: Option<Kind>) -> Result<Option<Mask>, Fault> {
        if let Some(meaning) = abbreviation(word) {
            return Ok(Some(self.take_abbreviation(word, meaning)));
        }
        Ok(Some(match date_word(word) {
            Some(Word::Ignored) => return Ok(None),
            Some(Word::Reserved(reserved)) => self.take_reserved(reserved)?,
            Some(Word::Month(month)) => self.take_month(month),
            Some(Word::Daylight) => self.take_daylight(),
            Some(Word::Meridiem(is_pm)) => {
                self.meridiem = Some(is_pm);
                Mask::MERIDIEM
            }
            Some(Word::Era(is_bc)) => {
                self.is_bc = is_bc;
                Mask::ERA
            }
            Some(Word::Weekday) => Mask::WEEKDAY,
            Some(Word::Unit(unit)) => {
                self.label = Some(Label::Unit(unit));
                Mask::NONE
            }
            Some(Word::IsoTime) if self.set.has(Mask::DATE) && begins_time(next) => {
                self.label = Some(Label::Time);
                Mask::NONE
            }
            Some(Word::IsoTime | Word::Ago) => return Err(Fault::Format),
            None => self.take_zone_word(word)?,
        }))
    }

    /// Takes a word that stands for a date, a time or both.
    fn take_reserved(&mut self, reserved: Reserved) -> Result<Mask, Fault> {
        let shift = match reserved {
            Reserved::Yesterday => -1,
            Reserved::Today => 0,
            Reserved::Tomorrow => 1,
            Reserved::Now => {
                (self.civil, self.west) = self.current()?;
                self.reserved = None;
                return Ok(Mask::DATE.and(Mask::TIME).and(Mask::ZONE));
            }
            Reserved::Zulu => {
                (self.civil.hour, self.civil.minute, self.civil.second) = (0, 0, 0);
                self.west = 0;
                self.reserved = None;
                return Ok(Mask::TIME.and(Mask::ZONE));
            }
            Reserved::Early | Reserved::Late | Reserved::Epoch => {
                self.reserved = Some(reserved);
                return Ok(Mask::RESERVED);
            }
        };
        let (current, _) = self.current()?;
        self.civil.set_date(date_of_julian(current.julian().wrapping_add(shift)));
        self.reserved = None;
        Ok(Mask::DATE)
    }

    /// Takes the name of a month; a number that was taken as the month becomes the day.
    fn take_month(&mut self, month: i32) -> Mask {
        let was_day = self.set.has_any(Mask::MONTH)
            && !self.has_text_month
            && !self.set.has_any(Mask::DAY)
            && (1..=31).contains(&self.civil.month);
        if was_day {
            self.civil.day = self.civil.month;
        }
        self.has_text_month = true;
        self.civil.month = month;
        if was_day { Mask::DAY } else { Mask::MONTH }
    }

    /// Checks that there is a date, and decides on the offset.
    fn finish(self) -> Result<DateTime, Fault> {
        if !self.set.has(Mask::DATE) {
            return Err(Fault::Format);
        }
        let mut west = self.west;
        if let Some(zone) = &self.zone {
            self.refuse_daylight()?;
            west = -zone.offset_of_local(&self.civil);
        }
        if let Some((name, zone)) = &self.abbreviation {
            self.refuse_daylight()?;
            west = -zone.offset_of_abbreviation(name, &self.civil);
        }
        if !self.set.has_any(Mask::ZONE) {
            self.refuse_daylight()?;
            west = -self.settings.time_zone.offset_of_local(&self.civil);
        }
        Ok(DateTime::Fields(self.civil, west))
    }
}

/// Returns true for a token that may follow `T`.
pub(super) fn begins_time(next: Option<Kind>) -> bool {
    matches!(next, Some(Kind::Number | Kind::Time | Kind::Date))
}
