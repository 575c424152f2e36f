//! COMMENT ON, and what columns are said to be where a table is made.

use super::Outcome;
use super::enums;
use super::modify::{folded, table_name};
use super::schemas::{schema_name, unknown_schema};
use crate::error::{input, unsupported};
use crate::functions::{self, function_name};
use datafusion::sql::sqlparser::ast::{ColumnDef, ColumnOption, CommentObject, Ident, ObjectName};
use gadus_base::TableId;
use gadus_engine::{DefinitionKey, Enum, Error, ErrorKind, Reason, Result, Snapshot, Transaction};

/// Says something of a thing, or nothing any more.
pub(super) fn comment(
    transaction: &mut Transaction,
    (what, name): (&CommentObject, &ObjectName),
    comment: Option<&str>,
    if_exists: bool,
) -> Result<Outcome> {
    match key_of(&transaction.snapshot(), what, name) {
        Err(error) if if_exists && error.kind() == ErrorKind::NotFound => {}
        found => transaction.define(found?, comment.filter(|text| !text.is_empty()))?,
    }
    Ok(Outcome::Done("COMMENT"))
}

/// Says of columns what stands behind them: `COMMENT 'text'`.
pub(super) fn comment_on_columns(
    transaction: &mut Transaction,
    table: TableId,
    columns: &[ColumnDef],
) -> Result<()> {
    for column in columns {
        for option in &column.options {
            let ColumnOption::Comment(text) = &option.option else { continue };
            let key = column_key(&transaction.snapshot(), table, &folded(&column.name))?;
            transaction.define(key, Some(text))?;
        }
    }
    Ok(())
}

fn key_of(snapshot: &Snapshot, what: &CommentObject, name: &ObjectName) -> Result<DefinitionKey> {
    let missing = |kind: &str, name: &str| {
        let message = format!("{kind} \"{name}\" does not exist");
        Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable)
    };
    match what {
        CommentObject::Table => {
            let name = table_name(name)?;
            let table = snapshot.find_table(&name).ok_or_else(|| missing("table", &name))?;
            Ok(DefinitionKey::CommentOnRelation(table.id()))
        }
        CommentObject::View => {
            let name = table_name(name)?;
            let view = snapshot.find_view(&name).ok_or_else(|| missing("view", &name))?;
            Ok(DefinitionKey::CommentOnRelation(view.id))
        }
        CommentObject::Sequence => {
            let name = table_name(name)?;
            let sequence = snapshot.find_sequence(&name);
            Ok(DefinitionKey::CommentOnRelation(
                sequence.ok_or_else(|| missing("sequence", &name))?.id,
            ))
        }
        CommentObject::Column => {
            let mut parts = name.0.clone();
            let column = parts.pop().and_then(|part| part.as_ident().map(folded));
            let (Some(column), false) = (column, parts.is_empty()) else {
                return Err(input(format!(
                    "{name} names no column: COMMENT ON COLUMN table.column"
                )));
            };
            let name = table_name(&ObjectName(parts))?;
            let table = snapshot.find_table(&name).map(|table| table.id());
            let relation = table.or_else(|| snapshot.find_view(&name).map(|view| view.id));
            column_key(snapshot, relation.ok_or_else(|| missing("relation", &name))?, &column)
        }
        CommentObject::Index => {
            let name = table_name(name)?;
            let tables = snapshot.tables();
            let of = |table: &gadus_engine::Table| {
                let index = table.schema().index_named(&name)?;
                Some(DefinitionKey::CommentOnIndex(table.id(), index.id))
            };
            tables.iter().find_map(of).ok_or_else(|| missing("index", &name))
        }
        CommentObject::Function => {
            let name = function_name(name)?;
            match functions::definition_of(snapshot, &name) {
                Some(_) => Ok(DefinitionKey::CommentOnFunction(name)),
                None => Err(missing("function", &name).because(Reason::UnknownFunction)),
            }
        }
        CommentObject::Schema => {
            let name = match &*name.to_string().to_lowercase() {
                "main" | "public" => "main".to_owned(),
                _ => schema_name(name)?,
            };
            match snapshot.has_schema(&name) {
                true => Ok(DefinitionKey::CommentOnSchema(name)),
                false => Err(unknown_schema(&name)),
            }
        }
        CommentObject::Type => enums::find(snapshot, name).map(comment_on_type),
        // There is one.
        CommentObject::Database => Ok(DefinitionKey::CommentOnDatabase),
        other => Err(unsupported(&format!("COMMENT ON {other}"))),
    }
}

