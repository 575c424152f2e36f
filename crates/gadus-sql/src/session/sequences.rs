//! CREATE, ALTER and DROP SEQUENCE.
//!
//! - ALTER SEQUENCE is read as an ALTER TABLE of a sequence, whose options are set: see
//!   [`super::sequence_spelling`].

use super::alter::STORAGE;
use super::defaults::expression;
use super::modify::table_name;
use super::{Outcome, Session};
use crate::error::{input, unsupported};
use crate::sequences::{Sequences, exact_name, for_each_name};
use crate::types::column_type;
use datafusion::sql::sqlparser::ast::{
    AlterTableOperation, Expr, ObjectName, RenameTableNameKind, SequenceOptions, SqlOption,
    Statement,
};
use gadus_engine::{
    ColumnType, DefaultValue, Error, ErrorKind, Reason, Result, Sequence, SequencePosition,
    SequenceShape, Snapshot, TableSchema, Transaction,
};
use std::sync::Arc;

impl Session {
    /// Sequences, for a statement on this snapshot.
    pub(super) fn sequences(&self, snapshot: Snapshot) -> Sequences {
        let read_only = self.outside.lock().read_only;
        Sequences::new(self.engine.clone(), snapshot, &self.sequences, read_only)
    }
}

pub(super) fn create_sequence(
    transaction: &mut Transaction,
    statement: &Statement,
) -> Result<Outcome> {
    let Statement::CreateSequence {
        temporary: _,
        if_not_exists,
        name,
        data_type,
        sequence_options,
        owned_by,
    } = statement
    else {
        return Err(Error::internal("no CREATE SEQUENCE"));
    };
    let name = table_name(name)?;
    let snapshot = transaction.snapshot();
    if *if_not_exists && snapshot.has_relation(&name) {
        return Ok(Outcome::Done("CREATE SEQUENCE"));
    }
    let of = data_type.as_ref().map_or(Ok(ColumnType::Int64), column_type)?;
    let mut sequence = Sequence::new(&name, shape_of(of, sequence_options)?)?;
    if let Some(column) = owned_by {
        sequence.owner = owner_of(&snapshot, &column.to_string())?;
    }
    drop(snapshot);
    transaction.create_sequence(&sequence)?;
    Ok(Outcome::Done("CREATE SEQUENCE"))
}

pub(super) fn drop_sequences(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    for name in names {
        let name = table_name(name)?;
        if if_exists && !transaction.snapshot().has_relation(&name) {
            continue;
        }
        let what = format!("sequence {name}");
        free(transaction, &name, |_, _| false, (&what, cascade))?;
        transaction.drop_sequence(&name)?;
    }
    Ok(Outcome::Done("DROP SEQUENCE"))
}

/// Drops nothing that is still used: the numbers of sequences that go with columns may be other columns' DEFAULT, too.
pub(super) fn free_owned(
    transaction: &mut Transaction,
    schema: &TableSchema,
    is_gone: impl Fn(u32) -> bool,
    (what, cascade): (&str, bool),
) -> Result<()> {
    let owned = transaction.snapshot().owned_sequences(schema.id).cloned().collect::<Vec<_>>();
    let goes =
        |sequence: &&Arc<Sequence>| sequence.owner.is_some_and(|(_, column)| is_gone(column));
    for sequence in owned.iter().filter(goes) {
        let goes_too = |table: &TableSchema, column| table.id == schema.id && is_gone(column);
        free(transaction, &sequence.name, goes_too, (what, cascade))?;
    }
    Ok(())
}

/// Drops a sequence, and the DEFAULT of columns that take its numbers.
pub(super) fn drop_sequence(transaction: &mut Transaction, name: &str) -> Result<()> {
    free(transaction, name, |_, _| false, ("a sequence", true))?;
    transaction.drop_sequence(name)
}

