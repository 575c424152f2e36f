//! Local time to UTC: which offset holds, also in gaps and overlaps, as PostgreSQL decides.

use super::TimeZone;
use super::rules::LocalType;
use crate::calendar::{Civil, DAY_SECONDS, JULIAN_1970, is_julian};

impl TimeZone {
    /// Returns the offset, in seconds east of UTC, of a local time.
    ///
    /// In a gap it is the offset before, in an overlap the one after. Dates that no timestamp has are in UTC.
    pub(crate) fn offset_of_local(&self, local: &Civil) -> i32 {
        self.resolve_local(local).map_or(0, |(found, _)| found.offset)
    }

    /// Returns the offset of a local time under an abbreviation whose meaning this zone decides.
    pub(crate) fn offset_of_abbreviation(&self, abbreviation: &str, local: &Civil) -> i32 {
        let found = self.resolve_local(local);
        let at = found.map_or(0, |(_, unix_seconds)| unix_seconds);
        match self.rules().meaning(&abbreviation.to_ascii_uppercase(), at) {
            Some(meaning) => meaning.offset,
            None => found.map_or(0, |(found, _)| found.offset),
        }
    }

    /// Returns the offset at a point in time under an abbreviation whose meaning this zone decides.
    pub(crate) fn offset_of_abbreviation_at(&self, abbreviation: &str, unix_seconds: i64) -> i32 {
        let meaning = self.rules().meaning(&abbreviation.to_ascii_uppercase(), unix_seconds);
        meaning.map_or_else(|| self.offset_at(unix_seconds), |meaning| meaning.offset)
    }

    /// Returns the type of local time, and the point in time, of a local time.
    fn resolve_local(&self, local: &Civil) -> Option<(&LocalType, i64)> {
        if !is_julian(local.year, local.month) {
            return None;
        }
        let days = i64::from(local.julian()) - i64::from(JULIAN_1970);
        let wall = days * DAY_SECONDS + i64::from(local.clock_seconds());
        // A clock whose labelled hours wrapped around 32 bits: PostgreSQL takes that for an overflow.
        if wall < 0 && days > 0 {
            return None;
        }
        // Offsets are below a day, and transitions are two days apart: the next one after the day before decides.
        let found = self.rules().boundary(wall - DAY_SECONDS);
        let before = wall - i64::from(found.before.offset);
        let Some((boundary, next)) = found.after else { return Some((found.before, before)) };
        let after = wall - i64::from(next.offset);
        if before < boundary && after < boundary {
            Some((found.before, before))
        } else if (before > boundary && after >= boundary) || before <= after {
            Some((next, after))
        } else {
            Some((found.before, before))
        }
    }
}
