//! The rows of the catalog's tables, as of a snapshot.

use super::build::{Cell, Rows};
use super::keys::{Key, keys};
use super::{oids, types};
use crate::provider::{CATALOG, MAIN_SCHEMA};
use crate::session::view_definition;
use gadus_engine::{
    ColumnDefinition, ColumnType, Identity, Result, Snapshot, Table, schema_and_name,
};

pub(super) fn access_methods() -> Rows {
    let row = |oid: i64, name: &str, kind: &str| {
        vec![("oid", oid.into()), ("amname", name.into()), ("amtype", kind.into())]
    };
    vec![row(oids::HEAP, "heap", "t"), row(oids::BTREE, "btree", "i")]
}

pub(super) fn namespaces(snapshot: &Snapshot) -> Rows {
    let row = |oid: i64, name: &str| {
        vec![("oid", oid.into()), ("nspname", name.into()), ("nspowner", oids::OWNER.into())]
    };
    let mut rows = vec![
        row(oids::CATALOG_SCHEMA, super::SCHEMA),
        row(oids::MAIN_SCHEMA, MAIN_SCHEMA),
        row(oids::INFORMATION_SCHEMA, "information_schema"),
    ];
    let made = snapshot.schemas();
    rows.extend(made.filter_map(|name| Some(row(oids::of_schema(snapshot, name)?, name))));
    rows
}

pub(super) fn collations() -> Rows {
    let row = |oid: i64, name: &str| {
        vec![
            ("oid", oid.into()),
            ("collname", name.into()),
            ("collnamespace", oids::CATALOG_SCHEMA.into()),
            ("collprovider", "c".into()),
            ("collisdeterministic", true.into()),
            ("collencoding", (-1).into()),
        ]
    };
    vec![row(100, "default"), row(950, "C")]
}

pub(super) fn databases() -> Rows {
    vec![vec![
        ("oid", oids::DATABASE.into()),
        ("datname", CATALOG.into()),
        ("datdba", oids::OWNER.into()),
        ("encoding", 6.into()),
        ("datlocprovider", "c".into()),
        ("datistemplate", false.into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1).into()),
        ("datcollate", "C".into()),
        ("datctype", "C".into()),
    ]]
}

/// The owner of everything, and the users of the database, with their numbers.
fn owners(snapshot: &Snapshot) -> Result<Vec<(i64, String)>> {
    let users = crate::session::user_names(snapshot)?;
    let first = (oids::OWNER, CATALOG.to_owned());
    Ok(std::iter::once(first).chain((oids::FIRST_USER..).zip(users)).collect())
}

pub(super) fn roles(snapshot: &Snapshot) -> Result<Rows> {
    let row = |(oid, name): (i64, String)| {
        let mut row = vec![
            ("oid", oid.into()),
            ("rolcanlogin", (oid != oids::OWNER).into()),
            ("rolname", name.into()),
            ("rolconnlimit", (-1).into()),
            ("rolpassword", "********".into()),
            ("rolreplication", false.into()),
        ];
        let yes = ["rolsuper", "rolinherit", "rolcreaterole", "rolcreatedb", "rolbypassrls"];
        row.extend(yes.map(|name| (name, true.into())));
        row
    };
    Ok(owners(snapshot)?.into_iter().map(row).collect())
}

pub(super) fn users(snapshot: &Snapshot) -> Result<Rows> {
    let row = |(oid, name): (i64, String)| {
        vec![
            ("usename", name.into()),
            ("usesysid", oid.into()),
            ("usecreatedb", true.into()),
            ("usesuper", true.into()),
            ("userepl", false.into()),
            ("usebypassrls", true.into()),
            ("passwd", "********".into()),
        ]
    };
    Ok(owners(snapshot)?.into_iter().skip(1).map(row).collect())
}

