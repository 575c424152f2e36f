//! Peers: other databases, each driven through what its own users use.
//!
//! - In Python the peer tells its own time, so that the way there does not count.

mod bare;
mod postgres;
mod python;

pub(super) use bare::Bare;
pub(super) use postgres::Postgres;
pub(super) use python::Python;
