//! The lock table among processes, some of which are killed.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too

mod machine;
mod processes;
