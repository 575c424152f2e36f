//! Times of day: which token means what. A date is accepted for the sake of the zone.

use super::clock::clock;
use super::date_time::begins_time;
use super::fault::Fault;
use super::mask::Mask;
use super::offset::offset;
use super::tokens::{Kind, Tokens};
use super::vocabulary::{Reserved, Word, date_word};
use super::words::{Draft, Label};
use crate::calendar::Civil;
use crate::settings::Settings;
use crate::zone::abbreviation;

/// Reads a time of day; returns its fields and the offset in seconds west of UTC.
///
/// # Errors
/// The reason to refuse the text.
pub(super) fn time_only(tokens: &Tokens, settings: &Settings) -> Result<(Civil, i32), Fault> {
    let mut draft = Draft::new(settings);
    for index in 0..tokens.count() {
        let Some((kind, token)) = tokens.get(index) else { break };
        let fields = match kind {
            Kind::Date if index == 0 && may_be_date(tokens, true) => draft.take_date(token)?,
            Kind::Date if !token.first().is_some_and(u8::is_ascii_digit) => {
                draft.take_zone_name(token)?
            }
            Kind::Date if draft.set.has(Mask::TIME) => return Err(Fault::Format),
            Kind::Date => draft.take_run_with_offset(token, draft.set.and(Mask::DATE))?,
            Kind::Time => {
                clock(token, false)?.set(&mut draft.civil)?;
                Mask::TIME
            }
            Kind::Signed => {
                draft.west = offset(token)?;
                Mask::ZONE
            }
            Kind::Number => draft.take_time_number(token, index == 0, tokens)?,
            Kind::Text | Kind::Special => {
                match draft.take_time_word(token, tokens.kind(index + 1))? {
                    Some(fields) => fields,
                    None => continue,
                }
            }
        };
        draft.note(fields)?;
    }
    draft.validate_date()?;
    draft.apply_meridiem()?;
    draft.check_clock()?;
    if !draft.set.has(Mask::TIME) {
        return Err(Fault::Format);
    }
    draft.finish_time()
}

/// Returns true if the first of several tokens is a date: the last token is one, or the second is a time.
fn may_be_date(tokens: &Tokens, before_time: bool) -> bool {
    let last = tokens.count().checked_sub(1).filter(|last| *last > 0);
    let is_last_date = last.and_then(|last| tokens.kind(last)) == Some(Kind::Date);
    is_last_date || (before_time && tokens.kind(1) == Some(Kind::Time))
}

impl Draft<'_> {
    fn take_time_number(
        &mut self,
        token: &[u8],
        is_first: bool,
        tokens: &Tokens,
    ) -> Result<Mask, Fault> {
        if let Some(label) = self.label {
            return self.take_labelled(token, label);
        }
        let set = self.set.and(Mask::DATE);
        match token.iter().position(|byte| *byte == b'.') {
            Some(_) if is_first && may_be_date(tokens, false) => self.take_date(token),
            Some(point) if point > 2 => self.take_run(token, set),
            Some(_) => Err(Fault::Format),
            None if token.len() > 4 => self.take_run(token, set),
            None => self.take_number(token, false, set),
        }
    }

    /// Takes a word; `None` for one without a meaning.
    fn take_time_word(&mut self, word: &[u8], next: Option<Kind>) -> Result<Option<Mask>, Fault> {
        if let Some(meaning) = abbreviation(word) {
            return Ok(Some(self.take_abbreviation(word, meaning)));
        }
        Ok(Some(match date_word(word) {
            Some(Word::Ignored) => return Ok(None),
            Some(Word::Reserved(Reserved::Now)) => {
                let (current, _) = self.current()?;
                self.civil.set_clock(current.clock());
                // PostgreSQL sets the date as well, without noting it.
                (self.civil.year, self.civil.month, self.civil.day) =
                    (current.year, current.month, current.day);
                Mask::TIME
            }
            Some(Word::Reserved(Reserved::Zulu)) => {
                (self.civil.hour, self.civil.minute, self.civil.second) = (0, 0, 0);
                Mask::TIME.and(Mask::ZONE)
            }
            Some(Word::Daylight) => self.take_daylight(),
            Some(Word::Meridiem(is_pm)) => {
                self.meridiem = Some(is_pm);
                Mask::MERIDIEM
            }
            Some(Word::Era(is_bc)) => {
                self.is_bc = is_bc;
                Mask::ERA
            }
            Some(Word::Unit(unit)) => {
                self.label = Some(Label::Unit(unit));
                Mask::NONE
            }
            Some(Word::IsoTime) if begins_time(next) => {
                self.label = Some(Label::Time);
                Mask::NONE
            }
            Some(_) => return Err(Fault::Format),
            None => self.take_zone_word(word)?,
        }))
    }

    /// Decides on the offset: by the date of the text, or by the one of the transaction.
    fn finish_time(self) -> Result<(Civil, i32), Fault> {
        let mut west = self.west;
        if let Some(zone) = &self.zone {
            self.refuse_daylight()?;
            west = match zone.constant_offset() {
                Some(offset) => -offset,
                None if self.set.has(Mask::DATE) => -zone.offset_of_local(&self.civil),
                None => return Err(Fault::Format),
            };
        }
        if let Some((name, zone)) = &self.abbreviation {
            self.refuse_daylight()?;
            west = -zone.offset_of_abbreviation(name, &self.dated()?);
        }
        if !self.set.has_any(Mask::ZONE) {
            self.refuse_daylight()?;
            west = -self.settings.time_zone.offset_of_local(&self.dated()?);
        }
        Ok((self.civil, west))
    }

    /// Returns the time with the date of the text or of the transaction.
    fn dated(&self) -> Result<Civil, Fault> {
        if self.set.has(Mask::DATE) {
            return Ok(self.civil);
        }
        if self.set.has_any(Mask::DATE) {
            return Err(Fault::Format);
        }
        let (current, _) = self.current()?;
        Ok(Civil { year: current.year, month: current.month, day: current.day, ..self.civil })
    }
}
