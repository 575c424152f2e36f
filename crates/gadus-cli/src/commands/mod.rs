//! The subcommands, one file or folder each, and what several of them share.

pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod bookings;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod hits;
pub(crate) mod import;
pub(crate) mod kub;
pub(crate) mod ledger;
pub(crate) mod locks;
pub(crate) mod machine;
pub(crate) mod serve;
pub(crate) mod tpch;

use std::time::Duration;

use gadus_base::clock;

/// Does nothing for a time.
pub(crate) fn pause(time: Duration) {
    let end = clock().now().plus(time);
    while !end.since(clock().now()).is_zero() {
        std::thread::park_timeout(end.since(clock().now()));
    }
}
