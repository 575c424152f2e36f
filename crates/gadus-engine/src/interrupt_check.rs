//! Interrupt checks of loops over rows: a cancelled statement ends within some milliseconds.
//!
//! - Only work of a transaction that can be undone checks, before its record is in the log.

use crate::error::{Error, Result};
use gadus_base::is_interrupted;

/// Rows that a loop handles between two checks: at some microseconds each, a few milliseconds.
const ROWS_PER_CHECK: u32 = 1024;

/// Check for interrupts in a loop over rows, made once every some of them.
#[derive(Debug, Default)]
pub struct InterruptCheck {
    rows: u32,
}

impl InterruptCheck {
    /// Counts a row.
    ///
    /// # Errors
    /// `Cancelled` if the statement that this thread works for is to end.
    pub fn row(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows < ROWS_PER_CHECK {
            return Ok(());
        }
        self.rows = 0;
        check_interrupt()
    }
}

/// Bytes that are encoded between two checks: a few milliseconds.
const BYTES_PER_CHECK: usize = 4 << 20;

/// Check for interrupts in a loop that encodes values, made once every some bytes.
#[derive(Debug, Default)]
pub(crate) struct EncodingCheck {
    checked: usize,
}

impl EncodingCheck {
    /// Notes how many bytes there are by now.
    pub(crate) fn at(&mut self, length: usize) -> Result<()> {
        if length < self.checked + BYTES_PER_CHECK {
            return Ok(());
        }
        self.checked = length;
        check_interrupt()
    }
}

/// Refuses to go on with a statement that is to end.
pub(crate) fn check_interrupt() -> Result<()> {
    match is_interrupted() {
        true => Err(Error::cancelled()),
        false => Ok(()),
    }
}
