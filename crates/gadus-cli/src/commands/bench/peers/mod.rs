//! Peers: other databases, each driven through what its own users use.
//!
//! - In Python the peer tells its own time, so that the way there does not count.

mod bare;
mod endpoint;
mod postgres;
mod python;
mod served;

pub(super) use bare::Bare;
pub(super) use endpoint::Endpoint;
pub(super) use postgres::Postgres;
pub(super) use python::Python;
pub(super) use served::Served;
