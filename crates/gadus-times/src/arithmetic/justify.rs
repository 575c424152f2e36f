//! The functions `justify_days`, `justify_hours` and `justify_interval`.

use crate::calendar::{DAY, MONTH_DAYS};
use crate::error::{Result, TimesError};
use crate::integers::small;
use crate::values::Interval;

impl Interval {
    /// Carries 30 days to a month; days and months then have one sign.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn justify_days(self) -> Result<Self> {
        let mut value = self;
        value.carry_days()?;
        if value.months > 0 && value.days < 0 {
            value.days += MONTH_DAYS;
            value.months -= 1;
        } else if value.months < 0 && value.days > 0 {
            value.days -= MONTH_DAYS;
            value.months += 1;
        }
        Ok(value)
    }

    /// Carries 24 hours to a day; time and days then have one sign.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn justify_hours(self) -> Result<Self> {
        let mut value = self;
        value.carry_hours()?;
        value.share_sign_of_days();
        Ok(value)
    }

    /// Carries hours to days and days to months; all parts then have one sign.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn justify_interval(self) -> Result<Self> {
        let mut value = self;
        // Months first if the days of the time might overflow.
        let is_same_sign = (value.days > 0 && value.microseconds > 0)
            || (value.days < 0 && value.microseconds < 0);
        if is_same_sign {
            value.carry_days()?;
        }
        value.carry_hours()?;
        value.carry_days()?;
        let (days, time) = (value.days, value.microseconds);
        if value.months > 0 && (days < 0 || (days == 0 && time < 0)) {
            value.days += MONTH_DAYS;
            value.months -= 1;
        } else if value.months < 0 && (days > 0 || (days == 0 && time > 0)) {
            value.days -= MONTH_DAYS;
            value.months += 1;
        }
        value.share_sign_of_days();
        Ok(value)
    }

    fn carry_days(&mut self) -> Result<()> {
        let months = self.months.checked_add(self.days / MONTH_DAYS);
        self.months = months.ok_or_else(TimesError::interval_range)?;
        self.days %= MONTH_DAYS;
        Ok(())
    }

    fn carry_hours(&mut self) -> Result<()> {
        let days = self.days.checked_add(small(self.microseconds / DAY));
        self.days = days.ok_or_else(TimesError::interval_range)?;
        self.microseconds %= DAY;
        Ok(())
    }

    fn share_sign_of_days(&mut self) {
        if self.days > 0 && self.microseconds < 0 {
            self.microseconds += DAY;
            self.days -= 1;
        } else if self.days < 0 && self.microseconds > 0 {
            self.microseconds -= DAY;
            self.days += 1;
        }
    }
}
