//! PostgreSQL's variables that clients set and read when they connect.
//!
//! - Each has a default and the values that mean what the database does; another value is an error
//!   rather than a promise that is not kept. Some take any value, because nothing here depends on it.

use super::known::{Setting, SettingScope, described};
use super::time_variables::{TimeVariable, TimeVariables};
use crate::error::{input, unsupported};
use crate::times::TextSettings;
use datafusion::sql::sqlparser::ast::Ident;
use gadus_engine::{Error, Reason, Result};
use std::sync::Arc;
use std::time::Duration;

/// The PostgreSQL version whose behaviour clients may expect.
pub const POSTGRES_VERSION: &str = "15.0";

/// A variable.
struct Variable {
    name: &'static str,
    default: &'static str,
    takes: Takes,
    /// Clients are told when it changes.
    is_reported: bool,
}

/// What a variable can be set to.
enum Takes {
    /// Any text.
    Any,
    /// On or off.
    Boolean,
    /// One of these, in any case and with anything between letters and digits; all mean the default.
    Default(&'static [&'static str]),
    /// Setting of dates and times, read by `gadus-times`.
    Time(TimeVariable),
    /// Nothing: it can be read.
    Nothing,
}

const fn variable(name: &'static str, default: &'static str, takes: Takes) -> Variable {
    Variable { name, default, takes, is_reported: false }
}

const fn reported(name: &'static str, default: &'static str, takes: Takes) -> Variable {
    Variable { name, default, takes, is_reported: true }
}

/// Name of the variable that makes transactions read only.
const READ_ONLY: &str = "default_transaction_read_only";

const VARIABLES: &[Variable] = &[
    reported("application_name", "", Takes::Any),
    variable("bytea_output", "hex", Takes::Time(TimeVariable::ByteaOutput)),
    reported("client_encoding", "UTF8", Takes::Default(&["utf8", "unicode"])),
    variable("client_min_messages", "notice", Takes::Any),
    reported("DateStyle", "ISO, MDY", Takes::Time(TimeVariable::DateStyle)),
    variable("deadlock_timeout", "1s", Takes::Any),
    variable("default_transaction_deferrable", "off", Takes::Boolean),
    variable(READ_ONLY, "off", Takes::Boolean),
    variable("enable_bitmapscan", "on", Takes::Boolean),
    variable("enable_hashagg", "on", Takes::Boolean),
    variable("enable_hashjoin", "on", Takes::Boolean),
    variable("enable_indexonlyscan", "on", Takes::Boolean),
    variable("enable_indexscan", "on", Takes::Boolean),
    variable("enable_mergejoin", "on", Takes::Boolean),
    variable("enable_nestloop", "on", Takes::Boolean),
    variable("enable_seqscan", "on", Takes::Boolean),
    variable("enable_sort", "on", Takes::Boolean),
    variable("extra_float_digits", "1", Takes::Time(TimeVariable::ExtraFloatDigits)),
    variable("in_hot_standby", "off", Takes::Nothing),
    reported("integer_datetimes", "on", Takes::Nothing),
    reported("IntervalStyle", "postgres", Takes::Time(TimeVariable::IntervalStyle)),
    variable("is_superuser", "on", Takes::Nothing),
    variable("jit", "off", Takes::Boolean),
    variable("max_identifier_length", "63", Takes::Nothing),
    variable("password_encryption", "scram-sha-256", Takes::Default(&["scramsha256", "on"])),
    variable("row_security", "on", Takes::Boolean),
    variable("search_path", "\"$user\", public", Takes::Any),
    variable("server_encoding", "UTF8", Takes::Nothing),
    variable("server_version", POSTGRES_VERSION, Takes::Nothing),
    variable("server_version_num", "150000", Takes::Nothing),
    reported("standard_conforming_strings", "on", Takes::Default(&["on", "true", "yes", "1"])),
    variable("synchronize_seqscans", "on", Takes::Boolean),
    reported("TimeZone", "UTC", Takes::Time(TimeVariable::TimeZone)),
    variable("work_mem", "4MB", Takes::Any),
    variable("xmloption", "content", Takes::Any),
];

