//! What every play has: a machine with some instances, owners, and what is true of them always.

use super::super::*;
use crate::explore::{Death, Play, Thread};
use crate::instances::InstanceTable;
use crate::table::chunks::Use;
use crate::table::fast::is_strong;
use crate::table::layout::{Partition, Request};
use crate::table::partition::Place;
use crate::table::state::State;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

/// Slots of each chunk that are looked at: the first ones are used first.
const SLOTS_LOOKED_AT: u32 = 8;

type Cell = Arc<Mutex<Option<LockOwner>>>;
type Check = Box<dyn FnOnce(&Outcome<'_>)>;

/// A machine, instances on it, and the threads of a play.
pub(super) struct Stage {
    machine: Arc<Machine>,
    pub(super) tables: Vec<Arc<LockTable>>,
    cells: Vec<Cell>,
    threads: Vec<Thread>,
    resources: Vec<Resource>,
    claims: Arc<Claims>,
}

/// What the end of a play is like.
pub(super) struct Outcome<'a> {
    pub(super) table: &'a Arc<LockTable>,
    pub(super) is_dead: &'a [bool],
    claims: &'a Claims,
    cells: &'a [Cell],
}

/// An owner in a play, whose locks are compared with those of the others.
pub(super) struct Actor<'a> {
    pub(super) owner: &'a mut LockOwner,
    claims: &'a Claims,
    thread: usize,
}

/// What callers know that they hold, by thread.
#[derive(Default)]
struct Claims {
    by_thread: Mutex<Vec<BTreeMap<Resource, Mode>>>,
    /// Of the dead, as it was when they died.
    left: Mutex<BTreeMap<usize, BTreeMap<Resource, Mode>>>,
    has_dead: Mutex<bool>,
}

impl Stage {
    /// With these resources in play, of which the partitions have slots already.
    pub(super) fn new(instances: usize, resources: &[Resource]) -> Self {
        let machine = Machine::new(4);
        // The first look of a sleeper suspects a deadlock: what comes before repeats itself.
        let settings =
            LockSettings { deadlock_after: Duration::from_millis(1), ..LockSettings::default() };
        let open = |_| machine.open_with(settings.clone());
        let tables = (0..instances).map(open).collect::<Vec<_>>();
        for resource in resources {
            let inside = tables[0].enter(Place::of(*resource).partition).unwrap();
            if inside.part.slots.load(Ordering::Relaxed) == 0 {
                inside.grow().unwrap();
            }
        }
        Self::bare(machine, tables, resources)
    }

    /// With what there is.
    pub(super) fn bare(
        machine: Machine,
        tables: Vec<Arc<LockTable>>,
        resources: &[Resource],
    ) -> Self {
        Self {
            machine: Arc::new(machine),
            tables,
            cells: Vec::new(),
            threads: Vec::new(),
            resources: resources.to_vec(),
            claims: Arc::default(),
        }
    }

    /// An owner in each of two instances, of which one has something: that of the thread of the same
    /// number.
    pub(super) fn of_two(resource: Resource, has: usize, mode: Mode) -> (Self, [usize; 2]) {
        let mut stage = Self::new(2, &[resource]);
        let owners = [stage.owner(0), stage.owner(1)];
        stage.prepare(owners[has], |owner| owner.lock(resource, mode, Wait::No).unwrap());
        stage.holds(has, resource, mode);
        (stage, owners)
    }

    /// An owner in an instance.
    pub(super) fn owner(&mut self, instance: usize) -> usize {
        let owner = self.tables[instance].register().unwrap();
        self.cells.push(Arc::new(Mutex::new(Some(owner))));
        self.cells.len() - 1
    }

    /// Does something as an owner, before the play.
    pub(super) fn prepare<T>(&self, owner: usize, act: impl FnOnce(&mut LockOwner) -> T) -> T {
        act(self.cells[owner].lock().as_mut().unwrap())
    }

    /// What a thread's caller knows before the play that it holds.
    pub(super) fn holds(&self, thread: usize, resource: Resource, mode: Mode) {
        self.claims.claim(thread, resource, mode);
    }

