//! What waits for the next pass of each table, and when that begins.
//!
//! - One pass of a table at a time; it takes what waits in the order of arrival, up to a bound for
//!   questions and one for modifications.
//! - A lone statement does not wait. After a pass that has answered many, the next one gathers: as long
//!   as statements have come faster since than the last pass answered them, or modifications are still
//!   carried out, and others that had an answer may still come back. Otherwise two halves of the askers take
//!   turns, and each pays for whole passes.

use super::asked::Ticket;
use super::limits::ScanLimits;
use super::modify::Modification;
use super::pace::Paces;
use super::question::Question;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::types::TableSchema;
use gadus_base::{Instant, TableId};
use gadus_storage::Durability;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Questions and modifications that wait for one table, at most each: so many answers nobody takes in
/// a second.
const WAITING_MAX: usize = 65_536;

/// A pass that has answered fewer is not gathered for: a moment is more than it would save.
const GATHER_MIN: usize = 32;

/// Modifications that are still carried out are waited for during this part of the last pass's time at most.
const WRITES_PART_MAX: u32 = 2;

/// Who gathers looks each time this part of it is over.
const LOOK_PART: u32 = 32;

/// How fast statements come is judged after this part of the last pass's time: a client reads its answers before it
/// asks again, and the first ones are the slowest.
const JUDGE_PART: u32 = 8;

/// Part of the expected statements that have to be there when a pass begins, for its clients to be known to come back.
const RETURNED_PART: f64 = 0.75;

/// Clients that are known to come back have so many times as long, and need not come faster than one in so many of
/// those that the last pass answered: a pass that begins with a tenth of them costs nearly as much as one with all.
const PATIENCE: u32 = 2;

/// Nothing is gathered for any more once no statement has come for this part of the last pass's time,
const SILENT_PART: u32 = 4;

/// but not before this: a client may stand still for some time slices beside a busy program.
const SILENT_MIN: Duration = Duration::from_millis(12);

/// A question that waits.
#[derive(Debug)]
pub(super) struct WaitingQuestion {
    pub(super) schema: Arc<TableSchema>,
    pub(super) question: Question,
    pub(super) ticket: Ticket,
}

/// A modification that waits.
#[derive(Debug)]
pub(super) struct WaitingModification {
    pub(super) schema: Arc<TableSchema>,
    pub(super) modification: Modification,
    pub(super) durability: Durability,
    /// Keeps the database open until the modification is carried out.
    pub(super) engine: Engine,
    pub(super) ticket: Ticket,
}

/// What one pass takes.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) questions: Vec<WaitingQuestion>,
    pub(super) modifications: Vec<WaitingModification>,
}

/// How many a pass takes at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) questions: usize,
    pub(super) modifications: usize,
    /// Whether a pass may wait for more to come.
    pub(super) may_gather: bool,
}

/// A pass that is over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    pub(super) answered: usize,
    /// The statements that waited when its answers were about to be given. Of those that wait when all are given,
    /// some are already the next ones of clients that have their answers.
    pub(super) before: usize,
    pub(super) took: Duration,
}

/// The queues of all tables that are asked about.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// In turn.
    queues: VecDeque<Queue>,
}

#[derive(Debug)]
struct Queue {
    table: TableId,
    questions: VecDeque<WaitingQuestion>,
    modifications: VecDeque<WaitingModification>,
    has_pass: bool,
    /// When that is expected to end.
    ends: Option<Instant>,
    gathering: Option<Gathering>,
    /// True if most of those that the last pass gathered for had come when it began.
    returned: bool,
}

/// A moment in which a pass does not begin unless all are there.
///
/// All that have come since it began count, not those of the last look: where others are busy, who asks may
/// stand still for a few milliseconds, and comes all the same.
#[derive(Debug)]
struct Gathering {
    expected: usize,
    /// The questions of one pass, at most: more are not waited for.
    full: usize,
    /// True if clients came back the last time.
    returned: bool,
    /// What the last pass answered, and how long that took.
    answered: usize,
    took: Duration,
    began: Instant,
    /// How many waited when the last pass's answers were about to be given.
    before: usize,
    looked: Instant,
    /// When the last statement came.
    last_came: Instant,
}

impl Batch {
    /// How many it takes.
    pub(super) fn statements(&self) -> usize {
        self.questions.len() + self.modifications.len()
    }

