//! What the functions of the catalog know: the tables of a snapshot by name and by number, and who asks.

use super::keys::{Key, keys};
use super::oids;
use crate::names::kept;
use crate::provider::CATALOG;
use crate::session::{foreign_key_definition, view_definition};
use gadus_engine::{
    Ending, Engine, Error, ErrorKind, Reason, Result, Sequence, Snapshot, Table, ViewSchema,
    schema_and_name,
};
use std::sync::Arc;

/// What the functions know of the tables, and of who asks.
#[derive(Debug)]
pub(super) struct Known {
    relations: Vec<KnownRelation>,
    views: Vec<KnownView>,
    /// Numbers and names of sequences.
    sequences: Vec<(i64, String)>,
    pub(super) snapshot: Snapshot,
    pub(super) asking: Asking,
}

/// Who asks.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) engine: Engine,
    /// The id of the session; none where there was no room for another.
    pub(crate) session: Option<u32>,
}

#[derive(Debug)]
struct KnownView {
    oid: i64,
    name: String,
    definition: String,
}

#[derive(Debug)]
pub(super) struct KnownRelation {
    oid: i64,
    name: String,
    keys: Vec<Key>,
    /// Of its checks: the number, and the condition.
    checks: Vec<(i64, String)>,
    /// Of its foreign keys: the number, and what it says.
    foreign_keys: Vec<(i64, String)>,
}

