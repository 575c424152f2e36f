//! Arrays with PostgreSQL's meaning: kernels over Arrow's lists.
//!
//! - An array of n dimensions is a list in n - 1 lists; plans know n of every array. An array without elements has no
//!   dimension, whatever its type.
//! - Elements are computed with where they are: kernels look at the values of the innermost lists, which are one Arrow array.
//! - Lower bounds are 1. Other bounds, and arrays whose parts have different lengths, are refused.
//! - Arrays are compared, ordered and grouped by keys ([`key_of`]).

mod accumulate;
mod assign;
mod call;
mod column;
mod combine;
mod construct;
mod dimensions;
mod elements;
mod keys;
mod quantified;
mod search;
mod series;
mod sets;
mod slices;
mod texts;
mod writer;

pub(crate) use call::{ArrayFunction, call};
pub(crate) use column::{DIMENSIONS_MAX, depth_of, is_array, leaf_of, list_of, of_leaf};
pub(crate) use elements::{ELEMENT, each_element, other_name};
pub(crate) use keys::key_of;
pub(crate) use slices::Subscript;
pub(crate) use texts::{literal, read_texts};

use crate::error::to_datafusion;
use datafusion::error::DataFusionError;
use gadus_engine::{Diagnosis, Error, ErrorKind};

/// Returns PostgreSQL's error of an array.
fn refused(sql_state: &'static str, message: impl Into<String>) -> DataFusionError {
    refused_with(sql_state, message, None)
}

/// Returns PostgreSQL's error of an array, with its detail.
fn refused_with(
    sql_state: &'static str,
    message: impl Into<String>,
    detail: Option<&str>,
) -> DataFusionError {
    let kind = match sql_state {
        "0A000" => ErrorKind::Unsupported,
        "54000" => ErrorKind::Limit,
        _ => ErrorKind::Input,
    };
    to_datafusion(Error::new(kind, message.into()).diagnosed(Diagnosis {
        sql_state: Some(sql_state),
        detail: detail.map(str::to_owned),
        hint: None,
        position: None,
    }))
}

/// Returns the error of an array whose first subscript is not 1.
fn other_lower_bound() -> DataFusionError {
    refused("0A000", "arrays with a lower bound other than 1 are not supported")
}

/// Returns the error of an array of more or fewer dimensions than its type in the plan.
fn other_depth(dimensions: usize, depth: usize) -> DataFusionError {
    refused(
        "0A000",
        format!("an array of {dimensions} dimensions among arrays of {depth} is not supported"),
    )
}

/// Returns the error of an array of too many dimensions.
fn too_many_dimensions(count: usize) -> DataFusionError {
    refused(
        "54000",
        format!(
            "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
        ),
    )
}

#[cfg(test)]
mod tests;
