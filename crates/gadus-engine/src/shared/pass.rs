//! A pass: segments are dealt to workers, which answer all questions about each.
//!
//! - Any number of threads work at a pass, each with results of its own; a thread that is disturbed
//!   takes fewer segments.
//! - An error belongs to the questions that meet it.

use super::candidates::{Candidates, OpenSegment};
use super::check::keep;
use super::dealing::{Deal, Dealing};
use super::first_check::FirstChecks;
use super::found::Found;
use super::index::{BatchIndex, ColumnIndex, QuestionIndex};
use super::probe::probe;
use super::question::{Answer, Question};
use super::statistics::PassWork;
use crate::error::{Error, Result};
use crate::scan::{CHUNK_ROWS, SegmentFilter, from_segment, may_hold, open_columns};
use crate::scan_help::Worth;
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::tours::Seat;
use crate::vector::Rows;
use gadus_base::{Account, clock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::Builder;

/// Questions about one snapshot of a table, to be answered together.
#[derive(Debug)]
pub(crate) struct Pass {
    table: Table,
    questions: Vec<Question>,
    index: BatchIndex,
    segments: Vec<Arc<SegmentVersion>>,
    seat: Seat,
    dealing: Dealing,
}

/// Who is cancelled is asked before one of so many segments, a few milliseconds apart,
const CANCELLATIONS_EVERY: usize = 8;

/// and before each where there are fewer questions; whether a segment can answer any is asked, too.
const FEW: usize = 64;

/// What one worker has found.
#[derive(Debug)]
pub(crate) struct Work {
    candidates: Candidates,
    found: Vec<Result<Found>>,
    done: PassWork,
}

impl Pass {
    pub(crate) fn new(table: Table, questions: Vec<Question>, deal: Deal) -> Result<Self> {
        let questions = questions.into_iter().map(Question::simplified).collect::<Vec<_>>();
        let index = BatchIndex::build(&table, &questions)?;
        let segments = table.version().segments.values();
        let segments = segments.filter(|segment| segment.live_rows() > 0).cloned();
        let segments = segments.collect::<Vec<_>>();
        let seat = table.blobs().tours().begin(table.id(), |id| from_segment(&segments, id));
        let id = |dealt| seat.step(dealt, segments.len()).map_or(0, |place| segments[place].id.0);
        let dealing = Dealing::new(segments.len(), deal, id);
        Ok(Self { table, questions, index, segments, seat, dealing })
    }

    /// All that it answers.
    pub(crate) fn questions(&self) -> usize {
        self.questions.len()
    }

    /// Questions without a selective conjunct.
    pub(crate) fn lone_questions(&self) -> usize {
        self.index.lone.len()
    }

    /// How many questions are looked up by each column, and by none.
    pub(crate) fn looked_up(&self) -> &BTreeMap<Option<usize>, u64> {
        &self.index.looked_up
    }

    /// How its segments are dealt.
    pub(crate) fn dealing(&self) -> &Dealing {
        &self.dealing
    }

    /// A worker that has found nothing yet.
    pub(crate) fn begin(&self) -> Work {
        let nothing = || Ok(Found::Nothing);
        Work {
            candidates: Candidates::of(self.questions.len()),
            found: std::iter::repeat_with(nothing).take(self.questions.len()).collect(),
            done: PassWork::default(),
        }
    }

    /// Answers the questions about segment after segment of those that a worker may have, by its number,
    /// as long as there are any and it is to go on. `is_cancelled` is asked for a question by its place.
    /// What is read for it stands in what the worker has done.
    pub(crate) fn work(
        &self,
        mut work: Work,
        number: usize,
        is_cancelled: &dyn Fn(usize) -> bool,
        goes_on: &dyn Fn() -> bool,
    ) -> Work {
        let account = Arc::<Account>::default();
        account.charge(|| self.work_alone(&mut work, number, is_cancelled, goes_on));
        work.done.bytes += account.bytes();
        work
    }

    fn work_alone(
        &self,
        work: &mut Work,
        number: usize,
        is_cancelled: &dyn Fn(usize) -> bool,
        goes_on: &dyn Fn() -> bool,
    ) {
        while goes_on() {
            let Some(dealt) = self.dealing.take(number) else { return };
            let Some(place) = self.seat.step(dealt, self.segments.len()) else { return };
            let segment = &self.segments[place];
            self.seat.is_at(segment.id);
            if work.is_enough(&self.questions) {
                continue;
            }
            work.done.rows += u64::from(segment.rows);
            if dealt.is_multiple_of(CANCELLATIONS_EVERY) || self.questions.len() < FEW {
                work.leave_out(is_cancelled);
            }
            if self.questions.len() < FEW && !self.may_answer(segment) {
                continue;
            }
            work.done.read_rows += u64::from(segment.rows);
            let mut open = OpenSegment::new(&self.table, segment);
            let mut first = FirstChecks::new(&self.questions, &self.index.checks);
            for column in &self.index.columns {
                self.look_up(column, (&mut open, &mut first), place, work);
            }
            let began = clock().now();
            for &question in &self.index.lone {
                self.add(work, question, |found| self.evaluate(question, segment, place, found));
            }
            work.done.lone_time += began.elapsed();
        }
    }

    /// The work of somebody who broke off.
    pub(crate) fn broken(&self) -> Work {
        let failed = || Err(Error::internal("a shared scan broke off"));
        let found = self.questions.iter().map(|_| failed()).collect();
        Work { candidates: Candidates::of(0), found, done: PassWork::default() }
    }

    /// The answers, of all that the workers have found.
    pub(crate) fn finish(&self, works: Vec<Work>) -> Vec<Result<Answer>> {
        let mut works = works.into_iter();
        let nothing = || (0..self.questions.len()).map(|_| Ok(Found::Nothing)).collect();
        let mut all = works.next().map_or_else(nothing, |work| work.found);
        for work in works {
            let questions = all.iter_mut().zip(work.found).zip(&self.questions);
            for ((found, more), question) in questions {
                let before = std::mem::replace(found, Ok(Found::Nothing));
                *found = before.and_then(|before| before.with(more?, &question.wanted));
            }
        }
        let answer = |(question, found): (&Question, Result<Found>)| {
            let answer =
                found.and_then(|found| found.answer(question, &self.table, &self.segments));
            // What was read belongs to a snapshot that may have been given up meanwhile.
            self.table.checked(answer)
        };
        self.questions.iter().zip(all).map(answer).collect()
    }

    fn look_up<'t>(
        &self,
        column: &ColumnIndex,
        (open, first): (&mut OpenSegment<'t>, &mut FirstChecks<'t>),
        place: usize,
        work: &mut Work,
    ) {
        let began = clock().now();
        let probed = probe(column, open, first, &mut work.candidates);
        let probed_at = clock().now();
        let mut candidates = std::mem::replace(&mut work.candidates, Candidates::of(0));
        candidates.retain(|question, rows| {
            let (asked, checks) = self.asked(question);
            let is_left_out = probed.is_err() || work.found[question as usize].is_err();
            let kept = if is_left_out { Ok(()) } else { keep(asked, checks, open, rows) };
            if is_left_out || kept.is_err() {
                rows.clear();
            }
            self.add(work, question, |_| kept);
        });
        let checked_at = clock().now();
        candidates.drain(|question, rows| {
            let (asked, _) = self.asked(question);
            self.add(work, question, |found| {
                let segment = (open.segment, place);
                found.add(&asked.wanted, &self.table, segment, Rows::Positions(rows))
            });
        });
        work.candidates = candidates;
        work.done.probe_time += probed_at.since(began);
        work.done.check_time += checked_at.since(probed_at);
        work.done.fold_time += checked_at.elapsed();
        if let Err(error) = probed {
            for question in column.questions() {
                work.found[question as usize] = Err(error.clone());
            }
        }
    }

    /// Whether a segment may answer any question, by the bounds of all columns that are asked about.
    fn may_answer(&self, segment: &SegmentVersion) -> bool {
        // What cannot be told fails its question where it is read.
        let may = |question: &Question| may_hold(&self.table, segment, &question.predicates);
        self.questions.iter().any(|question| may(question).unwrap_or(true))
    }

    fn asked(&self, question: QuestionIndex) -> (&Question, &[usize]) {
        (&self.questions[question as usize], &self.index.checks[question as usize])
    }

    /// Adds to what is found for a question, unless that has failed.
    fn add(
        &self,
        work: &mut Work,
        question: QuestionIndex,
        more: impl FnOnce(&mut Found) -> Result<()>,
    ) {
        let entry = &mut work.found[question as usize];
        if let Ok(found) = entry
            && let Err(error) = more(found)
        {
            *entry = Err(error);
        }
    }

    /// Answers one question about one segment by itself.
    fn evaluate(
        &self,
        question: QuestionIndex,
        segment: &SegmentVersion,
        place: usize,
        found: &mut Found,
    ) -> Result<()> {
        let (question, _) = self.asked(question);
        let (table, predicates) = (&self.table, &question.predicates);
        if !may_hold(table, segment, predicates)? {
            return Ok(());
        }
        let columns = open_columns(table, segment, predicates)?;
        let filter = SegmentFilter::new(table, segment, predicates, &columns);
        let rows = segment.rows as usize;
        let wanted = &question.wanted;
        for first in (0..rows).step_by(CHUNK_ROWS) {
            if found.is_enough(wanted) {
                break;
            }
            let count = CHUNK_ROWS.min(rows - first);
            let mask = filter.chunk(first, count)?;
            if mask.is_all() {
                found.add(wanted, table, (segment, place), Rows::Range { first, count })?;
            } else if !mask.is_empty() {
                let positions = mask.positions(super::probe::position_of(first));
                found.add(wanted, table, (segment, place), Rows::Positions(&positions))?;
            }
        }
        Ok(())
    }
}

