//! Fields of times of day.

use super::timestamps::{clock_part, zone_part};
use super::value::Number;
use super::{Field, FieldValue, Part};
use crate::error::Result;
use crate::input::Reserved;
use crate::integers::float;
use crate::values::{Time, TimeTz};

const TIME: &str = "time without time zone";
const TIMETZ: &str = "time with time zone";

impl Time {
    /// Returns a field exactly.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field) -> Result<FieldValue> {
        self.part(field, FieldValue::epoch(i128::from(self.0)))
    }

    /// Returns a field in double precision.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn date_part(self, field: &Field) -> Result<f64> {
        self.part(field, float(self.0) / 1_000_000.0)
    }

    fn part<N: Number>(self, field: &Field, epoch: N) -> Result<N> {
        match field.part(TIME)? {
            Part::Reserved(Reserved::Epoch) => Ok(epoch),
            Part::Reserved(_) => Err(field.unknown(TIME)),
            Part::Unit(unit) => {
                clock_part(&self.civil(), unit).ok_or_else(|| field.unsupported(TIME))
            }
        }
    }
}

impl TimeTz {
    /// Returns a field exactly.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field) -> Result<FieldValue> {
        let west = i128::from(self.west) * 1_000_000;
        self.part(field, FieldValue::epoch(i128::from(self.time.0) + west))
    }

    /// Returns a field in double precision.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn date_part(self, field: &Field) -> Result<f64> {
        self.part(field, float(self.time.0) / 1_000_000.0 + f64::from(self.west))
    }

    fn part<N: Number>(self, field: &Field, epoch: N) -> Result<N> {
        match field.part(TIMETZ)? {
            Part::Reserved(Reserved::Epoch) => Ok(epoch),
            Part::Reserved(_) => Err(field.unknown(TIMETZ)),
            Part::Unit(unit) => zone_part(self.west.wrapping_neg(), unit)
                .or_else(|| clock_part(&self.time.civil(), unit))
                .ok_or_else(|| field.unsupported(TIMETZ)),
        }
    }
}
