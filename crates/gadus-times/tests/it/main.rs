//! The crate through its public face: golden results of PostgreSQL, identities, styles and hostile calls.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure ends the test

mod call_values;
mod calls;
mod golden;
mod hostile;
mod identities;
mod random;
mod styles;
