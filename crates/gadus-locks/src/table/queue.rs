//! The rules of a resource's queue: who waits for whom, and who is next.
//!
//! - Granted, then conversions, then waiters; within the last two by ticket.
//! - A waiter waits for whoever holds what its mode excludes, for the conversions, and for the
//!   waiters before it that want what its mode excludes.
//! - A conversion waits for holders only, and passes over everybody whom it thereby keeps waiting;
//!   but who has been passed over [`PASSES_MAX`] times goes first, unless it would have to wait for
//!   the converter anyway. So no stream of conversions starves a waiter, and no two wait for each
//!   other by these rules alone.
//! - Here is no shared memory: the rules work on what was read from it.

use super::modes::{MODES, Mode, ModeSet};
use super::state::{Holder, State, Status};

/// How often conversions may pass over the same one who waits. Few enough that a waiter's delay
/// stays below that of the waits before it, enough that conversions rarely queue.
pub(super) const PASSES_MAX: u8 = 8;

/// A request as it was read from its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) slot: u32,
    pub(super) state: State,
    pub(super) ticket: u64,
    pub(super) holder: Holder,
    pub(super) since: u64,
}

/// Why one waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// The other holds what the one's mode excludes.
    Hard,
    /// The other is before the one in the queue.
    Soft,
}

impl Entry {
    fn is_before(&self, other: &Self) -> bool {
        self.place() < other.place()
    }

    fn place(&self) -> (bool, u64, u32) {
        (self.state.status == Status::Waiting, self.ticket, self.slot)
    }
}

/// Whether, and why, `one` waits for `other`, both of them requests for the same resource.
pub(super) fn edge(one: &Entry, other: &Entry) -> Option<Edge> {
    if one.slot == other.slot || !one.state.is_waiting() {
        return None;
    }
    if !one.state.wanted.is_compatible_with(other.state.held()) {
        return Some(Edge::Hard);
    }
    (other.state.is_waiting()
        && !one.state.wanted.is_compatible_with(other.state.wanted)
        && lets_go_first(one, other))
    .then_some(Edge::Soft)
}

/// Whether `one` leaves the other its turn, both of them waiting for what excludes the other.
fn lets_go_first(one: &Entry, other: &Entry) -> bool {
    match (one.state.status, other.state.status) {
        (Status::Waiting, Status::Waiting) => other.is_before(one),
        (Status::Waiting, _) => !one.state.moved && one.state.passed < PASSES_MAX,
        (_, Status::Waiting) => may_not_pass(one, other),
        (_, _) => other.is_before(one) && may_not_pass(one, other),
    }
}

fn may_not_pass(conversion: &Entry, other: &Entry) -> bool {
    !conversion.state.moved
        && other.state.passed >= PASSES_MAX
        && other.state.wanted.is_compatible_with(conversion.state.held())
}

/// Whether anybody keeps `one` waiting.
pub(super) fn is_blocked(entries: &[Entry], one: &Entry) -> bool {
    entries.iter().any(|other| edge(one, other).is_some())
}

/// Grants a request that nobody keeps waiting, and notes whom it passes over. `changed` is told of
/// every request with a new state.
pub(super) fn grant(entries: &mut [Entry], index: usize, mut changed: impl FnMut(&Entry)) {
    let one = entries[index];
    entries[index].state = one.state.fulfilled();
    changed(&entries[index]);
    if one.state.status != Status::Converting {
        return;
    }
    for other in entries.iter_mut() {
        let is_passed = other.state.is_waiting()
            && (other.state.status == Status::Waiting || other.is_before(&one))
            && !other.state.wanted.is_compatible_with(one.state.wanted)
            && other.state.wanted.is_compatible_with(one.state.held());
        if is_passed && other.state.passed < PASSES_MAX {
            other.state.passed += 1;
            changed(other);
        }
    }
}

/// Grants in the queue's order all that can be granted. `changed` is told of every request with a
/// new state.
pub(super) fn settle(entries: &mut [Entry], mut changed: impl FnMut(&Entry)) {
    let mut order =
        (0..entries.len()).filter(|at| entries[*at].state.is_waiting()).collect::<Vec<_>>();
    if order.is_empty() {
        return;
    }
    order.sort_unstable_by_key(|at| entries[*at].place());
    let mut held = Held::default();
    entries.iter().for_each(|entry| held.add(entry.state.held()));
    let (mut conversions, mut waiters): (ModeSet, ModeSet) = (0, 0);
    for index in order {
        let one = entries[index];
        let mode = one.state.wanted;
        let before = if one.state.status == Status::Waiting {
            let yields = !one.state.moved && one.state.passed < PASSES_MAX;
            waiters | if yields { conversions } else { 0 }
        } else {
            0
        };
        held.remove(one.state.held());
        let blocked = mode.excluded() & (held.modes | before) != 0
            // Who converts lets only the exhausted go first, which are few: look at each.
            || (one.state.status == Status::Converting && is_blocked(entries, &one));
        if blocked {
            held.add(one.state.held());
            match one.state.status {
                Status::Waiting => waiters |= mode.bit(),
                _ => conversions |= mode.bit(),
            }
        } else {
            held.add(mode);
            grant(entries, index, &mut changed);
        }
    }
}

/// How many hold each mode.
#[derive(Default)]
struct Held {
    counts: [u32; MODES],
    modes: ModeSet,
}

impl Held {
    fn add(&mut self, mode: Mode) {
        self.counts[mode as usize] += 1;
        self.modes |= mode.bit();
    }

    fn remove(&mut self, mode: Mode) {
        self.counts[mode as usize] -= 1;
        if self.counts[mode as usize] == 0 {
            self.modes &= !mode.bit();
        }
    }
}

#[cfg(test)]
mod tests;
