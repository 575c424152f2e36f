//! A pass of the clock, and who waits for what it finds.

use super::apply::FoundModification;
use super::asked::Ticket;
use super::dealing::Deal;
use super::pass::{Pass, Work};
use super::question::{Answer, Question};
use super::queue::{Batch, WaitingModification, WaitingQuestion};
use super::tail::SegmentTimes;
use super::writer::FoundBatch;
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::{Snapshot, Table};
use crate::types::TableSchema;
use gadus_base::{Account, Instant, IoBytes, TableId, clock};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A pass under way.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) table: TableId,
    pub(super) pass: Pass,
    pub(super) began: Instant,
    pub(super) progress: Mutex<Progress>,
    pub(super) times: SegmentTimes,
    scanned: Table,
    /// What was read to make it.
    pub(super) read: IoBytes,
    /// For each of the pass's first questions who asked it; the modifications' questions follow.
    tickets: Vec<Vec<Ticket>>,
    /// Until their rows are found.
    modifying: Mutex<Vec<WaitingModification>>,
}

/// Who works at a pass, and what those have found who no longer do.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) workers: usize,
    pub(super) works: Vec<Work>,
    /// Threads that have left the rest to others; they come back only if nobody is at it.
    pub(super) left: Vec<usize>,
}

/// A pass whose segments are all done, to be answered.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) running: Arc<Running>,
    pub(super) works: Vec<Work>,
    pub(super) took: Duration,
}

impl Running {
    /// Makes a pass of what waited, for so many threads at most, its segments dealt in some way; none where that
    /// is answered already.
    pub(super) fn make(
        table: TableId,
        batch: Batch,
        snapshot: Result<Snapshot>,
        (threads, deal): (usize, Deal),
    ) -> Option<Self> {
        let began = clock().now();
        let scanned = match snapshot.map(|snapshot| snapshot.table_by_id(table)) {
            Ok(scanned) => scanned,
            Err(error) => {
                batch.tickets().for_each(|ticket| ticket.answer(Err(error.clone())));
                return None;
            }
        };
        let (mut questions, mut tickets): (Vec<Question>, Vec<Vec<Ticket>>) = Default::default();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for WaitingQuestion { schema, question, ticket } in batch.questions {
            if !is_fitting(scanned.as_ref(), &schema, &ticket) {
                continue;
            }
            let place = *known.entry(question.encode()).or_insert(questions.len());
            if place == questions.len() {
                questions.push(question);
                tickets.push(Vec::new());
            }
            tickets[place].push(ticket);
        }
        let mut modifying = batch.modifications;
        modifying.retain(|waiting| {
            !waiting.ticket.is_withdrawn()
                && is_fitting(scanned.as_ref(), &waiting.schema, &waiting.ticket)
        });
        questions.extend(modifying.iter().map(|waiting| waiting.modification.question()));
        let scanned = scanned.filter(|_| !questions.is_empty())?;
        let account = Arc::<Account>::default();
        match account.charge(|| Pass::new(scanned.clone(), questions, deal)) {
            Ok(pass) => {
                let read = account.bytes();
                let (progress, modifying) = (Mutex::default(), Mutex::new(modifying));
                let times = SegmentTimes::of(threads);
                Some(Self {
                    table,
                    pass,
                    began,
                    progress,
                    times,
                    scanned,
                    read,
                    tickets,
                    modifying,
                })
            }
            Err(error) => {
                let asked = tickets.iter().flatten();
                let all = asked.chain(modifying.iter().map(|one| &one.ticket));
                all.for_each(|ticket| ticket.answer(Err(error.clone())));
                None
            }
        }
    }

    /// Whether a thread, by its number, is to work at it.
    pub(super) fn is_open_for(&self, number: usize) -> bool {
        let progress = self.progress.lock();
        progress.workers == 0 || !progress.left.contains(&number)
    }

    /// Whether nobody waits any more for the answer to a question. A modification is carried out all
    /// the same.
    pub(super) fn is_dropped(&self, place: usize) -> bool {
        self.tickets.get(place).is_some_and(|tickets| tickets.iter().all(Ticket::is_dropped))
    }

    /// Who waits for its answers.
    pub(super) fn asked(&self) -> usize {
        self.tickets.iter().map(Vec::len).sum()
    }

    /// Questions that differ.
    pub(super) fn distinct(&self) -> usize {
        self.tickets.len()
    }

    pub(super) fn modifications(&self) -> usize {
        self.pass.questions() - self.distinct()
    }

    /// Answers the questions; returns what is to be modified.
    pub(super) fn answer(&self, works: Vec<Work>) -> Option<FoundBatch> {
        let mut bytes = self.read;
        works.iter().for_each(|work| bytes += work.done().bytes);
        let part = bytes.divided(self.asked() + self.modifications());
        let mut answers = self.pass.finish(works).into_iter();
        for (tickets, answer) in self.tickets.iter().zip(&mut answers) {
            let answer = answer.map(Arc::new);
            for ticket in tickets {
                ticket.charge(part);
                ticket.answer(answer.clone());
            }
        }
        let modifying = std::mem::take(&mut *self.modifying.lock());
        let mut batch = FoundBatch::of(self.scanned.clone(), modifying.first()?.engine.clone());
        let taken = modifying.into_iter().zip(answers).filter(|(one, _)| one.ticket.take());
        for (one, answer) in taken {
            one.ticket.charge(part);
            let rows = answer.and_then(|answer| match answer {
                Answer::Rows(rows) => Ok(rows.ids().collect()),
                _ => Err(Error::internal("a modification has no rows")),
            });
            batch.add(
                FoundModification { modification: one.modification, rows },
                one.durability,
                one.ticket,
            );
        }
        Some(batch)
    }
}

/// Whether the table still has the shape that was asked for; where it has not, that is the answer.
fn is_fitting(table: Option<&Table>, schema: &Arc<TableSchema>, ticket: &Ticket) -> bool {
    let fits = table.is_some_and(|table| Arc::ptr_eq(table.schema(), schema));
    if !fits {
        let message = format!("table \"{}\" was changed or dropped meanwhile", schema.name);
        ticket.answer(Err(Error::new(ErrorKind::Conflict, message)));
    }
    fits
}
