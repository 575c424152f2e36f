//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too
#![allow(clippy::cast_possible_truncation)] // random numbers below small bounds

mod compaction;
mod crash;
mod faults;
mod history;
mod model;
mod old_snapshots;
mod reference;
mod serial;
mod threads;
mod transactions;
mod waiting;
