//! Names and types of SQL statements, resolved by PostgreSQL's rules.
//!
//! - A syntax tree becomes a bound query: a small tree of relational operators in which every column has a number, every
//!   expression a type, and every conversion is written out. Changes are operators that give the rows of RETURNING.
//! - Types, casts, operators and functions are tables ([`catalog`]); which one is meant is decided as in chapter 10 of
//!   PostgreSQL's manual (`resolve`).
//! - Correlated queries are made joins (`unnest`).
//! - Trees are at most as deep as the grammar allows, which may take a stack of 128 MiB: copies, comparisons and the end of
//!   their lives are recursive.
//! - Knows neither Arrow, DataFusion nor the engine: relations come from a [`Provider`].

mod bind;
pub mod bound;
pub mod catalog;
mod error;
mod literals;
mod provider;
mod resolve;
pub mod types;
mod unnest;

pub use bind::{BoundStatement, bind_query, bind_statement};
pub use error::{BindError, Result};
pub use literals::{ArrayText, read_array};
pub use provider::{Generation, Provider, Relation, RelationColumn, RelationId, UniqueIndex};
