//! Draft of a date and time that tokens fill, and the words that both readers take alike.

use super::clock::overflows;
use super::fault::Fault;
use super::mask::Mask;
use super::vocabulary::{Reserved, Unit};
use crate::calendar::Civil;
use crate::settings::Settings;
use crate::zone::{Abbreviation, TimeZone};

/// Label before a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Unit of the number, as in `y2001`.
    Unit(Unit),
    /// `T`: the number is a time.
    Time,
}

/// Date and time under construction.
pub(super) struct Draft<'a> {
    pub(super) settings: &'a Settings,
    pub(super) civil: Civil,
    pub(super) year_day: i32,
    /// Fields that are set.
    pub(super) set: Mask,
    pub(super) label: Option<Label>,
    /// Text that stands for the whole value.
    pub(super) reserved: Option<Reserved>,
    /// AM or PM; true for PM.
    pub(super) meridiem: Option<bool>,
    pub(super) has_text_month: bool,
    pub(super) is_julian: bool,
    pub(super) is_two_digits: bool,
    pub(super) is_bc: bool,
    /// Offset in seconds west of UTC.
    pub(super) west: i32,
    pub(super) zone: Option<TimeZone>,
    pub(super) abbreviation: Option<(String, TimeZone)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(settings: &'a Settings) -> Self {
        Self {
            settings,
            civil: Civil::default(),
            year_day: 0,
            set: Mask::NONE,
            label: None,
            reserved: None,
            meridiem: None,
            has_text_month: false,
            is_julian: false,
            is_two_digits: false,
            is_bc: false,
            west: 0,
            zone: None,
            abbreviation: None,
        }
    }

    /// Notes the fields that a token set.
    ///
    /// # Errors
    /// A format fault if one was set before.
    pub(super) fn note(&mut self, fields: Mask) -> Result<(), Fault> {
        if self.set.has_any(fields) {
            return Err(Fault::Format);
        }
        self.set = self.set.and(fields);
        Ok(())
    }

    /// Takes the abbreviation of a zone.
    pub(super) fn take_abbreviation(&mut self, word: &[u8], meaning: Abbreviation) -> Mask {
        match meaning {
            Abbreviation::Fixed { offset, is_daylight } => {
                self.west = -offset;
                if is_daylight { Mask::ZONE.and(Mask::DAYLIGHT_ZONE) } else { Mask::ZONE }
            }
            Abbreviation::Zone(zone) => {
                self.abbreviation = Some((String::from_utf8_lossy(word).into_owned(), zone));
                Mask::ZONE.and(Mask::NAMED_ZONE)
            }
        }
    }

    /// Takes the modifier `DST`.
    pub(super) fn take_daylight(&mut self) -> Mask {
        self.west = self.west.wrapping_sub(3600);
        Mask::DAYLIGHT.and(Mask::DAYLIGHT_ZONE)
    }

    /// Takes a word that must be the name of a zone.
    ///
    /// # Errors
    /// A format fault for any other word.
    pub(super) fn take_zone_word(&mut self, word: &[u8]) -> Result<Mask, Fault> {
        self.zone = Some(zone(word).ok_or(Fault::Format)?);
        Ok(Mask::ZONE)
    }

    /// Takes the name of a zone with punctuation.
    ///
    /// # Errors
    /// 22023 for any other text.
    pub(super) fn take_zone_name(&mut self, name: &[u8]) -> Result<Mask, Fault> {
        let unknown = || {
            let name = String::from_utf8_lossy(name);
            Fault::Report(crate::error::TimesError::unknown_zone(&name))
        };
        self.zone = Some(zone(name).ok_or_else(unknown)?);
        Ok(Mask::ZONE)
    }

    /// Sets the fields of the transaction's start in the zone of the session; returns the seconds west of UTC.
    pub(super) fn current(&self) -> Result<(Civil, i32), Fault> {
        let found = self.settings.now.civil(&self.settings.time_zone);
        let (civil, east) = found.map_err(Fault::Report)?;
        Ok((civil, -east))
    }

    /// Applies AM or PM.
    ///
    /// # Errors
    /// A field fault after 12 o'clock.
    pub(super) fn apply_meridiem(&mut self) -> Result<(), Fault> {
        let Some(is_pm) = self.meridiem else { return Ok(()) };
        match self.civil.hour {
            13.. => return Err(Fault::Field),
            12 if !is_pm => self.civil.hour = 0,
            12 => {}
            hour if is_pm => self.civil.hour = hour + 12,
            _ => {}
        }
        Ok(())
    }

    /// Refuses fields that are not a time of day.
    pub(super) fn check_clock(&self) -> Result<(), Fault> {
        if overflows(&self.civil) { Err(Fault::Field) } else { Ok(()) }
    }

    /// Refuses the modifier `DST`, which a zone with rules does not take.
    pub(super) fn refuse_daylight(&self) -> Result<(), Fault> {
        if self.set.has_any(Mask::DAYLIGHT) { Err(Fault::Format) } else { Ok(()) }
    }
}

fn zone(name: &[u8]) -> Option<TimeZone> {
    TimeZone::find(std::str::from_utf8(name).ok()?)
}
