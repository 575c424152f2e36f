//! A model of what is recycled while others read it: checkpoints, the log's horizon, pins, joining
//! and death, in every order of their steps.
//!
//! - A step is one load or store of a word that instances share, or one access to the files. Memory is
//!   sequentially consistent here; a fence that is missing shows as a load that comes before the
//!   store before it.
//! - Instances are as in `docs/design/many-processes.md`: each has a thread that pins versions and
//!   reads them and one that catches up; one of all writes a checkpoint. Any may die at any step.
//! - Left out: commits come from outside and are durable at once; space is given away and never used
//!   again; the pin for writing to the log; what a reservation keeps.
//! - The checkpointer of an instance and its thread that catches up take turns at its head, as there.
//! - With rules that lack something, the search must find what that something is for.

mod checkpoint;
mod facts;
mod instance;
mod state;

use crate::explorer::Model;
use instance::{Following, Pinning};
use state::{Instance, Left, NOTHING, Pin, SLOTS, State, Status};

/// Who keeps which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// Who catches up announces what he reads, looks at the horizon, and only then whether a version
    /// is pinned here.
    Whole,
    /// He looks at the word of the pin first, as the code once did: another thread of the
    /// instance may end its pin, or make one, between the two, or may not yet know that it has none.
    LooksAtPinFirst,
    /// The same, where no instance pins while it catches up.
    OneThread,
    /// Who pins never looks at the horizon.
    NeverLooks,
    /// Who pins looks at the horizon, then stores: what a missing fence allows.
    LooksBeforeItStores,
    /// Space is given away without looking at who reads.
    FreesWithoutAsking,
    /// A slot that was just taken pins nothing.
    JoinsUnpinned,
}

#[derive(Debug, Clone, Copy)]
struct Recycling {
    rules: Rules,
    /// Instances at the beginning.
    instances: usize,
    left: Left,
    /// By slot: whether its user reads, and whether it writes checkpoints. Who does not read catches
    /// up when its checkpoint needs it.
    reads: [bool; SLOTS],
    checkpoints: [bool; SLOTS],
    /// Whether who reads may begin to read something newer beside it.
    newer: bool,
    /// By slot: whether its user may die.
    dies: [bool; SLOTS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Commit,
    Pin(u8),
    PinNewer(u8),
    Follow(u8),
    Checkpoint(u8),
    Die(u8),
    Reap(u8),
    Join(u8),
}

impl Recycling {
    fn looks_at_pin_first(&self) -> bool {
        matches!(self.rules, Rules::LooksAtPinFirst | Rules::OneThread)
    }

    fn steps_of(&self, state: &State, slot: u8, user: &Instance, into: &mut Vec<Step>) {
        let is_behind = user.head < state.end;
        let may_begin = self.reads[slot as usize] || Self::waits_for_head(state, slot);
        let one_thread = self.rules == Rules::OneThread;
        let pins =
            one_thread && user.pinning != Pinning::Idle && user.pinning.reads()[0] == NOTHING;
        if user.following != Following::Idle || is_behind && may_begin && !pins {
            into.push(Step::Follow(slot));
        }
        let follows = one_thread && user.following != Following::Idle;
        if self.reads[slot as usize] && !user.opens && !follows {
            into.push(Step::Pin(slot));
            if self.newer && Self::may_pin_newer(user) {
                into.push(Step::PinNewer(slot));
            }
        }
        if self.checkpoints[slot as usize] && Self::may_checkpoint(state, slot) {
            into.push(Step::Checkpoint(slot));
        }
        let living = state.slots.iter().filter(|slot| slot.user.is_some()).count();
        if self.dies[slot as usize] && state.left.deaths > 0 && living > 1 {
            into.push(Step::Die(slot));
        }
    }

    /// Takes the first free slot, which somebody has left to it.
    fn joins(&self, state: &mut State, slot: u8) {
        state.left.joins -= 1;
        let user = Instance::opening(self.checkpoints[slot as usize]);
        let slot = &mut state.slots[slot as usize];
        (slot.status, slot.user) = (Status::Live, Some(user));
        if self.rules == Rules::JoinsUnpinned {
            slot.pin = Pin { position: NOTHING, commit: NOTHING, reading: NOTHING };
        }
    }

    /// A survivor clears one more word of a dead one's pin, or frees its slot.
    fn reaps(state: &mut State, slot: u8) {
        let slot = &mut state.slots[slot as usize];
        slot.status = match slot.status {
            Status::Live => Status::Reaped(0),
            Status::Reaped(0) => {
                slot.pin.commit = 0;
                Status::Reaped(1)
            }
            Status::Reaped(1) => {
                slot.pin.position = 0;
                Status::Reaped(2)
            }
            Status::Reaped(2) => {
                slot.pin.reading = 0;
                Status::Reaped(3)
            }
            _ => Status::Free,
        };
    }
}

impl Model for Recycling {
    type State = State;
    type Step = Step;

    fn start(&self) -> State {
        State::new(self)
    }

    fn steps(&self, state: &State, into: &mut Vec<Step>) {
        if state.left.commits > 0 {
            into.push(Step::Commit);
        }
        let mut first_free = None;
        for (index, slot) in (0..).zip(&state.slots) {
            match (&slot.user, slot.status) {
                (Some(user), _) => self.steps_of(state, index, user, into),
                (None, Status::Free) => first_free = first_free.or(Some(index)),
                (None, _) => into.push(Step::Reap(index)),
            }
        }
        if let Some(slot) = first_free.filter(|_| state.left.joins > 0) {
            into.push(Step::Join(slot));
        }
    }

    fn take(&self, state: &State, step: Step) -> State {
        let mut state = state.clone();
        match step {
            Step::Commit => {
                state.left.commits -= 1;
                state.zones |= 1 << state.end;
                state.end += 1;
            }
            Step::Pin(slot) => self.pins(&mut state, slot),
            Step::PinNewer(slot) => Self::pins_newer(&mut state, slot),
            Step::Follow(slot) => self.follows(&mut state, slot),
            Step::Checkpoint(slot) => self.checkpoints(&mut state, slot),
            Step::Die(slot) => {
                state.left.deaths -= 1;
                state.slots[slot as usize].user = None;
                if let Some(turn) = state.turn.as_mut().filter(|turn| turn.holder == slot) {
                    turn.holder = NOTHING;
                }
            }
            Step::Reap(slot) => Self::reaps(&mut state, slot),
            Step::Join(slot) => self.joins(&mut state, slot),
        }
        state
    }

    fn wrong(&self, state: &State) -> Option<String> {
        state.wrong()
    }
}
