//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too

mod abandoned;
mod child;
mod copies;
mod crash;
mod crowd;
mod cut_memory;
mod deaths;
mod explorer;
mod extents;
mod faults;
mod ledger;
mod long_records;
mod model_recycling;
mod namespaces;
mod place;
mod poisoned;
mod refusals;
mod replaced;
mod share;
mod spawned;
mod stopped;
mod threads;
