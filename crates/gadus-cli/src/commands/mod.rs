//! The subcommands, one file or folder each, and the ledger that two of them share.

pub(crate) mod bench;
pub(crate) mod bookings;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod ledger;
pub(crate) mod locks;
pub(crate) mod tpch;
