//! Columns that have a sequence of their own: SERIAL, and IDENTITY.
//!
//! - Such a column has a DEFAULT that takes the next number, and the sequence is dropped with it.

use super::sequences::shape_of;
use crate::error::input;
use crate::sequences::next_text;
use crate::types::{column_type, serial_type};
use datafusion::sql::sqlparser::ast::{ColumnDef, ColumnOption, GeneratedAs, SequenceOptions};
use gadus_base::TableId;
use gadus_engine::{
    ColumnDefinition, ColumnType, DefaultValue, Error, Identity, Reason, Result, Sequence,
    SequenceShape, Snapshot, TableSchema, Transaction,
};
use std::sync::Arc;

/// How a column is numbered.
pub(super) struct Numbering {
    shape: SequenceShape,
    /// None of a SERIAL.
    identity: Option<Identity>,
}

impl Numbering {
    /// Of a column that is there.
    pub(super) fn of_column(
        column: &ColumnDefinition,
        generated: Option<&GeneratedAs>,
        options: Option<&[SequenceOptions]>,
    ) -> Result<Self> {
        let name = &column.name;
        let message = match column {
            ColumnDefinition { identity: Some(_), .. } => "is already an identity column",
            ColumnDefinition { default: Some(_), .. } => "already has a default value",
            ColumnDefinition { nullable: true, .. } => {
                "must be declared NOT NULL before identity can be added"
            }
            _ => return Self::identity(column.column_type, generated, options),
        };
        Err(input(format!("column \"{name}\" {message}")).because(Reason::NotInState))
    }

    fn identity(
        column_type: ColumnType,
        generated: Option<&GeneratedAs>,
        options: Option<&[SequenceOptions]>,
    ) -> Result<Self> {
        let identity = match generated {
            Some(GeneratedAs::ByDefault) => Identity::ByDefault,
            _ => Identity::Always,
        };
        if SequenceShape::range_of(column_type).is_none() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(input(message).because(Reason::InvalidParameter));
        }
        let shape = shape_of(column_type, options.unwrap_or_default())?;
        Ok(Self { shape, identity: Some(identity) })
    }
}

/// The columns of a CREATE TABLE that are numbered, by their places.
pub(super) fn numbered(columns: &[ColumnDef]) -> Result<Vec<(usize, Numbering)>> {
    let mut all = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        if let Some(numbering) = numbering(column)? {
            all.push((place, numbering));
        }
    }
    Ok(all)
}

/// How a column is numbered as a statement defines it, where it is.
pub(super) fn numbering(column: &ColumnDef) -> Result<Option<Numbering>> {
    let mut found = match serial_type(&column.data_type) {
        Some(column_type) => {
            Some(Numbering { shape: SequenceShape::new(column_type, 1)?, identity: None })
        }
        None => None,
    };
    let name = &column.name;
    for option in &column.options {
        match &option.option {
            ColumnOption::Generated { generated_as, sequence_options, .. }
                if is_identity_option(&option.option) =>
            {
                if found.is_some() {
                    let message = format!("multiple identity specifications for column {name}");
                    return Err(input(message).because(Reason::Syntax));
                }
                let of = column_type(&column.data_type)?;
                let options = sequence_options.as_deref();
                found = Some(Numbering::identity(of, Some(generated_as), options)?);
            }
            _ => {}
        }
    }
    let is_nullable =
        column.options.iter().any(|option| matches!(option.option, ColumnOption::Null));
    if found.is_some() && is_nullable {
        let message = format!("conflicting NULL/NOT NULL declarations for column {name}");
        return Err(input(message).because(Reason::Syntax));
    }
    let has_default =
        column.options.iter().any(|option| matches!(option.option, ColumnOption::Default(_)));
    if found.is_some() && has_default {
        let message = format!("both default and identity specified for column {name}");
        return Err(input(message).because(Reason::Syntax));
    }
    Ok(found)
}

/// Whether a column is an identity by this option.
pub(super) fn is_identity_option(option: &ColumnOption) -> bool {
    matches!(option, ColumnOption::Generated { generation_expr: None, .. })
}

/// Gives a column of a table a sequence of its own; whether it may be NULL is as it was.
pub(super) fn add_numbering(
    transaction: &mut Transaction,
    schema: &Arc<TableSchema>,
    (place, Numbering { shape, identity }): (usize, Numbering),
) -> Result<Arc<TableSchema>> {
    let column = &schema.columns[place];
    let name = free_name(&transaction.snapshot(), &format!("{}_{}_seq", schema.name, column.name));
    let owner = Some((schema.id, column.id));
    transaction.create_sequence(&Sequence { owner, ..Sequence::new(&name, shape)? })?;
    let mut after = TableSchema::clone(schema);
    let numbered = &mut after.columns[place];
    numbered.default = Some(DefaultValue(next_text(&name)));
    numbered.identity = identity;
    transaction.alter_table(&after, &[])
}

/// What a column that becomes another one, of another type, leaves to that: its sequence, which would go with it.
pub(super) fn let_go(
    transaction: &mut Transaction,
    column: (TableId, u32),
) -> Result<Option<Arc<Sequence>>> {
    let snapshot = transaction.snapshot();
    let mut owned = snapshot.owned_sequences(column.0);
    let Some(sequence) = owned.find(|owned| owned.owner == Some(column)).cloned() else {
        return Ok(None);
    };
    transaction.alter_sequence(&Sequence { owner: None, ..Sequence::clone(&sequence) }, false)?;
    Ok(transaction.snapshot().sequence_by_id(sequence.id).cloned())
}

/// Gives it to the column that has taken the place of the other one; its numbers go as far as the column's type does.
pub(super) fn take_over(
    transaction: &mut Transaction,
    sequence: &Sequence,
    (column, column_type): ((TableId, u32), ColumnType),
) -> Result<()> {
    let mut after = Sequence { owner: Some(column), ..sequence.clone() };
    let before = SequenceShape::range_of(after.shape.column_type);
    if let (Some(before), Some(range)) = (before, SequenceShape::range_of(column_type)) {
        let moved = |bound: i64, end: i64, other: i64| if bound == end { other } else { bound };
        let shape = &mut after.shape;
        shape.column_type = column_type;
        shape.least = moved(shape.least, before.0, range.0).max(range.0);
        shape.greatest = moved(shape.greatest, before.1, range.1).min(range.1);
    }
    transaction.alter_sequence(&after, false)
}

pub(super) fn is_identity(schema: &TableSchema, place: usize) -> Error {
    let (column, table) = (&schema.columns[place].name, &schema.name);
    let message = format!("column \"{column}\" of relation \"{table}\" is an identity column");
    input(message).because(Reason::Syntax)
}

/// A name that nothing has: this one, or this one with a number.
fn free_name(snapshot: &Snapshot, wanted: &str) -> String {
    let is_free = |name: &String| {
        let of_index = |table: &gadus_engine::Table| table.schema().index_named(name).is_some();
        !snapshot.has_relation(name) && !snapshot.tables().iter().any(of_index)
    };
    let mut names = std::iter::once(wanted.to_owned())
        .chain((1_u32..).map(|number| format!("{wanted}{number}")));
    names.find(is_free).unwrap_or_default()
}
