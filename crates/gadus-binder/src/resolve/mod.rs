//! Resolution of operators, functions and types, as chapter 10 of PostgreSQL's manual describes it.
//!
//! - [`candidates`]: the best signature for argument types, of which some are unknown.
//! - [`polymorphic`]: types that signatures leave open.
//! - [`coerce`]: conversions of expressions, with unknown literals and parameters.
//! - [`unify`]: one type for the branches of CASE, the rows of VALUES, both sides of UNION.

pub(crate) mod candidates;
pub(crate) mod coerce;
pub(crate) mod polymorphic;
pub(crate) mod unify;

pub(crate) use coerce::Coercion;
