//! Sequences: what a transaction does to them, and numbers of those that are its own.

use super::Transaction;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::types::{Sequence, SequencePosition};
use crate::version::Change;
use gadus_base::TableId;
use std::sync::Arc;

impl Transaction {
    /// Creates a sequence; returns it with the id it was given.
    ///
    /// # Errors
    /// `AlreadyExists`.
    pub fn create_sequence(&mut self, sequence: &Sequence) -> Result<Arc<Sequence>> {
        self.refuse_taken(&sequence.name)?;
        let id = self.state.view.next_table;
        let sequence = Arc::new(Sequence { id, version: 1, ..sequence.clone() });
        self.reshape(Change::SetSequence { sequence: sequence.clone(), begins_anew: true })?;
        Ok(sequence)
    }

    /// Gives the sequence of an id another shape, name or owner; where it does not begin anew, others may take
    /// numbers meanwhile.
    ///
    /// # Errors
    /// `AlreadyExists` where another has the new name.
    pub fn alter_sequence(&mut self, after: &Sequence, begins_anew: bool) -> Result<()> {
        let before = self.state.view.sequences.get(&after.id).cloned();
        let before = before.ok_or_else(|| unknown(&after.name))?;
        after.check()?;
        if before.name != after.name {
            self.refuse_taken(&after.name)?;
        }
        let version = before.version + 1;
        let sequence = Arc::new(Sequence { version, ..after.clone() });
        self.reshape(Change::SetSequence { sequence, begins_anew })
    }

    /// Drops a sequence.
    ///
    /// # Errors
    /// `NotFound`, or `Input` where it is something else.
    pub fn drop_sequence(&mut self, name: &str) -> Result<()> {
        let Some(sequence) = self.state.view.sequence_named(name) else {
            if self.state.view.names.contains_key(name) {
                let message = format!("\"{name}\" is not a sequence");
                return Err(Error::new(ErrorKind::Input, message).because(Reason::WrongObject));
            }
            return Err(unknown(name));
        };
        let id = sequence.id;
        self.reshape(Change::DropSequence(id))
    }

    /// Says how far a sequence of this shape has come whose numbers are for this transaction alone; of others it knows
    /// nothing.
    pub fn place_sequence(
        &mut self,
        (id, version): (TableId, u32),
        position: SequencePosition,
    ) -> Result<()> {
        let is_it = |sequence: &&Arc<Sequence>| sequence.is_private && sequence.version == version;
        let known = self.state.view.sequences.get(&id).filter(is_it);
        if known.is_none_or(|sequence| sequence.position == position) {
            return Ok(());
        }
        self.apply(&Change::PlaceSequence { sequence: id, position })?;
        // It is no other shape: plans stay, and commit does not say each place.
        let is_its = |change: &Change| matches!(change, Change::SetSequence { sequence, begins_anew: true } if sequence.id == id);
        let shapes = &mut self.state.shapes;
        let last = (0..shapes.len()).rev().find(|&place| is_its(&shapes[place]));
        if let Some(place) = last
            && let Some(Change::SetSequence { sequence, .. }) = shapes.get_mut(place)
        {
            Arc::make_mut(sequence).position = position;
        }
        Ok(())
    }
}

fn unknown(name: &str) -> Error {
    let message = format!("sequence \"{name}\" does not exist");
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable)
}
