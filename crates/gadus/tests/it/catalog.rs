//! What PostgreSQL's clients find in the catalog: settings as rows, names and their numbers.

use gadus::{Connection, Database, ErrorKind, Options, POSTGRES_TYPE, Reason, Rows};

fn connection() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

/// The one text that a statement gives.
fn text(connection: &Connection, sql: &str) -> String {
    let rows = connection.query(sql, &[]).unwrap();
    rows.map(|row| row.unwrap().get::<String>(0).unwrap()).collect::<Vec<_>>().join("\n")
}

/// Why a query fails, while it is planned or while it runs.
fn error(connection: &Connection, sql: &str) -> gadus::Error {
    connection.query(sql, &[]).and_then(Rows::collect_batches).unwrap_err()
}

#[test]
fn settings_are_rows() {
    let connection = connection();
    let one = |sql: &str| text(&connection, sql);
    let of = |name: &str| {
        one(&format!(
            "SELECT concat_ws('|', setting, unit, context, vartype, source, boot_val, reset_val) \
             FROM pg_settings WHERE name = '{name}'"
        ))
    };
    assert_eq!(of("lock_timeout"), "30000|ms|user|integer|default|30000|30000");
    connection.execute("SET lock_timeout = '5s'", &[]).unwrap();
    assert_eq!(of("lock_timeout"), "5000|ms|user|integer|session|30000|30000");
    connection.keep_settings();
    assert_eq!(of("lock_timeout"), "5000|ms|user|integer|client|30000|5000");
    assert_eq!(of("jit"), "off|user|bool|default|off|off");
    assert_eq!(of("server_version_num"), "150000|internal|integer|default|150000|150000");
    let words = "SELECT array_to_string(enumvals, '/') FROM pg_catalog.pg_settings \
                 WHERE name = 'gadus.durability'";
    assert_eq!(one(words), "sync/relaxed/off");
    // Each time anew, also where the statement is prepared.
    let prepared = "SELECT setting FROM pg_settings WHERE name = 'application_name'";
    let statement = connection.prepare(prepared).unwrap();
    for name in ["a", "b", "c"] {
        connection.execute(&format!("SET application_name = '{name}'"), &[]).unwrap();
        let row = statement.query(&[]).unwrap().next().unwrap().unwrap();
        assert_eq!(row.get::<String>(0).unwrap(), name);
    }
    // Those that SHOW ALL shows.
    let shown = connection.query("SHOW ALL", &[]).unwrap().count();
    assert_eq!(one("SELECT CAST(count(*) AS TEXT) FROM pg_settings"), shown.to_string());
}

#[test]
fn sessions_are_ended_by_functions() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, other) = (database.connect(), database.connect());
    one.execute("CREATE TABLE t (id INT PRIMARY KEY)", &[]).unwrap();
    other.execute("BEGIN", &[]).unwrap();
    other.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    let id = other.session_id().unwrap();
    let ends = |function: &str, id: u32| text(&one, &format!("SELECT {function}({id})::TEXT"));
    assert_eq!(ends("pg_terminate_backend", u32::MAX), "false");
    assert_eq!(ends("pg_cancel_backend", u32::MAX), "false");
    // What is only planned, or asked for no row, ends nothing.
    let statement = format!("EXPLAIN SELECT pg_terminate_backend({id})");
    one.query(&statement, &[]).and_then(Rows::collect_batches).unwrap();
    let none = format!("SELECT pg_terminate_backend({id}) FROM t WHERE id = 7");
    assert_eq!(one.query(&none, &[]).unwrap().count(), 0);
    assert!(other.in_transaction());
    assert_eq!(ends("pg_cancel_backend", id), "true");
    assert_eq!(ends("pg_terminate_backend", id), "true");
    // Waits for nothing but the end of the transaction.
    one.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    let ended = other.execute("SELECT 1", &[]).unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::Terminated);
}

