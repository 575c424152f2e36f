//! Public readers of dates and times.

use super::date_time::{DateTime, date_time};
use super::fault::Fault;
use super::iso;
use super::time_only::time_only;
use super::tokens::Tokens;
use super::vocabulary::Reserved;
use crate::calendar::{
    Civil, DAYS_1970_TO_2000, JULIAN_2000, MICROSECONDS_1970_TO_2000, is_julian,
};
use crate::error::{OUT_OF_RANGE, Result, TimesError};
use crate::settings::Settings;
use crate::values::{Date, Time, TimeTz, Timestamp, TimestampTz};

/// Bytes of the tokens of a date or a time.
const SHORT_BYTES_MAX: usize = 129;
/// Bytes of the tokens of a timestamp.
const LONG_BYTES_MAX: usize = 153;

impl Date {
    /// Reads a date as PostgreSQL does.
    ///
    /// # Errors
    /// 22007 for a text that is not a date, 22008 beyond the ranges of fields and type, 22009 and 22023 for zones.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self> {
        if let Some(iso) = iso::read(text) {
            return Ok(Self(iso.civil.julian() - JULIAN_2000));
        }
        let found =
            Tokens::split(text, SHORT_BYTES_MAX).and_then(|tokens| date_time(&tokens, settings));
        let civil = match found.map_err(|fault| fault.report(text, "date"))? {
            DateTime::Reserved(Reserved::Early) => return Ok(Self::NEGATIVE_INFINITY),
            DateTime::Reserved(Reserved::Late) => return Ok(Self::INFINITY),
            DateTime::Reserved(_) => return Ok(Self(-DAYS_1970_TO_2000)),
            DateTime::Fields(civil, _) => civil,
        };
        let days = is_julian(civil.year, civil.month).then(|| civil.julian());
        let date = days.map(|days| Self::from_days(i64::from(days) - i64::from(JULIAN_2000)));
        match date {
            Some(Ok(date)) => Ok(date),
            _ => Err(TimesError::new(OUT_OF_RANGE, format!("date out of range: \"{text}\""))),
        }
    }
}

impl Timestamp {
    /// Reads a timestamp as PostgreSQL does; a zone in the text is ignored.
    ///
    /// # Errors
    /// 22007 for a text that is not a timestamp, 22008 beyond the ranges of fields and type, 22009 and 22023 for zones.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self> {
        let fields = |civil: Civil, _| civil.to_microseconds(0);
        if let Some(value) = iso::read(text).and_then(|iso| fields(iso.civil, 0)) {
            return Ok(Self(value));
        }
        timestamp(text, "timestamp", settings, fields).map(Self)
    }
}

impl TimestampTz {
    /// Reads a point in time as PostgreSQL does; a text without a zone is in the one of the session.
    ///
    /// # Errors
    /// 22007 for a text that is not a timestamp, 22008 beyond the ranges of fields and type, 22009 and 22023 for zones.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self> {
        let fields = |civil: Civil, west| civil.to_microseconds(west);
        if let Some(iso) = iso::read(text) {
            let session = || -settings.time_zone.offset_of_local(&iso.civil);
            if let Some(value) = fields(iso.civil, iso.west.unwrap_or_else(session)) {
                return Ok(Self(value));
            }
        }
        timestamp(text, "timestamp with time zone", settings, fields).map(Self)
    }
}

/// Reads the microseconds since 2000.
fn timestamp(
    text: &str,
    type_name: &str,
    settings: &Settings,
    fields: impl Fn(Civil, i32) -> Option<i64>,
) -> Result<i64> {
    let found = Tokens::split(text, LONG_BYTES_MAX).and_then(|tokens| date_time(&tokens, settings));
    match found.map_err(|fault| fault.report(text, type_name))? {
        DateTime::Reserved(Reserved::Early) => Ok(i64::MIN),
        DateTime::Reserved(Reserved::Late) => Ok(i64::MAX),
        DateTime::Reserved(_) => Ok(-MICROSECONDS_1970_TO_2000),
        DateTime::Fields(civil, west) => fields(civil, west).ok_or_else(|| {
            TimesError::new(OUT_OF_RANGE, format!("timestamp out of range: \"{text}\""))
        }),
    }
}

impl Time {
    /// Reads a time of day as PostgreSQL does; a zone in the text is ignored.
    ///
    /// # Errors
    /// 22007 for a text that is not a time, 22008 beyond the ranges of fields, 22009 and 22023 for zones.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self> {
        let (civil, _) = time(text, settings).map_err(|fault| fault.report(text, "time"))?;
        Ok(Self(civil.clock()))
    }
}

impl TimeTz {
    /// Reads a time of day as PostgreSQL does; one without a zone is in the session's, at the date of the transaction.
    ///
    /// # Errors
    /// 22007 for a text that is not a time, 22008 beyond the ranges of fields, 22009 and 22023 for zones.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self> {
        let report = |fault: Fault| fault.report(text, "time with time zone");
        let (civil, west) = time(text, settings).map_err(report)?;
        Ok(Self { time: Time(civil.clock()), west })
    }
}

fn time(text: &str, settings: &Settings) -> Result<(Civil, i32), Fault> {
    time_only(&Tokens::split(text, SHORT_BYTES_MAX)?, settings)
}
