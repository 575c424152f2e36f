//! `generate_series` of timestamps.

use super::columns::{TimeColumn, Written};
use super::error_of_times;
use super::items::{Item, Kind};
use crate::error::{from_datafusion, input};
use crate::executor::{check_cancelled, statement_times};
use arrow::array::ArrayRef;
use gadus_engine::{Diagnosis, Error, Result};
use gadus_times::{Interval, Settings, TimesError, Timestamp, TimestampTz};

/// Rows of a series at most that is computed before its query is planned.
const ROWS_MAX: usize = 1 << 20;

/// Rows between looks at cancellation.
const ROWS_BETWEEN_LOOKS: usize = 1_024;

/// Timestamp of a series.
trait Point: Copy + Ord {
    fn after(self, step: Interval, settings: &Settings) -> std::result::Result<Self, TimesError>;
    fn item(self) -> Item<'static>;
}

impl Point for Timestamp {
    fn after(self, step: Interval, _: &Settings) -> std::result::Result<Self, TimesError> {
        self.add_interval(step)
    }

    fn item(self) -> Item<'static> {
        Item::Timestamp(self)
    }
}

impl Point for TimestampTz {
    fn after(self, step: Interval, settings: &Settings) -> std::result::Result<Self, TimesError> {
        self.add_interval(step, settings)
    }

    fn item(self) -> Item<'static> {
        Item::TimestampTz(self)
    }
}

/// Returns the series from a timestamp to another one by steps; `None` for one that has no end, or too many rows.
///
/// # Errors
/// 22023 for a step of zero, 22008 beyond the range of timestamps.
pub(crate) fn series(
    first: &ArrayRef,
    last: &ArrayRef,
    step: &ArrayRef,
) -> Result<Option<ArrayRef>> {
    let columns = [first, last, step].map(TimeColumn::of);
    let [first, last, step] = columns;
    let (first, last, step) = (
        first.map_err(from_datafusion)?,
        last.map_err(from_datafusion)?,
        step.map_err(from_datafusion)?,
    );
    let item = |column: &TimeColumn| match column.get(0) {
        Ok(Some(Item::Timestamp(value))) => Ok(Some(Item::Timestamp(value))),
        Ok(Some(Item::TimestampTz(value))) => Ok(Some(Item::TimestampTz(value))),
        Ok(Some(Item::Interval(value))) => Ok(Some(Item::Interval(value))),
        Ok(_) => Ok(None),
        Err(error) => Err(from_datafusion(error)),
    };
    match (item(&first)?, item(&last)?, item(&step)?) {
        (Some(Item::Timestamp(first)), Some(Item::Timestamp(last)), Some(Item::Interval(step))) => {
            steps(Kind::Timestamp, first, last, step)
        }
        (
            Some(Item::TimestampTz(first)),
            Some(Item::TimestampTz(last)),
            Some(Item::Interval(step)),
        ) => steps(Kind::TimestampTz, first, last, step),
        // Of a bound that is NULL there are no rows, of which there is nothing to be planned.
        _ => Ok(None),
    }
}

fn steps<P: Point>(kind: Kind, first: P, last: P, step: Interval) -> Result<Option<ArrayRef>> {
    let times = statement_times();
    let sign = step.length().signum();
    if sign == 0 {
        return Err(zero_step());
    }
    let (mut written, mut rows, mut next) = (Written::new(kind, 0), 0, first);
    while if sign > 0 { next <= last } else { next >= last } {
        if rows == ROWS_MAX {
            return Ok(None);
        }
        if rows % ROWS_BETWEEN_LOOKS == 0 {
            check_cancelled().map_err(from_datafusion)?;
        }
        written.push(next.item()).map_err(from_datafusion)?;
        let after = next.after(step, &times.settings).map_err(|error| error_of_times(&error))?;
        // An infinity has no successor.
        if after == next {
            return Ok(None);
        }
        (next, rows) = (after, rows + 1);
    }
    Ok(Some(written.finish()))
}

fn zero_step() -> Error {
    input("step size cannot equal zero").diagnosed(Diagnosis {
        sql_state: Some("22023"),
        detail: None,
        hint: None,
        position: None,
    })
}