impl Work {
    /// What it took.
    pub(crate) fn done(&self) -> PassWork {
        self.done
    }

    /// Has what is cancelled fail.
    fn leave_out(&mut self, is_cancelled: &dyn Fn(usize) -> bool) {
        for (place, found) in self.found.iter_mut().enumerate() {
            if is_cancelled(place) {
                *found = Err(Error::cancelled());
            }
        }
    }

    /// Whether no question needs more rows.
    fn is_enough(&self, questions: &[Question]) -> bool {
        let mut found = self.found.iter().zip(questions);
        found.all(|(found, question)| match found {
            Ok(found) => found.is_enough(&question.wanted),
            Err(_) => true,
        })
    }
}

impl Table {
    /// Answers many questions in one pass, on up to `threads` threads. `is_cancelled` is asked for a
    /// question by its place: it then fails, and the others do not.
    pub fn answer(
        &self,
        questions: Vec<Question>,
        threads: usize,
        is_cancelled: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Vec<Result<Answer>>> {
        self.answer_counted(questions, threads, is_cancelled).map(|(answers, _)| answers)
    }

    /// The same, with the rows of those segments that might have answered any.
    pub fn answer_counted(
        &self,
        questions: Vec<Question>,
        threads: usize,
        is_cancelled: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<(Vec<Result<Answer>>, u64)> {
        questions.iter().try_for_each(|question| question.note(self))?;
        if let [question] = questions.as_slice()
            && let Some((answer, rows)) = self.answer_by_index(question)?
        {
            return Ok((vec![answer], rows));
        }
        let helpers = self.blobs().helpers();
        let worth = match &questions[..] {
            [question] => self.worth(question, threads),
            _ => Worth { threads, begins_alone: false },
        };
        let pass = Pass::new(self.clone(), questions, Deal::ToAll)?;
        let work = |begun: Work| pass.work(begun, 0, is_cancelled, &|| true);
        let mut begun = pass.begin();
        if let Some(from) = helpers.from().filter(|_| worth.begins_alone) {
            let began = clock().now();
            begun = pass.work(begun, 0, is_cancelled, &|| began.elapsed() <= from);
        }
        let works = std::thread::scope(|scope| {
            // Usually nothing is left for others by who was to do all of it.
            // Where the system has no more threads, this one does the work of all.
            let begin = |_| Builder::new().spawn_scoped(scope, || work(pass.begin())).ok();
            let others = (1..worth.threads.clamp(1, pass.dealing.left().max(1)))
                .map_while(begin)
                .collect::<Vec<_>>();
            let mut works = vec![work(begun)];
            for other in others {
                works.push(other.join().map_err(|_| Error::internal("a scan thread panicked"))?);
            }
            Ok::<_, Error>(works)
        })?;
        helpers.note(self.id(), works.iter().map(|work| work.done));
        works.iter().for_each(|work| Account::note(work.done.bytes));
        let rows = works.iter().map(|work| work.done.read_rows).sum();
        let answers = pass.finish(works).into_iter().enumerate();
        let answers = answers
            .map(
                |(place, answer)| {
                    if is_cancelled(place) { Err(Error::cancelled()) } else { answer }
                },
            )
            .collect();
        Ok((answers, rows))
    }
}

#[cfg(test)]
mod tests;