/// Settings of PostgreSQL's planner and messages, on which nothing here depends.
const OF_PLANNER: &[Variable] = &[
    variable("constraint_exclusion", "partition", Takes::Any),
    variable("cpu_index_tuple_cost", "0.005", Takes::Any),
    variable("cpu_operator_cost", "0.0025", Takes::Any),
    variable("cpu_tuple_cost", "0.01", Takes::Any),
    variable("default_statistics_target", "100", Takes::Any),
    variable("effective_cache_size", "4GB", Takes::Any),
    variable("effective_io_concurrency", "1", Takes::Any),
    variable("enable_async_append", "on", Takes::Boolean),
    variable("enable_gathermerge", "on", Takes::Boolean),
    variable("enable_incremental_sort", "on", Takes::Boolean),
    variable("enable_material", "on", Takes::Boolean),
    variable("enable_memoize", "on", Takes::Boolean),
    variable("enable_parallel_append", "on", Takes::Boolean),
    variable("enable_parallel_hash", "on", Takes::Boolean),
    variable("enable_partition_pruning", "on", Takes::Boolean),
    variable("enable_partitionwise_aggregate", "off", Takes::Boolean),
    variable("enable_partitionwise_join", "off", Takes::Boolean),
    variable("enable_tidscan", "on", Takes::Boolean),
    variable("escape_string_warning", "on", Takes::Boolean),
    variable("force_parallel_mode", "off", Takes::Any),
    variable("from_collapse_limit", "8", Takes::Any),
    variable("geqo", "on", Takes::Boolean),
    variable("geqo_threshold", "12", Takes::Any),
    variable("hash_mem_multiplier", "2", Takes::Any),
    variable("jit_above_cost", "100000", Takes::Any),
    variable("jit_inline_above_cost", "500000", Takes::Any),
    variable("jit_optimize_above_cost", "500000", Takes::Any),
    variable("join_collapse_limit", "8", Takes::Any),
    variable("lc_messages", "C", Takes::Any),
    variable("lc_monetary", "C", Takes::Any),
    variable("lc_numeric", "C", Takes::Any),
    variable("lc_time", "C", Takes::Any),
    variable("maintenance_work_mem", "64MB", Takes::Any),
    variable("max_parallel_maintenance_workers", "2", Takes::Any),
    variable("max_parallel_workers", "8", Takes::Any),
    variable("max_parallel_workers_per_gather", "2", Takes::Any),
    variable("min_parallel_index_scan_size", "512kB", Takes::Any),
    variable("min_parallel_table_scan_size", "8MB", Takes::Any),
    variable("parallel_leader_participation", "on", Takes::Boolean),
    variable("parallel_setup_cost", "1000", Takes::Any),
    variable("parallel_tuple_cost", "0.1", Takes::Any),
    variable("plan_cache_mode", "auto", Takes::Any),
    variable("random_page_cost", "4", Takes::Any),
    variable("seq_page_cost", "1", Takes::Any),
    variable("temp_buffers", "8MB", Takes::Any),
];

/// What clients of PostgreSQL's protocol are told of a session.
#[derive(Debug, Clone)]
pub struct Reported {
    /// Counts changes: who tells clients looks again when it is another.
    pub changes: u64,
    /// Names and values.
    pub variables: Vec<(&'static str, String)>,
    /// For how long they may be silent in a transaction.
    pub idle_in_transaction_time: Option<Duration>,
    /// For how long they may be silent outside transactions.
    pub idle_time: Option<Duration>,
}

/// What a session has set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    set: Vec<(&'static str, String)>,
    times: TimeVariables,
}

impl Variables {
    /// A variable's value; none where there is no such variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let variable = find(name)?;
        let set = self.set.iter().find(|(name, _)| *name == variable.name);
        Some(set.map_or(variable.default, |(_, value)| value))
    }

    /// True if transactions read only unless they say otherwise.
    pub(super) fn is_read_only(&self) -> bool {
        self.set.iter().any(|(name, value)| *name == READ_ONLY && value == "on")
    }

    /// Where names are looked for, where that is set.
    pub(super) fn search_path(&self) -> Option<&str> {
        let set = self.set.iter().find(|(name, _)| *name == "search_path");
        set.map(|(_, value)| value.as_str())
    }

    /// Sets a variable, or sets it back.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let variable = find(name).ok_or_else(|| unknown(name))?;
        let value = match &variable.takes {
            Takes::Time(of) => match value {
                Some(value) => Some(self.times.set(*of, value)?),
                None => {
                    self.times.set(*of, variable.default)?;
                    None
                }
            },
            _ => value.map(|value| variable.accept(value)).transpose()?,
        };
        if value.is_none() && matches!(variable.takes, Takes::Nothing) {
            return Err(read_only(variable));
        }
        self.set.retain(|(known, _)| *known != variable.name);
        self.set.extend(value.map(|value| (variable.name, value)));
        Ok(())
    }

    /// Sets if transactions read only unless they say otherwise.
    pub(super) fn set_read_only(&mut self, read_only: bool) -> Result<()> {
        self.set(READ_ONLY, Some(if read_only { "on" } else { "off" }))
    }

    /// Sets a variable back to what it was at first.
    pub(super) fn set_back(&mut self, name: &str, first: &Self) -> Result<()> {
        let before = first.set.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        self.set(name, before.map(|(_, value)| value.as_str()))
    }

    /// Returns the time zone and the styles of dates and intervals.
    pub(crate) fn times(&self) -> &Arc<TextSettings> {
        self.times.settings()
    }

    /// The variables that clients are told of, with their values.
    pub(super) fn reported(&self) -> Vec<(&'static str, String)> {
        let reported = VARIABLES.iter().filter(|variable| variable.is_reported);
        let value =
            |variable: &Variable| self.get(variable.name).unwrap_or(variable.default).to_owned();
        reported.map(|variable| (variable.name, value(variable))).collect()
    }
}

