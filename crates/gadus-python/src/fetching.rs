//! Rows on their way to Python.
//!
//! - A batch is read when its first row is fetched; its rows become objects some hundred at a time, or all at
//!   once where all are asked for.

use crate::errors::exception;
use crate::interrupts::{Watched, interruptible};
use crate::objects::tuples;
use gadus::Rows;
use gadus::arrow::array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::VecDeque;

/// Rows that become objects together, where they are fetched one by one.
const ROWS_TOGETHER: usize = 256;

/// Rows on their way.
pub(crate) struct Fetching {
    rows: Rows,
    watched: Watched,
    /// The batch from which rows are fetched, the first row of it that was not, and the first that is no
    /// object yet.
    batch: RecordBatch,
    next: usize,
    made: usize,
    /// The rows between these two.
    ready: VecDeque<Py<PyTuple>>,
}

impl Fetching {
    pub(crate) fn new(rows: Rows, watched: Watched) -> Self {
        let batch = RecordBatch::new_empty(rows.schema().clone());
        Self { rows, watched, batch, next: 0, made: 0, ready: VecDeque::new() }
    }

    /// The next row; none behind the last.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        if self.ready.is_empty() && !self.make(py, ROWS_TOGETHER)? {
            return Ok(None);
        }
        self.next += 1;
        Ok(self.ready.pop_front())
    }

    /// All rows that are left.
    pub(crate) fn all(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyTuple>>> {
        let mut all = Vec::new();
        while self.make(py, usize::MAX)? {
            self.next = self.made;
            all.extend(self.ready.drain(..));
        }
        Ok(all)
    }

    /// The next rows, which stay to be fetched: as many, or those of one batch.
    pub(crate) fn peek(&mut self, py: Python<'_>, rows: usize) -> PyResult<Vec<Py<PyTuple>>> {
        let missing = rows.saturating_sub(self.ready.len());
        if missing > 0 {
            self.make(py, missing)?;
        }
        Ok(self.ready.iter().take(rows).map(|row| row.clone_ref(py)).collect())
    }

    /// The rows that are left: those of the batch that was begun, and those behind it.
    pub(crate) fn rest(self) -> (RecordBatch, Rows) {
        let count = self.batch.num_rows() - self.next;
        (self.batch.slice(self.next, count), self.rows)
    }

    /// Ends the query without the interpreter's lock: it may have threads to wait for.
    pub(crate) fn give_up(self, py: Python<'_>) {
        let Self { rows, batch, ready, .. } = self;
        drop(ready);
        py.detach(|| drop((rows, batch)));
    }

    /// Makes objects of the next rows, some at most; false where there are none.
    fn make(&mut self, py: Python<'_>, rows_max: usize) -> PyResult<bool> {
        while self.made == self.batch.num_rows() {
            if !self.ready.is_empty() {
                return Ok(true);
            }
            let rows = &mut self.rows;
            let batch = interruptible(py, &self.watched, || rows.next_batch())?;
            let batch = batch.map_err(|error| exception(py, &error))?;
            let Some(batch) = batch else { return Ok(false) };
            (self.batch, self.next, self.made) = (batch, 0, 0);
        }
        let count = rows_max.min(self.batch.num_rows() - self.made);
        let objects = tuples(py, &self.batch.slice(self.made, count))?;
        self.ready.extend(objects.into_iter().map(Bound::unbind));
        self.made += count;
        Ok(true)
    }
}
