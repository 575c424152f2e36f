//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too

mod crash;
mod faults;
mod ledger;
mod refusals;
mod share;
mod threads;