    /// A thread that acts as an owner.
    pub(super) fn thread(
        &mut self,
        name: &'static str,
        owner: usize,
        act: impl FnOnce(&mut Actor<'_>) + Send + 'static,
    ) {
        let (cell, claims) = (self.cells[owner].clone(), self.claims.clone());
        let thread = self.threads.len();
        let body = move || {
            let mut cell = cell.lock();
            let owner = cell.as_mut().unwrap();
            act(&mut Actor { owner, claims: &claims, thread });
        };
        self.threads.push(Thread { name, body: Box::new(body), death: None });
    }

    /// A thread that acts as whatever it likes.
    pub(super) fn other_thread(&mut self, name: &'static str, act: impl FnOnce() + Send + 'static) {
        self.threads.push(Thread { name, body: Box::new(act), death: None });
    }

    /// Lets the thread that was added last die, with its instance.
    pub(super) fn may_die(&mut self, instance: usize) {
        let (machine, table) = (self.machine.clone(), self.tables[instance].clone());
        let (claims, number) = (self.claims.clone(), self.threads.len() - 1);
        let death: Death = Box::new(move || {
            machine.kill(&table);
            claims.forget(number);
            let kept = latches(&machine.memory, |word| word.load(Ordering::SeqCst));
            Box::new(move || {
                let mut kept = kept.into_iter();
                latches(&machine.memory, |word| {
                    word.store(kept.next().unwrap(), Ordering::SeqCst);
                });
            })
        });
        self.threads.last_mut().unwrap().death = Some(death);
    }

    /// An instance is dead from the beginning; what its owners have stays.
    pub(super) fn kill(&self, instance: usize) {
        self.machine.kill(&self.tables[instance]);
        *self.claims.has_dead.lock() = true;
    }

    /// The play; `check` is asked in the end, while the living still hold what they hold.
    pub(super) fn play(mut self, check: impl FnOnce(&Outcome<'_>) + 'static) -> Play {
        let memory = self.machine.memory.clone();
        let mappings = self.tables.iter().map(|table| mapping(&table.memory)).collect();
        let (partitions, ignored) = (self.partitions(), self.ignored());
        let (table, claims) = (self.tables[0].clone(), self.claims.clone());
        let has_tables = self.resources.iter().any(|one| one.as_table().is_some());
        let (threads, check): (_, Check) = (std::mem::take(&mut self.threads), Box::new(check));
        let cells = self.cells.clone();
        Play {
            threads,
            mappings,
            ignored,
            always: Box::new(move |is_stuck| {
                let is_stuck = is_stuck && !*claims.has_dead.lock();
                look(&table, &partitions, has_tables, is_stuck)
            }),
            finally: Box::new(move |is_dead| self.finally(is_dead, check)),
            clear: Box::new(move || {
                latches(&memory, |word| word.store(0, Ordering::SeqCst));
                cells.iter().for_each(|cell| drop(cell.lock().take()));
            }),
        }
    }

    fn finally(self, is_dead: &[bool], check: Check) {
        let table = self.living();
        check_used(table);
        check(&Outcome { table, is_dead, claims: &self.claims, cells: &self.cells });
        for cell in &self.cells {
            // What a dead one had is in its thread's hands.
            if let Some(mut owner) = cell.try_lock()
                && owner.as_ref().is_some_and(|owner| self.is_alive(&owner.table))
            {
                drop(owner.take());
            }
        }
        if *self.claims.has_dead.lock() {
            table.reap();
        }
        let used = self.partitions().into_iter().map(|at| &table.header().partitions[at].used);
        let used = used.map(|used| used.load(Ordering::SeqCst)).collect::<Vec<_>>();
        assert!(used.iter().all(|used| *used == 0), "all is released: {used:?}");
    }

    fn living(&self) -> &Arc<LockTable> {
        self.tables.iter().find(|table| self.is_alive(table)).expect("somebody lives")
    }

    fn is_alive(&self, table: &LockTable) -> bool {
        self.machine.alive.0.lock().contains(&table.instances.me().slot)
    }

    fn partitions(&self) -> BTreeSet<usize> {
        self.resources.iter().map(|one| Place::of(*one).partition).collect()
    }

    /// What only one thread uses, or nobody decides by: other partitions, the slots of instances that
    /// are not there, and the counters for people.
    fn ignored(&self) -> Vec<Range<usize>> {
        let slot = size_of::<InstanceTable>() / crate::instances::INSTANCES_MAX as usize;
        let first = START + offset_of!(Header, partitions);
        let counters = START + offset_of!(Header, counters);
        let mut ignored =
            vec![self.tables.len() * slot..size_of::<InstanceTable>(), counters..counters + 128];
        let mut from = 0;
        for used in self.partitions().into_iter().chain([layout::PARTITIONS]) {
            let size = size_of::<Partition>();
            ignored.push(first + from * size..first + used * size);
            from = used + 1;
        }
        ignored
    }
}

impl Outcome<'_> {
    /// An owner that lives.
    pub(super) fn owner<T>(&self, owner: usize, look: impl FnOnce(&mut LockOwner) -> T) -> T {
        look(self.cells[owner].lock().as_mut().unwrap())
    }

    /// What a thread had of a resource when it died, as far as its caller knew.
    pub(super) fn died_with(&self, thread: usize, resource: Resource) -> Option<Mode> {
        self.claims.left.lock().get(&thread)?.get(&resource).copied()
    }
}

impl Actor<'_> {
    pub(super) fn lock(
        &mut self,
        resource: Resource,
        mode: Mode,
        wait: Wait,
    ) -> Result<Grant, LockError> {
        let grant = self.owner.lock(resource, mode, wait)?;
        self.claims.claim(self.thread, resource, grant.mode);
        Ok(grant)
    }

    /// Locks for as long as it takes.
    pub(super) fn take(&mut self, resource: Resource, mode: Mode) -> Grant {
        self.lock(resource, mode, Wait::Forever).unwrap()
    }