    /// Of all that it takes.
    pub(super) fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        let questions = self.questions.iter().map(|waiting| &waiting.ticket);
        questions.chain(self.modifications.iter().map(|waiting| &waiting.ticket))
    }
}

impl Queues {
    /// Returns whether a thread should look whether a pass may begin.
    pub(super) fn push_question(&mut self, waiting: WaitingQuestion, now: Instant) -> Result<bool> {
        let queue = self.queue(waiting.schema.id);
        refuse_more(queue.questions.len(), &waiting.schema)?;
        queue.questions.push_back(waiting);
        Ok(queue.has_grown(now))
    }

    /// As [`Queues::push_question`].
    pub(super) fn push_modification(
        &mut self,
        waiting: WaitingModification,
        now: Instant,
    ) -> Result<bool> {
        let queue = self.queue(waiting.schema.id);
        refuse_more(queue.modifications.len(), &waiting.schema)?;
        queue.modifications.push_back(waiting);
        Ok(queue.has_grown(now))
    }

    /// Whether somebody waits, or has a pass.
    pub(super) fn is_busy(&self) -> bool {
        self.queues.iter().any(|queue| queue.has_pass || queue.waiting() > 0)
    }

    /// Whether a pass may begin, now or soon.
    pub(super) fn waits(&self) -> bool {
        self.queues.iter().any(|queue| !queue.has_pass && queue.waiting() > 0)
    }

    /// What may begin now: it then has a pass. `writes` says that some wait for their modifications to
    /// be carried out.
    pub(super) fn begin(
        &mut self,
        limits: &ScanLimits,
        paces: &Paces,
        writes: bool,
        now: Instant,
    ) -> Option<(TableId, Batch)> {
        let place = self.queues.iter_mut().position(|queue| queue.is_ready(writes, now))?;
        let mut queue = self.queues.remove(place)?;
        let (table, pace) = (queue.table, paces.get(&queue.table));
        let bounds = limits.bounds(pace);
        if let Some(gathering) = &queue.gathering {
            queue.returned = gathering.has_most(queue.waiting());
        }
        let batch = Batch {
            questions: first(&mut queue.questions, bounds.questions),
            modifications: first(&mut queue.modifications, bounds.modifications),
        };
        (queue.has_pass, queue.gathering) = (true, None);
        queue.ends = pace.map(|pace| now.plus(pace.pass_of(batch.statements())));
        self.queues.push_back(queue);
        Some((table, batch))
    }

    /// When to look again; none where nobody waits.
    pub(super) fn next_look(&self) -> Option<Instant> {
        let gathering = |queue: &Queue| {
            let waits = !queue.has_pass && queue.waiting() > 0;
            queue.gathering.as_ref().filter(|_| waits).map(Gathering::next_look)
        };
        self.queues.iter().filter_map(gathering).min()
    }

    /// About when a statement is answered that comes now: after the pass under way, those that all
    /// who wait already make, and its own; none where no pass was made yet.
    pub(super) fn expected(
        &self,
        table: TableId,
        limits: &ScanLimits,
        paces: &Paces,
        now: Instant,
    ) -> Option<Duration> {
        let pace = paces.get(&table)?;
        let queue = self.queues.iter().find(|queue| queue.table == table);
        let ends = queue.and_then(|queue| queue.ends.filter(|_| queue.has_pass));
        let under_way = ends.map_or(Duration::ZERO, |ends| ends.since(now));
        let waiting = queue.map_or(0, Queue::waiting);
        let bounds = limits.bounds(Some(pace));
        let most = bounds.questions + bounds.modifications;
        let full = u32::try_from(waiting / most).unwrap_or(u32::MAX);
        let last = pace.pass_of(waiting % most + 1);
        Some(under_way + pace.pass_of(most).saturating_mul(full) + last)
    }

    /// Whether more wait for a table than its next pass takes.
    pub(super) fn overflows(&self, table: TableId, bounds: Bounds) -> bool {
        let queue = self.queues.iter().find(|queue| queue.table == table);
        queue.is_some_and(|queue| {
            queue.questions.len() >= bounds.questions
                || queue.modifications.len() >= bounds.modifications
        })
    }

