//! Interrupt checks of loops over rows: a cancelled statement ends within some milliseconds.
//!
//! - Only work of a transaction that can be undone checks, before its record is in the log.

use crate::error::{Error, Result};
use gadus_base::is_interrupted;

/// Rows that a loop handles between two checks: at some microseconds each, a few milliseconds.
const ROWS_PER_CHECK: u32 = 1024;

/// Bytes of values that a loop copies between two checks: a few milliseconds, too.
const BYTES_PER_CHECK: usize = 4 << 20;

/// Check for interrupts in a loop over rows, made once every some of them.
#[derive(Debug, Default)]
pub struct InterruptCheck {
    rows: u32,
    bytes: usize,
}

impl InterruptCheck {
    /// Counts a row.
    ///
    /// # Errors
    /// `Cancelled` if the statement that this thread works for is to end.
    pub fn row(&mut self) -> Result<()> {
        self.row_of(0)
    }

    /// Counts a row of which so many bytes are copied.
    ///
    /// # Errors
    /// As [`Self::row`].
    pub fn row_of(&mut self, bytes: usize) -> Result<()> {
        self.rows += 1;
        self.bytes += bytes;
        if self.rows < ROWS_PER_CHECK && self.bytes < BYTES_PER_CHECK {
            return Ok(());
        }
        *self = Self::default();
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

#[cfg(test)]
mod tests {
    use super::{BYTES_PER_CHECK, InterruptCheck, ROWS_PER_CHECK};
    use gadus_base::{Interrupt, interruptible};
    use std::sync::Arc;

    #[derive(Debug)]
    struct Always;

    impl Interrupt for Always {
        fn is_requested(&self) -> bool {
            true
        }
    }

    /// Returns the number of rows of so many bytes that are counted before a check.
    fn counted(bytes: usize) -> usize {
        let mut check = InterruptCheck::default();
        interruptible(Some(Arc::new(Always)), || {
            (0..).take_while(|_| check.row_of(bytes).is_ok()).count()
        })
    }

    #[test]
    fn checks_are_made_by_rows_and_by_bytes() {
        assert_eq!(counted(0), ROWS_PER_CHECK as usize - 1);
        assert_eq!(counted(BYTES_PER_CHECK / 4), 3);
        assert_eq!(counted(2 * BYTES_PER_CHECK), 0);
    }
}
