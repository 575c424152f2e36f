//! Deadlocks: who waits for whom in a circle, and how the circle is broken.
//!
//! - A connection waits for those who hold what it wants (hard) and for those before it in the queue
//!   (soft). Who has waited for a while follows these edges, one partition at a time, until they
//!   lead back to where they have been, or nowhere. Whoever closes a circle waits, so every circle is
//!   found; what was just found to lead nowhere is not followed again for a while.
//! - What was read at different times need not be true at any, so a circle is proven again under all
//!   the latches involved, taken in order. Nobody else has two latches.
//! - A soft edge is broken by letting its waiter go first, once; else the youngest of the circle is
//!   refused, and the others go on.

use super::LOOK;
use super::LockTable;
use super::error::{LockError, LockHolder};
use super::modes::Mode;
use super::owner::{LockOwner, Wait};
use super::queue::{self, Edge, Entry};
use super::resource::Resource;
use super::state::{Holder, State, Status};
use super::statistics::Counter;
use super::store::{add32, put, put32};
use super::visit::Inside;
use crate::steps;
use gadus_base::Instant;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::Ordering;

/// The most connections that are remembered as being in no circle.
const CLEARED_MAX: usize = 10_000;

/// Connections that searches of this process have lately found to be in no circle. Without it, a
/// thousand who wait for the same would look at each other a million times.
#[derive(Debug)]
pub(super) struct Cleared {
    since: Instant,
    waiters: HashSet<u64>,
}

impl Cleared {
    pub(super) fn new() -> Self {
        Self { since: steps::now(), waiters: HashSet::new() }
    }
}

/// One who waits, and for whom.
#[derive(Debug)]
struct Step {
    waiter: Holder,
    partition: usize,
    slot: u32,
    /// Those it waits for that are not looked at yet.
    blockers: Vec<Holder>,
    /// The one that is looked at.
    blocker: Holder,
}

/// A step that is proven.
struct Proof {
    waiter: Holder,
    blocker: Holder,
    /// Which of the partitions that are held.
    held: usize,
    resource: Resource,
    mine: Entry,
    other: Entry,
    edge: Edge,
    /// Whether only the other's turn keeps the waiter waiting.
    is_last: bool,
}

impl LockTable {
    /// Breaks a circle that a waiting connection leads to, if there is one; says whether.
    pub(super) fn undo_deadlock(&self, waiter: Holder) -> Result<bool, LockError> {
        let circle = self.find_circle(waiter)?;
        if circle.is_empty() {
            return Ok(false);
        }
        let partitions = circle.iter().map(|step| step.partition).collect::<BTreeSet<_>>();
        let partitions = partitions.into_iter().collect::<Vec<_>>();
        let end = Wait::Until(steps::now().plus(LOOK));
        let mut held = Vec::new();
        for partition in &partitions {
            held.push(self.enter_until(*partition, end)?);
        }
        let mut proofs = Vec::new();
        for step in &circle {
            let at = partitions.binary_search(&step.partition).expect("it was collected");
            match held[at].prove(at, step)? {
                Some(proof) => proofs.push(proof),
                None => return Ok(false),
            }
        }
        let movable = |proof: &&Proof| proof.edge == Edge::Soft && !proof.mine.state.moved;
        let soft = proofs.iter().filter(movable).max_by_key(|proof| proof.is_last);
        if let Some(soft) = soft {
            held[soft.held].let_go_first(soft)?;
            self.count(Counter::Reorders, 1);
        } else {
            self.refuse_youngest(&proofs, &mut held)?;
            self.count(Counter::Deadlocks, 1);
        }
        Ok(true)
    }

    /// Follows the edges from a connection until they lead back to where they have been.
    fn find_circle(&self, start: Holder) -> Result<Vec<Step>, LockError> {
        let mut cleared = steps::lock(&self.cleared);
        let is_old = steps::elapsed(cleared.since) >= self.settings.deadlock_after;
        if is_old || cleared.waiters.len() >= CLEARED_MAX {
            *cleared = Cleared::new();
        }
        if cleared.waiters.contains(&start.to_word()) {
            return Ok(Vec::new());
        }
        let mut path = self.step_of(start)?.into_iter().collect::<Vec<_>>();
        let mut on_path = BTreeMap::from([(start.to_word(), 0)]);
        while let Some(step) = path.last_mut() {
            let Some(next) = step.blockers.pop() else {
                // Nobody whom it waits for is in a circle, and so is not it.
                cleared.waiters.insert(step.waiter.to_word());
                on_path.remove(&step.waiter.to_word());
                path.pop();
                continue;
            };
            step.blocker = next;
            let word = next.to_word();
            if let Some(at) = on_path.get(&word) {
                return Ok(path.split_off(*at));
            }
            if !cleared.waiters.contains(&word) {
                match self.step_of(next)? {
                    Some(step) => {
                        on_path.insert(word, path.len());
                        path.push(step);
                    }
                    None => drop(cleared.waiters.insert(word)),
                }
            }
        }
        Ok(path)
    }

