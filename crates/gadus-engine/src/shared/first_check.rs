//! The first of a question's other conjuncts, held against a row as soon as it is looked up.
//!
//! - Most candidates fail it. They are dropped while the row's neighbours are at hand, instead of being
//!   noted for their question and looked at again.
//! - It may let too much pass, never too little: what stands behind it looks at all conjuncts.

use super::candidates::{Candidates, OpenSegment};
use super::check::is_within;
use super::index::QuestionIndex;
use super::question::Question;
use crate::encoding::Column;
use crate::scan::Prepared;
use crate::segment::column_number;
use std::sync::Arc;

/// Preparing a check for a segment costs about as much as noting this many rows.
const CANDIDATES_MIN: usize = 8;

/// The checks of one segment.
pub(super) struct FirstChecks<'a> {
    questions: &'a [Question],
    /// The places of each question's other predicates, the most selective first.
    checks: &'a [Vec<usize>],
    prepared: Vec<FirstCheck>,
    /// The columns that they are for.
    columns: Vec<(usize, Arc<Column>)>,
}

/// A check, small: there are thousands, and each is looked at in any order.
#[derive(Clone, Copy)]
enum FirstCheck {
    Unknown,
    /// There is none, or none that is a range of packed values.
    Everything,
    Within {
        /// The place of its column among the columns.
        slot: u8,
        negated: bool,
        low: u32,
        span: u32,
    },
}

impl<'a> FirstChecks<'a> {
    pub(super) fn new(questions: &'a [Question], checks: &'a [Vec<usize>]) -> Self {
        let prepared = vec![FirstCheck::Unknown; questions.len()];
        Self { questions, checks, prepared, columns: Vec::new() }
    }

    /// Whether a row of the base may answer a question; that of the first candidates is not known.
    #[inline]
    pub(super) fn may_pass(
        &mut self,
        question: QuestionIndex,
        row: usize,
        candidates: &Candidates,
        open: &mut OpenSegment<'_>,
    ) -> bool {
        let place = question as usize;
        if let FirstCheck::Unknown = self.prepared[place] {
            if candidates.count(question) < CANDIDATES_MIN {
                return true;
            }
            // A column that cannot be read fails the question later.
            self.prepared[place] = self.prepare(place, open).unwrap_or(FirstCheck::Everything);
        }
        let FirstCheck::Within { slot, negated, low, span } = self.prepared[place] else {
            return true;
        };
        let (_, column) = &self.columns[usize::from(slot)];
        let Some(packed) = column.packed() else { return true };
        is_within(column, packed.reader(), row, (low.into(), span.into()), negated)
    }

    fn prepare(&mut self, place: usize, open: &mut OpenSegment<'_>) -> Option<FirstCheck> {
        let predicate = &self.questions[place].predicates[*self.checks[place].first()?];
        if open.segment.overlay.has_patches(column_number(predicate.column)) {
            return None;
        }
        let column = open.column(predicate.column).ok()??;
        let Prepared::Span { low, span, negated, .. } = Prepared::new(&column, &predicate.test)
        else {
            return None;
        };
        let (low, span) = (u32::try_from(low).ok()?, u32::try_from(span).ok()?);
        let known = self.columns.iter().position(|(known, _)| *known == predicate.column);
        let slot = known.unwrap_or_else(|| {
            self.columns.push((predicate.column, column.clone()));
            self.columns.len() - 1
        });
        Some(FirstCheck::Within { slot: u8::try_from(slot).ok()?, negated, low, span })
    }
}
