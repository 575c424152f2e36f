//! Histories of transactions of many processes, some of them killed: whether each is what its
//! isolation level promises.
//!
//! - Every row has a version, which each update raises by one, and names its writer and the one
//!   before. So the order of each row's writers is known, also of those killed in their commit.
//! - What a process reads, writes and is told about its commits goes through a pipe that all share, a
//!   line at a time: what is in it survives the process, and its order is that of time.

mod checker;
mod graph;
mod log;
mod planted;
mod process;
