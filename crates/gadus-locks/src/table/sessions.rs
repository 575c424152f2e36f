//! Connections as others see them, and asking for their end.
//!
//! - Nobody ends another's connection: who wants it ended leaves a word in its record and rings its
//!   instance, whose [`Watcher`](super::Watcher) hears of it.
//! - The word stays when it was heard of a whole connection: from the moment when somebody has asked,
//!   the connection itself can tell that it is to begin nothing more.
//! - An id is used again when its connection is gone.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{CONNECTIONS_PER_CHUNK, Connection};
use super::state::Holder;
use super::store::{or32, replace32};
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

/// What the word of a record says: what somebody asked for that its instance has not heard yet, and
/// whether somebody asked for the end of the connection.
const STATEMENT: u32 = 1;
const CONNECTION: u32 = 2;
const UNHEARD: u32 = STATEMENT | CONNECTION;
const ASKED: u32 = 4;

impl Ending {
    fn to_word(self) -> u32 {
        match self {
            Self::Statement => STATEMENT,
            Self::Connection => CONNECTION | ASKED,
        }
    }

    /// Of two who ask for different things, the more lasting one is heard.
    fn from_word(word: u32) -> Option<Self> {
        match word & UNHEARD {
            0 => None,
            STATEMENT => Some(Self::Statement),
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
    /// connection. What it does about it, it does soon, unless it is stopped; a connection that is to end
    /// can tell so at once, by [`Canceller::is_asked_to_end`](super::Canceller::is_asked_to_end).
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
        or32(&connection.ending, what.to_word());
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
        let ending = Ending::from_word(word)?;
        // Where somebody asks for more just now, the next look hears of it.
        replace32(&self.ending, word, word & !UNHEARD).then_some(ending)
    }

    /// Whether somebody asked for its end, heard or not.
    pub(super) fn is_asked_to_end(&self) -> bool {
        steps::before(&self.ending);
        self.ending.load(Ordering::Acquire) & ASKED != 0
    }
}
