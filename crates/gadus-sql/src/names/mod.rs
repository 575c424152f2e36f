//! What names of relations mean: schemas, the search path, and what goes with a session.
//!
//! - A relation is kept under one name that has its schema's in it (`gadus_engine::SCHEMA_SEPARATOR`); statements are told
//!   in names as they are written.
//! - A name without a schema means what goes with the session, where there is such a thing, then what the search path has
//!   first. Where that is not what everybody means by it, statements say so before they are planned ([`resolve`]), and
//!   nothing is taken from what sessions share by the statement's text.

mod resolve;

pub(crate) use resolve::resolve;

use crate::provider::MAIN_SCHEMA;
use datafusion::sql::sqlparser::ast::Ident;
use gadus_engine::{SCHEMA_SEPARATOR, Snapshot, schema_and_name};

/// The schemas that statements call those of their session.
pub(crate) const TEMPORARY_SCHEMAS: [&str; 2] = ["pg_temp", "temp"];

/// What a session means by names without a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    /// The schemas where they are looked for, in this order.
    pub(crate) path: Vec<String>,
    /// That of what goes with the session, where it has made any.
    pub(crate) temporary: Option<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self { path: vec![MAIN_SCHEMA.to_owned()], temporary: None }
    }
}

impl Names {
    /// By the value of the setting `search_path`.
    pub(crate) fn new(search_path: Option<&str>, temporary: Option<String>) -> Self {
        let names = search_path.unwrap_or(MAIN_SCHEMA).split(',').map(str::trim);
        let name = |name: &str| match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => name.to_lowercase(),
        };
        let names = names.map(|text| name(text.trim_matches('\''))).filter(|name| !name.is_empty());
        // A user has no schema; what is built in is found without being named.
        let path = names.filter(|name| name != "$user" && name != "pg_catalog");
        let path = path.map(|name| if name == "public" { MAIN_SCHEMA.to_owned() } else { name });
        Self { path: path.collect(), temporary }
    }

    /// Whether they mean what they mean to everybody.
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The schema of a relation that a statement names without one; none where it is one that everybody finds, or none.
    pub(crate) fn schema_of(&self, snapshot: &Snapshot, name: &str) -> Option<&str> {
        let mut path = self.temporary.iter().chain(&self.path).map(String::as_str);
        match path.find(|schema| snapshot.has_relation(&kept(schema, name))) {
            Some(schema) => Some(schema).filter(|schema| *schema != MAIN_SCHEMA),
            // What nobody looks for there is not found there.
            None if snapshot.has_relation(name) => self.path.first().map(String::as_str),
            None => None,
        }
    }

    /// The schema in which a statement makes what it names without one.
    fn first<'a>(&'a self, snapshot: &Snapshot) -> Option<&'a str> {
        self.path.iter().map(String::as_str).find(|schema| snapshot.has_schema(schema))
    }
}

/// The name under which a relation of a schema is kept.
pub(crate) fn kept(schema: &str, name: &str) -> String {
    match schema {
        MAIN_SCHEMA | "public" => name.to_owned(),
        _ => format!("{schema}{SCHEMA_SEPARATOR}{name}"),
    }
}

/// The name under which a relation is kept that a program names: by that name, or with its schema and a dot.
pub fn found(snapshot: &Snapshot, name: &str) -> String {
    match name.split_once('.') {
        Some((schema, own)) if !snapshot.has_relation(name) => {
            let qualified = kept(schema, own);
            if snapshot.has_relation(&qualified) { qualified } else { name.to_owned() }
        }
        _ => name.to_owned(),
    }
}

/// The name of what belongs to a relation, in the same schema.
pub(crate) fn beside(relation: &str, name: &str) -> String {
    match schema_and_name(relation).0 {
        Some(schema) if !name.contains(SCHEMA_SEPARATOR) => kept(schema, name),
        _ => name.to_owned(),
    }
}

/// The name in its schema, in quotes: what statements may call it by where it has no other name there.
pub(crate) fn own_name(kept: &str) -> Ident {
    Ident::with_quote('"', schema_and_name(kept).1)
}

/// A text about relations as they are written: with a dot between the schema and the name.
pub fn written(text: &str) -> String {
    text.replace(SCHEMA_SEPARATOR, ".")
}

/// A statement in which relations are named as they are kept, as it is written.
pub(crate) fn written_statement(text: &str) -> String {
    if !text.contains(SCHEMA_SEPARATOR) {
        return text.to_owned();
    }
    // In texts between single quotes it is what somebody has written.
    let mut quote = None;
    let mut written = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        match (quote, letter) {
            (Some('"'), SCHEMA_SEPARATOR) => written.push_str("\".\""),
            _ => written.push(letter),
        }
    }
    written
}

#[cfg(test)]
mod tests;
