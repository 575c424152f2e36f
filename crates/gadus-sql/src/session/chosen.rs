//! What a session has set, and what of it stays when a transaction ends.
//!
//! - As in PostgreSQL: what a transaction sets is taken back with it, and what came after a savepoint with
//!   that; SET LOCAL lasts until the transaction ends, however it does.
//! - RESET goes back to what the session began with, which its client may have said first.

use super::scanning::ScanSharing;
use super::variables::{Reported, Variables};
use crate::compiled::Budget;
use gadus_engine::{Durability, Isolation, Result};
use std::ops::Deref;
use std::time::Duration;

/// How long a statement waits for a lock unless the session says something else: longer than
/// transactions of programs take, and short enough that a program that waits for itself says so.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings of a session.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(super) durability: Option<Durability>,
    /// None waits for ever.
    pub(super) lock_timeout: Option<Duration>,
    /// What BEGIN begins.
    pub(super) isolation: Isolation,
    pub(super) scan_sharing: ScanSharing,
    pub(super) statement_timeout: Option<Duration>,
    /// Of a client that is silent in a transaction.
    pub(super) idle_in_transaction_timeout: Option<Duration>,
    /// Of a client that is silent outside transactions.
    pub(super) idle_timeout: Option<Duration>,
    pub(super) statement_memory: Budget,
    pub(super) variables: Variables,
}

/// Those in effect, and those to go back to.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    now: Chosen,
    first: Chosen,
    /// Since the open transaction has set something.
    open: Option<Box<Open>>,
    changes: u64,
}

/// What an open transaction leaves of the settings.
#[derive(Debug)]
struct Open {
    committed: Chosen,
    rolled_back: Chosen,
}

/// The settings at a savepoint.
#[derive(Debug)]
pub(super) struct Marked {
    now: Chosen,
    committed: Chosen,
}

/// Until when a change lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// Not at all: it is only looked at.
    Not,
    /// Until it is set otherwise: there is no transaction.
    OnItsOwn,
    /// If the open transaction commits.
    WithTransaction,
    /// Until the open transaction ends.
    Locally,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            durability: None,
            lock_timeout: Some(LOCK_TIMEOUT),
            isolation: Isolation::Snapshot,
            scan_sharing: ScanSharing::default(),
            statement_timeout: None,
            idle_in_transaction_timeout: None,
            idle_timeout: None,
            statement_memory: Budget::default(),
            variables: Variables::default(),
        }
    }
}

impl Deref for Settings {
    type Target = Chosen;

    fn deref(&self) -> &Chosen {
        &self.now
    }
}

impl Settings {
    /// Of a session whose transactions are isolated so at first.
    pub(super) fn new(isolation: Isolation) -> Self {
        let now = Chosen { isolation, ..Chosen::default() };
        Self { first: now.clone(), now, open: None, changes: 0 }
    }

    /// Makes a change, which is told what there was at first; where it fails, nothing is changed.
    pub(super) fn change(
        &mut self,
        lasts: Lasts,
        change: impl Fn(&mut Chosen, &Chosen) -> Result<()>,
    ) -> Result<()> {
        let before = self.now.clone();
        if lasts == Lasts::Not {
            return change(&mut before.clone(), &self.first);
        }
        if let Err(error) = change(&mut self.now, &self.first) {
            self.now = before;
            return Err(error);
        }
        self.changes += 1;
        if lasts == Lasts::OnItsOwn {
            return Ok(());
        }
        let open = self.open.get_or_insert_with(|| {
            Box::new(Open { committed: before.clone(), rolled_back: before })
        });
        match lasts {
            Lasts::WithTransaction => change(&mut open.committed, &self.first),
            _ => Ok(()),
        }
    }

    /// What is set now is what RESET goes back to.
    pub(super) fn begin(&mut self) {
        self.first = self.now.clone();
    }

    /// The transaction has ended.
    pub(super) fn end_transaction(&mut self, is_committed: bool) {
        if let Some(open) = self.open.take() {
            self.now = if is_committed { open.committed } else { open.rolled_back };
            self.changes += 1;
        }
    }

    /// What a savepoint goes back to.
    pub(super) fn mark(&self) -> Marked {
        let committed = self.open.as_ref().map_or(&self.now, |open| &open.committed);
        Marked { now: self.now.clone(), committed: committed.clone() }
    }

    /// Goes back to a savepoint of the open transaction.
    pub(super) fn go_back(&mut self, marked: &Marked) {
        // Without it nothing was set.
        if let Some(open) = &mut self.open {
            open.committed = marked.committed.clone();
            self.now = marked.now.clone();
            self.changes += 1;
        }
    }

    /// What RESET goes back to.
    pub(super) fn first(&self) -> &Chosen {
        &self.first
    }

    /// Counts changes.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// What clients are told.
    pub(super) fn reported(&self) -> Reported {
        Reported {
            changes: self.changes,
            variables: self.now.variables.reported(),
            idle_in_transaction_time: self.now.idle_in_transaction_timeout,
            idle_time: self.now.idle_timeout,
        }
    }
}

#[cfg(test)]
mod tests;