impl Variable {
    /// The value as it is kept.
    fn accept(&self, value: &str) -> Result<String> {
        match &self.takes {
            Takes::Any => Ok(value.to_owned()),
            Takes::Boolean => match value.to_ascii_lowercase().as_str() {
                "on" | "true" | "yes" | "1" => Ok("on".to_owned()),
                "off" | "false" | "no" | "0" => Ok("off".to_owned()),
                _ => Err(input(format!("{} is on or off, not {value}", self.name))),
            },
            Takes::Default(words) => {
                // As PostgreSQL compares names of encodings, and lists of words with spaces or without.
                let word = value.chars().filter(char::is_ascii_alphanumeric);
                let word = word.collect::<String>().to_ascii_lowercase();
                let is_default = words.contains(&word.as_str());
                let refused = || format!("{} other than {}", self.name, self.default);
                let accepted = is_default.then(|| self.default.to_owned());
                accepted.ok_or_else(|| unsupported(&refused()))
            }
            // Each has a reader of its own.
            Takes::Time(_) => Ok(value.to_owned()),
            Takes::Nothing => Err(read_only(self)),
        }
    }
}

/// The variables as settings.
pub(super) fn settings() -> impl Iterator<Item = Setting> {
    all().map(|variable| {
        let (values, scope) = match variable.takes {
            Takes::Any => ("any text", SettingScope::Client),
            Takes::Boolean => ("on or off", SettingScope::Client),
            Takes::Default(_) => (variable.default, SettingScope::Client),
            Takes::Time(of) => (of.values(), SettingScope::Client),
            Takes::Nothing => ("", SettingScope::Nobody),
        };
        let description = match (variable.name, scope) {
            ("application_name", _) => "What a client calls itself.",
            ("TimeZone", _) => "Time zone in which points in time are read and shown.",
            ("DateStyle", _) => "Style of dates that are shown, and order of the fields of dates that are read.",
            ("IntervalStyle", _) => "Style of intervals that are shown.",
            ("bytea_output", _) => "Form of byte strings that are shown.",
            ("extra_float_digits", _) => {
                "Digits of floating-point numbers that are shown: above 0 the fewest that mean the number, else 15 or 6 and \
                 so many more."
            }
            (_, SettingScope::Nobody) => "What the database does, as PostgreSQL says it.",
            (_, _) if matches!(variable.takes, Takes::Default(_)) => {
                "What the database does; another value is refused."
            }
            (READ_ONLY, _) => "Transactions that do not say otherwise only read.",
            ("search_path", _) => {
                "Schemas where relations are looked for that are named without one, and the first of them where they are made. \
                 Where it is set, statements are planned each time."
            }
            _ => "Taken from PostgreSQL's clients; nothing depends on it.",
        };
        Setting { name: variable.name, values, default: variable.default, scope, description }
    })
}

fn read_only(variable: &Variable) -> Error {
    input(format!("{} says what the database does, and cannot be set", variable.name))
}

/// The error for a variable that is not there.
pub(super) fn unknown(name: &str) -> Error {
    let message = format!("there is no setting {name}; settings are: {}", described());
    input(message).because(Reason::UnknownSetting)
}

fn all() -> impl Iterator<Item = &'static Variable> {
    VARIABLES.iter().chain(OF_PLANNER)
}

fn find(name: &str) -> Option<&'static Variable> {
    all().find(|variable| variable.name.eq_ignore_ascii_case(name))
}

/// The name of a setting as SHOW names it: `TIME ZONE` and `TRANSACTION ISOLATION LEVEL` are names, too.
pub(super) fn name_of(words: &[Ident]) -> String {
    let words = words.iter().map(|part| part.value.as_str()).collect::<Vec<_>>();
    let name = words.join(".").to_ascii_lowercase();
    match name.as_str() {
        "time.zone" => "timezone".to_owned(),
        "transaction.isolation.level" => "transaction_isolation".to_owned(),
        "session.authorization" => "session_authorization".to_owned(),
        _ => name,
    }
}