    /// The statements that wait for a table.
    pub(super) fn waiting(&self, table: TableId) -> usize {
        self.queues.iter().find(|queue| queue.table == table).map_or(0, Queue::waiting)
    }

    /// Ends a table's pass, which has answered so many.
    pub(super) fn end(&mut self, table: TableId, ended: Ended, bounds: Bounds, now: Instant) {
        let Ended { answered, before, took } = ended;
        let queue = self.queue(table);
        queue.has_pass = false;
        if answered >= GATHER_MIN && bounds.may_gather {
            let expected = (before + answered).min(bounds.questions + bounds.modifications);
            let (full, returned) = (bounds.questions, queue.returned);
            let [began, looked, last_came] = [now; 3];
            queue.gathering = Some(Gathering {
                expected,
                full,
                returned,
                answered,
                took,
                began,
                before,
                looked,
                last_came,
            });
        } else if queue.waiting() == 0 {
            self.queues.retain(|queue| queue.table != table);
        }
    }

    fn queue(&mut self, table: TableId) -> &mut Queue {
        let known = self.queues.iter().position(|queue| queue.table == table);
        let place = known.unwrap_or_else(|| {
            self.queues.push_back(Queue::of(table));
            self.queues.len() - 1
        });
        &mut self.queues[place]
    }
}

impl Queue {
    fn of(table: TableId) -> Self {
        let (questions, modifications, ends) = Default::default();
        let (has_pass, gathering, returned) = (false, None, false);
        Self { table, questions, modifications, has_pass, ends, gathering, returned }
    }

    fn waiting(&self) -> usize {
        self.questions.len() + self.modifications.len()
    }

    /// One more waits; returns whether somebody should look at that.
    fn has_grown(&mut self, now: Instant) -> bool {
        let waiting = self.waiting();
        if let Some(gathering) = self.gathering.as_mut() {
            gathering.last_came = now;
            if waiting == 1 {
                // The first one has others behind it.
                (gathering.began, gathering.looked, gathering.before) = (now, now, 0);
            }
        }
        let is_full = self.gathering.as_ref().is_some_and(|gathering| {
            waiting == gathering.expected || self.questions.len() == gathering.full
        });
        !self.has_pass && (waiting == 1 || is_full)
    }

    fn is_ready(&mut self, writes: bool, now: Instant) -> bool {
        let waiting = self.waiting();
        if self.has_pass || waiting == 0 {
            return false;
        }
        let questions = self.questions.len();
        self.gathering.as_mut().is_none_or(|gathering| {
            questions >= gathering.full || gathering.is_over(waiting, writes, now)
        })
    }
}

impl Gathering {
    #[allow(clippy::cast_precision_loss)] // small counts
    fn has_most(&self, waiting: usize) -> bool {
        waiting as f64 >= RETURNED_PART * self.expected as f64
    }

    fn next_look(&self) -> Instant {
        self.looked.plus(self.took / LOOK_PART)
    }

    #[allow(clippy::cast_precision_loss)] // small counts
    fn is_over(&mut self, waiting: usize, writes: bool, now: Instant) -> bool {
        if waiting >= self.expected {
            return true;
        }
        if now < self.next_look() {
            return false;
        }
        self.looked = now;
        let (came, waited) = (waiting.saturating_sub(self.before), now.since(self.began));
        let patience = if self.returned { PATIENCE } else { 1 };
        let took = patience * self.took;
        let is_fast = waited < took / JUDGE_PART
            || came as f64 * took.as_secs_f64() >= self.answered as f64 * waited.as_secs_f64();
        let is_silent = now.since(self.last_came) >= (self.took / SILENT_PART).max(SILENT_MIN);
        // A client that waits for its modification first asks on behind it.
        let waits_for_writes = writes && waited < self.took / WRITES_PART_MAX;
        (!is_fast || is_silent) && !waits_for_writes
    }
}

fn first<T>(queue: &mut VecDeque<T>, bound: usize) -> Vec<T> {
    queue.drain(..queue.len().min(bound)).collect()
}

fn refuse_more(waiting: usize, schema: &TableSchema) -> Result<()> {
    if waiting < WAITING_MAX {
        return Ok(());
    }
    let message = format!("{WAITING_MAX} statements wait for table \"{}\"", schema.name);
    Err(Error::new(ErrorKind::Limit, message))
}

#[cfg(test)]
mod tests;
