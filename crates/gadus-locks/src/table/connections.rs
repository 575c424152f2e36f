//! The records of connections: who may hold locks, and what a sleeper sleeps on.
//!
//! - A record is taken by one compare-and-swap of its owner word, and is free again only when no
//!   request names it any more: so a request's owner is always the present user of the record.
//! - The record's other words are hints, or belong to its user.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{CONNECTIONS_PER_CHUNK, Connection};
use super::state::Holder;
use super::store::{add, put, put32, replace};
use crate::latch::Owner;
use crate::memory::Mapped;
use crate::steps;
use std::sync::atomic::Ordering;

/// Between two tickets, so that one may be given a place between others.
pub(super) const TICKET_STEP: u64 = 1 << 16;

impl LockTable {
    pub(super) fn connection(&self, record: u32) -> Result<&Connection, LockError> {
        self.record(Use::Connections, record)
    }

    /// The record of a connection, if it is still its.
    pub(super) fn connection_of(&self, holder: Holder) -> Option<&Connection> {
        let connection = self.connection(holder.record).ok()?;
        steps::before(&connection.owner);
        (connection.owner.load(Ordering::Acquire) == holder.to_word()).then_some(connection)
    }

    /// The next place in the order of arrival.
    pub(super) fn draw_ticket(&self) -> u64 {
        add(&self.header().tickets, TICKET_STEP).wrapping_add(TICKET_STEP)
    }

    /// Takes a record for a connection that its instance knows by `number`.
    pub(super) fn take_connection(
        &self,
        number: u32,
    ) -> Result<(Holder, Mapped<Connection>), LockError> {
        let instance = self.instances.me();
        loop {
            // The latest chunk has room more often than the others.
            for first in self.chunks_of::<Connection>(Use::Connections).into_iter().rev() {
                for record in first..first + CONNECTIONS_PER_CHUNK {
                    let connection = self.connection(record)?;
                    let holder = Holder { instance, record };
                    steps::before(&connection.owner);
                    if connection.owner.load(Ordering::Relaxed) == 0
                        && replace(&connection.owner, 0, holder.to_word())
                    {
                        connection.begin(number);
                        put(&connection.begun, self.draw_ticket());
                        let place = self.place_of(Use::Connections, record)?;
                        return Ok((holder, self.memory.keep(place)?));
                    }
                }
            }
            self.claim_chunk::<Connection>(Use::Connections)?;
        }
    }

    /// Frees the records of a dead instance, of which no request is left.
    pub(super) fn forget_connections(&self, dead: Owner) -> Result<(), LockError> {
        for first in self.chunks_of::<Connection>(Use::Connections) {
            for record in first..first + CONNECTIONS_PER_CHUNK {
                let connection = self.connection(record)?;
                let word = connection.owner.load(Ordering::Acquire);
                if word != 0 && Holder::from_word(word).instance.is_named_by(dead) {
                    connection.end();
                }
            }
        }
        Ok(())
    }
}

impl Connection {
    fn begin(&self, number: u32) {
        for word in [&self.waits_with, &self.survived, &self.survivor, &self.ending] {
            put32(word, 0);
        }
        self.notices.iter().for_each(|word| put32(word, 0));
        put32(&self.number, number);
    }

    /// Makes the record free.
    pub(super) fn end(&self) {
        self.fast.iter().filter(|word| word.load(Ordering::Relaxed) != 0).for_each(|word| {
            put(word, 0);
        });
        put32(&self.waits_with, 0);
        put(&self.owner, 0);
    }
}
