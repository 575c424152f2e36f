//! Numbers of sequences: taken under the commit lock, so that no two processes get the same.

use super::Engine;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::types::{Sequence, SequencePosition};
use crate::version::{Change, DatabaseVersion};
use gadus_base::TableId;
use gadus_storage::Durability;

impl Engine {
    /// So many numbers of a sequence; nobody else gets them. Waits for no disk: what is committed with them has
    /// them durable before it.
    ///
    /// # Errors
    /// `OutOfRange` where there are no more, `NotFound` where it is gone.
    pub fn next_values(&self, id: TableId, count: usize) -> Result<Vec<i64>> {
        let mut given = Vec::new();
        self.place_sequence(id, |sequence| {
            let (position, numbers) = sequence.take(sequence.position, count)?;
            given = numbers;
            Ok(position)
        })?;
        Ok(given)
    }

    /// Sets how far a sequence has come, at once and for all.
    ///
    /// # Errors
    /// `OutOfRange` for a number that is none of its own, `NotFound` where it is gone.
    pub fn set_sequence(&self, id: TableId, position: SequencePosition) -> Result<()> {
        self.place_sequence(id, |sequence| sequence.check_value(position.last).map(|()| position))
    }

    fn place_sequence(
        &self,
        id: TableId,
        place: impl FnOnce(&Sequence) -> Result<SequencePosition>,
    ) -> Result<()> {
        let inner = self.inner();
        let durability = match inner.options.durability {
            Durability::Sync => Durability::Relaxed,
            relaxed => relaxed,
        };
        let build = |head: &DatabaseVersion| {
            let position = place(head.sequences.get(&id).ok_or_else(is_gone)?)?;
            Ok(vec![Change::PlaceSequence { sequence: id, position }])
        };
        inner.commit(durability, build).map(|_| ())
    }
}

fn is_gone() -> Error {
    let message = "the sequence was dropped meanwhile";
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable)
}
