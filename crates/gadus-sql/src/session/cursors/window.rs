//! A cursor's rows: those that it holds, and the stream that makes the rest.
//!
//! - Rows are numbered from 1. A cursor stands before the first one, on one, or behind the last.
//! - With SCROLL all that were made are held. Without, the last ones are, as PostgreSQL's cursors go back if their plans can;
//!   with NO SCROLL those from where it stands.
//! - What is held counts as what plans hold; beyond the limit of that no more are made.

use crate::memory::Memory;
use crate::rows::RowStream;
use crate::session::Flag;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use gadus_engine::{Diagnosis, Error, ErrorKind, Reason, Result};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of rows that a cursor holds without SCROLL, so that it can go back: a few batches.
const HELD_BYTES_MAX: usize = 8 << 20;

/// Rows to which a cursor goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scrolling {
    /// All rows.
    Whole,
    /// Rows that it still holds.
    Held,
    /// None.
    Forward,
}

/// Where a cursor goes, and which rows it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The next rows, so many; of none, the row that it stands on.
    Forward(u64),
    /// The rows before, the nearest first.
    Backward(u64),
    /// The row of a number, counted from the end where it is below 0.
    To(i64),
    /// The row so many further on, or back.
    By(i64),
}

/// A cursor's rows.
#[derive(Debug)]
pub(super) struct Window {
    /// Used by one at a time, as all of it is; the lock lets a session be shared by threads.
    stream: Mutex<RowStream>,
    scrolling: Scrolling,
    held: VecDeque<Held>,
    /// Rows before those that are held.
    before: u64,
    /// Rows that were made.
    made: u64,
    /// There are no more.
    is_whole: bool,
    /// Some could not be made.
    is_broken: bool,
    /// The row that it stands on: 0 before the first, one more than there are behind the last.
    at: u64,
    reservation: MemoryReservation,
    memory: Memory,
}

/// Rows as they were made.
#[derive(Debug)]
struct Held {
    batch: RecordBatch,
    bytes: usize,
}

impl Window {
    pub(super) fn new(stream: RowStream, scrolling: Scrolling, memory: &Memory) -> Self {
        let pool: Arc<dyn MemoryPool> = Arc::new(memory.clone());
        Self {
            stream: Mutex::new(stream),
            scrolling,
            held: VecDeque::new(),
            before: 0,
            made: 0,
            is_whole: false,
            is_broken: false,
            at: 0,
            reservation: MemoryConsumer::new("cursor").register(&pool),
            memory: memory.clone(),
        }
    }

