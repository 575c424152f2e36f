//! Exact arithmetic, division, and rounding, with PostgreSQL's scales of results.
//!
//! - Operands of up to 128 bits are computed without allocation as long as the results fit; each function has that way
//!   first, and the one for any operands after it.

mod add;
mod divide;
mod integers;
mod multiply;
mod rounding;
mod scales;
mod signs;
#[cfg(test)]
mod tests;
mod width_bucket;

pub(crate) use divide::division_scale;
