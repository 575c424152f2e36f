//! The subcommands, one file or folder each.

pub(crate) mod bench;
pub(crate) mod bookings;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod tpch;