    pub(super) fn downgrade(&mut self, resource: Resource, mode: Mode) {
        self.claims.claim(self.thread, resource, mode);
        self.owner.downgrade(resource, mode).unwrap();
    }

    pub(super) fn unlock(&mut self, resource: Resource) {
        self.claims.give_up(self.thread, resource);
        self.owner.unlock(resource).unwrap();
    }
}

impl Claims {
    fn claim(&self, thread: usize, resource: Resource, mode: Mode) {
        let mut by_thread = self.by_thread.lock();
        if by_thread.len() <= thread {
            by_thread.resize_with(thread + 1, BTreeMap::new);
        }
        by_thread[thread].insert(resource, mode);
        let clash = by_thread.iter().enumerate().find(|(other, held)| {
            *other != thread
                && held.get(&resource).is_some_and(|held| !held.is_compatible_with(mode))
        });
        assert_eq!(clash, None, "{thread} has {resource} in {mode}");
    }

    fn give_up(&self, thread: usize, resource: Resource) {
        if let Some(held) = self.by_thread.lock().get_mut(thread) {
            held.remove(&resource);
        }
    }

    fn forget(&self, thread: usize) {
        *self.has_dead.lock() = true;
        if let Some(held) = self.by_thread.lock().get_mut(thread) {
            self.left.lock().insert(thread, std::mem::take(held));
        }
    }
}

fn mapping(memory: &Memory) -> Range<usize> {
    let start = std::ptr::from_ref(memory.at(Offset::<AtomicU64>::new(0)).unwrap()).addr();
    start..start + memory.bytes_max()
}

/// Calls `visit` with the latch of each partition.
fn latches<T>(memory: &Memory, mut visit: impl FnMut(&AtomicU64) -> T) -> Vec<T> {
    let first = START + offset_of!(Header, partitions) + offset_of!(Partition, latch);
    let places = (0..layout::PARTITIONS).map(|index| first + index * size_of::<Partition>());
    places.map(|place| visit(memory.at(Offset::new(place)).unwrap())).collect()
}

/// What holds between any two steps.
fn look(
    table: &LockTable,
    partitions: &BTreeSet<usize>,
    has_tables: bool,
    is_stuck: bool,
) -> Result<(), String> {
    let mut requests = Vec::new();
    for partition in partitions {
        for first in table.chunks_of::<Request>(Use::Requests(*partition)) {
            for slot in first..first + SLOTS_LOOKED_AT {
                let request = table.record::<Request>(Use::Requests(*partition), slot).unwrap();
                let state = State::from_word(request.state.load(Ordering::SeqCst));
                let Some(state) = state else { return Err("a state cannot be".to_owned()) };
                if state != State::FREE {
                    let resource = request.resource().ok_or("a key cannot be")?;
                    requests.push((resource, request.owner.load(Ordering::SeqCst), state, slot));
                }
            }
        }
    }
    let mut held = requests.iter().map(|one| (one.0, one.1, one.2.held())).collect::<Vec<_>>();
    if has_tables {
        let fast = table.fast_locks().map_err(|error| error.to_string())?;
        held.extend(
            fast.iter().map(|(resource, holder, mode)| (*resource, holder.to_word(), *mode)),
        );
        count_strong(table, &requests)?;
    }
    for (at, one) in held.iter().enumerate() {
        let clashes = |other: &&(Resource, u64, Mode)| {
            other.0 == one.0 && other.1 != one.1 && !other.2.is_compatible_with(one.2)
        };
        if let Some(other) = held[..at].iter().find(clashes) {
            return Err(format!("{one:?} and {other:?} are held at once"));
        }
    }
    for (resource, owner, state, slot) in requests {
        if state.passed > queue::PASSES_MAX {
            return Err(format!("{resource}: passed over too often"));
        }
        if is_stuck && !state.is_waiting() && waits_with(table, owner) == slot + 1 {
            return Err(format!("{resource}: whose wish is decided sleeps"));
        }
    }
    Ok(())
}

fn count_strong(table: &LockTable, requests: &[(Resource, u64, State, u32)]) -> Result<(), String> {
    for (resource, _, _, _) in requests.iter().filter(|one| one.0.as_table().is_some()) {
        let strong = requests.iter().filter(|one| one.0 == *resource && is_strong(one.2)).count();
        if (table.strong(*resource).load(Ordering::SeqCst) as usize) < strong {
            return Err(format!("{resource}: its counter of strong locks is too low"));
        }
    }
    Ok(())
}

fn waits_with(table: &LockTable, owner: u64) -> u32 {
    let connection = table.connection_of(state::Holder::from_word(owner));
    connection.map_or(0, |record| record.waits_with.load(Ordering::SeqCst))
}

/// Checks the partitions that have slots; the others have nothing to be wrong.
fn check_used(table: &LockTable) {
    for (index, part) in table.header().partitions.iter().enumerate() {
        if part.slots.load(Ordering::SeqCst) != 0 || part.dirty.load(Ordering::SeqCst) != 0 {
            table.enter(index).unwrap().check().unwrap();
        }
    }
}
