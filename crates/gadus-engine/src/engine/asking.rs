//! Questions and modifications of shared scans.

use super::Engine;
use crate::error::Result;
use crate::shared::{Asked, LookedUp, Modification, Question, ScanLimits, ScanThread, ScansAlone};
use crate::types::TableSchema;
use gadus_base::TableId;
use gadus_storage::Durability;
use std::sync::Arc;
use std::time::Duration;

impl Engine {
    /// Has a question about a table answered in the table's next shared scan, of the newest version
    /// then. Where the table has another shape by then, the answer is a `Conflict`.
    pub fn ask(&self, schema: &Arc<TableSchema>, question: Question) -> Result<Asked> {
        self.check_usable()?;
        self.inner().clock.ask(schema, question)
    }

    /// Has the rows of a modification found in the table's next shared scan, and changed after it, in a
    /// transaction with the other modifications of that scan. A `Conflict` where the table has another
    /// shape by then, or somebody else has changed one of the rows at the same time, and `Locked` where
    /// somebody has locked one: it is to be made anew then, by whoever can wait.
    pub fn modify(
        &self,
        schema: &Arc<TableSchema>,
        modification: Modification,
        durability: Durability,
    ) -> Result<Asked> {
        self.check_usable()?;
        self.inner().clock.modify(schema, modification, durability, self.clone())
    }

    /// Whether anybody here scans a table now, alone or shared.
    #[must_use]
    pub fn is_scanned(&self) -> bool {
        self.inner().clock.is_busy()
    }

    /// Says that a table is scanned alone, until this is dropped.
    #[must_use]
    pub fn scans_alone(&self) -> ScansAlone {
        self.inner().clock.scans_alone()
    }

    /// About how many rows a table has.
    #[must_use]
    pub fn visible_rows(&self, table: TableId) -> u64 {
        let visible = self.inner().coordinator.visible();
        visible.table(table).map_or(0, |table| table.live_rows)
    }

    /// How many statements shared scans have looked up by which columns.
    #[must_use]
    pub fn looked_up(&self) -> Vec<LookedUp> {
        self.inner().clock.looked_up()
    }

    /// The threads of shared scans, by number.
    #[must_use]
    pub fn scan_threads(&self) -> Vec<ScanThread> {
        self.inner().clock.threads()
    }

    /// What shared scans keep to.
    #[must_use]
    pub fn scan_limits(&self) -> &ScanLimits {
        self.inner().clock.limits()
    }

    /// About when a statement about a table would have its answer from a shared scan that is asked now;
    /// none where no pass of the table was made yet.
    #[must_use]
    pub fn expected_latency(&self, table: TableId) -> Option<Duration> {
        self.inner().clock.expected(table)
    }
}
