//! The check of foreign keys: whatever a row refers to is there.

use super::{Course, Problem};
use crate::error::Result;
use crate::snapshot::{Snapshot, Table};
use crate::types::{Datum, ForeignKey};
use gadus_base::RowId;

impl Course<'_> {
    /// Finds values of a table that refer to nothing.
    pub(super) fn references(&mut self, snapshot: &Snapshot, table: &Table) {
        for key in &table.schema().foreign_keys {
            let problem = match self.missing(snapshot, (table, key)) {
                Ok(None) => continue,
                Ok(Some(message)) => Problem { message, ..Problem::default() },
                // What cannot be read was found before.
                Err(_) if !self.problems.is_empty() => continue,
                Err(error) => Problem::unreadable(&error),
            };
            self.problems.push(Problem { table: Some(table.schema().name.clone()), ..problem });
        }
    }

    fn missing(
        &self,
        snapshot: &Snapshot,
        (table, key): (&Table, &ForeignKey),
    ) -> Result<Option<String>> {
        let name = &key.name;
        let Some(referenced) = snapshot.table_by_id(key.table) else {
            return Ok(Some(format!("foreign key \"{name}\" refers to a table that is not there")));
        };
        let (mut missing, mut first) = (0_u64, None);
        for segment in table.version().segments.keys() {
            let rows = (RowId { segment: *segment, position: 0 }, u32::MAX);
            for values in table.version().referring_values(key, rows, self.blobs)? {
                if referenced.version().referenced_row(key, self.blobs, &values)?.is_none() {
                    missing += 1;
                    first.get_or_insert(values);
                }
            }
        }
        Ok(first.map(|values| {
            let values = values.iter().map(Datum::to_string).collect::<Vec<_>>().join(", ");
            format!(
                "of foreign key \"{name}\": not in table \"{}\" are {missing} of its values, the first ({values})",
                referenced.schema().name
            )
        }))
    }
}
