//! Where a file lies on its disk: in one piece, or in many with gaps between.
//!
//! - What the paper did, writing by turns into two files, gives one piece on today's file systems: pieces are made
//!   for certain here, and counted as the file system tells.
//! - A device without moving parts pays for requests, not for distances. What a spinning disk would take is computed
//!   from the extents that were found, and said to be modelled.

mod file_systems;
mod fragments;
mod growth;
mod modelled;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = fragments::tasks(budget);
    tasks.extend(growth::tasks());
    // To make file systems takes seconds.
    if budget != Budget::Quick {
        tasks.push(file_systems::task());
    }
    tasks
}

#[cfg(test)]
mod tests;
