//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too
#![allow(clippy::cast_possible_truncation)] // random numbers below small bounds

mod alter;
#[path = "../../../gadus-storage/tests/it/child.rs"]
#[allow(dead_code, reason = "each crate's tests use some of it")]
mod child;
mod compaction;
mod cores;
mod crash;
mod deaths;
mod faults;
mod history;
mod indexes;
mod interrupts;
mod long_values;
mod measured;
mod model;
mod modify;
mod old_snapshots;
mod questions;
mod reference;
mod serial;
mod serializable;
mod small_disks;
mod threads;
mod transactions;
mod updates;
mod waiting;