pub(super) fn classes(snapshot: &Snapshot) -> Rows {
    let mut rows = Vec::new();
    for table in oids::tables(snapshot) {
        let schema = table.schema();
        let keys = keys(&table);
        let has_index = !keys.is_empty();
        let count = i64::try_from(table.about_rows()).unwrap_or(i64::MAX);
        let (oid, home) = (oids::of_table(table.id()), oids::of_schema_of(snapshot, &schema.name));
        rows.push(class((oid, home), &schema.name, "r", has_index, schema.columns.len(), count));
        if let Some(row) = rows.last_mut() {
            row.retain(|(name, _)| !matches!(*name, "relchecks" | "relhastriggers"));
            // In PostgreSQL triggers keep foreign keys; clients ask for these where there are any.
            let refers = !schema.foreign_keys.is_empty() || !schema.referenced_by.is_empty();
            row.push(("relhastriggers", refers.into()));
            let checks = i64::try_from(schema.checks.len()).unwrap_or(i64::MAX);
            row.push(("relchecks", checks.into()));
        }
        for key in keys {
            rows.push(class((key.oid, home), &key.name, "i", false, key.columns.len(), count));
        }
    }
    for view in oids::views(snapshot) {
        let of = (oids::of_table(view.id), oids::of_schema_of(snapshot, &view.name));
        rows.push(class(of, &view.name, "v", false, view.columns.len(), 0));
    }
    for sequence in oids::sequences(snapshot) {
        let of = (oids::of_table(sequence.id), oids::of_schema_of(snapshot, &sequence.name));
        rows.push(class(of, &sequence.name, "S", false, 3, 1));
    }
    rows
}

fn class(
    (oid, schema): (i64, i64),
    name: &str,
    kind: &str,
    has_index: bool,
    columns: usize,
    count: i64,
) -> Vec<(&'static str, Cell)> {
    let columns = i64::try_from(columns).unwrap_or(i64::MAX);
    let method = match kind {
        "r" => oids::HEAP,
        "i" => oids::BTREE,
        _ => 0,
    };
    let is_view = kind == "v";
    let mut row = vec![
        ("oid", oid.into()),
        ("relname", schema_and_name(name).1.into()),
        ("relnamespace", schema.into()),
        ("relowner", oids::OWNER.into()),
        ("relam", method.into()),
        ("relfilenode", oid.into()),
        ("reltuples", count.into()),
        ("relhasindex", has_index.into()),
        ("relpersistence", "p".into()),
        ("relkind", kind.into()),
        ("relnatts", columns.into()),
        ("relispopulated", true.into()),
        ("relreplident", (if kind == "r" { "d" } else { "n" }).into()),
    ];
    let zeros = [
        "reltype",
        "reloftype",
        "reltablespace",
        "relpages",
        "relallvisible",
        "reltoastrelid",
        "relchecks",
        "relrewrite",
        "relfrozenxid",
        "relminmxid",
    ];
    row.extend(zeros.map(|name| (name, 0.into())));
    let no = [
        "relisshared",
        "relhastriggers",
        "relhassubclass",
        "relrowsecurity",
        "relforcerowsecurity",
        "relispartition",
    ];
    row.extend(no.map(|name| (name, false.into())));
    // A view is a rule.
    row.push(("relhasrules", is_view.into()));
    row
}

pub(super) fn attributes(snapshot: &Snapshot) -> Rows {
    let mut rows = Vec::new();
    for table in oids::tables(snapshot) {
        let schema = table.schema();
        let all = (0..schema.columns.len()).collect::<Vec<_>>();
        let own = [(oids::of_table(table.id()), all)];
        let of_keys = keys(&table).into_iter().map(|key| (key.oid, key.columns));
        for (relation, columns) in own.into_iter().chain(of_keys) {
            for (number, column) in (1_i64..).zip(&columns) {
                let is_own = relation == oids::of_table(table.id());
                rows.push(attribute(relation, number, &schema.columns[*column], is_own));
            }
        }
    }
    for view in oids::views(snapshot) {
        for (number, column) in (1_i64..).zip(&view.columns) {
            // What no table can have is told as text.
            let column_type = column.column_type.unwrap_or(ColumnType::Text);
            let column = ColumnDefinition::new(&column.name, column_type);
            rows.push(attribute(oids::of_table(view.id), number, &column, true));
        }
    }
    rows
}

fn attribute(
    relation: i64,
    number: i64,
    column: &ColumnDefinition,
    is_of_table: bool,
) -> Vec<(&'static str, Cell)> {
    let known = types::of_column(column.column_type);
    let identity = match column.identity.filter(|_| is_of_table) {
        None => "",
        Some(Identity::Always) => "a",
        Some(Identity::ByDefault) => "d",
    };
    let collation = if known.name == "text" { 100 } else { 0 };
    vec![
        ("attrelid", relation.into()),
        ("attname", column.name.as_str().into()),
        ("atttypid", known.oid.into()),
        ("attlen", known.size.into()),
        ("attnum", number.into()),
        ("attcacheoff", (-1).into()),
        ("atttypmod", known.modifier.into()),
        ("attndims", i64::from(known.is_list).into()),
        ("attbyval", (known.size > 0).into()),
        ("attstorage", (if known.size > 0 { "p" } else { "x" }).into()),
        ("attcompression", "".into()),
        ("attnotnull", (is_of_table && !column.nullable).into()),
        ("atthasdef", (is_of_table && expression_of(column).is_some()).into()),
        ("atthasmissing", false.into()),
        ("attidentity", identity.into()),
        ("attgenerated", (if column.generated.is_some() { "s" } else { "" }).into()),
        ("attisdropped", false.into()),
        ("attislocal", true.into()),
        ("attinhcount", 0.into()),
        ("attstattarget", (-1).into()),
        ("attcollation", collation.into()),
    ]
}