    /// For whom a connection waits, if it does.
    fn step_of(&self, waiter: Holder) -> Result<Option<Step>, LockError> {
        let connection = self.connection_of(waiter);
        connection.inspect(|record| steps::before(&record.waits_with));
        let link = connection.map_or(0, |record| record.waits_with.load(Ordering::Acquire));
        let Some(slot) = link.checked_sub(1) else { return Ok(None) };
        let Some(partition) = self.partition_of(slot) else { return Ok(None) };
        let inside = self.enter_until(partition, Wait::Until(steps::now().plus(LOOK)))?;
        let Some((_, entries, mine)) = inside.wish_of(waiter, slot)? else { return Ok(None) };
        let others = entries.iter().filter(|other| queue::edge(&mine, other).is_some());
        let blockers = others.map(|other| other.holder).collect();
        Ok(Some(Step { waiter, partition, slot, blockers, blocker: waiter }))
    }

    /// Refuses the wish of the one whose transaction began last.
    fn refuse_youngest(&self, circle: &[Proof], held: &mut [Inside<'_>]) -> Result<(), LockError> {
        let begun = |proof: &&Proof| {
            let connection = self.connection_of(proof.waiter);
            connection.map_or(0, |record| record.begun.load(Ordering::Relaxed))
        };
        let victim = circle.iter().max_by_key(begun).expect("a circle has members");
        for proof in circle {
            let Some(connection) = self.connection_of(proof.waiter) else { continue };
            if proof.waiter == victim.waiter {
                put32(&connection.survivor, proof.blocker.record + 1);
            } else {
                add32(&connection.survived, 1);
            }
        }
        let inside = &mut held[victim.held];
        let state = State { refused: true, ..victim.mine.state.withdrawn() };
        inside.change(victim.mine.slot, state)?;
        inside.wake_later(victim.waiter);
        inside.settle(victim.resource)
    }
}

impl Inside<'_> {
    /// What a connection waits for with a slot, if it still does, and all requests for the same.
    fn wish_of(
        &self,
        waiter: Holder,
        slot: u32,
    ) -> Result<Option<(Resource, Vec<Entry>, Entry)>, LockError> {
        let mine = self.entry(slot, self.request(slot)?)?;
        if mine.holder != waiter || !mine.state.is_waiting() {
            return Ok(None);
        }
        let resource = self.resource(slot)?;
        let mut entries = Vec::new();
        self.gather(resource, &mut entries)?;
        Ok(Some((resource, entries, mine)))
    }

    /// Whether a step is so now.
    fn prove(&self, held: usize, step: &Step) -> Result<Option<Proof>, LockError> {
        let Step { waiter, blocker, slot, .. } = *step;
        let Some((resource, entries, mine)) = self.wish_of(waiter, slot)? else { return Ok(None) };
        let edges = || entries.iter().filter_map(|one| Some((queue::edge(&mine, one)?, one)));
        let Some((edge, other)) = edges().find(|(_, one)| one.holder == blocker) else {
            return Ok(None);
        };
        let (other, is_last) = (*other, edges().count() == 1);
        Ok(Some(Proof { waiter, blocker, held, resource, mine, other, edge, is_last }))
    }

    /// Moves a waiter ahead of the one whose turn it would have to await.
    fn let_go_first(&mut self, proof: &Proof) -> Result<(), LockError> {
        let Proof { resource, mine, other, .. } = proof;
        if mine.state.status == Status::Waiting && other.state.status == Status::Waiting {
            let ticket = &self.request(mine.slot)?.ticket;
            put(ticket, other.ticket.saturating_sub(1));
        }
        self.change(mine.slot, State { moved: true, ..mine.state })?;
        self.settle(*resource)
    }
}

impl LockOwner {
    /// The one who goes on because this owner was refused.
    pub(super) fn survivor(&self, wanted: Mode) -> Option<LockHolder> {
        let link = self.connection().survivor.load(Ordering::Relaxed);
        let record = link.checked_sub(1)?;
        let connection = self.table.connection(record).ok()?;
        let holder = Holder::from_word(connection.owner.load(Ordering::Acquire));
        Some(LockHolder {
            instance: self.table.instances.describe(holder.instance),
            connection: connection.number.load(Ordering::Relaxed),
            mode: wanted,
            age_ms: None,
        })
    }
}
