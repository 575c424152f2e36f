//! A newer snapshot under a transaction's own writes.

use super::commit::add_writes;
use super::{State, Transaction};
use crate::blobs::Blobs;
use crate::coordinator::Pin;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Row;
use crate::version::{Change, DatabaseVersion, TableVersion};
use gadus_base::{RowId, SegmentId};
use std::sync::Arc;

impl Transaction {
    /// Goes on with the newest visible version. Costs what the transaction has written, where others have committed
    /// meanwhile.
    pub(super) fn see_newest(&mut self) -> Result<()> {
        let (base, pin) = self.inner.coordinator.pin()?;
        if base.commit > self.state.base.commit {
            let reshaped = base.schema_version != self.state.base.schema_version;
            self.was_read |= self.state.pin.was_read();
            self.state = self.state.rebased(base, Arc::new(pin), &self.blobs)?;
            if reshaped && !self.state.shapes.is_empty() {
                self.state.view.schema_version = self.inner.private_schema_version();
            }
        }
        Ok(())
    }
}

impl State {
    /// The same writes on another snapshot. What they change is locked, hence unchanged there.
    fn rebased(&self, base: Arc<DatabaseVersion>, pin: Arc<Pin>, blobs: &Blobs) -> Result<Self> {
        let mut changes: Vec<Change> = self.shapes.iter().cloned().collect();
        for (id, writes) in &self.writes {
            let Some(mine) = self.view.table(*id) else { continue };
            add_writes(&mine.schema, writes, &self.view, &mut changes);
            for &segment in &writes.inserted {
                add_own_rows(mine, segment, blobs, &mut changes)?;
            }
        }
        let (mut view, at) = (base.private(), base.commit.next());
        changes.iter().try_for_each(|change| view.apply(change, at)).map_err(|what| {
            Error::new(ErrorKind::Conflict, format!("this transaction {what}; run it again"))
        })?;
        if !self.shapes.is_empty() {
            // As no other view has it, and plans are kept by it.
            view.schema_version = self.view.schema_version;
        }
        Ok(Self { base, pin, view, ..self.clone() })
    }
}

/// The rows of a segment that exists in a transaction's view alone.
fn add_own_rows(
    table: &TableVersion,
    id: SegmentId,
    blobs: &Blobs,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let Some(segment) = table.segment(id) else { return Ok(()) };
    let row = |position| segment.row(&table.schema, blobs, position).map(Row::from);
    let rows = (0..segment.rows).map(row).collect::<Result<Vec<_>>>()?;
    let first = RowId { segment: id, position: 0 };
    changes.push(Change::AppendRows { table: table.schema.id, first, rows });
    let positions = (0..segment.rows).filter(|&position| !segment.is_live(position)).collect();
    changes.push(Change::DeleteRows { table: table.schema.id, segment: id, positions });
    Ok(())
}