/// The text of a column's default, or of what generates it.
fn expression_of(column: &ColumnDefinition) -> Option<&str> {
    let default = column.default.as_ref().map(|default| default.0.as_str());
    default.or(column.generated.as_ref().map(|generated| generated.expression.as_str()))
}

pub(super) fn defaults(snapshot: &Snapshot) -> Rows {
    let mut rows = Vec::new();
    for table in oids::tables(snapshot) {
        let relation = oids::of_table(table.id());
        for (number, column) in (1_i64..).zip(&table.schema().columns) {
            if let Some(expression) = expression_of(column) {
                rows.push(vec![
                    ("oid", (relation * 4_000 + number).into()),
                    ("adrelid", relation.into()),
                    ("adnum", number.into()),
                    ("adbin", expression.into()),
                ]);
            }
        }
    }
    rows
}

/// The indexes of all tables.
fn all_keys(snapshot: &Snapshot) -> impl Iterator<Item = (Table, Key)> {
    oids::tables(snapshot).into_iter().flat_map(|table| {
        let keys = keys(&table);
        keys.into_iter().map(move |key| (table.clone(), key))
    })
}

/// The number of a column.
pub(super) fn number(place: &usize) -> i64 {
    i64::try_from(place + 1).unwrap_or(i64::MAX)
}

pub(super) fn indexes(snapshot: &Snapshot) -> Rows {
    let row = |(table, key): (Table, Key)| {
        let count = i64::try_from(key.columns.len()).unwrap_or(i64::MAX);
        let zeros = || Cell::Numbers(vec![0; key.columns.len()]);
        let mut row = vec![
            ("indexrelid", key.oid.into()),
            ("indrelid", oids::of_table(table.id()).into()),
            ("indnatts", count.into()),
            ("indnkeyatts", count.into()),
            ("indcollation", zeros()),
            ("indclass", zeros()),
            ("indoption", zeros()),
            ("indisunique", key.is_unique.into()),
            ("indisprimary", key.is_primary.into()),
        ];
        let yes = ["indimmediate", "indisvalid", "indisready", "indislive"];
        row.extend(yes.map(|name| (name, true.into())));
        let no = [
            "indnullsnotdistinct",
            "indisexclusion",
            "indisclustered",
            "indcheckxmin",
            "indisreplident",
        ];
        row.extend(no.map(|name| (name, false.into())));
        row.push(("indkey", Cell::Numbers(key.columns.iter().map(number).collect())));
        row
    };
    all_keys(snapshot).map(row).collect()
}

/// The name of a relation's schema.
pub(super) fn home(kept: &str) -> &str {
    schema_and_name(kept).0.unwrap_or(MAIN_SCHEMA)
}

pub(super) fn shown_tables(snapshot: &Snapshot) -> Rows {
    let row = |table: Table| {
        vec![
            ("schemaname", home(&table.schema().name).into()),
            ("tablename", schema_and_name(&table.schema().name).1.into()),
            ("tableowner", CATALOG.into()),
            ("hasindexes", (!keys(&table).is_empty()).into()),
            ("hasrules", false.into()),
            ("hastriggers", false.into()),
            ("rowsecurity", false.into()),
        ]
    };
    oids::tables(snapshot).into_iter().map(row).collect()
}

pub(super) fn shown_views(snapshot: &Snapshot) -> Rows {
    let mut rows = Vec::new();
    for view in oids::views(snapshot) {
        rows.push(vec![
            ("schemaname", home(&view.name).into()),
            ("viewname", schema_and_name(&view.name).1.into()),
            ("viewowner", CATALOG.into()),
            ("definition", view_definition(snapshot, view).into()),
        ]);
    }
    rows
}

pub(super) fn shown_indexes(snapshot: &Snapshot) -> Rows {
    let row = |(table, key): (Table, Key)| {
        vec![
            ("schemaname", home(&table.schema().name).into()),
            ("tablename", schema_and_name(&table.schema().name).1.into()),
            ("indexname", key.name.into()),
            ("indexdef", key.definition.into()),
        ]
    };
    all_keys(snapshot).map(row).collect()
}
