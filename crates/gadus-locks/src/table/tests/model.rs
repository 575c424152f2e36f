//! Random operations, compared with a table as simple as can be.

use super::*;
use gadus_base::Random;
use partition::Place;
use request::Asked;
use state::Status;

const OWNERS: usize = 6;
const RESOURCES: u64 = 3;

/// Tables have locks without requests, too.
fn thing(number: u64) -> Resource {
    if number == 0 { Resource::table(gadus_base::TableId(7)) } else { name(number) }
}

/// A request of the simple table.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wish {
    owner: usize,
    resource: u64,
    granted: Option<Mode>,
    wanted: Option<Mode>,
    arrival: u64,
    passed: u8,
}

#[derive(Debug, Default)]
struct Model {
    wishes: Vec<Wish>,
    arrivals: u64,
}

impl Wish {
    fn held(&self) -> Mode {
        self.granted.unwrap_or(Mode::Null)
    }

    /// Conversions before waiters, the earlier before the later.
    fn place(&self) -> (bool, u64) {
        (self.granted.is_none(), self.arrival)
    }
}

impl Model {
    fn waits_for(&self, one: &Wish, other: &Wish) -> bool {
        let Some(wanted) = one.wanted else { return false };
        if one.resource != other.resource || one.owner == other.owner {
            return false;
        }
        if !wanted.is_compatible_with(other.held()) {
            return true;
        }
        let Some(theirs) = other.wanted.filter(|mode| !wanted.is_compatible_with(*mode)) else {
            return false;
        };
        let overdue = |one: &Wish| one.passed == queue::PASSES_MAX;
        match (one.granted, other.granted) {
            (None, None) => other.arrival < one.arrival,
            (None, Some(_)) => !overdue(one),
            (Some(mine), None) => overdue(other) && theirs.is_compatible_with(mine),
            (Some(mine), Some(_)) => {
                other.arrival < one.arrival && overdue(other) && theirs.is_compatible_with(mine)
            }
        }
    }

    fn is_blocked(&self, one: &Wish) -> bool {
        self.wishes.iter().any(|other| self.waits_for(one, other))
    }

    fn grant(&mut self, index: usize) {
        let one = self.wishes[index];
        let wanted = one.wanted.unwrap();
        self.wishes[index] = Wish { granted: Some(wanted), wanted: None, passed: 0, ..one };
        let Some(before) = one.granted else { return };
        for other in &mut self.wishes {
            if let Some(theirs) = other.wanted
                && other.resource == one.resource
                && (other.granted.is_none() || other.arrival < one.arrival)
                && !theirs.is_compatible_with(wanted)
                && theirs.is_compatible_with(before)
            {
                other.passed = (other.passed + 1).min(queue::PASSES_MAX);
            }
        }
    }

    fn settle(&mut self) {
        loop {
            let mut order = (0..self.wishes.len()).collect::<Vec<_>>();
            order.sort_by_key(|index| self.wishes[*index].place());
            let next = order.into_iter().find(|index| {
                let one = &self.wishes[*index];
                one.wanted.is_some() && !self.is_blocked(one)
            });
            match next {
                Some(index) => self.grant(index),
                None => return,
            }
        }
    }

    fn find(&mut self, owner: usize, resource: u64) -> Option<usize> {
        self.wishes.iter().position(|one| one.owner == owner && one.resource == resource)
    }

    /// Asks; says whether it was granted at once.
    fn ask(&mut self, owner: usize, resource: u64, mode: Mode, may_wait: bool) -> bool {
        self.arrivals += 1;
        let index = self.find(owner, resource).unwrap_or_else(|| {
            let wish = Wish { owner, resource, granted: None, wanted: None, arrival: 0, passed: 0 };
            self.wishes.push(wish);
            self.wishes.len() - 1
        });
        let before = self.wishes[index];
        if before.granted.is_some_and(|held| held.covers(mode)) {
            return true;
        }
        let wanted = Some(before.granted.map_or(mode, |held| held.supremum(mode)));
        self.wishes[index] = Wish { wanted, arrival: self.arrivals, passed: 0, ..before };
        if !self.is_blocked(&self.wishes[index]) {
            self.grant(index);
            return true;
        }
        if !may_wait {
            match before.granted {
                Some(_) => self.wishes[index] = before,
                None => drop(self.wishes.remove(index)),
            }
        }
        false
    }

    fn give_up(&mut self, owner: usize, resource: u64) {
        let index = self.find(owner, resource).unwrap();
        if self.wishes[index].granted.is_some() {
            self.wishes[index].wanted = None;
            self.wishes[index].passed = 0;
        } else {
            self.wishes.remove(index);
        }
        self.settle();
    }
}

/// An owner, what it waits for, and the table's side of that.
struct Actor {
    owner: LockOwner,
    waits: Option<(u64, Entry)>,
}

struct Comparison {
    random: Random,
    model: Model,
    machine: Machine,
    tables: Vec<Arc<LockTable>>,
    actors: Vec<Actor>,
}

