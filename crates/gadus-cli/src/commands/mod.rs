//! The subcommands, one file each.

pub(crate) mod bookings;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod tpch;
