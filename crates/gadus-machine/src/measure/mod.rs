//! What this machine gives, measured in some milliseconds.

mod bandwidth;
mod wake;

pub use bandwidth::measure_bandwidth;
pub use wake::measure_wake;
