//! What the kernel tells of what runs now.
//!
//! - Counters since the system began, read twice: what happened between.
//! - Everything is read from /proc and /sys; nothing needs rights.

mod load;
mod others;
mod pressure;
mod room;

pub use load::{CpuTimes, Load, Loads};
pub use others::Others;
pub use pressure::{Pressure, pressure_of};
pub use room::{MemoryWatch, Room};
