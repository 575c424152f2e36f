//! Public reader of intervals.

use super::fault::Fault;
use super::tokens::Tokens;
use super::{interval, interval_iso};
use crate::error::Result;
use crate::precision::IntervalModifier;
use crate::settings::Settings;
use crate::values::Interval;

/// Bytes of the tokens of an interval.
const BYTES_MAX: usize = 256;

impl Interval {
    /// Reads an interval as PostgreSQL does, in any of the four styles, and applies a type modifier.
    ///
    /// # Errors
    /// 22007 for a text that is not an interval, 22015 and 22008 beyond the range.
    pub fn parse(
        text: &str,
        modifier: Option<IntervalModifier>,
        settings: &Settings,
    ) -> Result<Self> {
        let range = modifier.and_then(|modifier| modifier.fields);
        let found = Tokens::split(text, BYTES_MAX)
            .and_then(|tokens| interval::interval(&tokens, range, settings.interval_style));
        let found = match found {
            Err(Fault::Format) => interval_iso::interval(text.as_bytes()),
            found => found,
        };
        let value = found.map_err(|fault| fault.report(text, "interval"))?.interval()?;
        Ok(modifier.map_or(value, |modifier| modifier.apply(value)))
    }
}
