//! Files in memory: mapped by the kernel, against read and written through buffers of one's own.
//!
//! - Everybody reads or changes the same bytes; sums and the file's own bytes are compared.
//! - "Cold" means that the kernel was told to forget the file before; whoever bypasses its cache is cold always, and
//!   takes part there only.
//! - Linux creates a map and binds it in one call: the paper's steps "create map" and "destroy map" do not exist.

mod changing;
pub(crate) mod files;
mod pages;
mod rewriting;
mod scanning;
mod transferring;
mod unmapping;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) use transferring::{
    TRANSFERRED_BYTES, TRANSFERRED_FILE, TRANSFERS_BYTES, transfers_by_ring,
};

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = rewriting::tasks(budget);
    tasks.extend(scanning::tasks(budget));
    tasks.extend(transferring::tasks(budget));
    tasks.extend(pages::tasks(budget));
    tasks.extend(changing::tasks(budget));
    tasks.extend(unmapping::tasks(budget));
    tasks
}

#[cfg(test)]
mod tests;
