//! SQL for Gadus.
//!
//! - Text is parsed once; point statements and simple filters are compiled from its tree and kept by
//!   their shape; everything else is planned by DataFusion, which no other crate names, and
//!   the plans of queries that come again are kept.
//! - Public functions return boxed futures or plain types, so that callers do not compile
//!   DataFusion's futures again.
//!
//! ```
//! use gadus_engine::{Engine, Options};
//! use gadus_sql::{Outcome, Sql};
//! # fn main() -> gadus_engine::Result<()> {
//! let runtime = tokio::runtime::Runtime::new().expect("a runtime");
//! let session = Sql::new(Engine::in_memory(Options::default())?).session();
//! runtime.block_on(async {
//!     session.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)", &[]).await?;
//!     session.execute("INSERT INTO t VALUES (1, 'Ada')", &[]).await?;
//!     let Outcome::Rows(rows) = session.execute("SELECT name FROM t", &[]).await? else {
//!         unreachable!("a query gives rows")
//!     };
//!     assert_eq!(rows.collect().await?[0].num_rows(), 1);
//!     Ok(())
//! })
//! # }
//! ```

mod analysis;
mod arrays;
mod byte_strings;
mod characters;
mod checked;
mod common_rows;
mod compiled;
mod copy_text;
mod enums;
mod error;
mod executor;
mod explained;
mod file_writer;
mod folder_store;
mod frames;
mod functions;
mod intervals;
mod json;
mod kept;
mod lists;
mod lowering;
mod memory;
mod mended;
mod names;
mod numerics;
mod one_value;
mod order_keys;
mod ordered_sets;
mod pace;
mod panics;
mod partitioned;
mod postgres;
mod progress;
mod provider;
mod room;
mod row_values;
mod rows;
mod scalar_functions;
mod sequences;
mod session;
mod shape;
mod split;
mod statements;
mod string_functions;
mod subqueries;
mod text_files;
mod times;
mod types;
mod uuids;
mod value;
mod value_limits;
mod written;

pub use byte_strings::read_bytes;
pub use copy_text::{CopyForm, CopyFormat, CopyHeader, CopyRows, put_line};
pub use executor::runtime;
pub use explained::EXPLAINED;
pub use functions::all as functions;
pub use intervals::interval_of_text;
pub use json::json_texts;
pub use lists::{list_elements, write_element};
pub use names::{found as found_name, written as written_name};
pub use postgres::{TYPE as POSTGRES_TYPE, enum_number, quoted as quoted_name};
pub use progress::ProgressReading;
pub use rows::{RowStream, RowsCancel};
pub use sequences::sequence_options;
pub use session::{
    Boxed, CopyRequest, CopyWhat, Description, FileAccess, Granted, LARGE_TEXT, Outcome,
    POSTGRES_VERSION, Prepared, Reported, Session, SessionOptions, Setting, SettingScope, Sql,
    StatementKind, comment_statements, foreign_key_definition, is_hidden, settings,
    type_statements, view_definition,
};
pub use split::{Script, split_statements};
pub use times::{
    TextSettings, TimeWriter, read_value as read_time, time_writer, with_json_times,
    with_time_texts,
};
pub use value::Value;
