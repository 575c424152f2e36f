//! PostgreSQL's types `date`, `time`, `timetz`, `timestamp`, `timestamptz` and `interval` as plain values: parsing,
//! output, arithmetic, fields, truncation and time zones.
//!
//! - Results, texts, messages and SQLSTATEs are those of PostgreSQL 15.
//! - Knows neither columns nor plans: a call takes and gives single values. NULL is the caller's.
//! - What depends on a session is in [`Settings`]: styles, the time zone, the start of the transaction. No call asks the
//!   system for the time.
//! - Time zones are those of the IANA database, which is in the program: [`database_version`] names its release.
//! - No input panics, and no call takes more than microseconds.
//!
//! ```
//! use gadus_times::{Field, Interval, Settings, TimeZone, TimestampTz};
//!
//! let mut settings = Settings::new(TimestampTz::from_unix_microseconds(0)?);
//! settings.time_zone = TimeZone::named("America/New_York")?;
//!
//! let start = TimestampTz::parse("March 9, 2024 12:00", &settings)?;
//! let day = Interval::parse("1 day", None, &settings)?;
//! assert_eq!(start.add_interval(day, &settings)?.to_text(&settings), "2024-03-10 12:00:00-04");
//! assert_eq!(start.truncate(&Field::new("month"), &settings)?.to_text(&settings), "2024-03-01 00:00:00-05");
//! # Ok::<(), gadus_times::TimesError>(())
//! ```

mod arithmetic;
mod at_time_zone;
mod calendar;
mod convert;
mod error;
mod fields;
mod input;
mod integers;
mod make;
mod output;
mod overlaps;
mod precision;
mod settings;
mod truncate;
mod values;
mod zone;

pub use error::{Result, TimesError};
pub use fields::{Field, FieldValue};
pub use overlaps::overlaps;
pub use precision::{IntervalFieldsRange, IntervalModifier, PRECISION_MAX};
pub use settings::{DateOrder, DateStyle, IntervalStyle, Settings};
pub use values::{Date, Interval, Time, TimeTz, Timestamp, TimestampTz};
pub use zone::{TimeZone, ZoneArgument, database_version, zone_names};
