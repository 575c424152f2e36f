//! The suite as others use it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail at any line, and says what it skips; the lint sees only test functions"
)]

mod os_denied;
