//! Connections as others see them, and asking for their end.
//!
//! - Nobody ends another's connection: who wants it ended leaves a word in its record and rings its
//!   instance, whose [`Watcher`](super::Watcher) hears of it.
//! - An id is used again when its connection is gone.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{CONNECTIONS_PER_CHUNK, Connection};
use super::state::Holder;
use super::store::replace32;
use crate::instances::InstanceDescription;
use crate::steps;
use std::sync::atomic::Ordering;

/// What of a connection is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The statement that it runs.
    Statement,
    /// All of it: its statement, its transaction, and what it would do later.
    Connection,
}

/// A connection, as somebody who looks at the table sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionView {
    /// Names it in the whole table, as long as it is there.
    pub id: u32,
    /// Its instance, unless that is gone by now.
    pub instance: Option<InstanceDescription>,
    /// Its number within its instance.
    pub number: u32,
    /// Whether it waits for a lock.
    pub waits: bool,
}

impl Ending {
    fn to_word(self) -> u32 {
        match self {
            Self::Statement => 1,
            Self::Connection => 2,
        }
    }

    fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => None,
            1 => Some(Self::Statement),
            _ => Some(Self::Connection),
        }
    }
}

impl LockTable {
    /// All connections of all instances, by id.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn connections(&self) -> Result<Vec<ConnectionView>, LockError> {
        let mut views = Vec::new();
        for first in self.chunks_of::<Connection>(Use::Connections) {
            for record in first..first + CONNECTIONS_PER_CHUNK {
                let connection = self.connection(record)?;
                let owner = connection.owner.load(Ordering::Acquire);
                if owner != 0 {
                    views.push(ConnectionView {
                        id: record + 1,
                        instance: self.instances.describe(Holder::from_word(owner).instance),
                        number: connection.number.load(Ordering::Relaxed),
                        waits: connection.waits_with.load(Ordering::Relaxed) != 0,
                    });
                }
            }
        }
        views.sort_by_key(|view| view.id);
        Ok(views)
    }

    /// Asks a connection's instance to end it, or its statement; false when there is no such
    /// connection. What it does about it, it does soon, unless it is stopped.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn ask_to_end(&self, id: u32, what: Ending) -> Result<bool, LockError> {
        let chunks = self.chunks_of::<Connection>(Use::Connections);
        let is_record = |record: &u32| {
            chunks.iter().any(|first| (*first..first + CONNECTIONS_PER_CHUNK).contains(record))
        };
        let Some(record) = id.checked_sub(1).filter(is_record) else { return Ok(false) };
        let connection = self.connection(record)?;
        let owner = connection.owner.load(Ordering::Acquire);
        if owner == 0 {
            return Ok(false);
        }
        // Two who ask for different things: the more lasting one is heard.
        steps::before(&connection.ending);
        connection.ending.fetch_max(what.to_word(), Ordering::AcqRel);
        self.instances.ring(Holder::from_word(owner).instance.slot);
        Ok(true)
    }

    /// Wakes this instance's own watcher, which then returns what there is.
    pub fn wake_watcher(&self) {
        self.instances.ring(self.instances.me().slot);
    }
}

impl Connection {
    /// What somebody asked to end, once.
    pub(super) fn take_ending(&self) -> Option<Ending> {
        steps::before(&self.ending);
        let word = self.ending.load(Ordering::Acquire);
        // Where somebody asks for more just now, the next look hears of it.
        if word != 0 && replace32(&self.ending, word, 0) { Ending::from_word(word) } else { None }
    }
}
