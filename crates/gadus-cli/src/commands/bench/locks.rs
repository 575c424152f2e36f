//! `gadus bench locks`: what a lock of the lock table costs, from asking for it to its release.
//!
//! - One thread, and a table in memory of its own: nobody contends, and nothing but the lock table
//!   is measured. No database is opened.
//! - Beside it a pair of mutexes, which only threads of one process can share, and a byte lock of an
//!   open file, which processes can share as they can the lock table.
//! - Before anything is measured, the table's own count says which path each case takes.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gadus_base::{RowId, SegmentId, TableId, clock};
use gadus_block::{BlockError, Device, FileFolder, Folder, OpenMode};
use gadus_locks::{
    EXTENT_BYTES, Fence, Instances, LockError, LockOwner, LockSettings, LockTable, Memory,
    MemoryError, Mode, Offset, Resource, Wait,
};
use parking_lot::Mutex;

use super::builds::{Against, NoPeer};
use super::figures::{self, Metric};
use super::machine::Machine;
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;

const COST: Metric = Metric::lower("lock_unlock_ns", "ns");
const RATE: Metric = Metric::higher("locks_per_second", "locks/s");

const TABLE: TableId = TableId(1);
/// Rows that are locked one after the other: in all parts of the table, and few enough to stay in
/// the processor's caches, as the mutexes do.
const ROWS: u32 = 1024;
/// Pairs between two looks at the clock: looking is then below a hundredth of the cheapest.
const PAIRS_PER_LOOK: u32 = 1000;

#[derive(Debug, Args)]
#[command(
    after_help = "A ratio of 0.5 to the mutex pair says that a lock costs twice as much as the pair does.

Examples:
  gadus bench locks
  gadus bench locks --time 1s --rounds 15 --json"
)]
pub(super) struct Locks {
    /// How long one turn takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "300ms")]
    time: Duration,
    #[command(flatten)]
    pub(super) against: Against<NoPeer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What is locked.
#[derive(Debug, Clone, Copy)]
enum Case {
    /// A table, as who will write one of its rows does.
    FastPath,
    /// A row after the other.
    Row,
}

pub(super) fn run(command: &Locks) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let table = lock_table()?;
    let folder = FileFolder::new(place.folder());
    let file = folder.open("locked", OpenMode::Create).map_err(unlockable)?;
    let (mutexes, time) = ((Mutex::new(()), Mutex::new(())), command.time);
    let mut entries = Vec::new();
    for case in [Case::FastPath, Case::Row] {
        let mut owner = table.register().map_err(refused)?;
        case.check(&mut owner)?;
        let (mutexes, file) = (&mutexes, &file);
        entries.push(Entry::new(case.name(), GADUS, move || {
            timed(time, |turn| {
                let resource = case.resource(turn);
                owner.lock(resource, case.mode(), Wait::No).map_err(refused)?;
                owner.unlock(resource).map_err(refused)
            })
        }));
        entries.push(Entry::new(case.name(), "mutex pair", move || {
            timed(time, |_| {
                let (one, other) = black_box(mutexes);
                drop(black_box((one.lock(), other.lock())));
                Ok(())
            })
        }));
        entries.push(Entry::new(case.name(), "fcntl pair", move || {
            timed(time, |turn| lock_file(&**file, turn % ROWS))
        }));
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let figures = figures::figures(&series, GADUS);
    figures::print("locks", &figures, machine.was_quiet()?, command.common.json)
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Self::FastPath => "fast path",
            Self::Row => "row",
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::FastPath => Mode::IntentExclusive,
            Self::Row => Mode::Exclusive,
        }
    }

    fn resource(self, turn: u32) -> Resource {
        match self {
            Self::FastPath => Resource::table(TABLE),
            Self::Row => {
                let row = RowId { segment: SegmentId(1), position: turn % ROWS };
                Resource::row(TABLE, row)
            }
        }
    }

    /// Makes sure that the case is what it is called: only a full path puts a request into the
    /// table.
    fn check(self, owner: &mut LockOwner) -> Result<(), Failure> {
        let expected = match self {
            Self::FastPath => 0,
            Self::Row => 1,
        };
        owner.lock(self.resource(0), self.mode(), Wait::No).map_err(refused)?;
        let requests = owner.table().statistics().slots_used;
        owner.unlock(self.resource(0)).map_err(refused)?;
        if requests == expected {
            return Ok(());
        }
        let name = self.name();
        Err(Failure::message(format!(
            "{name}: {requests} requests in the lock table, not {expected}: its figures would be \
             those of another path. Report this"
        )))
    }
}

/// A lock table that nobody else knows.
fn lock_table() -> Result<Arc<LockTable>, Failure> {
    // For the instances, for the table's header, and for as many requests as there are parts.
    const EXTENTS: usize = 8;
    let damaged = |error: MemoryError| Failure::message(format!("memory of the locks: {error}"));
    let memory = Memory::private(EXTENTS * EXTENT_BYTES).map_err(damaged)?;
    let own = |_| Ok::<_, MemoryError>(true);
    let instances = Instances::claim(Arc::new(memory), Offset::new(0), Arc::new(Alive), own);
    let instances = Arc::new(instances.map_err(damaged)?);
    LockTable::attach(instances, EXTENT_BYTES, LockSettings::default()).map_err(refused)
}

/// Everybody lives: there is only this process.
#[derive(Debug)]
struct Alive;

impl Fence for Alive {
    fn is_quiet(&self, _: u32) -> bool {
        false
    }
}

/// Locks and unlocks one byte of an open file: one fcntl each.
fn lock_file(file: &dyn Device, slot: u32) -> Result<(), Failure> {
    if !file.try_own_slot(slot).map_err(unlockable)? {
        return Err(Failure::message("somebody else has locked a file of this run"));
    }
    file.give_up_slots().map_err(unlockable)
}

/// Calls for as long as told; tells what one call took.
fn timed(
    time: Duration,
    mut pair: impl FnMut(u32) -> Result<(), Failure>,
) -> Result<Measured, Failure> {
    let (started, mut turn) = (clock().now(), 0_u32);
    let mut looks = 0_u32;
    loop {
        for _ in 0..PAIRS_PER_LOOK {
            pair(turn)?;
            turn = turn.wrapping_add(1);
        }
        looks += 1;
        let took = started.elapsed();
        if took >= time {
            let pairs = f64::from(looks) * f64::from(PAIRS_PER_LOOK);
            let seconds = took.as_secs_f64();
            return Ok(vec![(COST, seconds * 1e9 / pairs), (RATE, pairs / seconds)]);
        }
    }
}

fn refused(error: LockError) -> Failure {
    Failure::message(format!("the lock table: {error}"))
}

fn unlockable(error: BlockError) -> Failure {
    Failure::message(format!("{error}; name a folder on a local disk by --dir"))
}
