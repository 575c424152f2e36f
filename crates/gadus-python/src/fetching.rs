//! Rows on their way to Python.
//!
//! - A batch is read when its first row is fetched; its rows become objects some hundred at a time, or all at
//!   once where all are asked for.

use crate::batches::Gathered;
use crate::errors::{exception, no_more};
use crate::interrupts::{Watched, interruptible};
use crate::objects::tuples;
use gadus::Rows;
use gadus::arrow::array::RecordBatch;
use gadus::arrow::compute::concat_batches;
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
    /// Some rows were lost to an error or a signal: those behind them are not to pass for all.
    is_broken: bool,
}

impl Fetching {
    pub(crate) fn new(rows: Rows, watched: Watched) -> Self {
        let batch = RecordBatch::new_empty(rows.schema().clone());
        let ready = VecDeque::new();
        Self { rows, watched, batch, next: 0, made: 0, ready, is_broken: false }
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
        // With an error goes what was made before it.
        while self.make(py, usize::MAX).inspect_err(|_| self.is_broken = true)? {
            self.next = self.made;
            all.extend(self.ready.drain(..));
        }
        Ok(all)
    }

    /// The next rows, which stay to be fetched: as many, or all there are.
    pub(crate) fn peek(&mut self, py: Python<'_>, rows: usize) -> PyResult<Vec<Py<PyTuple>>> {
        while self.ready.len() < rows {
            if self.made == self.batch.num_rows() && !self.read(py)? {
                break;
            }
            self.make(py, rows - self.ready.len())?;
        }
        Ok(self.ready.iter().take(rows).map(|row| row.clone_ref(py)).collect())
    }

    /// The rows that are left: those of the batch that was begun, and those behind it.
    pub(crate) fn rest(self) -> PyResult<(RecordBatch, Rows)> {
        if self.is_broken {
            return Err(broken_off());
        }
        let count = self.batch.num_rows() - self.next;
        Ok((self.batch.slice(self.next, count), self.rows))
    }

    /// Reads all rows that are left.
    pub(crate) fn gather(&mut self, py: Python<'_>) -> PyResult<Gathered> {
        if self.is_broken {
            return Err(broken_off());
        }
        let begun = self.batch.slice(self.next, self.batch.num_rows() - self.next);
        let rows = &mut self.rows;
        let schema = rows.schema().clone();
        let gathered = interruptible(py, &self.watched, || {
            let mut batches = Vec::new();
            batches.extend(Some(begun).filter(|batch| batch.num_rows() > 0));
            while let Some(batch) = rows.next_batch()? {
                batches.push(batch);
            }
            Ok(batches)
        });
        let gathered = gathered.and_then(|batches| batches.map_err(|error| exception(py, &error)));
        let batches = gathered.inspect_err(|_| self.is_broken = true)?;
        Ok(Gathered::new(schema, batches))
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
            if !self.read(py)? {
                return Ok(false);
            }
        }
        let count = rows_max.min(self.batch.num_rows() - self.made);
        let objects = tuples(py, &self.batch.slice(self.made, count))?;
        self.ready.extend(objects.into_iter().map(Bound::unbind));
        self.made += count;
        Ok(true)
    }

    /// Reads one more batch behind the rows that were not fetched; false where there is none.
    fn read(&mut self, py: Python<'_>) -> PyResult<bool> {
        if self.is_broken {
            return Err(broken_off());
        }
        let rows = &mut self.rows;
        let batch = interruptible(py, &self.watched, || rows.next_batch());
        let batch = batch.and_then(|batch| batch.map_err(|error| exception(py, &error)));
        let Some(batch) = batch.inspect_err(|_| self.is_broken = true)? else { return Ok(false) };
        let left = self.batch.slice(self.next, self.batch.num_rows() - self.next);
        self.batch = match left.num_rows() {
            0 => batch,
            _ => concat_batches(batch.schema_ref(), [&left, &batch])
                .map_err(|error| exception(py, &error.into()))?,
        };
        (self.next, self.made) = (0, self.made - self.next);
        Ok(true)
    }
}

fn broken_off() -> PyErr {
    no_more("the rows were broken off by an error or a signal: run the statement again")
}
