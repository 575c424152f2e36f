//! The tables of the catalog.

use super::build::{Rows, table};
use super::{activity, constraints, enums, routines, rows, sequences, settings, types};
use crate::provider::System;
use crate::session::ShownSetting;
use arrow::array::RecordBatch;
use gadus_engine::{Engine, Result, Snapshot};

/// A table of the catalog: its columns, and what makes its rows; none where there is nothing of it ever.
struct Relation {
    name: &'static str,
    columns: &'static [&'static str],
    rows: Option<Make>,
}

/// What its rows are made of.
#[derive(Clone, Copy)]
enum Make {
    Snapshot(MakeRows),
    Engine(fn(&Engine) -> Result<Rows>),
    Settings(fn(&[ShownSetting]) -> Rows),
}

type MakeRows = fn(&Snapshot) -> Result<Rows>;

const fn filled(name: &'static str, columns: &'static [&'static str], rows: MakeRows) -> Relation {
    Relation { name, columns, rows: Some(Make::Snapshot(rows)) }
}

const fn used(
    name: &'static str,
    columns: &'static [&'static str],
    rows: fn(&Engine) -> Result<Rows>,
) -> Relation {
    Relation { name, columns, rows: Some(Make::Engine(rows)) }
}

const fn set(
    name: &'static str,
    columns: &'static [&'static str],
    rows: fn(&[ShownSetting]) -> Rows,
) -> Relation {
    Relation { name, columns, rows: Some(Make::Settings(rows)) }
}

