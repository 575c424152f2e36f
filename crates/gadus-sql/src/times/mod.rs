//! Dates, times, timestamps and intervals in plans: values that `gadus-times` computes with.
//!
//! - Plans have them as Arrow's types of days, microseconds and months, days and nanoseconds. The least and the greatest
//!   integer are the infinities of dates and timestamps; a point in time is counted in UTC, whatever the session's zone.
//! - Kernels read the settings of the statement that their thread works for ([`StatementTimes`]): a plan holds none of
//!   them, but constants that were folded. Plans are kept by the settings that these depend on.
//! - Arrow ends before PostgreSQL does: timestamps in the year 294247, the time of an interval after 292 years. What is
//!   beyond is refused.

mod arithmetic;
mod casts;
mod columns;
mod constants;
mod construction;
mod fields;
mod functions;
mod in_plan;
mod items;
mod kernel;
mod periods;
mod series;
mod statement;
mod text_settings;
mod texts;
mod zones;

pub(crate) use casts::{
    cast, cast_array, cast_in_plan, is_cast, with_interval_modifier, with_precision,
};
pub(crate) use constants::{interval_literal, literal, midnight};
pub(crate) use fields::{decimal_scale, extract};
pub(crate) use functions::{call, has_function};
pub(crate) use in_plan::{plan_functions, respell, zoned_in_plan};
pub(crate) use series::series;
pub(crate) use statement::{StatementTimes, default_settings, statement_timestamp};
pub use text_settings::TextSettings;
pub use texts::{TimeWriter, read_value, time_writer, with_json_times, with_time_texts};

use crate::error::to_datafusion;
use datafusion::error::DataFusionError;
use gadus_engine::{Diagnosis, Error, ErrorKind, Reason};
use gadus_times::TimesError;

/// Returns the error of a call on dates and times as the engine has errors.
pub(crate) fn error_of_times(error: &TimesError) -> Error {
    let kind = match error.sqlstate() {
        "22008" | "22012" | "22015" => ErrorKind::OutOfRange,
        "0A000" => ErrorKind::Unsupported,
        _ => ErrorKind::Input,
    };
    let diagnosed = Error::new(kind, error.message().to_owned()).diagnosed(Diagnosis {
        sql_state: Some(error.sqlstate()),
        detail: error.detail().map(str::to_owned),
        hint: error.hint().map(str::to_owned),
        position: None,
    });
    match error.sqlstate() {
        "22007" => diagnosed.because(Reason::InvalidDatetime),
        "22008" => diagnosed.because(Reason::DatetimeOverflow),
        "22012" => diagnosed.because(Reason::DivisionByZero),
        "22015" => diagnosed.because(Reason::IntervalOverflow),
        "22023" => diagnosed.because(Reason::InvalidParameter),
        _ => diagnosed,
    }
}

/// Returns the error of a call on its way through DataFusion.
fn of_times(error: TimesError) -> DataFusionError {
    to_datafusion(error_of_times(&error))
}

#[cfg(test)]
mod tests;
