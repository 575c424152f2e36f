//! When what is written is on the disk, and what is not: forced out by the database, or by nobody.
//!
//! - Every method of a contest leaves the same bytes durable; what does less is in a contest of its own, that says so.
//! - Durable means what the kernel and the device promise: whether the device keeps that, nobody here can see.

mod group;
mod methods;
mod pressure;
mod uninvited;

use crate::harness::Budget;
use crate::run::Task;

pub(crate) use methods::{RECORDS_BYTES, records_with_data_sync};

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let (begin, end) = uninvited::tasks(budget);
    let mut tasks = vec![begin];
    tasks.extend(methods::tasks(budget));
    tasks.extend(group::tasks(budget));
    tasks.push(pressure::task());
    tasks.push(end);
    tasks
}

#[cfg(test)]
mod tests;
