//! How much plans of a database hold together, unless somebody says something else.

use super::gathered::check_changes;
use super::{Memory, SpillFolder};
use gadus_base::ByteCount;
use gadus_engine::Engine;
use gadus_machine::{Limits, decide_batch_rows, decide_memory_limit};

/// Returns the memory of a database's plans and of what its transactions change, as much as its process may take.
pub(crate) fn memory_of(engine: &Engine) -> Memory {
    let limit = decided_limit(engine, engine.machine_limits(), None);
    let options = engine.options();
    let spill = SpillFolder::new(options.spill_folder.as_deref());
    let memory = Memory::new(options.threads, limit, Some(engine.gatherers()), spill);
    let of_changes = memory.clone();
    engine.check_changes_by(Box::new(move |bytes| check_changes(bytes, &of_changes)));
    memory
}

/// By what the process may take; or what was told, and the decision says so. It is among the database's.
pub(crate) fn decided_limit(
    engine: &Engine,
    limits: &Limits,
    told: Option<ByteCount>,
) -> ByteCount {
    let (usual, decision) = decide_memory_limit(limits);
    let (limit, decision) = match told {
        None => (usual, decision),
        Some(told) => {
            let by = format!("gadus.memory_limit = '{}'", told.exact());
            (told, decision.told(told.exact(), by))
        }
    };
    engine.record_decision(decision);
    engine.record_decision(decide_batch_rows(limit).1);
    limit
}
