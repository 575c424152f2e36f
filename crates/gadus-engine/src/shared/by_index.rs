//! One question, answered by the rows that an index names.

use super::found::Found;
use super::question::{Answer, Question, Wanted};
use crate::error::Result;
use crate::scan::{IndexUse, NamedRows, look_up, look_up_first, passing};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::vector::Rows;
use std::sync::Arc;

impl Table {
    /// The index by which a question is better answered than by a scan, alone or shared.
    pub fn index_of_question(&self, question: &Question) -> Result<Option<IndexUse>> {
        self.index_for(&question.clone().simplified().predicates)
    }

    /// The rows that an index names for a question.
    fn named_rows(&self, question: &Question) -> Result<Option<NamedRows>> {
        let named = look_up(self, &question.predicates)?;
        if named.is_some() {
            return Ok(named);
        }
        let Wanted::First { order, count, .. } = &question.wanted else { return Ok(None) };
        let Some(by) = order.first() else { return Ok(None) };
        let by = (by.column, by.descending, by.nulls_first);
        look_up_first(self, &question.predicates, by, *count)
    }

    /// The answer, with the rows that were looked at; none where a scan is better.
    pub(super) fn answer_by_index(
        &self,
        question: &Question,
    ) -> Result<Option<(Result<Answer>, u64)>> {
        if self.version().keys.is_empty() {
            return Ok(None);
        }
        let question = question.clone().simplified();
        let Some(named) = self.checked(self.named_rows(&question))? else {
            return Ok(None);
        };
        let (mut found, mut rows) = (Ok(Found::Nothing), 0);
        let mut segments: Vec<Arc<SegmentVersion>> = Vec::with_capacity(named.segments.len());
        for (segment, positions) in named.segments {
            rows += positions.len() as u64;
            found = found.and_then(|mut found| {
                if !found.is_enough(&question.wanted) {
                    let rows = passing(self, (&segment, &positions), &question.predicates)?;
                    let place = (&*segment, segments.len());
                    if !rows.is_empty() {
                        found.add(&question.wanted, self, place, Rows::Positions(&rows))?;
                    }
                }
                Ok(found)
            });
            segments.push(segment);
        }
        let answer = found.and_then(|found| found.answer(&question, self, &segments));
        Ok(Some((self.checked(answer), rows)))
    }
}
