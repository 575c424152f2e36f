//! States of aggregates: sum, average, variance and standard deviation.
//!
//! - A state can be added to, merged with another, and subtracted from, as PostgreSQL's states: results have the
//!   greatest display scale that was added.
//! - NaN and infinities are counted apart from the sums, so that they can be removed.

mod accumulator;
mod bytes;
mod sum;
#[cfg(test)]
mod tests;
mod variance;

pub use sum::SumState;
pub use variance::VarianceState;