impl Asking {
    /// Ends a session or what it runs, as KILL does; says whether there is such a session. Every user may do
    /// that, as all else.
    pub(super) fn end(&self, session: i64, what: Ending) -> Result<bool> {
        // No session has the greatest number.
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        match self.engine.end_session(session, what) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Known {
    pub(super) fn new(snapshot: &Snapshot, asking: Asking) -> Self {
        let relations = oids::tables(snapshot);
        let relations = relations.iter().map(|table| KnownRelation::of(snapshot, table)).collect();
        let view = |view: &Arc<ViewSchema>| KnownView {
            oid: oids::of_table(view.id),
            name: view.name.clone(),
            definition: view_definition(snapshot, view),
        };
        let views = oids::views(snapshot).map(view).collect();
        let sequence = |known: &Arc<Sequence>| (oids::of_table(known.id), known.name.clone());
        let sequences = snapshot.sequences().map(sequence).collect();
        Self { relations, views, sequences, snapshot: snapshot.clone(), asking }
    }

    /// The condition of a check.
    pub(super) fn condition(&self, oid: Option<i64>) -> Option<&str> {
        let mut checks = self.relations.iter().flat_map(|known| &known.checks);
        checks.find(|(number, _)| Some(*number) == oid).map(|(_, condition)| condition.as_str())
    }

    /// What a foreign key says.
    pub(super) fn foreign_key(&self, oid: Option<i64>) -> Option<String> {
        let mut keys = self.relations.iter().flat_map(|known| &known.foreign_keys);
        keys.find(|(number, _)| Some(*number) == oid).map(|(_, text)| text.clone())
    }

    /// The query of a view.
    pub(super) fn view_definition(&self, oid: Option<i64>) -> Option<String> {
        let view = self.views.iter().find(|view| Some(view.oid) == oid);
        view.map(|view| format!("{};", view.definition))
    }

    /// An index by its number.
    pub(super) fn by_key(&self, oid: Option<i64>) -> Option<&Key> {
        self.keys().find(|key| Some(key.oid) == oid)
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.relations.iter().flat_map(|known| &known.keys)
    }

    /// The name of a table or a key; a number that is none's is its own.
    pub(super) fn name_of(&self, oid: i64) -> String {
        let table = self.relations.iter().find(|known| known.oid == oid);
        let name = table.map(|known| &known.name[..]);
        let name = name.or_else(|| self.by_key(Some(oid)).map(|key| &key.name[..]));
        let view = || self.views.iter().find(|view| view.oid == oid);
        let name = name.or_else(|| view().map(|view| &view.name[..]));
        let sequence = || self.sequences.iter().find(|(number, _)| *number == oid);
        let name = name.or_else(|| sequence().map(|(_, name)| &name[..]));
        let name = name.or_else(|| oids::catalog_name(oid));
        name.map_or_else(|| oid.to_string(), quoted)
    }

    /// The number of a name, as it is written in statements; a number is its own.
    pub(super) fn find(&self, text: &str) -> Option<i64> {
        if let Ok(oid) = text.trim().parse() {
            return Some(oid);
        }
        let parts = parts(text)?;
        let parts = parts.iter().map(String::as_str).collect::<Vec<_>>();
        match parts.as_slice() {
            [name] => self.own(name).or_else(|| oids::of_catalog(name)),
            [super::SCHEMA, name] | [CATALOG, super::SCHEMA, name] => oids::of_catalog(name),
            [schema, name] | [CATALOG, schema, name] => self.own(&kept(schema, name)),
            _ => None,
        }
    }

    /// The same for a name that somebody relies on.
    ///
    /// # Errors
    /// `NotFound`, because of an unknown table.
    pub(super) fn number_of(&self, text: &str) -> Result<i64> {
        if text.trim() == "-" {
            return Ok(0);
        }
        self.find(text).ok_or_else(|| {
            let name = parts(text).map_or_else(|| text.to_owned(), |parts| parts.join("."));
            let message = format!("relation \"{name}\" does not exist");
            Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable)
        })
    }

    /// The number of a table, or of a key.
    fn own(&self, name: &str) -> Option<i64> {
        let table = self.relations.iter().find(|known| known.name == name).map(|known| known.oid);
        let key = || self.keys().find(|key| key.name == name).map(|key| key.oid);
        let view = || self.views.iter().find(|view| view.name == name).map(|view| view.oid);
        let sequence = || {
            let mut known = self.sequences.iter();
            known.find(|(_, known)| known == name).map(|(oid, _)| *oid)
        };
        table.or_else(key).or_else(view).or_else(sequence)
    }
}

impl KnownRelation {
    fn of(snapshot: &Snapshot, table: &Table) -> Self {
        Self {
            oid: oids::of_table(table.id()),
            name: table.schema().name.clone(),
            keys: keys(table),
            checks: checks(table),
            foreign_keys: foreign_keys(snapshot, table),
        }
    }
}

fn checks(table: &Table) -> Vec<(i64, String)> {
    let checks = table.schema().checks.iter().enumerate();
    let check = |(place, check): (usize, &gadus_engine::CheckDefinition)| {
        (oids::of_check(table.id(), place), check.condition.clone())
    };
    checks.map(check).collect()
}

fn foreign_keys(snapshot: &Snapshot, table: &Table) -> Vec<(i64, String)> {
    let schema = table.schema();
    let key = |(place, key): (usize, &gadus_engine::ForeignKey)| {
        let text = foreign_key_definition(snapshot, schema, key);
        (oids::of_foreign_key(table.id(), place), text)
    };
    schema.foreign_keys.iter().enumerate().map(key).collect()
}

/// A name as it is written in statements.
pub fn quoted(name: &str) -> String {
    if let (Some(schema), name) = schema_and_name(name) {
        return format!("{}.{}", quoted(schema), quoted(name));
    }
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = !name.starts_with(|first: char| first.is_ascii_digit());
    let is_word = KEYWORDS.split_ascii_whitespace().any(|word| word == name);
    match starts && !name.is_empty() && name.bytes().all(is_plain) && !is_word {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Words that PostgreSQL 15 does not read as a name everywhere (its documentation, appendix C: all but the non-reserved
/// ones).
const KEYWORDS: &str = "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit \
    boolean both case cast char character check coalesce collate collation column concurrently constraint create cross \
    current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal \
    default deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full \
    grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull \
    join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not \
    notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary \
    real references returning right row select session_user setof similar smallint some substring symmetric table \
    tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic \
    verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi \
    xmlroot xmlserialize xmltable";

/// The parts of a name as it is written in statements, `main."Odd one"`; none for what is no name.
pub(crate) fn parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, behind) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (part, behind) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                (part.trim_end().to_lowercase(), behind)
            }
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Some(parts);
        }
        rest = behind.strip_prefix('.')?.trim_start();
    }
}

/// A part in quotes, from behind the first of them, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut part, mut rest) = (String::new(), text);
    loop {
        let (before, behind) = rest.split_once('"')?;
        part.push_str(before);
        match behind.strip_prefix('"') {
            Some(behind) => {
                part.push('"');
                rest = behind;
            }
            None => return Some((part, behind)),
        }
    }
}

#[cfg(test)]
mod tests;
