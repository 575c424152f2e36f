//! The program as its users start it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail at any line, and says what it skips; the lint sees only test functions"
)]

mod backup;
mod backup_killed;
mod bench;
mod bench_builds;
mod check;
mod control_group;
mod cut_memory;
mod demo;
mod few_threads;
mod folder;
mod full_disk;
mod generate;
mod hostile_statements;
mod import;
mod kub;
mod limited;
mod load;
mod machine;
mod openers;
mod plot;
mod read_only;
mod reopening;
mod served;
mod sharing;
mod shell;
mod shells;
mod unread_rows;
mod users;
mod wire_client;
