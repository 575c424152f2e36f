//! The embedded API, as programs use it.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail at any line; the lint sees only test functions"
)]

mod altering;
mod anomalies;
mod asynchronous;
mod backup;
mod catalog;
mod checks;
mod clients;
mod clock;
mod comments;
mod compressed;
mod constraints;
mod costs;
mod cursors;
mod dependent;
mod endless;
mod enums;
mod files;
mod first_rows;
mod foreign_keys;
mod fork;
mod forms;
mod frames;
mod functions;
mod generated;
mod grace_joins;
mod history;
mod hostile_lock_file;
mod idle;
mod indexes;
mod intervals;
mod json;
mod kept_rows;
mod limits;
mod lists;
mod locks;
mod log_end;
mod many;
mod memory;
mod mended;
mod merge_joins;
mod merging;
mod nested;
mod nested_loops;
mod order_keys;
mod ordered;
mod overriding;
mod partitioned;
mod prepared_by_name;
mod reach;
mod rejects;
mod rounding;
mod row_values;
mod rows;
mod scalar_functions;
mod schemas;
mod sequences;
mod serializable;
mod serializable_model;
mod serializable_sessions;
mod settings;
mod share;
mod spilled_windows;
mod statement;
mod statements;
mod subqueries;
mod temporary;
mod threads;
mod uuids;
mod value_limits;
mod views;
mod with_before;