fn comment_on_type(of: &Enum) -> DefinitionKey {
    DefinitionKey::CommentOnType(of.name().to_owned())
}

fn column_key(snapshot: &Snapshot, relation: TableId, name: &str) -> Result<DefinitionKey> {
    let of_table = snapshot.table_by_id(relation).and_then(|table| {
        let schema = table.schema();
        schema.column_index(name).map(|place| schema.columns[place].id)
    });
    let of_view = || {
        let view = snapshot.view_by_id(relation)?;
        let place = view.columns.iter().position(|column| column.name == name)?;
        u32::try_from(place).ok()
    };
    let number = of_table.or_else(of_view).ok_or_else(|| {
        let message = format!("column {} does not exist", Ident::with_quote('"', name));
        Error::new(ErrorKind::NotFound, message).because(Reason::UnknownColumn)
    })?;
    Ok(DefinitionKey::CommentOnColumn(relation, number))
}

/// The statements that say again what is said of things, without semicolons.
#[must_use]
pub fn comment_statements(snapshot: &Snapshot) -> Vec<String> {
    let statement = |(key, text): (&DefinitionKey, &std::sync::Arc<str>)| {
        let (what, name) = named(snapshot, key)?;
        Some(format!("COMMENT ON {what} {name} IS '{}'", text.replace('\'', "''")))
    };
    snapshot.definitions().filter_map(statement).collect()
}

/// What a comment is on, as a statement says it.
fn named(snapshot: &Snapshot, key: &DefinitionKey) -> Option<(&'static str, String)> {
    let quoted = |name: &str| crate::postgres::quoted(name);
    let relation = |id: TableId| {
        let table = snapshot.table_by_id(id).map(|table| ("TABLE", table.schema().name.clone()));
        let view = || snapshot.view_by_id(id).map(|view| ("VIEW", view.name.clone()));
        let sequence = || snapshot.sequence_by_id(id).map(|known| ("SEQUENCE", known.name.clone()));
        table.or_else(view).or_else(sequence)
    };
    Some(match key {
        DefinitionKey::Function(_) | DefinitionKey::Schema(_) | DefinitionKey::Type(_) => {
            return None;
        }
        DefinitionKey::CommentOnType(name) => ("TYPE", quoted(name)),
        DefinitionKey::CommentOnSchema(name) => ("SCHEMA", quoted(name)),
        DefinitionKey::CommentOnRelation(id) => {
            let (what, name) = relation(*id)?;
            (what, quoted(&name))
        }
        DefinitionKey::CommentOnColumn(id, number) => {
            let column = match snapshot.table_by_id(*id) {
                Some(table) => {
                    let schema = table.schema();
                    schema.columns[schema.column_with_id(*number)?].name.clone()
                }
                None => snapshot.view_by_id(*id)?.columns.get(*number as usize)?.name.clone(),
            };
            ("COLUMN", format!("{}.{}", quoted(&relation(*id)?.1), quoted(&column)))
        }
        DefinitionKey::CommentOnIndex(id, number) => {
            let table = snapshot.table_by_id(*id)?;
            let index = table.schema().indexes.iter().find(|index| index.id == *number)?;
            ("INDEX", quoted(&index.name))
        }
        DefinitionKey::CommentOnFunction(name) => ("FUNCTION", quoted(name)),
        DefinitionKey::CommentOnDatabase => ("DATABASE", "gadus".to_owned()),
    })
}
