//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test may fail this way, its helpers too

mod conformance;
mod faults;
mod files;
mod trace;
