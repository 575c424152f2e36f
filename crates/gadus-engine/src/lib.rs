//! The engine of Gadus: columns, snapshots, keys, transactions and scans of one database.
//!
//! - Knows neither SQL nor files: statements come as requests, bytes go through a block folder.
//! - Readers never block writers, writers never block readers: every commit makes a new immutable
//!   version of the database that shares all but its changes with the one before.
//!
//! ```
//! use gadus_engine::{ColumnDefinition, ColumnType, Datum, Engine, Options, TableSchema};
//! # fn main() -> gadus_engine::Result<()> {
//! let engine = Engine::in_memory(Options::default())?;
//! let column = ColumnDefinition::new;
//! let columns = vec![column("id", ColumnType::Int64), column("name", ColumnType::Text)];
//! let mut transaction = engine.begin()?;
//! let schema = transaction.create_table(&TableSchema::new("people", columns, vec![0])?)?;
//! transaction.insert(&schema, vec![[Datum::Integer(1), Datum::text("Ada")].into()])?;
//! transaction.commit()?;
//! let people = engine.snapshot()?.table("people")?;
//! let row = people.find_key(&[Datum::Integer(1)])?.expect("inserted above");
//! assert_eq!(people.row(row)?.expect("found")[1], Datum::text("Ada"));
//! # Ok(())
//! # }
//! ```

mod blobs;
mod coordinator;
mod described;
mod encoding;
mod engine;
mod error;
mod interrupt_check;
mod keys;
mod locks;
mod scan;
mod scan_help;
mod segment;
mod shared;
mod snapshot;
mod tours;
mod transaction;
mod types;
mod vector;
mod version;

pub use described::{ColumnDescription, SegmentDescription};
pub use engine::{
    Autocommit, BackedUp, CacheScope, CheckChanges, Engine, Gatherers, NamedLock, Options,
    PlacedThread, Problem, RowChange, SessionView, Statistics, Verification, VerifiedTable,
    measured_for, place,
};
pub use error::{Diagnosis, Error, ErrorKind, Reason, Result};
pub use gadus_locks::{
    Ending, InstanceDescription, LockHolder, LockStatistics, LockView, Mode, Owner as InstanceId,
    Resource,
};
pub use gadus_storage::{Durability, Sharing, Stage, Takeovers};
pub use interrupt_check::InterruptCheck;
pub use locks::{Blocked, Locker};
pub use scan::{
    Aggregate, Aggregated, Comparison, Group, IndexUse, Predicate, ROW_ID_COLUMN, Scan,
    ScanRequest, ScannedBatch, Test, chunk_rows,
};
pub use segment::{SEGMENT_ROWS_MAX, is_large};
pub use shared::{
    Answer, Asked, BATCH_QUERIES, BATCH_UPDATES, ClockStatistics, Estimate, Expected, Fate,
    FoundModification, FoundReader, FoundRows, LookedUp, MakeValues, Modification, NewValues,
    OrderBy, PassWork, Pinning, Question, ScanLimits, ScanThread, ScansAlone, Wanted,
};
pub use snapshot::{Snapshot, Table};
pub use transaction::{BulkWriter, Isolation, Savepoint, Transaction};
pub use types::{
    CHARACTERS_EXTENSION, CHARACTERS_MAX, Characters, CheckDefinition, ColumnDefinition,
    ColumnType, Datum, DefaultValue, DefinitionKey, ENUM_EXTENSION, EXTENSION_KEY, Enum,
    ForeignKey, Generated, INTERVAL, Identity, IndexDefinition, Interval, IntervalArray,
    IntervalError, IntervalField, IntervalFields, IntervalUnit, JSON_EXTENSION, JSONB_EXTENSION,
    LABEL_BYTES_MAX, LABELS_MAX, NUMERIC_EXTENSION, Nested, NumericDigits, ReferentialAction,
    Sequence, SequencePosition, SequenceShape, StorageClass, TableSchema, UUID, UsedColumn,
    UsedRelation, ViewColumn, ViewSchema, array_from_datums, datum_from_array, interval_texts,
    is_numeric_text, schema_with_doubles, type_with_texts, uuid_of_text, uuid_text, uuid_texts,
    value_text, with_doubles, with_texts, write_double, write_real,
};
pub use types::{SCHEMA_SEPARATOR, TEMPORARY_PREFIX, is_temporary, schema_and_name};
