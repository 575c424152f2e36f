//! Login: limits for clients that have not authenticated yet.
//!
//! - Repeated failures delay further attempts, by address and by user (`throttle`).
//! - Connections that are still being opened are bounded apart from those of authenticated clients, so that
//!   strangers cannot take the latter's share (`half_open`).

mod half_open;
mod throttle;

pub(crate) use half_open::HalfOpen;
pub(crate) use throttle::Throttle;