    /// Rows that are still to be made are those of a statement that is ended by this.
    pub(super) fn continue_as(&mut self, flag: Arc<Flag>) {
        self.stream.get_mut().canceller().continue_as(flag);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Goes where it is told; how many rows there are on the way, and these rows where they are wanted.
    pub(super) async fn step(
        &mut self,
        step: Step,
        wants_rows: bool,
    ) -> Result<(u64, Vec<RecordBatch>)> {
        let (rows, is_backward) = match step {
            Step::Forward(0) | Step::Backward(0) => (self.here(), false),
            Step::Forward(count) => (self.forward(count, wants_rows).await?, false),
            Step::Backward(count) => (self.backward(count)?, true),
            Step::To(row) => {
                let row = match u64::try_from(row) {
                    Ok(row) => row,
                    Err(_) => {
                        self.make(u64::MAX, u64::MAX).await?;
                        (self.made + 1).saturating_sub(row.unsigned_abs())
                    }
                };
                (self.go_to(row).await?, false)
            }
            Step::By(rows) => (self.go_to(self.at.saturating_add_signed(rows)).await?, false),
        };
        let count = rows.end.saturating_sub(rows.start);
        let batches = match wants_rows && count > 0 {
            true => self.rows(rows, is_backward)?,
            false => Vec::new(),
        };
        Ok((count, batches))
    }

    /// The row that it stands on, if it stands on one.
    fn here(&self) -> Range<u64> {
        match (1..=self.made).contains(&self.at) {
            true => self.at..self.at + 1,
            false => 0..0,
        }
    }

    async fn forward(&mut self, count: u64, wants_rows: bool) -> Result<Range<u64>> {
        let (first, last) = (self.at.saturating_add(1), self.at.saturating_add(count));
        self.make(last, if wants_rows { first } else { last }).await?;
        let rows = first..last.min(self.made) + 1;
        self.at = last.min(self.made + 1);
        Ok(rows)
    }

    fn backward(&mut self, count: u64) -> Result<Range<u64>> {
        let first = self.at.saturating_sub(count);
        self.check_back(first)?;
        let rows = first.max(1)..self.at;
        self.at = first;
        Ok(rows)
    }

    async fn go_to(&mut self, row: u64) -> Result<Range<u64>> {
        if row < self.at || row <= self.before && row > 0 {
            self.check_back(row)?;
        }
        self.make(row, row).await?;
        self.at = row.min(self.made + 1);
        Ok(self.here())
    }

    /// Refuses to go back to a row if the cursor may not, or does not hold it any more.
    fn check_back(&self, row: u64) -> Result<()> {
        let hint = "Declare it with SCROLL option to enable backward scan.";
        match self.scrolling {
            Scrolling::Whole => Ok(()),
            Scrolling::Held if row.max(1) > self.before => Ok(()),
            Scrolling::Held => {
                let message = format!("the cursor does not hold row {} any more", row.max(1));
                Err(unsupported_row(message).diagnosed(hinted("0A000", hint)))
            }
            Scrolling::Forward => {
                let error = Error::new(ErrorKind::Input, "cursor can only scan forward");
                Err(error.because(Reason::NotInState).diagnosed(hinted("55000", hint)))
            }
        }
    }

    /// Makes rows up to this one, if there are so many; those before `needed` need not be held, but for the last.
    async fn make(&mut self, row: u64, needed: u64) -> Result<()> {
        while !self.is_whole && self.made < row {
            let next = self.stream.get_mut().next_batch().await;
            self.is_broken = next.is_err();
            let Some(batch) = next? else {
                self.is_whole = true;
                break;
            };
            if batch.num_rows() == 0 {
                continue;
            }
            let bytes = batch.get_array_memory_size();
            self.reservation.grow(bytes);
            self.made += batch.num_rows() as u64;
            self.held.push_back(Held { batch, bytes });
            match self.scrolling {
                Scrolling::Whole => {}
                Scrolling::Held if self.reservation.size() <= HELD_BYTES_MAX => {}
                Scrolling::Held | Scrolling::Forward => self.drop_before(needed),
            }
            let limit = self.memory.part(true).0;
            if self.held.len() > 1 && self.reservation.size() as u64 > limit {
                let message = "a cursor holds more rows than gadus.memory_limit allows: FETCH fewer at a time, and \
                               declare it without SCROLL";
                return Err(Error::new(ErrorKind::Limit, message));
            }
        }
        Ok(())
    }

    fn drop_before(&mut self, needed: u64) {
        while let [first, _, ..] = self.held.make_contiguous() {
            let (rows, bytes) = (first.batch.num_rows() as u64, first.bytes);
            if self.before + rows >= needed {
                return;
            }
            self.before += rows;
            self.reservation.shrink(bytes);
            self.held.pop_front();
        }
    }

    /// Rows that are held.
    fn rows(&self, rows: Range<u64>, is_backward: bool) -> Result<Vec<RecordBatch>> {
        let (mut found, mut before) = (Vec::new(), self.before);
        for Held { batch, .. } in &self.held {
            let (first, last) = (before + 1, before + batch.num_rows() as u64);
            before = last;
            let (from, to) = (rows.start.max(first), rows.end.min(last + 1));
            if from >= to {
                continue;
            }
            let (from, to) = (place(from - first), place(to - first));
            found.push(match is_backward {
                false => batch.slice(from as usize, (to - from) as usize),
                true => take_record_batch(batch, &UInt32Array::from_iter_values((from..to).rev()))?,
            });
        }
        if is_backward {
            found.reverse();
        }
        Ok(found)
    }
}

fn unsupported_row(message: String) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

fn hinted(sql_state: &'static str, hint: &str) -> Diagnosis {
    Diagnosis {
        sql_state: Some(sql_state),
        detail: None,
        hint: Some(hint.to_owned()),
        position: None,
    }
}

/// A place in a batch.
fn place(rows: u64) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