const fn empty(name: &'static str, columns: &'static [&'static str]) -> Relation {
    Relation { name, columns, rows: None }
}

#[rustfmt::skip]
const RELATIONS: &[Relation] = &[
    filled("pg_am", &["#oid", "amname", "amhandler", "amtype"], |_| Ok(rows::access_methods())),
    filled("pg_attrdef", &["#oid", "#adrelid", "#adnum", "adbin"], |snapshot| Ok(rows::defaults(snapshot))),
    filled("pg_attribute", &[
        "#attrelid", "attname", "#atttypid", "#attlen", "#attnum", "#attcacheoff", "#atttypmod",
        "#attndims", "?attbyval", "attalign", "attstorage", "attcompression", "?attnotnull",
        "?atthasdef", "?atthasmissing", "attidentity", "attgenerated", "?attisdropped",
        "?attislocal", "#attinhcount", "#attstattarget", "#attcollation", "{attacl", "{attoptions",
        "{attfdwoptions", "attmissingval",
    ], |snapshot| Ok(rows::attributes(snapshot))),
    filled("pg_class", &[
        "#oid", "relname", "#relnamespace", "#reltype", "#reloftype", "#relowner", "#relam",
        "#relfilenode", "#reltablespace", "#relpages", "#reltuples", "#relallvisible",
        "#reltoastrelid", "?relhasindex", "?relisshared", "relpersistence", "relkind", "#relnatts",
        "#relchecks", "?relhasrules", "?relhastriggers", "?relhassubclass", "?relrowsecurity",
        "?relforcerowsecurity", "?relispopulated", "relreplident", "?relispartition", "#relrewrite",
        "#relfrozenxid", "#relminmxid", "{relacl", "{reloptions", "relpartbound",
    ], |snapshot| Ok(rows::classes(snapshot))),
    filled("pg_collation", &[
        "#oid", "collname", "#collnamespace", "#collowner", "collprovider", "?collisdeterministic",
        "#collencoding", "collcollate", "collctype", "colliculocale", "collversion",
    ], |_| Ok(rows::collations())),
    filled("pg_constraint", &[
        "#oid", "conname", "#connamespace", "contype", "?condeferrable", "?condeferred",
        "?convalidated", "#conrelid", "#contypid", "#conindid", "#conparentid", "#confrelid",
        "confupdtype", "confdeltype", "confmatchtype", "?conislocal", "#coninhcount",
        "?connoinherit", "[conkey", "[confkey", "[conpfeqop", "[conppeqop", "[conffeqop",
        "[confdelsetcols", "[conexclop", "conbin",
    ], |snapshot| Ok(constraints::constraints(snapshot))),
    filled("pg_database", &[
        "#oid", "datname", "#datdba", "#encoding", "datlocprovider", "?datistemplate",
        "?datallowconn", "#datconnlimit", "#datfrozenxid", "#datminmxid", "#dattablespace",
        "datcollate", "datctype", "daticulocale", "datcollversion", "{datacl",
    ], |_| Ok(rows::databases())),
    filled("pg_index", &[
        "#indexrelid", "#indrelid", "#indnatts", "#indnkeyatts", "?indisunique",
        "?indnullsnotdistinct", "?indisprimary", "?indisexclusion", "?indimmediate",
        "?indisclustered", "?indisvalid", "?indcheckxmin", "?indisready", "?indislive",
        "?indisreplident", "~indkey", "^indcollation", "^indclass", "~indoption", "indexprs",
        "indpred",
    ], |snapshot| Ok(rows::indexes(snapshot))),
    filled("pg_namespace", &["#oid", "nspname", "#nspowner", "{nspacl"], |snapshot| Ok(rows::namespaces(snapshot))),
    filled("pg_depend", &["#classid", "#objid", "#objsubid", "#refclassid", "#refobjid", "#refobjsubid", "deptype"], |snapshot| Ok(sequences::owners(snapshot))),
    filled("pg_sequence", &["#seqrelid", "#seqtypid", "#seqstart", "#seqincrement", "#seqmax", "#seqmin", "#seqcache", "?seqcycle"], |snapshot| Ok(sequences::sequences(snapshot))),
    filled("pg_sequences", &[
        "schemaname", "sequencename", "sequenceowner", "data_type", "#start_value", "#min_value",
        "#max_value", "#increment_by", "?cycle", "#cache_size", "#last_value",
    ], |snapshot| Ok(sequences::shown(snapshot))),
    filled("pg_tables", &[
        "schemaname", "tablename", "tableowner", "tablespace", "?hasindexes", "?hasrules",
        "?hastriggers", "?rowsecurity",
    ], |snapshot| Ok(rows::shown_tables(snapshot))),
    filled("pg_indexes", &["schemaname", "tablename", "indexname", "tablespace", "indexdef"], |snapshot| Ok(rows::shown_indexes(snapshot))),
    filled("pg_views", &["schemaname", "viewname", "viewowner", "definition"], |snapshot| Ok(rows::shown_views(snapshot))),
    filled("pg_type", &[
        "#oid", "typname", "#typnamespace", "#typowner", "#typlen", "?typbyval", "typtype",
        "typcategory", "?typispreferred", "?typisdefined", "typdelim", "#typrelid", "typsubscript",
        "#typelem", "#typarray", "typinput", "typoutput", "typreceive", "typsend", "typmodin",
        "typmodout", "typanalyze", "typalign", "typstorage", "?typnotnull", "#typbasetype",
        "#typtypmod", "#typndims", "#typcollation", "typdefaultbin", "typdefault", "{typacl",
    ], |snapshot| Ok(types::rows(snapshot))),
    filled("pg_roles", &[
        "#oid", "rolname", "?rolsuper", "?rolinherit", "?rolcreaterole", "?rolcreatedb",
        "?rolcanlogin", "?rolreplication", "#rolconnlimit", "rolpassword", "rolvaliduntil",
        "?rolbypassrls", "[rolconfig",
    ], rows::roles),
    filled("pg_user", &[
        "usename", "#usesysid", "?usecreatedb", "?usesuper", "?userepl", "?usebypassrls", "passwd",
        "valuntil", "useconfig",
    ], rows::users),
    used("pg_stat_activity", &[
        "#datid", "datname", "#pid", "#leader_pid", "#usesysid", "usename", "application_name",
        "client_addr", "client_hostname", "#client_port", "backend_start", "xact_start",
        "query_start", "state_change", "wait_event_type", "wait_event", "state", "#backend_xid",
        "#backend_xmin", "#query_id", "query", "backend_type",
    ], activity::sessions),
    used("pg_locks", &[
        "locktype", "#database", "#relation", "#page", "#tuple", "virtualxid", "#transactionid",
        "#classid", "#objid", "#objsubid", "virtualtransaction", "#pid", "mode", "?granted",
        "?fastpath", "waitstart",
    ], activity::locks),
    set("pg_settings", &[
        "name", "setting", "unit", "category", "short_desc", "extra_desc", "context", "vartype",
        "source", "min_val", "max_val", "<enumvals", "boot_val", "reset_val", "sourcefile",
        "#sourceline", "?pending_restart",
    ], settings::rows),
    empty("pg_auth_members", &["#roleid", "#member", "#grantor", "?admin_option"]),
    empty("pg_aggregate", &["#aggfnoid", "aggkind"]),
    empty("pg_cast", &["#oid", "#castsource", "#casttarget", "#castfunc", "castcontext", "castmethod"]),
    empty("pg_conversion", &["#oid", "conname", "#connamespace", "#conowner", "#conforencoding", "#contoencoding", "conproc", "?condefault"]),
    empty("pg_default_acl", &["#oid", "#defaclrole", "#defaclnamespace", "defaclobjtype", "{defaclacl"]),
    filled("pg_description", &["#objoid", "#classoid", "#objsubid", "description"], |snapshot| Ok(routines::descriptions(snapshot, false))),
    filled("pg_enum", &["#oid", "#enumtypid", "#enumsortorder", "enumlabel"], |snapshot| Ok(enums::labels(snapshot))),
    empty("pg_event_trigger", &["#oid", "evtname", "evtevent", "#evtowner", "#evtfoid", "evtenabled"]),
    empty("pg_extension", &["#oid", "extname", "#extowner", "#extnamespace", "?extrelocatable", "extversion"]),
    empty("pg_foreign_data_wrapper", &["#oid", "fdwname", "#fdwowner", "#fdwhandler", "#fdwvalidator", "{fdwacl", "{fdwoptions"]),
    empty("pg_foreign_server", &["#oid", "srvname", "#srvowner", "#srvfdw", "srvtype", "srvversion", "{srvacl", "{srvoptions"]),
    empty("pg_foreign_table", &["#ftrelid", "#ftserver", "{ftoptions"]),
    empty("pg_inherits", &["#inhrelid", "#inhparent", "#inhseqno", "?inhdetachpending"]),
    empty("pg_language", &["#oid", "lanname", "#lanowner", "?lanispl", "?lanpltrusted"]),
    empty("pg_matviews", &["schemaname", "matviewname", "matviewowner", "tablespace", "?hasindexes", "?ispopulated", "definition"]),
    empty("pg_operator", &["#oid", "oprname", "#oprnamespace", "#oprleft", "#oprright", "#oprresult"]),
    empty("pg_partitioned_table", &["#partrelid", "partstrat", "#partnatts", "#partdefid", "[partattrs", "[partclass", "[partcollation", "partexprs"]),
    empty("pg_policy", &["#oid", "polname", "#polrelid", "polcmd", "?polpermissive", "[polroles", "polqual", "polwithcheck"]),
    filled("pg_proc", &["#oid", "proname", "#pronamespace", "#proowner", "#prolang", "prokind", "?prosecdef", "?proisstrict", "?proretset", "provolatile", "proparallel", "#pronargs", "#prorettype", "[proargtypes", "prosrc", "{proacl"], |snapshot| Ok(routines::procedures(snapshot))),
    empty("pg_publication", &["#oid", "pubname", "#pubowner", "?puballtables", "?pubinsert", "?pubupdate", "?pubdelete", "?pubtruncate", "?pubviaroot"]),
    empty("pg_publication_namespace", &["#oid", "#pnpubid", "#pnnspid"]),
    empty("pg_publication_rel", &["#oid", "#prpubid", "#prrelid", "prqual", "[prattrs"]),
    empty("pg_range", &["#rngtypid", "#rngsubtype", "#rngmultitypid", "#rngcollation", "#rngsubopc"]),
    empty("pg_rewrite", &["#oid", "rulename", "#ev_class", "ev_type", "ev_enabled", "?is_instead"]),
    filled("pg_shdescription", &["#objoid", "#classoid", "description"], |snapshot| Ok(routines::descriptions(snapshot, true))),
    empty("pg_statistic_ext", &["#oid", "#stxrelid", "stxname", "#stxnamespace", "#stxowner", "#stxstattarget", "[stxkeys", "stxkind"]),
    empty("pg_subscription", &["#oid", "#subdbid", "subname", "#subowner", "?subenabled"]),
    empty("pg_tablespace", &["#oid", "spcname", "#spcowner", "{spcacl", "{spcoptions"]),
    empty("pg_trigger", &["#oid", "#tgrelid", "#tgparentid", "tgname", "#tgfoid", "#tgtype", "tgenabled", "?tgisinternal", "#tgconstrrelid", "#tgconstrindid", "#tgconstraint", "?tgdeferrable", "?tginitdeferred"]),
    empty("pg_ts_config", &["#oid", "cfgname", "#cfgnamespace", "#cfgowner", "#cfgparser"]),
    empty("pg_ts_dict", &["#oid", "dictname", "#dictnamespace", "#dictowner"]),
];

fn find(name: &str) -> Option<&'static Relation> {
    RELATIONS.iter().find(|relation| relation.name == name)
}

