//! Two tables in memory.

use gadus_binder::types::constants::*;
use gadus_binder::types::{Modifier, SqlType, TypeId};
use gadus_binder::{Provider, Relation, RelationColumn, RelationId, Result};
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
        Self(vec![relation(1, "t", &t, vec![vec![0]]), relation(2, "u", &u, Vec::new())])
    }
}

fn relation(
    id: u64,
    name: &str,
    columns: &[(&str, SqlType)],
    keys: Vec<Vec<usize>>,
) -> Arc<Relation> {
    let column = |(name, data_type): &(&str, SqlType)| RelationColumn {
        name: (*name).to_owned(),
        data_type: *data_type,
    };
    Arc::new(Relation {
        id: RelationId(id),
        schema: "golden".to_owned(),
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
        keys,
        ..Relation::default()
    })
}

impl Provider for Tables {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<Relation>>> {
        let is_it = |relation: &&Arc<Relation>| {
            relation.name == name && schema.is_none_or(|schema| schema == relation.schema)
        };
        Ok(self.0.iter().find(is_it).cloned())
    }

    fn type_named(&self, _schema: Option<&str>, _name: &str) -> Result<Option<TypeId>> {
        Ok(None)
    }

    fn type_name(&self, _id: TypeId) -> Option<String> {
        None
    }

    fn fields(&self, _id: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }
}
