//! Gadus, an embedded SQL database: the API that programs use.
//!
//! - A [`Database`] is one open file, or memory; a [`Connection`] runs its statements one after
//!   another, and may be shared by threads. Connections do not wait for each other.
//! - Synchronous calls run on the thread that makes them; each has an asynchronous twin that never
//!   blocks the caller's executor.
//! - Inside an asynchronous runtime of tokio with one thread, synchronous calls are refused; with
//!   several threads they step aside and work.
//!
//! ```
//! use gadus::{Database, Options, params};
//!
//! # fn main() -> gadus::Result<()> {
//! let database = Database::open_in_memory(Options::new())?;
//! let connection = database.connect();
//! connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT)", &[])?;
//! connection.execute("INSERT INTO people VALUES (?, ?)", params![1, "Ada"])?;
//! for row in connection.query("SELECT id, name FROM people", &[])? {
//!     let row = row?;
//!     assert_eq!(row.get::<i64>("id")?, 1);
//!     assert_eq!(row.get::<String>(1)?, "Ada");
//! }
//! # Ok(())
//! # }
//! ```

mod appender;
mod cancel;
mod check;
mod connection;
mod database;
mod locks;
mod options;
mod params;
mod pending;
mod row;
mod rows;
mod runtime;
mod schema;
mod statement;

pub use appender::Appender;
pub use arrow;
pub use cancel::{CancelHandle, ScriptCancel};
pub use check::{CheckReport, Problem, TableReport, check};
pub use connection::{Connection, Outcome};
pub use database::Database;
pub use gadus_base::ByteCount;
pub use gadus_engine::{
    BackedUp, CacheScope, Characters, Diagnosis, Durability, Enum, Error, ErrorKind, INTERVAL,
    Interval, Isolation, JSON_EXTENSION, JSONB_EXTENSION, LockStatistics, NUMERIC_EXTENSION,
    Reason, Result, Stage, Statistics, Takeovers, UUID, interval_texts, is_numeric_text,
    schema_with_doubles, type_with_texts, uuid_of_text, uuid_text, uuid_texts, with_doubles,
    with_texts, write_double, write_real,
};
pub use gadus_sql::{
    CopyForm, CopyFormat, CopyHeader, CopyRequest, CopyRows, CopyWhat, Description, EXPLAINED,
    FileAccess, Granted, POSTGRES_TYPE, POSTGRES_VERSION, ProgressReading, Reported, Script,
    SessionOptions, Setting, SettingScope, StatementKind, TextSettings, Value, enum_number,
    interval_of_text, json_texts, list_elements, put_line as put_copy_line, read_bytes, read_time,
    settings, split_statements, time_writer, with_json_times, with_time_texts, write_element,
};
pub use locks::{Lock, Session};
pub use options::Options;
pub use pending::Pending;
pub use row::{ColumnIndex, FromValue, Row};
pub use rows::{BatchStream, Rows};
pub use statement::Statement;

#[doc(hidden)]
pub use params::to_value;

/// Compiles and runs the guide's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/quick-start.md")]
struct QuickStart;
