//! Functions of dates, times and intervals.

use super::{Function, scalar};
use crate::types::constants::*;

pub(super) const FUNCTIONS: &[Function] = &[
    scalar("age", &[TIMESTAMP], INTERVAL).stable(),
    scalar("age", &[TIMESTAMP, TIMESTAMP], INTERVAL),
    scalar("age", &[TIMESTAMPTZ], INTERVAL).stable(),
    scalar("age", &[TIMESTAMPTZ, TIMESTAMPTZ], INTERVAL),
    scalar("clock_timestamp", &[], TIMESTAMPTZ).volatile(),
    scalar("date", &[TIMESTAMP], DATE),
    scalar("date", &[TIMESTAMPTZ], DATE).stable(),
    scalar("date_bin", &[INTERVAL, TIMESTAMP, TIMESTAMP], TIMESTAMP),
    scalar("date_bin", &[INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ], TIMESTAMPTZ),
    scalar("date_part", &[TEXT, DATE], FLOAT8),
    scalar("date_part", &[TEXT, TIME], FLOAT8),
    scalar("date_part", &[TEXT, TIMESTAMP], FLOAT8),
    scalar("date_part", &[TEXT, TIMESTAMPTZ], FLOAT8).stable(),
    scalar("date_part", &[TEXT, INTERVAL], FLOAT8),
    scalar("date_part", &[TEXT, TIMETZ], FLOAT8),
    scalar("date_trunc", &[TEXT, TIMESTAMP], TIMESTAMP),
    scalar("date_trunc", &[TEXT, TIMESTAMPTZ], TIMESTAMPTZ).stable(),
    scalar("date_trunc", &[TEXT, TIMESTAMPTZ, TEXT], TIMESTAMPTZ).stable(),
    scalar("date_trunc", &[TEXT, INTERVAL], INTERVAL),
    scalar("extract", &[TEXT, DATE], NUMERIC),
    scalar("extract", &[TEXT, TIME], NUMERIC),
    scalar("extract", &[TEXT, TIMESTAMP], NUMERIC),
    scalar("extract", &[TEXT, TIMESTAMPTZ], NUMERIC).stable(),
    scalar("extract", &[TEXT, INTERVAL], NUMERIC),
    scalar("extract", &[TEXT, TIMETZ], NUMERIC),
    scalar("interval", &[TIME], INTERVAL),
    scalar("interval", &[INTERVAL, INT4], INTERVAL),
    scalar("isfinite", &[DATE], BOOL),
    scalar("isfinite", &[TIMESTAMP], BOOL),
    scalar("isfinite", &[TIMESTAMPTZ], BOOL),
    scalar("isfinite", &[INTERVAL], BOOL),
    scalar("justify_days", &[INTERVAL], INTERVAL),
    scalar("justify_hours", &[INTERVAL], INTERVAL),
    scalar("justify_interval", &[INTERVAL], INTERVAL),
    scalar("make_date", &[INT4, INT4, INT4], DATE).named(&["year", "month", "day"]),
    scalar("make_interval", &[INT4, INT4, INT4, INT4, INT4, INT4, FLOAT8], INTERVAL)
        .optional(7)
        .named(&["years", "months", "weeks", "days", "hours", "mins", "secs"]),
    scalar("make_time", &[INT4, INT4, FLOAT8], TIME).named(&["hour", "min", "sec"]),
    scalar("make_timestamp", &[INT4, INT4, INT4, INT4, INT4, FLOAT8], TIMESTAMP)
        .named(&["year", "month", "mday", "hour", "min", "sec"]),
    scalar("make_timestamptz", &[INT4, INT4, INT4, INT4, INT4, FLOAT8], TIMESTAMPTZ)
        .stable()
        .named(&["year", "month", "mday", "hour", "min", "sec"]),
    scalar("make_timestamptz", &[INT4, INT4, INT4, INT4, INT4, FLOAT8, TEXT], TIMESTAMPTZ)
        .stable()
        .named(&["year", "month", "mday", "hour", "min", "sec", "timezone"]),
    scalar("now", &[], TIMESTAMPTZ).stable(),
    scalar("overlaps", &[TIME, TIME, TIME, TIME], BOOL).accepts_null(),
    scalar("overlaps", &[TIME, TIME, TIME, INTERVAL], BOOL).accepts_null(),
    scalar("overlaps", &[TIME, INTERVAL, TIME, TIME], BOOL).accepts_null(),
    scalar("overlaps", &[TIME, INTERVAL, TIME, INTERVAL], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMP, TIMESTAMP, TIMESTAMP, TIMESTAMP], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMP, TIMESTAMP, TIMESTAMP, INTERVAL], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMP, INTERVAL, TIMESTAMP, TIMESTAMP], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMP, INTERVAL, TIMESTAMP, INTERVAL], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ], BOOL).accepts_null(),
    scalar("overlaps", &[TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ, INTERVAL], BOOL)
        .accepts_null()
        .stable(),
    scalar("overlaps", &[TIMESTAMPTZ, INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ], BOOL)
        .accepts_null()
        .stable(),
    scalar("overlaps", &[TIMESTAMPTZ, INTERVAL, TIMESTAMPTZ, INTERVAL], BOOL)
        .accepts_null()
        .stable(),
    scalar("overlaps", &[TIMETZ, TIMETZ, TIMETZ, TIMETZ], BOOL).accepts_null(),
    scalar("statement_timestamp", &[], TIMESTAMPTZ).stable(),
    scalar("time", &[TIME, INT4], TIME),
    scalar("time", &[TIMESTAMP], TIME),
    scalar("time", &[TIMESTAMPTZ], TIME).stable(),
    scalar("time", &[INTERVAL], TIME),
    scalar("time", &[TIMETZ], TIME),
    scalar("timeofday", &[], TEXT).volatile(),
    scalar("timestamp", &[DATE], TIMESTAMP),
    scalar("timestamp", &[DATE, TIME], TIMESTAMP),
    scalar("timestamp", &[TIMESTAMP, INT4], TIMESTAMP),
    scalar("timestamp", &[TIMESTAMPTZ], TIMESTAMP).stable(),
    scalar("timestamptz", &[DATE], TIMESTAMPTZ).stable(),
    scalar("timestamptz", &[DATE, TIME], TIMESTAMPTZ).stable(),
    scalar("timestamptz", &[DATE, TIMETZ], TIMESTAMPTZ),
    scalar("timestamptz", &[TIMESTAMP], TIMESTAMPTZ).stable(),
    scalar("timestamptz", &[TIMESTAMPTZ, INT4], TIMESTAMPTZ),
    scalar("timetz", &[TIME], TIMETZ).stable(),
    scalar("timetz", &[TIMESTAMPTZ], TIMETZ).stable(),
    scalar("timetz", &[TIMETZ, INT4], TIMETZ),
    scalar("timezone", &[INTERVAL, TIMESTAMP], TIMESTAMPTZ),
    scalar("timezone", &[INTERVAL, TIMESTAMPTZ], TIMESTAMP),
    scalar("timezone", &[INTERVAL, TIMETZ], TIMETZ),
    scalar("timezone", &[TEXT, TIMESTAMP], TIMESTAMPTZ),
    scalar("timezone", &[TEXT, TIMESTAMPTZ], TIMESTAMP),
    scalar("timezone", &[TEXT, TIMETZ], TIMETZ).stable(),
    scalar("to_date", &[TEXT, TEXT], DATE).stable(),
    scalar("to_timestamp", &[TEXT, TEXT], TIMESTAMPTZ).stable(),
    scalar("to_timestamp", &[FLOAT8], TIMESTAMPTZ),
    scalar("transaction_timestamp", &[], TIMESTAMPTZ).stable(),
];