/// Has no column take numbers of a sequence any more, but those that go with it; refused unless it cascades.
fn free(
    transaction: &mut Transaction,
    sequence: &str,
    goes_too: impl Fn(&TableSchema, u32) -> bool,
    (what, cascade): (&str, bool),
) -> Result<()> {
    let mut users = users_of(&transaction.snapshot(), sequence)?;
    users.retain(|(table, place)| !goes_too(table, table.columns[*place].id));
    if let (Some((table, place)), false) = (users.first(), cascade) {
        let message = format!(
            "cannot drop {what} because other objects depend on it: default value for column {} of table {} \
             takes numbers of sequence {sequence}; DROP … CASCADE drops that, too",
            table.columns[*place].name, table.name
        );
        return Err(input(message).because(Reason::Depended));
    }
    for (table, place) in users {
        let mut after = schema_now(transaction, &table)?;
        after.columns[place].default = None;
        after.columns[place].identity = None;
        transaction.alter_table(&after, &[])?;
    }
    Ok(())
}

/// A table's columns after what the transaction has done to it.
pub(super) fn schema_now(transaction: &Transaction, table: &TableSchema) -> Result<TableSchema> {
    let table = transaction.snapshot().table_by_id(table.id);
    let table = table.ok_or_else(|| Error::internal("a table that is altered is gone"))?;
    Ok(TableSchema::clone(table.schema()))
}

/// The columns whose DEFAULT takes numbers of a sequence.
fn users_of(snapshot: &Snapshot, sequence: &str) -> Result<Vec<(Arc<TableSchema>, usize)>> {
    let mut users = Vec::new();
    for table in snapshot.tables() {
        for (place, column) in table.schema().columns.iter().enumerate() {
            let Some(DefaultValue(text)) = &column.default else { continue };
            // Most do not speak of sequences.
            if !text.contains("val") {
                continue;
            }
            let mut takes = false;
            for_each_name(&mut expression(text)?, |name| {
                takes |= exact_name(name).as_deref() == Some(sequence);
            });
            if takes {
                users.push((table.schema().clone(), place));
            }
        }
    }
    Ok(users)
}

/// The table and the column that `table.column` names; none for NONE.
fn owner_of(snapshot: &Snapshot, text: &str) -> Result<Option<(gadus_base::TableId, u32)>> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let mut parts = crate::postgres::parts_of_name(text).unwrap_or_default();
    let (column, table) = (parts.pop(), parts.pop());
    let (Some(column), Some(table)) = (column, table) else {
        return Err(input("invalid OWNED BY option: say OWNED BY table.column or OWNED BY NONE")
            .because(Reason::Syntax));
    };
    let table = snapshot.table(&table)?;
    let place = table.schema().column_index(&column).ok_or_else(|| {
        let message =
            format!("column \"{column}\" of relation \"{}\" does not exist", table.schema().name);
        Error::new(ErrorKind::NotFound, message).because(Reason::UnknownColumn)
    })?;
    Ok(Some((table.id(), table.schema().columns[place].id)))
}

/// Begins the sequences of a table anew.
pub(super) fn restart_owned(transaction: &mut Transaction, schema: &TableSchema) -> Result<()> {
    let owned = transaction.snapshot().owned_sequences(schema.id).cloned().collect::<Vec<_>>();
    for sequence in owned {
        let position = SequencePosition { last: sequence.shape.start, is_given: false };
        transaction.alter_sequence(&Sequence { position, ..Sequence::clone(&sequence) }, true)?;
    }
    Ok(())
}

pub(super) fn alter_sequence(
    transaction: &mut Transaction,
    sequence: &Arc<Sequence>,
    operations: &[AlterTableOperation],
) -> Result<Outcome> {
    let mut set = Vec::new();
    for operation in operations {
        match operation {
            AlterTableOperation::RenameTable { table_name: name } => {
                let (RenameTableNameKind::To(name) | RenameTableNameKind::As(name)) = name;
                rename(transaction, &mut Sequence::clone(sequence), table_name(name)?)?;
                return Ok(Outcome::Done("ALTER SEQUENCE"));
            }
            // Everything has one owner.
            AlterTableOperation::OwnerTo { .. } => {}
            AlterTableOperation::SetOptionsParens { options } => {
                let is_storage = |option: &SqlOption| matches!(option, SqlOption::KeyValue { key, .. } if key.value == STORAGE);
                set.extend(options.iter().filter(|option| !is_storage(option)).cloned());
            }
            other => return Err(unsupported(&format!("ALTER SEQUENCE … {other}"))),
        }
    }
    set_options(transaction, sequence, &set)?;
    Ok(Outcome::Done("ALTER SEQUENCE"))
}

