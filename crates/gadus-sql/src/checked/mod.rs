//! Arithmetic that fails rather than wrap, comparisons that do not fail, casts that round, and bytes as they are
//! written.
//!
//! - DataFusion adds, subtracts, multiplies and sums integers modulo their width. A wrong number is
//!   worse than an error.
//! - It compares doubles with decimals as decimals, which not all doubles are.

mod arithmetic;
mod bytes;
mod coercion;
mod doubles;
mod float_texts;
mod float_variance;
mod floats;
mod in_lists;
mod number_functions;
mod rewrite;
mod rounding;
mod sum;
mod times;
mod unions;

pub(crate) use arithmetic::CheckedArithmetic;
pub(crate) use coercion::{BesideOthers, Casts};
pub(crate) use float_texts::float_text;
pub(crate) use float_variance::float_variance;
pub(crate) use floats::float_operator;
pub(crate) use number_functions::number_function;
pub(crate) use rewrite::{cast_texts_beside, peers, rewritten_with_nodes};
pub(crate) use rounding::rounded_for;
pub(crate) use sum::checked_sum;
pub(crate) use times::seconds_for;
pub(crate) use unions::ReadAs;
