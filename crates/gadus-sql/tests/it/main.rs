//! SQL through the public face: one binary, because each would compile DataFusion's futures again.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too

mod kept;
mod modify;
mod queries;
mod support;
mod transactions;
