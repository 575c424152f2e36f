//! Tables and an enumeration in memory.

use gadus_binder::types::constants::*;
use gadus_binder::types::{BaseType, Modifier, SqlType, TypeId};
use gadus_binder::{
    Generation, Provider, Relation, RelationColumn, RelationId, Result, UniqueIndex,
};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Tables(Vec<Arc<Relation>>);

impl Tables {
    pub(super) fn new() -> Self {
        let numeric =
            SqlType { id: NUMERIC, modifier: Modifier::Numeric { precision: 10, scale: 2 } };
        let varchar = SqlType { id: VARCHAR, modifier: Modifier::Length(10) };
        let t = [
            ("id", INT4.plain()),
            ("a", INT4.plain()),
            ("b", TEXT.plain()),
            ("c", numeric),
            ("d", FLOAT8.plain()),
            ("v", varchar),
            ("ts", TIMESTAMP.plain()),
            ("tz", TIMESTAMPTZ.plain()),
            ("j", JSONB.plain()),
            ("tags", TEXT_ARRAY.plain()),
        ];
        let u = [
            ("id", INT4.plain()),
            ("a", INT8.plain()),
            ("x", FLOAT4.plain()),
            ("n", NUMERIC.plain()),
            ("day", DATE.plain()),
            ("w", INTERVAL.plain()),
            ("f", BOOL.plain()),
        ];
        let relations = [
            relation(1, "t", &t, vec![vec![0]]),
            relation(2, "u", &u, Vec::new()),
            keyed(),
            generated(),
            mixed(),
        ];
        Self(relations.into_iter().map(Arc::new).collect())
    }
}

/// Table with unique indexes: of a constraint, of an expression, with a predicate.
fn keyed() -> Relation {
    let columns = [
        ("id", INT4.plain()),
        ("email", TEXT.plain()),
        ("name", TEXT.plain()),
        ("n", INT4.plain()),
    ];
    let index =
        |columns: &[usize]| UniqueIndex { columns: columns.to_vec(), ..UniqueIndex::default() };
    let named = |name: &str, columns: &[usize]| UniqueIndex {
        constraint: Some(name.to_owned()),
        ..index(columns)
    };
    let unique_indexes = vec![
        named("k_pkey", &[0]),
        named("k_email_key", &[1]),
        UniqueIndex { expressions: vec!["lower(name)".to_owned()], ..UniqueIndex::default() },
        UniqueIndex { predicate: Some("n > 0".to_owned()), ..index(&[3]) },
    ];
    Relation { unique_indexes, ..relation(3, "k", &columns, vec![vec![0]]) }
}

/// Table with columns whose values the database makes.
fn generated() -> Relation {
    let columns = ["id", "a", "b", "s"].map(|name| (name, INT4.plain()));
    let generated = vec![
        (0, Generation::IdentityAlways),
        (2, Generation::Stored),
        (3, Generation::IdentityByDefault),
    ];
    Relation { generated, ..relation(4, "g", &columns, Vec::new()) }
}

fn mixed() -> Relation {
    let bits = SqlType { id: BIT, modifier: Modifier::Length(3) };
    let columns = [
        ("id", INT4.plain()),
        ("feeling", MOOD.plain()),
        ("day", DATE.plain()),
        ("at", TIME.plain()),
        ("bits", bits),
        ("raw", BYTEA.plain()),
        ("key", UUID.plain()),
        ("numbers", INT4_ARRAY.plain()),
        ("span", INTERVAL.plain()),
    ];
    relation(5, "m", &columns, Vec::new())
}

const MOOD: TypeId = TypeId::scalar(BaseType::Enum("mood"));

fn relation(id: u64, name: &str, columns: &[(&str, SqlType)], keys: Vec<Vec<usize>>) -> Relation {
    let column = |(name, data_type): &(&str, SqlType)| RelationColumn {
        name: (*name).to_owned(),
        data_type: *data_type,
    };
    Relation {
        id: RelationId(id),
        schema: "golden".to_owned(),
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
        keys,
        ..Relation::default()
    }
}

impl Provider for Tables {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>> {
        let is_it = |relation: &&Arc<Relation>| {
            relation.name == name && schema.is_none_or(|schema| schema == relation.schema)
        };
        Ok(self.0.iter().find(is_it).cloned())
    }

    fn type_named(&self, _schema: Option<&str>, name: &str) -> Result<Option<TypeId>> {
        Ok((name == "mood").then_some(MOOD))
    }

    fn type_name(&self, id: TypeId) -> Option<String> {
        (id == MOOD).then(|| "mood".to_owned())
    }

    fn enum_labels(&self, id: TypeId) -> Option<Arc<[String]>> {
        (id == MOOD).then(|| ["sad", "ok", "happy"].map(str::to_owned).into())
    }

    fn fields(&self, _id: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }
}
