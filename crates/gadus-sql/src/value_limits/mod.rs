//! Limits of values that expressions make: one value, and all values of a batch.
//!
//! - DataFusion evaluates an expression for a batch of thousands of rows at once, into buffers of whatever size
//!   that takes, outside of any account. A function whose result may be far larger than its arguments
//!   (`repeat`, `replace`, `array_repeat`) then takes more memory than the machine has.
//! - So results are measured before they are made. The functions themselves (`functions`) refuse what is too
//!   large for one call. Operators whose expressions call such functions, or concatenate, get their input in slices
//!   whose results fit (`slices`).
//! - Where constants are folded during planning, they refuse far less: each rule copies, hashes and prints the
//!   constants of a plan, outside of any account and without a look whether the statement goes on. Constants of
//!   90 MB took 1.3 s. A call that is not folded is evaluated as the statement is executed.
//! - A statement's text is refused when its trees would take too much (`statement_size`).
//! - A value has at most 1 GB, as in PostgreSQL (54000), and no more than a part of `gadus.memory_limit`
//!   (53200).

mod functions;
mod result_size;
mod slices;
mod statement_size;
#[cfg(test)]
mod tests;
mod views;

pub(crate) use functions::bounded_functions;
pub(crate) use result_size::largest_and_all;
pub(crate) use slices::{SliceByBytes, is_amplifying_expression, is_sliced};
pub(crate) use statement_size::check_statement;
pub(crate) use views::{bytes_of_values, bytes_of_views, visible};

use crate::error::{limit, to_datafusion};
use crate::executor::is_planning;
use crate::memory::Memory;
use datafusion::common::{DataFusionError, Result};
use gadus_base::ByteCount;
use gadus_engine::Reason;

/// The largest value, as in PostgreSQL.
const VALUE_BYTES_MAX: u64 = 1 << 30;

/// A value takes at most this part of the memory limit: it is copied on its way, some copies at a time.
const VALUE_PART: u64 = 4;

/// The results of one slice take at most this part of the memory limit: each thread of each statement has several on
/// their way to a client, which may be slow to read them.
const SLICE_PART: u64 = 128;

/// Results of a slice that are worth while in any case, and enough in any case.
const SLICE_BYTES_MIN: u64 = 1 << 20;
const SLICE_BYTES_MAX: u64 = 8 << 20;

/// What one call may make in any case.
const CALL_BYTES_MIN: u64 = 8 << 20;

/// The largest result that becomes a constant of a plan.
const CONSTANT_BYTES_MAX: u64 = 1 << 20;

/// Returns the bytes that results of one slice may take.
fn slice_bytes(memory: &Memory) -> u64 {
    (memory.limit().0 / SLICE_PART).clamp(SLICE_BYTES_MIN, SLICE_BYTES_MAX)
}

/// Returns the bytes that one call may make: a slice is cut by estimates, which may be too low.
fn call_bytes(memory: &Memory) -> u64 {
    (memory.limit().0 / VALUE_PART).max(CALL_BYTES_MIN)
}

/// Returns the bytes that a function may make of one row, or fold into a constant.
pub(crate) fn result_bytes_max(memory: &Memory) -> usize {
    let bytes = match is_planning() {
        true => CONSTANT_BYTES_MAX,
        false => call_bytes(memory).min(VALUE_BYTES_MAX),
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Refuses a value of so many bytes that is about to be made.
pub(crate) fn check_value(what: &str, bytes: u64, memory: &Memory) -> Result<()> {
    if bytes > VALUE_BYTES_MAX {
        let message = format!(
            "requested length too large: {what} gives a value of {}; the limit is 1 GB",
            ByteCount(bytes)
        );
        return Err(to_datafusion(limit(message).because(Reason::TooLarge)));
    }
    check_call(what, bytes, memory)
}

/// Refuses results of so many bytes that are about to be made at once.
fn check_call(what: &str, bytes: u64, memory: &Memory) -> Result<()> {
    if bytes <= call_bytes(memory) {
        return Ok(());
    }
    Err(DataFusionError::ResourcesExhausted(format!(
        "out of memory: {what} gives {} at once; gadus.memory_limit is {}, raise it",
        ByteCount(bytes),
        memory.limit()
    )))
}

/// Refuses a result of so many bytes as a constant of a plan, so that it is made as the statement is executed.
fn check_constant(what: &str, bytes: u64) -> Result<()> {
    if bytes <= CONSTANT_BYTES_MAX {
        return Ok(());
    }
    let bytes = ByteCount(bytes);
    Err(DataFusionError::Execution(format!("{what} gives {bytes}, too much for a constant")))
}