/// Sets options of a sequence.
pub(super) fn set_options(
    transaction: &mut Transaction,
    sequence: &Sequence,
    options: &[SqlOption],
) -> Result<()> {
    let mut after = Sequence::clone(sequence);
    let mut begins_anew = false;
    for option in options {
        begins_anew |= set_option(&transaction.snapshot(), &mut after, option)?;
    }
    let SequenceShape { least, greatest, .. } = after.shape;
    check_range(&after.shape)?;
    let last = after.position.last;
    if begins_anew && !(least..=greatest).contains(&last) {
        let message = match last < least {
            true => format!("RESTART value ({last}) cannot be less than MINVALUE ({least})"),
            false => format!("RESTART value ({last}) cannot be greater than MAXVALUE ({greatest})"),
        };
        return Err(input(message).because(Reason::InvalidParameter));
    }
    if !begins_anew {
        // Where it has come to must be one of its numbers.
        after.position.last = sequence.position.last;
        if !(least..=greatest).contains(&after.position.last) {
            let message = format!(
                "RESTART value ({}) is not between MINVALUE ({least}) and MAXVALUE ({greatest})",
                after.position.last
            );
            return Err(input(message).because(Reason::InvalidParameter));
        }
    }
    transaction.alter_sequence(&after, begins_anew).map(|_| ())
}

/// Refuses bounds that the sequence's type does not have.
fn check_range(shape: &SequenceShape) -> Result<()> {
    let Some((first, last)) = SequenceShape::range_of(shape.column_type) else { return Ok(()) };
    let bounds = [("MAXVALUE", shape.greatest), ("MINVALUE", shape.least)];
    match bounds.into_iter().find(|(_, bound)| !(first..=last).contains(bound)) {
        None => Ok(()),
        Some((name, bound)) => {
            let of = shape.column_type.to_string().to_lowercase();
            let message = format!("{name} ({bound}) is out of range for sequence data type {of}");
            Err(input(message).because(Reason::InvalidParameter))
        }
    }
}

/// Gives a sequence another type; bounds that were those of the old one become those of the new one.
fn retype(shape: &mut SequenceShape, name: &str) -> Result<()> {
    let column_type = match name.to_ascii_lowercase().as_str() {
        "smallint" | "int2" => ColumnType::Int16,
        "integer" | "int" | "int4" => ColumnType::Int32,
        "bigint" | "int8" => ColumnType::Int64,
        _ => {
            let message = "sequence type must be smallint, integer, or bigint";
            return Err(input(message).because(Reason::InvalidParameter));
        }
    };
    let before = SequenceShape::range_of(shape.column_type);
    if let (Some(before), Some(range)) = (before, SequenceShape::range_of(column_type)) {
        shape.least = if shape.least == before.0 { range.0 } else { shape.least };
        shape.greatest = if shape.greatest == before.1 { range.1 } else { shape.greatest };
    }
    shape.column_type = column_type;
    Ok(())
}

/// Renames a sequence, also in the defaults that take its numbers.
/// Gives a sequence another name, and the defaults that take its numbers.
pub(super) fn move_sequence(
    transaction: &mut Transaction,
    sequence: &Sequence,
    name: String,
) -> Result<()> {
    rename(transaction, &mut sequence.clone(), name)
}

fn rename(transaction: &mut Transaction, sequence: &mut Sequence, name: String) -> Result<()> {
    let users = users_of(&transaction.snapshot(), &sequence.name)?;
    let before = std::mem::replace(&mut sequence.name, name);
    transaction.alter_sequence(sequence, false)?;
    for (table, place) in users {
        let mut after = schema_now(transaction, &table)?;
        if let Some(DefaultValue(text)) = &mut after.columns[place].default {
            let mut renamed = expression(text)?;
            for_each_name(&mut renamed, |name| {
                if exact_name(name).as_deref() == Some(&before) {
                    *name = crate::postgres::quoted(&sequence.name);
                }
            });
            *text = renamed.to_string();
        }
        transaction.alter_table(&after, &[])?;
    }
    Ok(())
}

