//! Functions of PostgreSQL that `gadus-functions` computes, as functions of columns.
//!
//! - A table of functions per subject says what each takes and gives, and which kernel computes a row.
//! - One implementation of DataFusion's trait serves them all: it chooses the overload (`overloads`), reads arguments
//!   (`arguments`), calls the kernel for each row and gathers its results (`results`).
//! - They replace functions of the same name that DataFusion has.

mod arguments;
mod bytes;
mod documents;
mod function;
mod json;
mod numbers;
mod operators;
mod overloads;
mod paths;
mod patterns;
mod results;
mod templates;
mod texts;
mod times;

pub(crate) use function::{of_function, told};
pub(crate) use operators::{PatternOperators, SimilarTo};
pub(crate) use patterns::{SUBSTRING, SUBSTRING_SIMILAR};

use crate::memory::Memory;
use datafusion::logical_expr::ScalarUDF;
use function::OfKernel;
use overloads::Function;
use std::sync::Arc;

/// All functions, by subject.
const TABLES: &[&[Function]] = &[
    bytes::FUNCTIONS,
    documents::FUNCTIONS,
    json::FUNCTIONS,
    numbers::FUNCTIONS,
    paths::FUNCTIONS,
    patterns::FUNCTIONS,
    templates::FUNCTIONS,
    texts::FUNCTIONS,
    times::FUNCTIONS,
];

/// Returns the functions, for all sessions.
pub(crate) fn scalar_functions(memory: &Memory) -> Vec<Arc<ScalarUDF>> {
    let functions = TABLES.iter().copied().flatten();
    functions.map(|function| of_kernel(function, memory)).collect()
}

/// Returns the function of a name, which is there.
pub(crate) fn named(name: &str, memory: &Memory) -> Arc<ScalarUDF> {
    let function = TABLES.iter().copied().flatten().find(|function| function.name == name);
    of_kernel(function.expect("the tables have the functions of operators"), memory)
}

fn of_kernel(function: &'static Function, memory: &Memory) -> Arc<ScalarUDF> {
    Arc::new(OfKernel::new(function, memory.clone()).into())
}
