//! Tests of the table inside one process, with instances that a test declares dead.

mod damage;
mod deadlocks;
mod death;
mod escalating;
mod fast_path;
mod interleavings;
mod locking;
mod model;
mod waiting;

use super::*;
use crate::instances::Fence;
use crate::memory::Offset;
use gadus_base::clock;
use std::collections::BTreeSet;

/// Slots whose users live.
#[derive(Debug, Default)]
struct Alive(Mutex<BTreeSet<u32>>);

impl Fence for Alive {
    fn is_quiet(&self, slot: u32) -> bool {
        !self.0.lock().contains(&slot)
    }
}

/// A machine with one database on it.
struct Machine {
    memory: Arc<Memory>,
    alive: Arc<Alive>,
}

const START: usize = EXTENT_BYTES;

impl Machine {
    fn new(extents: usize) -> Self {
        let memory = Arc::new(Memory::private(extents * EXTENT_BYTES).unwrap());
        Self { memory, alive: Arc::default() }
    }

    /// Another instance.
    fn open(&self) -> Arc<LockTable> {
        self.open_with(LockSettings::default())
    }

    fn open_with(&self, settings: LockSettings) -> Arc<LockTable> {
        let own = |slot| Ok::<_, crate::MemoryError>(self.alive.0.lock().insert(slot));
        let instances =
            Instances::claim(self.memory.clone(), Offset::new(0), self.alive.clone(), own);
        LockTable::attach(Arc::new(instances.unwrap()), START, settings).unwrap()
    }

    /// An instance is gone, in the middle of whatever it does.
    fn kill(&self, table: &LockTable) {
        self.alive.0.lock().remove(&table.instances.me().slot);
    }
}

fn name(number: u64) -> Resource {
    Resource::named(&format!("resource {number}"))
}

/// Waits until something is so; fails when it does not become so in reasonable time.
fn until(mut is_so: impl FnMut() -> bool) {
    let began = clock().now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not become so");
        std::thread::yield_now();
    }
}

fn waiters(table: &LockTable) -> u32 {
    let parts = table.header().partitions.iter();
    parts.map(|part| part.waiting.load(Ordering::Relaxed)).sum()
}