impl Comparison {
    fn step(&mut self) {
        let (who, resource) = (self.below(OWNERS as u64), self.random.below(RESOURCES));
        let mode = Mode::ALL[self.below(10)];
        let actor = &mut self.actors[who];
        if let Some((resource, entry)) = actor.waits {
            let state = actor.owner.state_of(thing(resource), entry.slot).unwrap();
            if state.status == Status::Granted {
                actor.owner.note(thing(resource), entry.slot, state.granted);
                actor.waits = None;
            } else if self.random.chance(0.2) {
                let kind = LockErrorKind::Cancelled;
                actor.owner.give_up(thing(resource), &entry, kind).unwrap_err();
                actor.waits = None;
                self.model.give_up(who, resource);
            }
            return;
        }
        let held = actor.owner.mode(thing(resource));
        match self.random.below(10) {
            0..=5 => {
                let may_wait = self.random.chance(0.7);
                let granted = self.model.ask(who, resource, mode, may_wait);
                if held.is_some_and(|held| held.covers(mode)) {
                    return;
                }
                let wait = if may_wait { Wait::Forever } else { Wait::No };
                match actor.owner.request(thing(resource), mode, wait) {
                    Ok(Asked::Granted(_)) => assert!(granted),
                    Ok(Asked::MustWait(entry)) => {
                        assert!(!granted);
                        actor.waits = Some((resource, entry));
                    }
                    Err(error) => {
                        assert_eq!((granted, error.kind), (false, LockErrorKind::Timeout));
                    }
                }
            }
            6 | 7 => {
                if held.is_some() {
                    actor.owner.unlock(thing(resource)).unwrap();
                    let index = self.model.find(who, resource).unwrap();
                    self.model.wishes.remove(index);
                    self.model.settle();
                }
            }
            8 => {
                if held.is_some_and(|held| held.covers(mode)) {
                    actor.owner.downgrade(thing(resource), mode).unwrap();
                    let index = self.model.find(who, resource).unwrap();
                    self.model.wishes[index].granted = Some(mode);
                    self.model.settle();
                }
            }
            _ => {
                if self.random.chance(0.05) {
                    self.kill(who % 2);
                }
            }
        }
    }

    /// Kills one of two instances, which begins anew with new owners.
    fn kill(&mut self, which: usize) {
        self.machine.kill(&self.tables[which]);
        assert_eq!(self.tables[1 - which].reap(), 1);
        self.model.wishes.retain(|one| one.owner % 2 != which);
        self.model.settle();
        self.tables[which] = self.machine.open();
        for index in (0..OWNERS).filter(|owner| owner % 2 == which) {
            let owner = self.tables[which].register().unwrap();
            let actor = Actor { owner, waits: None };
            std::mem::forget(std::mem::replace(&mut self.actors[index], actor));
        }
    }

    fn compare(&self) {
        for resource in 0..RESOURCES {
            let mut entries = Vec::new();
            let inside = self.tables[0].enter(Place::of(thing(resource)).partition).unwrap();
            inside.gather(thing(resource), &mut entries).unwrap();
            let of = |one: &Entry| {
                self.actors.iter().position(|actor| actor.owner.holder == one.holder).unwrap()
            };
            let mut there = entries
                .iter()
                .map(|one| {
                    let granted = one.state.status != Status::Waiting;
                    let wanted = one.state.is_waiting().then_some(one.state.wanted);
                    let passed = one.state.passed;
                    (of(one), granted.then_some(one.state.granted), wanted, passed)
                })
                .collect::<Vec<_>>();
            let wishes = self.model.wishes.iter().filter(|one| one.resource == resource);
            let mut expected = wishes
                .map(|one| (one.owner, one.granted, one.wanted, one.passed))
                .collect::<Vec<_>>();
            drop(inside);
            let fast = self.tables[0].fast_locks().unwrap().into_iter();
            for (_, holder, mode) in fast.filter(|(of, _, _)| *of == thing(resource)) {
                let is_its = |actor: &Actor| actor.owner.holder == holder;
                let owner = self.actors.iter().position(is_its).unwrap();
                there.push((owner, Some(mode), None, 0));
            }
            there.sort_by_key(|one| one.0);
            expected.sort_by_key(|one| one.0);
            assert_eq!(there, expected);
        }
        self.tables[0].check().unwrap();
    }

    fn below(&mut self, bound: u64) -> usize {
        usize::try_from(self.random.below(bound)).unwrap()
    }
}

#[test]
fn random_operations_do_what_a_simple_table_does() {
    for seed in 0..12 {
        let machine = Machine::new(4);
        let tables = vec![machine.open(), machine.open()];
        let owners = (0..OWNERS).map(|index| tables[index % 2].register().unwrap());
        let actors = owners.map(|owner| Actor { owner, waits: None }).collect();
        let (random, model) = (Random::seeded(seed), Model::default());
        let mut comparison = Comparison { random, model, machine, tables, actors };
        for step in 0..600 {
            let run = std::panic::AssertUnwindSafe(|| {
                comparison.step();
                if step % 4 == 0 {
                    comparison.compare();
                }
            });
            if let Err(panic) = std::panic::catch_unwind(run) {
                println!("seed {seed}, step {step}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}
