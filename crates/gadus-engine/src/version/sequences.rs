//! Sequences in a version: each stands at one of its numbers, and goes with the column that it belongs to.

use super::DatabaseVersion;
use crate::segment::Lineage;
use crate::types::{Sequence, SequencePosition};
use gadus_base::TableId;
use std::sync::Arc;

impl DatabaseVersion {
    pub(crate) fn sequence_named(&self, name: &str) -> Option<&Arc<Sequence>> {
        self.sequences.get(self.names.get(name)?)
    }

    /// Adds a sequence, or changes the one with its id, which stays where it has come to unless it begins anew.
    pub(super) fn set_sequence(
        &mut self,
        sequence: &Arc<Sequence>,
        begins_anew: bool,
    ) -> Result<(), &'static str> {
        let mut sequence = Sequence::clone(sequence);
        let before = self.sequences.get(&sequence.id).cloned();
        // What others go on taking numbers from is theirs, too.
        let is_own = begins_anew || before.as_ref().is_some_and(|before| before.is_private);
        sequence.is_private = is_own && self.lineage == Lineage::Private;
        if let Some((table, column)) = sequence.owner {
            let table = self.tables.get(&table).ok_or("gives a sequence to what is not there")?;
            table.schema.column_with_id(column).ok_or("gives a sequence to what is not there")?;
        }
        self.refuse_homeless(&sequence.name)?;
        let is_taken = self.names.get(&sequence.name).is_some_and(|id| *id != sequence.id);
        match before {
            _ if is_taken => return Err("makes a sequence whose name is there already"),
            Some(before) => {
                if !begins_anew {
                    sequence.position = before.position;
                }
                self.names.remove(&before.name);
            }
            None if sequence.id < self.next_table => {
                return Err("changes a sequence that is not there");
            }
            None => self.next_table = TableId(sequence.id.0 + 1),
        }
        if sequence.check().is_err() {
            return Err("leaves a sequence where it has no numbers");
        }
        self.names.insert(sequence.name.clone(), sequence.id);
        self.sequences.insert(sequence.id, Arc::new(sequence));
        self.schema_version += 1;
        Ok(())
    }

    pub(super) fn drop_sequence(&mut self, id: TableId) -> Result<(), &'static str> {
        let sequence = self.sequences.remove(&id).ok_or("drops a sequence that is not there")?;
        self.names.remove(&sequence.name);
        self.drop_stale_comments(id);
        self.schema_version += 1;
        Ok(())
    }

    pub(super) fn place_sequence(
        &mut self,
        id: TableId,
        position: SequencePosition,
    ) -> Result<(), &'static str> {
        let slot = self.sequences.get_mut(&id).ok_or("asks a sequence that is not there")?;
        if slot.check_value(position.last).is_err() {
            return Err("takes numbers that a sequence does not have");
        }
        Arc::make_mut(slot).position = position;
        Ok(())
    }

    /// Drops what went with a table, or with columns of it, that are not there any more.
    pub(super) fn drop_orphans(&mut self, table: TableId) {
        let schema = self.tables.get(&table).map(|table| table.schema.clone());
        let is_there = |column| schema.as_ref().and_then(|schema| schema.column_with_id(column));
        let is_orphan = |sequence: &&Arc<Sequence>| {
            sequence.owner.is_some_and(|(_, column)| is_there(column).is_none())
        };
        let orphans = self.owned_sequences(table).filter(is_orphan).cloned().collect::<Vec<_>>();
        for orphan in orphans {
            self.sequences.remove(&orphan.id);
            self.names.remove(&orphan.name);
            self.drop_stale_comments(orphan.id);
        }
    }

    /// The sequences that go with a table.
    pub(crate) fn owned_sequences(&self, table: TableId) -> impl Iterator<Item = &Arc<Sequence>> {
        let is_owned = move |sequence: &&Arc<Sequence>| {
            sequence.owner.is_some_and(|(owner, _)| owner == table)
        };
        self.sequences.values().filter(is_owned)
    }
}
