//! Who may use what: locks of the kernel on files, against locks in user mode.
//!
//! - A lock is acquired and released; what it protects is nothing.
//! - Whoever is compared excludes the same: readers share where the cell says "read", and nobody shares where it says
//!   "write".
//! - Where two take part, they are two processes, since a file's locks do not exclude threads of one. Connections of
//!   Gadus's table may be two of one process: it makes no difference between them.

mod beside_reader;
mod deadlocks;
mod holders;
mod locks;
mod orphans;
mod shared_exclusive;
mod sleeper;
mod table;
mod table_of_two;
mod transaction;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = locks::tasks();
    tasks.extend(beside_reader::tasks());
    tasks.extend(holders::tasks(budget));
    tasks.push(transaction::task());
    tasks.extend(orphans::tasks(budget));
    // They wait more than they work, and nothing is decided by them.
    if budget != Budget::Quick {
        tasks.push(deadlocks::task());
    }
    tasks
}

#[cfg(test)]
mod tests;
