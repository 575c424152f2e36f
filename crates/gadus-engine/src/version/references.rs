//! Foreign keys in a version: what they refer to is there, and stays as long as they are.

use super::{DatabaseVersion, TableVersion};
use crate::blobs::Blobs;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Row;
use crate::types::{Datum, ForeignKey, TableSchema};
use crate::vector::{Rows, Vector};
use gadus_base::{RowId, TableId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl DatabaseVersion {
    /// The foreign keys that refer to a table, each with the table that has it.
    pub(crate) fn references(
        &self,
        id: TableId,
    ) -> impl Iterator<Item = (&Arc<TableVersion>, &ForeignKey)> {
        let tables = self.tables.get(&id).map(|table| table.schema.referenced_by.as_slice());
        let tables = tables.unwrap_or_default().iter();
        let tables = tables.filter_map(|other| self.tables.get(other));
        tables.flat_map(move |table| table.schema.references_to(id).map(move |key| (table, key)))
    }

    /// The same of other tables.
    pub(crate) fn referring(
        &self,
        id: TableId,
    ) -> impl Iterator<Item = (&Arc<TableVersion>, &ForeignKey)> {
        self.references(id).filter(move |(table, _)| table.schema.id != id)
    }

    /// Refuses a shape that refers to what is not there, or lacks what others refer to.
    pub(super) fn refuse_dangling(&self, schema: &TableSchema) -> Result<(), &'static str> {
        for key in &schema.foreign_keys {
            let other = self.tables.get(&key.table).map(|table| &*table.schema);
            let referenced = if key.table == schema.id { Some(schema) } else { other };
            if referenced.is_none_or(|referenced| referenced.unique_over(&key.referenced).is_none())
            {
                return Err("refers to what is not there");
            }
        }
        let is_gone = |key: &ForeignKey| schema.unique_over(&key.referenced).is_none();
        match self.referring(schema.id).any(|(_, key)| is_gone(key)) {
            true => Err("drops what a foreign key refers to"),
            false => Ok(()),
        }
    }

    /// Refuses to take away a table to which others refer.
    pub(super) fn refuse_referenced(&self, id: TableId) -> Result<(), &'static str> {
        match self.referring(id).next() {
            Some(_) => Err("drops what a foreign key refers to"),
            None => Ok(()),
        }
    }
}

impl DatabaseVersion {
    /// Refuses rows that refer to what is neither there nor among them.
    pub(crate) fn refuse_missing(
        &self,
        schema: &TableSchema,
        rows: &[Row],
        blobs: &Blobs,
    ) -> Result<()> {
        for key in &schema.foreign_keys {
            let (own, there) = (schema.places(&key.columns), self.table(key.table));
            let there = there.ok_or_else(|| Error::internal("a foreign key refers to no table"))?;
            let places = there.schema.places(&key.referenced);
            let are_among = |values: &[Datum]| {
                let has = |row: &Row| places.iter().map(|&place| &row[place]).eq(values);
                key.table == schema.id && rows.iter().any(has)
            };
            for row in rows {
                let values = own.iter().map(|&place| row[place].clone()).collect::<Vec<_>>();
                if !values.iter().any(Datum::is_null)
                    && there.referenced_row(key, blobs, &values)?.is_none()
                    && !are_among(&values)
                {
                    return Err(missing(&there.schema, (schema, key), &values));
                }
            }
        }
        Ok(())
    }
}

impl TableVersion {
    /// The row that has the values to which a foreign key refers.
    pub(crate) fn referenced_row(
        &self,
        key: &ForeignKey,
        blobs: &Blobs,
        values: &[Datum],
    ) -> Result<Option<RowId>> {
        let index = self.schema.unique_over(&key.referenced);
        let index = index.and_then(|index| self.keys.get(index));
        let index = index.ok_or_else(|| Error::internal("a foreign key refers to no key"))?;
        self.find(index, blobs, values)
    }

    /// The rows that refer to values by a foreign key, up to so many.
    pub(crate) fn referring_rows(
        &self,
        key: &ForeignKey,
        blobs: &Blobs,
        (values, most): (&[Datum], usize),
    ) -> Result<Vec<RowId>> {
        let index = self.schema.index_over(&key.columns);
        let index = index.and_then(|index| self.keys.get(index));
        let index = index.ok_or_else(|| Error::internal("a foreign key has no index"))?;
        let mut rows = Vec::new();
        self.each_with(index, blobs, values, |row| {
            rows.push(row);
            rows.len() < most
        })?;
        Ok(rows)
    }

    /// What a foreign key has in some rows of a segment, each once, but for rows that refer to nothing.
    pub(crate) fn referring_values(
        &self,
        key: &ForeignKey,
        (first, count): (RowId, u32),
        blobs: &Blobs,
    ) -> Result<BTreeSet<Vec<Datum>>> {
        let mut all = BTreeSet::new();
        let Some(segment) = self.segment(first.segment) else { return Ok(all) };
        let ends = first.position.saturating_add(count).min(segment.rows);
        let live = (first.position..ends).filter(|&position| segment.is_live(position));
        let live = live.collect::<Vec<_>>();
        let vector =
            |column: usize| segment.vector(&self.schema, blobs, column, Rows::Positions(&live));
        let columns = self.schema.places(&key.columns).into_iter().map(vector);
        let columns = columns.collect::<Result<Vec<Vector>>>()?;
        let mut values = Vec::with_capacity(columns.len());
        for place in 0..live.len() {
            values.clear();
            values.extend(columns.iter().map(|column| column.datum(place)));
            if !values.iter().any(Datum::is_null) && !all.contains(&values) {
                all.insert(values.clone());
            }
        }
        Ok(all)
    }

    /// Values of some columns of a row, also of one that was deleted.
    pub(crate) fn values_of(
        &self,
        row: RowId,
        columns: &[usize],
        blobs: &Blobs,
    ) -> Result<Vec<Datum>> {
        let segment = self.segment(row.segment);
        let segment = segment.ok_or_else(|| Error::internal("a row of no segment"))?;
        let value = |&column: &usize| segment.datum(&self.schema, blobs, column, row.position);
        columns.iter().map(value).collect()
    }
}

fn shown(schema: &TableSchema, columns: &[u32], values: &[Datum]) -> String {
    let names = schema.places(columns).into_iter().map(|place| schema.columns[place].name.as_str());
    let values = values.iter().map(Datum::to_string).collect::<Vec<_>>().join(", ");
    format!("({}) = ({values})", names.collect::<Vec<_>>().join(", "))
}

/// A row would refer to one that is not there.
pub(crate) fn missing(
    referenced: &TableSchema,
    (schema, key): (&TableSchema, &ForeignKey),
    values: &[Datum],
) -> Error {
    let shown = shown(schema, &key.columns, values);
    let message = format!(
        "insert or update on table \"{}\" violates foreign key constraint \"{}\": {shown} is not \
         present in table \"{}\"",
        schema.name, key.name, referenced.name
    );
    Error::new(ErrorKind::ForeignKeyViolation, message)
}

/// Rows refer to one that would be gone.
pub(crate) fn still_referenced(
    referenced: &TableSchema,
    (schema, key): (&TableSchema, &ForeignKey),
    values: &[Datum],
) -> Error {
    let shown = shown(referenced, &key.referenced, values);
    let message = format!(
        "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\": \
         {shown} is still referenced from table \"{}\"",
        referenced.name, key.name, schema.name, schema.name
    );
    Error::new(ErrorKind::ForeignKeyViolation, message)
}
