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
mod extremes;
mod float_texts;
mod float_variance;
mod floats;
mod in_lists;
mod moving;
mod narrowing;
mod number_functions;
mod rewrite;
mod rounding;
mod single_sum;
mod sum;
mod times;
mod unions;

pub(crate) use arithmetic::CheckedArithmetic;
pub(crate) use coercion::{BesideOthers, Casts};
pub(crate) use extremes::{extremes, least};
pub(crate) use float_texts::{float_text, float_texts};
pub(crate) use float_variance::float_variance;
pub(crate) use floats::float_operator;
pub(crate) use moving::moving_aggregate;
pub(crate) use narrowing::{floats_of_texts, narrowed, narrowed_array};
pub(crate) use number_functions::number_function;
pub(crate) use rewrite::{cast_texts_beside, peers, rewritten_with_nodes};
pub(crate) use rounding::rounded_for;
pub(crate) use single_sum::single_sum;
pub(crate) use sum::checked_sum;
pub(crate) use times::seconds_for;
pub(crate) use unions::ReadAs;

use arrow::datatypes::{Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::{ReturnFieldArgs, ScalarUDFImpl};
use std::sync::Arc;

/// Returns the field of a function that is NULL if, and only if, an argument is.
fn strict_field(function: &dyn ScalarUDFImpl, args: &ReturnFieldArgs<'_>) -> Result<FieldRef> {
    let types = args.arg_fields.iter().map(|field| field.data_type().clone());
    let data_type = function.return_type(&types.collect::<Vec<_>>())?;
    let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
    Ok(Arc::new(Field::new(function.name(), data_type, is_nullable)))
}
