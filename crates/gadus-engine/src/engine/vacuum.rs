//! VACUUM: compacts tables now, and gives back what that frees.
//!
//! - A full disk is no error. Each move writes to the reserve of the data file, but for what the next
//!   checkpoint needs, and what it replaces is free after two checkpoints; where that is too little,
//!   segments move alone, those first whose live rows take least, and those that do not fit stay.
//! - Transactions that are open are left alone, as in the background: what is in their way stays for
//!   later.

use super::Inner;
use super::compaction::{Compacted, Sources};
use crate::error::{ErrorKind, Result};
use gadus_base::TableId;
use gadus_storage::Remaining;

/// Space that moves can write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Enough,
    /// One move found none; what others had replaced is free since.
    Freed,
    /// That was not enough: the smallest moves first, each of which frees more than it takes.
    Little,
}

impl Inner {
    /// Compacts one table, or all, and gives back space; `check` may end it between steps.
    pub(super) fn vacuum(
        &self,
        table: Option<TableId>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let _reserve = self.blobs.store().use_reserve(Remaining::ForCheckpoint);
        // What was deleted is free before anything is written: moves else lengthen a full file.
        self.free_space()?;
        let version = self.coordinator.newest()?.0;
        let wanted = version.tables.keys().filter(|id| table.is_none_or(|wanted| wanted == **id));
        for &id in wanted {
            self.vacuum_table(id, check)?;
        }
        self.free_space()?;
        self.blobs.store().give_back_space()?;
        Ok(())
    }

    fn vacuum_table(&self, table: TableId, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut room = Room::Enough;
        loop {
            check()?;
            let from = if room == Room::Little { Sources::Smallest } else { Sources::All };
            match (self.move_some(table, true, from), room) {
                (Ok(Compacted::Nothing), _) => break,
                (Ok(Compacted::Moved), Room::Little) => self.free_space()?,
                (Ok(Compacted::Moved), _) => {}
                (Ok(Compacted::Lost), _) => {
                    self.maintenance.compact_later(table);
                    break;
                }
                (Err(error), Room::Enough) if error.kind() == ErrorKind::NoSpace => {
                    room = Room::Freed;
                    self.free_space()?;
                }
                (Err(error), Room::Freed) if error.kind() == ErrorKind::NoSpace => {
                    room = Room::Little;
                }
                // What was freed is free; the rest waits for more room.
                (Err(error), Room::Little) if error.kind() == ErrorKind::NoSpace => break,
                (Err(error), _) => return Err(error),
            }
        }
        match self.has_stale_keys(table).then(|| self.fold_keys(table)) {
            Some(Err(error)) if error.kind() != ErrorKind::NoSpace => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes what was replaced before free: two headers may name it.
    fn free_space(&self) -> Result<()> {
        self.checkpoint()?;
        self.checkpoint()
    }
}
