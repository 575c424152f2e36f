//! What processes tell each other: a message goes to another process, and comes back whole.
//!
//! - The first four bytes of a message are its length; it carries a number, which is checked when it is back.
//! - Every server is a process of its own, on a processor that the cell names; only a call needs none.
//! - Each copies the message as often as it must and no more: a call into a place and out again.

mod clients;
mod connect;
mod echo;
mod ends;
mod transports;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = echo::tasks(budget);
    tasks.extend(clients::tasks(budget));
    tasks.extend(connect::tasks());
    tasks
}
