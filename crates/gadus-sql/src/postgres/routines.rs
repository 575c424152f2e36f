//! Functions of SQL and comments in the catalog.

use super::build::Rows;
use super::{enum_number, oids, types};
use crate::functions::{self, Function};
use crate::provider::MAIN_SCHEMA;
use gadus_engine::{DefinitionKey, Snapshot};

/// The functions that can be read, with their numbers.
fn routines(snapshot: &Snapshot) -> impl Iterator<Item = (i64, Function)> {
    let all = functions::all(snapshot).enumerate();
    all.filter_map(|(place, (_, text))| {
        Some((oids::of_function(place), Function::of_text(text).ok()?))
    })
}

/// `pg_proc`: a macro's types are none.
pub(super) fn procedures(snapshot: &Snapshot) -> Rows {
    let row = |(oid, function): (i64, Function)| {
        let result = function.result();
        let result = result.and_then(|result| types::number_of(snapshot, &result).ok());
        vec![
            ("oid", oid.into()),
            ("proname", function.name.as_str().into()),
            ("pronamespace", oids::MAIN_SCHEMA.into()),
            ("proowner", oids::OWNER.into()),
            ("prolang", oids::LANGUAGE_SQL.into()),
            ("prokind", "f".into()),
            ("prosecdef", false.into()),
            ("proisstrict", function.is_strict().into()),
            ("proretset", function.gives_rows().into()),
            ("provolatile", "v".into()),
            ("proparallel", "u".into()),
            ("pronargs", i64::try_from(function.parameters.len()).unwrap_or(i64::MAX).into()),
            ("prorettype", result.unwrap_or(0).into()),
            ("prosrc", function.body_text().into()),
        ]
    };
    routines(snapshot).map(row).collect()
}

/// A function by its number.
pub(super) fn by_number(snapshot: &Snapshot, oid: Option<i64>) -> Option<Function> {
    routines(snapshot).find(|(number, _)| Some(*number) == oid).map(|(_, function)| function)
}

/// The number of the function of a name, with or without the types of its arguments.
pub(super) fn number_of(snapshot: &Snapshot, text: &str) -> Option<i64> {
    let name = text.split('(').next().unwrap_or_default();
    let name = super::parts_of_name(name)?.pop()?;
    let place = functions::all(snapshot).position(|(known, _)| known == name)?;
    Some(oids::of_function(place))
}

pub(super) fn name_of(snapshot: &Snapshot, oid: i64) -> String {
    let known = by_number(snapshot, Some(oid)).map(|function| function.name);
    known.map_or_else(|| "-".to_owned(), |name| super::quoted(&name))
}

/// What a comment is on: the number of the thing, of the catalog's table that it is in, and of its column or 0.
type About = (i64, i64, i64);

fn comments(snapshot: &Snapshot) -> impl Iterator<Item = (About, &str)> {
    let about = |key: &DefinitionKey| {
        Some(match key {
            DefinitionKey::Function(_) | DefinitionKey::Schema(_) | DefinitionKey::Type(_) => {
                return None;
            }
            DefinitionKey::CommentOnType(name) => {
                (enum_number(snapshot.find_enum(name)?).into(), oids::TYPES, 0)
            }
            DefinitionKey::CommentOnSchema(name) => {
                let main = (name == MAIN_SCHEMA).then_some(oids::MAIN_SCHEMA);
                (main.or_else(|| oids::of_schema(snapshot, name))?, oids::SCHEMAS, 0)
            }
            DefinitionKey::CommentOnRelation(id) => (oids::of_table(*id), oids::CLASSES, 0),
            DefinitionKey::CommentOnColumn(id, number) => {
                let table = snapshot.table_by_id(*id);
                let place = match table {
                    Some(table) => table.schema().column_with_id(*number)?,
                    None => *number as usize,
                };
                (oids::of_table(*id), oids::CLASSES, i64::try_from(place).ok()? + 1)
            }
            DefinitionKey::CommentOnIndex(id, number) => {
                (oids::of_index(*id, *number), oids::CLASSES, 0)
            }
            DefinitionKey::CommentOnFunction(name) => {
                let place = functions::all(snapshot).position(|(known, _)| known == name)?;
                (oids::of_function(place), oids::PROCEDURES, 0)
            }
            DefinitionKey::CommentOnDatabase => (oids::DATABASE, oids::DATABASES, 0),
        })
    };
    snapshot.definitions().filter_map(move |(key, text)| Some((about(key)?, &**text)))
}

/// `pg_description`, or `pg_shdescription` of what the databases of a server share.
pub(super) fn descriptions(snapshot: &Snapshot, are_shared: bool) -> Rows {
    let row = |((object, class, column), text): (About, &str)| {
        let mut row = vec![
            ("objoid", object.into()),
            ("classoid", class.into()),
            ("description", text.into()),
        ];
        if !are_shared {
            row.push(("objsubid", column.into()));
        }
        row
    };
    let is_wanted = |((_, class, _), _): &(About, &str)| (*class == oids::DATABASES) == are_shared;
    comments(snapshot).filter(is_wanted).map(row).collect()
}

/// What is said of a thing, or of one of its columns.
pub(super) fn description(
    snapshot: &Snapshot,
    object: Option<i64>,
    column: Option<i64>,
) -> Option<String> {
    let is_it = |((known, _, of), _): &(About, &str)| Some(*known) == object && Some(*of) == column;
    comments(snapshot).find(is_it).map(|(_, text)| text.to_owned())
}
