//! Panics of what plans and runs a statement: they are errors of it, and its thread and session go on.
//!
//! - A statement that fails is undone, whatever it has done so far; what a panic leaves is undone in the same way.
//! - Arrow's builders panic where a batch becomes larger than their offsets can say.

use futures::{FutureExt, Stream, StreamExt};
use gadus_engine::{Error, ErrorKind, Result};
use std::any::Any;
use std::panic::AssertUnwindSafe;

/// Carries out a part of a statement.
pub(crate) async fn caught<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(told(&*panic)))
}

/// The same rows; a panic is an error that nothing comes behind.
pub(crate) fn caught_rows<T>(rows: impl Stream<Item = Result<T>>) -> impl Stream<Item = Result<T>> {
    let caught = AssertUnwindSafe(rows).catch_unwind();
    caught.map(|row| row.unwrap_or_else(|panic| Err(told(&*panic))))
}

fn told(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!(
        "a step of this statement broke off: {}; smaller values or fewer rows at a time may help",
        text.unwrap_or("it did not say why")
    );
    Error::new(ErrorKind::Internal, message)
}

#[cfg(test)]
mod tests;
