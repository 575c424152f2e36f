//! What this machine gives, measured in some milliseconds.

mod bandwidth;
mod look;
mod wake;

pub use bandwidth::measure_bandwidth;
pub use look::measure_look;
pub use wake::measure_wake;