#[test]
fn names_that_are_nobodys_are_errors() {
    let connection = connection();
    connection.execute("CREATE TABLE \"Odd one\" (id INT PRIMARY KEY)", &[]).unwrap();
    connection.execute("CREATE TABLE people (id INT PRIMARY KEY)", &[]).unwrap();
    for (sql, expected) in [
        ("SELECT 'main.\"Odd one\"'::regclass::oid::regclass::text", "\"Odd one\""),
        ("SELECT 'PUBLIC.People'::regclass::oid::regclass::text", "people"),
        ("SELECT '\"main\" . \"people_pkey\"'::regclass::oid::regclass::text", "people_pkey"),
        ("SELECT 'pg_class'::regclass::oid::text", "1259"),
        ("SELECT 'pg_catalog.pg_type'::regclass::oid::regclass::text", "pg_type"),
        ("SELECT 'pg_settings'::regclass::oid::regclass::text", "pg_settings"),
        ("SELECT coalesce(NULL::regclass::text, 'none')", "none"),
        ("SELECT coalesce(to_regclass('people.id')::text, 'none')", "none"),
        ("SELECT coalesce(to_regtype('nothing')::text, 'none')", "none"),
        ("SELECT 'numeric(8, 2)'::regtype::oid::regtype::text", "numeric"),
        ("SELECT 'timestamp(3) without time zone'::regtype::oid::text", "1114"),
        ("SELECT 'int4[]'::regtype::oid::regtype::text", "integer[]"),
        ("SELECT 'pg_catalog._text'::regtype::oid::text", "1009"),
    ] {
        assert_eq!(text(&connection, sql), expected, "{sql}");
    }
    for name in ["nobody", "Odd one", "pg_catalog.people", "main.pg_class", "\"People\"", ""] {
        let error = error(&connection, &format!("SELECT '{name}'::regclass"));
        assert_eq!(error.reason(), Some(Reason::UnknownTable), "{name}: {error}");
    }
    let unknown = error(&connection, "SELECT * FROM pg_class WHERE oid = 'x.\"Y\"'::regclass");
    assert!(unknown.message().contains("relation \"x.Y\" does not exist"), "{unknown}");
    let unknown = error(&connection, "SELECT 'nothing'::regtype");
    assert_eq!((unknown.kind(), unknown.reason()), (ErrorKind::NotFound, None), "{unknown}");
}

#[test]
fn keys_of_indexes_are_lists_and_numbers_between_blanks() {
    let connection = connection();
    connection.execute("CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))", &[]).unwrap();
    for (sql, expected) in [
        ("SELECT indkey::text FROM pg_index", "2 1"),
        ("SELECT i.indclass::pg_catalog.text FROM pg_index i", "0 0"),
        ("SELECT CAST(array_length(indkey) AS TEXT) FROM pg_index", "2"),
        (
            "SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_index i \
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)",
            "a,b",
        ),
    ] {
        assert_eq!(text(&connection, sql), expected, "{sql}");
    }
    let rows = connection.query("SELECT indkey AS key, indclass FROM pg_index", &[]).unwrap();
    let types = rows.schema().fields().iter();
    let types = types.map(|field| field.metadata().get(POSTGRES_TYPE).map(String::as_str));
    assert_eq!(types.collect::<Vec<_>>(), [Some("int2vector"), Some("oidvector")]);
}

/// What the planner makes of a subquery is no column of the tables.
#[test]
fn all_columns_are_those_of_the_tables() {
    let connection = connection();
    connection.execute("CREATE TABLE t (a INT PRIMARY KEY DEFAULT 1)", &[]).unwrap();
    let columns = |sql: &str| {
        let rows = connection.query(sql, &[]).unwrap();
        let names = rows.schema().fields().iter().map(|field| field.name().clone());
        let names = names.collect::<Vec<_>>();
        assert!(rows.count() > 0, "{sql}");
        names
    };
    let all = columns("SELECT * FROM pg_attrdef");
    let default = "(SELECT d.adnum FROM pg_attrdef d WHERE d.adrelid = a.adrelid)";
    let where_it_is = format!("SELECT * FROM pg_attrdef a WHERE {default} = 1");
    assert_eq!(columns(&where_it_is), all);
    let beside = format!("SELECT *, {default} AS number FROM pg_attrdef a WHERE {default} = 1");
    assert_eq!(columns(&beside), [all, vec!["number".to_owned()]].concat());
}
