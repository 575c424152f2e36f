//! What a worker holds of the segment at hand: its columns, and the rows that may answer questions.

use super::index::QuestionIndex;
use crate::encoding::Column;
use crate::error::Result;
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use std::sync::Arc;

/// Rows that may answer questions, by question.
#[derive(Debug)]
pub(super) struct Candidates {
    rows: Vec<Vec<u32>>,
    /// Questions that have some.
    touched: Vec<QuestionIndex>,
}

/// A segment whose columns are opened once.
#[derive(Debug)]
pub(super) struct OpenSegment<'a> {
    pub(super) table: &'a Table,
    pub(super) segment: &'a SegmentVersion,
    columns: Vec<Option<Arc<Column>>>,
}

impl Candidates {
    pub(super) fn of(questions: usize) -> Self {
        Self { rows: vec![Vec::new(); questions], touched: Vec::new() }
    }

    /// How many a question has.
    pub(super) fn count(&self, question: QuestionIndex) -> usize {
        self.rows[question as usize].len()
    }

    pub(super) fn push(&mut self, question: QuestionIndex, position: u32) {
        let rows = &mut self.rows[question as usize];
        if rows.is_empty() {
            self.touched.push(question);
        }
        rows.push(position);
    }

    /// Hands the rising candidates of each question to `keep`, which keeps what it likes.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(QuestionIndex, &mut Vec<u32>)) {
        for &question in &self.touched {
            let rows = &mut self.rows[question as usize];
            if !rows.is_sorted_by(|one, next| one < next) {
                rows.sort_unstable();
                rows.dedup();
            }
            keep(question, rows);
        }
    }

    /// Hands those that were retained to `each`; then there are none.
    pub(super) fn drain(&mut self, mut each: impl FnMut(QuestionIndex, &[u32])) {
        for question in self.touched.drain(..) {
            let rows = &mut self.rows[question as usize];
            if !rows.is_empty() {
                each(question, rows);
            }
            rows.clear();
        }
    }
}

impl<'a> OpenSegment<'a> {
    pub(super) fn new(table: &'a Table, segment: &'a SegmentVersion) -> Self {
        Self { table, segment, columns: vec![None; table.schema().columns.len()] }
    }

    /// A column of the base, where there is a base.
    pub(super) fn column(&mut self, column: usize) -> Result<Option<Arc<Column>>> {
        let Some(base) = &self.segment.encoded else { return Ok(None) };
        if self.columns[column].is_none() {
            let opened = base.column(self.table.schema(), self.table.blobs(), column)?;
            self.columns[column] = Some(opened);
        }
        Ok(self.columns[column].clone())
    }
}
