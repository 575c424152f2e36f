//! Numbers of things in the catalog: the same in each session for as long as the thing is there.

use gadus_base::TableId;
use gadus_engine::{Sequence, Snapshot, Table, ViewSchema, is_temporary, schema_and_name};
use std::sync::Arc;

/// Numbers below are PostgreSQL's own.
const FIRST: i64 = 16_384;

pub(super) const CATALOG_SCHEMA: i64 = 11;
pub(super) const MAIN_SCHEMA: i64 = 2_200;
pub(super) const INFORMATION_SCHEMA: i64 = 13_000;
pub(super) const DATABASE: i64 = 5;
pub(super) const OWNER: i64 = 10;
/// The number of `pg_class`.
pub(super) const CLASSES: i64 = 1_259;
/// Users are numbered as they are sorted: only names are for keeping.
pub(super) const FIRST_USER: i64 = 14_000;
pub(super) const HEAP: i64 = 2;
pub(super) const BTREE: i64 = 403;

/// Tables of the catalog that have no number of PostgreSQL's own are numbered by their place.
const FIRST_VIEW: i64 = 12_000;

/// The numbers of PostgreSQL's own tables, also of those that are not here: clients cast their names.
const CATALOG: &[(&str, i64)] = &[
    ("pg_aggregate", 2_600),
    ("pg_am", 2_601),
    ("pg_amop", 2_602),
    ("pg_amproc", 2_603),
    ("pg_attrdef", 2_604),
    ("pg_attribute", 1_249),
    ("pg_auth_members", 1_261),
    ("pg_authid", 1_260),
    ("pg_cast", 2_605),
    ("pg_class", 1_259),
    ("pg_collation", 3_456),
    ("pg_constraint", 2_606),
    ("pg_conversion", 2_607),
    ("pg_database", 1_262),
    ("pg_db_role_setting", 2_964),
    ("pg_default_acl", 826),
    ("pg_depend", 2_608),
    ("pg_description", 2_609),
    ("pg_enum", 3_501),
    ("pg_event_trigger", 3_466),
    ("pg_extension", 3_079),
    ("pg_foreign_data_wrapper", 2_328),
    ("pg_foreign_server", 1_417),
    ("pg_foreign_table", 3_118),
    ("pg_index", 2_610),
    ("pg_inherits", 2_611),
    ("pg_language", 2_612),
    ("pg_largeobject", 2_613),
    ("pg_namespace", 2_615),
    ("pg_opclass", 2_616),
    ("pg_operator", 2_617),
    ("pg_opfamily", 2_753),
    ("pg_partitioned_table", 3_350),
    ("pg_policy", 3_256),
    ("pg_proc", 1_255),
    ("pg_publication", 6_104),
    ("pg_publication_namespace", 6_237),
    ("pg_publication_rel", 6_106),
    ("pg_range", 3_541),
    ("pg_rewrite", 2_618),
    ("pg_sequence", 2_224),
    ("pg_shdepend", 1_214),
    ("pg_shdescription", 2_396),
    ("pg_statistic", 2_619),
    ("pg_statistic_ext", 3_381),
    ("pg_subscription", 6_100),
    ("pg_tablespace", 1_213),
    ("pg_transform", 3_576),
    ("pg_trigger", 2_620),
    ("pg_ts_config", 3_602),
    ("pg_ts_dict", 3_600),
    ("pg_ts_parser", 3_601),
    ("pg_ts_template", 3_764),
    ("pg_type", 1_247),
];

pub(super) const PROCEDURES: i64 = 1_255;
pub(super) const DATABASES: i64 = 1_262;
pub(super) const SCHEMAS: i64 = 2_615;
/// The number of `pg_type`.
pub(super) const TYPES: i64 = 1_247;
pub(super) const LANGUAGE_SQL: i64 = 14;

/// Schemas are counted from here.
const FIRST_SCHEMA: i64 = 15_000;

/// The number of a relation's schema.
pub(super) fn of_schema_of(snapshot: &Snapshot, kept: &str) -> i64 {
    match schema_and_name(kept).0 {
        None => MAIN_SCHEMA,
        Some(schema) => of_schema(snapshot, schema).unwrap_or(0),
    }
}

/// The number of a schema that was made.
pub(super) fn of_schema(snapshot: &Snapshot, schema: &str) -> Option<i64> {
    let mut schemas = (FIRST_SCHEMA..).zip(snapshot.schemas());
    schemas.find(|(_, known)| *known == schema).map(|(oid, _)| oid)
}

/// The number of a function, in their order.
pub(super) fn of_function(place: usize) -> i64 {
    // Numbers have 32 bits; those of tables begin at the other end.
    i64::from(u32::MAX) - i64::try_from(place).unwrap_or(0)
}

/// The number of a table.
pub(super) fn of_table(id: TableId) -> i64 {
    FIRST + i64::from(id.0) * 2
}

/// The number of its primary key, as an index and as a constraint.
pub(super) fn of_key(id: TableId) -> i64 {
    of_table(id) + 1
}

/// The number of another index, and of the constraint that it stands for.
pub(super) fn of_index(id: TableId, index: u32) -> i64 {
    // Between the numbers of one table's columns and checks and those of the next table.
    of_table(id) * 4_000 + 4_000 + i64::from(index % 4_000)
}

/// The number of one of a table's checks, in its order.
pub(super) fn of_check(id: TableId, place: usize) -> i64 {
    // Behind those of the defaults of its columns.
    of_table(id) * 4_000 + 2_000 + i64::try_from(place).unwrap_or(i64::MAX)
}

/// The number of one of a table's foreign keys, in its order.
pub(super) fn of_foreign_key(id: TableId, place: usize) -> i64 {
    // Behind those of its checks.
    of_table(id) * 4_000 + 3_700 + i64::try_from(place).unwrap_or(i64::MAX)
}

/// The tables that statements can name.
pub(super) fn tables(snapshot: &Snapshot) -> Vec<Table> {
    let mut tables = snapshot.tables();
    tables.retain(|table| {
        let name = &table.schema().name;
        !crate::session::is_hidden(name) && !is_temporary(name)
    });
    tables
}

/// The sequences that everybody is told of.
pub(super) fn sequences(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<Sequence>> {
    snapshot.sequences().filter(|sequence| !is_temporary(&sequence.name))
}

/// The views that statements can name.
pub(super) fn views(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<ViewSchema>> {
    snapshot.views().filter(|view| !is_temporary(&view.name))
}

/// The number of a table of the catalog, which clients may know by heart.
pub(super) fn of_catalog(name: &str) -> Option<i64> {
    let known = CATALOG.iter().find(|(known, _)| *known == name).map(|(_, oid)| *oid);
    let place = || (FIRST_VIEW..).zip(super::names()).find(|(_, known)| *known == name);
    known.or_else(|| place().map(|(oid, _)| oid))
}

/// The name of a table of the catalog.
pub(super) fn catalog_name(oid: i64) -> Option<&'static str> {
    let known = CATALOG.iter().find(|(_, known)| *known == oid).map(|(name, _)| *name);
    known.or_else(|| {
        let mut views = (FIRST_VIEW..).zip(super::names());
        views.find(|(known, _)| *known == oid).map(|(_, name)| name)
    })
}
