//! The crate through its public face.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too

mod aggregates;
mod bytes;
mod golden;
mod hostile;
mod identities;
mod random;
