//! Arithmetic that fails rather than wrap.
//!
//! - DataFusion adds, subtracts, multiplies and sums integers modulo their width. A wrong number is
//!   worse than an error.

mod arithmetic;
mod sum;

pub(crate) use arithmetic::CheckedArithmetic;
pub(crate) use sum::checked_sum;
