//! Where the server's events go, and how they are written.
//!
//! - To standard error, by a thread of their own. A reader that is slow, or does not read at all, keeps no connection
//!   waiting: events that there is no room for are lost.
//! - What waits is written when the command ends, for a second at most.

use clap::{Args, ValueEnum};
use std::io;
use tracing::level_filters::LevelFilter;

use super::event_writer::{EventWriter, LastWrites};
use crate::failure::Failure;

/// Says the least that is written, where the command line does not.
const VARIABLE: &str = "GADUS_LOG";

#[derive(Debug, Args)]
pub(super) struct LogArguments {
    /// How events are written to standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// Events that are written; without it $GADUS_LOG says which, else they are those of info
    #[arg(long, value_name = "LEVEL", value_enum)]
    log_level: Option<LogLevel>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object in each line
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogLevel {
    /// What keeps the server from going on
    Error,
    /// What somebody should look at, such as wrong passwords and slow statements
    Warn,
    /// Start, stop, connections
    Info,
    /// Statements that fail
    Debug,
}

impl LogArguments {
    /// Tells why the server has failed, where the program would not tell it as the log's readers expect.
    pub(super) fn tell(&self, failure: Failure) -> Failure {
        match (self.log_format, failure) {
            (LogFormat::Json, Failure::Message(message)) => {
                tracing::error!("{message}");
                Failure::Reported
            }
            (_, failure) => failure,
        }
    }
}

/// Begins to write events, until what is returned is dropped.
pub(super) fn begin(arguments: &LogArguments) -> Result<LastWrites, Failure> {
    let level = match arguments.log_level {
        Some(level) => level,
        None => level_of_environment()?,
    };
    let (writer, guard) = EventWriter::start(io::stderr())
        .map_err(|error| Failure::message(format!("events cannot be written: {error}")))?;
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(level))
        .with_target(false)
        .with_writer(writer);
    let begun = match arguments.log_format {
        LogFormat::Text => tracing::subscriber::set_global_default(subscriber.finish()),
        LogFormat::Json => {
            let subscriber = subscriber.json().flatten_event(true);
            let subscriber = subscriber.with_current_span(false).with_span_list(false);
            tracing::subscriber::set_global_default(subscriber.finish())
        }
    };
    begun.map_err(|error| Failure::message(format!("events cannot be written: {error}")))?;
    Ok(guard)
}

fn level_of_environment() -> Result<LogLevel, Failure> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(LogLevel::Info);
    };
    let text = text.to_string_lossy();
    LogLevel::from_str(&text, true).map_err(|_| {
        let known = "there are error, warn, info and debug";
        Failure::message(format!("{VARIABLE} is '{text}', which is no level: {known}"))
    })
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}