/// Sets one option of ALTER SEQUENCE; says whether it begins anew.
fn set_option(snapshot: &Snapshot, sequence: &mut Sequence, option: &SqlOption) -> Result<bool> {
    let SqlOption::KeyValue { key, value } = option else {
        return Err(unsupported(&format!("ALTER SEQUENCE … {option}")));
    };
    let shape = &mut sequence.shape;
    match key.value.as_str() {
        "increment" => shape.increment = number("INCREMENT", value)?,
        "minvalue" => shape.least = number("MINVALUE", value)?,
        "maxvalue" => shape.greatest = number("MAXVALUE", value)?,
        "start" => shape.start = number("START", value)?,
        "no_minvalue" => {
            shape.least = SequenceShape::new(shape.column_type, shape.increment)?.least;
        }
        "no_maxvalue" => {
            shape.greatest = SequenceShape::new(shape.column_type, shape.increment)?.greatest;
        }
        "as" => {
            let Expr::Value(text) = value else {
                return Err(unsupported("a type of a sequence that is no name"));
            };
            retype(shape, &text.value.clone().into_string().unwrap_or_default())?;
        }
        "cycle" => shape.cycles = value.to_string().eq_ignore_ascii_case("true"),
        "cache" => refuse_cache(number("CACHE", value)?)?,
        "restart" => {
            let is_start = value.to_string().eq_ignore_ascii_case("start");
            let last = if is_start { shape.start } else { number("RESTART", value)? };
            sequence.position = SequencePosition { last, is_given: false };
            return Ok(true);
        }
        "owned_by" => {
            let text = match value {
                Expr::Value(text) => text.value.clone().into_string().unwrap_or_default(),
                other => other.to_string(),
            };
            sequence.owner = owner_of(snapshot, &text)?;
        }
        other => return Err(unsupported(&format!("ALTER SEQUENCE … {other}"))),
    }
    Ok(false)
}

/// The numbers that options ask for.
pub(super) fn shape_of(
    column_type: ColumnType,
    options: &[SequenceOptions],
) -> Result<SequenceShape> {
    let increment = options.iter().find_map(|option| match option {
        SequenceOptions::IncrementBy(value, _) => Some(number("INCREMENT", value)),
        _ => None,
    });
    let mut shape = SequenceShape::new(column_type, increment.transpose()?.unwrap_or(1))?;
    let mut start = None;
    for option in options {
        match option {
            SequenceOptions::IncrementBy(..)
            | SequenceOptions::MinValue(None)
            | SequenceOptions::MaxValue(None) => {}
            SequenceOptions::MinValue(Some(value)) => shape.least = number("MINVALUE", value)?,
            SequenceOptions::MaxValue(Some(value)) => shape.greatest = number("MAXVALUE", value)?,
            SequenceOptions::StartWith(value, _) => start = Some(number("START", value)?),
            SequenceOptions::Cache(value) => refuse_cache(number("CACHE", value)?)?,
            // The parser says whether NO stands before it.
            SequenceOptions::Cycle(no) => shape.cycles = !no,
        }
    }
    let first = if shape.increment > 0 { shape.least } else { shape.greatest };
    shape.start = start.unwrap_or(first);
    shape.check()?;
    Ok(shape)
}

/// Numbers are taken one by one, for all processes: CACHE may be said, and does nothing.
fn refuse_cache(count: i64) -> Result<()> {
    match count {
        1.. => Ok(()),
        _ => Err(input(format!("CACHE ({count}) must be greater than zero"))
            .because(Reason::InvalidParameter)),
    }
}

fn number(option: &str, value: &Expr) -> Result<i64> {
    let text = value.to_string().replace(' ', "");
    text.parse().map_err(|_| {
        input(format!("{option} of a sequence is an integer, not {value}")).because(Reason::Syntax)
    })
}