/// The names of all.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RELATIONS.iter().map(|relation| relation.name)
}

/// Whether there is a table of this name.
pub(crate) fn is_relation(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a table never has rows, because Gadus has nothing that it would tell of.
pub(super) fn is_always_empty(name: &str) -> bool {
    find(name).is_some_and(|relation| relation.rows.is_none())
}

/// Whether a column never has a value that it has in PostgreSQL's own catalog.
pub(super) fn never_has(column: &str, value: &str) -> bool {
    // There are no domains, ranges and types of rows.
    column == "typtype" && !matches!(value, "b" | "e" | "p")
}

/// Whether a column of this name is NULL in all rows of all tables: a list of texts, which nothing has.
pub(super) fn is_always_null(column: &str) -> bool {
    let is_column = |known: &&str| known.strip_prefix('{') == Some(column);
    RELATIONS.iter().any(|relation| relation.columns.iter().any(is_column))
}

/// A table of the catalog; none where there is none of this name.
pub(crate) fn relation(
    name: &str,
    snapshot: &Snapshot,
    system: Option<&System>,
) -> Result<Option<RecordBatch>> {
    let Some(relation) = find(name) else { return Ok(None) };
    let rows = match (relation.rows, system) {
        (Some(Make::Snapshot(rows)), _) => rows(snapshot)?,
        (Some(Make::Engine(rows)), Some(system)) => rows(&system.engine)?,
        (Some(Make::Settings(rows)), Some(system)) => rows(&system.settings),
        _ => Rows::new(),
    };
    table(relation.columns, &rows).map(Some)
}
