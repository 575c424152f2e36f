//! Catalog of what is built in: casts, operators and functions, each by its signature.

#![allow(clippy::wildcard_imports)] // tables of signatures name every type

mod cast_table;
pub mod casts;
pub mod functions;
pub mod operators;

pub use casts::{CastContext, CastMethod, CastPath, find_cast, is_binary_coercible};
pub use functions::{Function, FunctionKind, Volatility};
pub use operators::Operator;

#[cfg(test)]
mod tests;
