//! Who runs next: switches between threads and processes by the kernel, between fibers and tasks in user mode, and
//! calls, which switch nothing.
//!
//! - A switch is half of a round trip: the other one is woken, and this one waits.
//! - A fiber here has no scheduler, no cache of its own and nothing on its stack unless the cell says so: its figure
//!   is what a switch costs at least.

mod background;
mod bells;
mod creation;
mod partner;
mod switches;
mod tasks;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) use switches::{by_pipe, library_call};

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut all = switches::tasks(budget);
    all.extend(background::tasks(budget));
    all.extend(creation::tasks(budget));
    all
}

#[cfg(test)]
mod tests;
