//! What servers of clients need of a database: descriptions, kinds, variables, users.

use gadus::arrow::datatypes::DataType;
use gadus::{
    Connection, Database, ErrorKind, FileAccess, Isolation, Options, Outcome, Reason,
    SessionOptions, StatementKind, Value,
};

fn database() -> Database {
    Database::open_in_memory(Options::new()).unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The one text that a statement gives.
fn text(connection: &Connection, sql: &str) -> String {
    let rows = connection.query(sql, &[]).unwrap();
    rows.map(|row| row.unwrap().get::<String>(0).unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn settings_are_read_and_set_within_statements() {
    let connection = database().connect();
    let one = |sql: &str| text(&connection, sql);
    assert_eq!(one("SELECT current_setting('jit')"), "off");
    assert_eq!(one("SELECT upper(pg_catalog.current_setting('GADUS.durability'))"), "SYNC");
    assert_eq!(one("SELECT coalesce(current_setting('nope', true), 'none')"), "none");
    let error = connection.query("SELECT current_setting('nope')", &[]).map(Iterator::count);
    assert_eq!(error.unwrap_err().reason(), Some(Reason::UnknownSetting));
    for (statement, given) in [
        ("SELECT set_config('application_name', 'a ''b', false)", "a 'b"),
        ("SELECT set_config('lock_timeout', '5s', false)", "5000ms"),
        (
            "SELECT set_config('application_name', current_setting('application_name') || '/b', false)",
            "a 'b/b",
        ),
        ("SELECT set_config('application_name', 'a ' || '''b', false)", "a 'b"),
    ] {
        assert_eq!(one(statement), given);
    }
    assert_eq!(one("SHOW application_name"), "a 'b");
    let set = "SELECT set_config('application_name', $1, false) AS name";
    assert_eq!(connection.query(set, &[Value::from("given")]).unwrap().count(), 1);
    assert_eq!(one("SHOW application_name"), "given");
    // Each time anew, whatever is kept of the statement.
    for value in ["x", "y", "z"] {
        connection.execute(&format!("SET application_name = '{value}'"), &[]).unwrap();
        assert_eq!(one("SELECT current_setting('application_name')"), value);
    }
    // What is only described sets nothing.
    let described = connection.prepare(set).unwrap();
    let described = runtime().block_on(described.describe()).unwrap();
    assert_eq!(described.columns.as_ref().unwrap().field(0).name(), "name");
    assert_eq!(one("SHOW application_name"), "z");
    connection.execute("BEGIN", &[]).unwrap();
    one("SELECT set_config('application_name', 'local', true)");
    assert_eq!(one("SHOW application_name"), "local");
    connection.execute("COMMIT", &[]).unwrap();
    assert_eq!(one("SHOW application_name"), "z");
}

#[test]
fn statements_are_described_before_they_run() {
    let (database, runtime) = (database(), runtime());
    let connection = database.connect();
    let table = "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price DECIMAL(8, 2))";
    connection.execute(table, &[]).unwrap();
    let describe = |sql: &str| {
        let statement = connection.prepare(sql).unwrap();
        runtime.block_on(statement.describe())
    };
    let insert = describe("INSERT INTO t VALUES ($1, $2, $3)").unwrap();
    let price = DataType::Decimal128(8, 2);
    assert_eq!(insert.parameters[0], Some(DataType::Int32));
    assert_eq!(insert.parameters[2], Some(price.clone()));
    assert!(insert.columns.is_none());
    let query = describe("SELECT price, id + 1, $2 FROM t WHERE id = $1").unwrap();
    assert_eq!(query.parameters[0], Some(DataType::Int32));
    let columns = query.columns.clone().unwrap();
    let names = columns.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["price", "id + 1", "$2"]);
    assert_eq!(*columns.field(0).data_type(), price);
    // The same again, from memory, and anew for another shape of the schema.
    assert!(describe("SELECT price, id + 1, $2 FROM t WHERE id = $1").is_ok());
    connection.execute("DROP TABLE t", &[]).unwrap();
    let error = describe("SELECT price, id + 1, $2 FROM t WHERE id = $1").unwrap_err();
    assert_eq!(error.reason(), Some(Reason::UnknownTable), "{error}");
}

#[test]
fn queries_run_where_they_are_awaited_and_nothing_blocks_the_runtime() {
    let (database, runtime) = (database(), runtime());
    let (one, other) = (database.connect(), database.connect());
    one.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)", &[]).unwrap();
    one.execute("INSERT INTO t VALUES (1, 0)", &[]).unwrap();
    one.execute("BEGIN", &[]).unwrap();
    one.execute("UPDATE t SET n = 1 WHERE id = 1", &[]).unwrap();
    // More that wait than the runtime has threads.
    let waiting = (0..4).map(|_| {
        let connection = database.connect();
        let update = connection.prepare("UPDATE t SET n = n + 1 WHERE id = 1").unwrap();
        runtime.spawn(update.run_async(Vec::new()))
    });
    let waiting = waiting.collect::<Vec<_>>();
    let query = other.prepare("SELECT n FROM t").unwrap();
    assert_eq!(query.kind(), StatementKind::Query);
    let rows = runtime.block_on(async {
        let Outcome::Rows(mut rows) = query.run_async(Vec::new()).await.unwrap() else {
            panic!("rows")
        };
        rows.next_batch_async().await.unwrap().unwrap().num_rows()
    });
    assert_eq!(rows, 1);
    one.execute("COMMIT", &[]).unwrap();
    for update in waiting {
        let outcome = runtime.block_on(update).unwrap().unwrap();
        assert!(matches!(outcome, Outcome::Changed { rows: 1, .. }));
    }
    let found = other.query("SELECT n FROM t", &[]).unwrap().next().unwrap().unwrap();
    assert_eq!(found.get::<i64>(0).unwrap(), 5);
}

#[test]
fn variables_are_kept_and_go_back() {
    let database = database();
    let options = SessionOptions { isolation: Isolation::ReadCommitted, files: FileAccess::All };
    let connection = database.connect_with(options);
    let run = |sql: &str| connection.execute(sql, &[]);
    let show = |name: &str| text(&connection, &format!("SHOW {name}"));
    run("SET application_name = 'Tests of Gadus'").unwrap();
    assert_eq!(show("application_name"), "Tests of Gadus");
    run("SET client_encoding TO 'utf-8'").unwrap();
    assert_eq!(show("client_encoding"), "UTF8");
    run("SET DateStyle = ISO, MDY").unwrap();
    run("SET search_path = a, b").unwrap();
    assert_eq!(show("search_path"), "a, b");
    assert_eq!(show("TRANSACTION ISOLATION LEVEL"), "read committed");
    run("BEGIN ISOLATION LEVEL REPEATABLE READ").unwrap();
    assert_eq!(show("transaction_isolation"), "repeatable read");
    run("SET LOCAL application_name = 'local'").unwrap();
    assert_eq!(show("application_name"), "local");
    run("COMMIT").unwrap();
    assert_eq!(show("application_name"), "Tests of Gadus");
    run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SNAPSHOT").unwrap();
    run("SET lock_timeout = '5s'").unwrap();
    run("RESET ALL").unwrap();
    assert_eq!(show("default_transaction_isolation"), "read committed");
    assert_eq!(show("lock_timeout"), "30000ms");
    assert_eq!(show("application_name"), "");
    for (sql, kind) in [
        ("SET client_encoding = 'latin1'", ErrorKind::Unsupported),
        ("SET standard_conforming_strings = off", ErrorKind::Unsupported),
        ("SET server_version = '1'", ErrorKind::Input),
        ("SET nothing = 1", ErrorKind::Input),
        ("SHOW nothing", ErrorKind::Input),
        ("SET default_transaction_isolation = 'chaos'", ErrorKind::Input),
    ] {
        assert_eq!(run(sql).unwrap_err().kind(), kind, "{sql}");
    }
}

#[test]
fn users_are_kept_where_no_statement_finds_them() {
    let database = database();
    let connection = database.connect();
    let run = |sql: &str| connection.execute(sql, &[]);
    assert!(!connection.is_user("ada").unwrap());
    run("CREATE USER ada PASSWORD 'secret'").unwrap();
    run("CREATE ROLE bob LOGIN").unwrap();
    let stored = connection.verifier("ada").unwrap().unwrap();
    assert!(stored.starts_with("SCRAM-SHA-256$4096:") && !stored.contains("secret"));
    assert_eq!(connection.verifier("bob").unwrap(), None);
    assert!(connection.is_user("bob").unwrap());
    let secret = connection.salt_secret().unwrap();
    assert!(secret.is_some());
    run("ALTER USER ada WITH PASSWORD 'other'").unwrap();
    assert_ne!(connection.verifier("ada").unwrap().unwrap(), stored);
    run(&format!("ALTER ROLE bob PASSWORD '{stored}'")).unwrap();
    assert_eq!(connection.verifier("bob").unwrap(), Some(stored));
    for (sql, kind) in [
        ("CREATE USER ada PASSWORD 'x'", ErrorKind::AlreadyExists),
        ("ALTER USER nobody PASSWORD 'x'", ErrorKind::NotFound),
        ("DROP USER nobody", ErrorKind::NotFound),
        ("CREATE USER x NOSUPERUSER", ErrorKind::Unsupported),
        ("CREATE USER x PASSWORD ''", ErrorKind::Input),
        ("SELECT * FROM \"gadus.users\"", ErrorKind::Input),
        ("SELECT verifier FROM \"gadus.users\" WHERE name = 'ada'", ErrorKind::Input),
        ("SELECT count(*) FROM \"gadus.users\" WHERE verifier LIKE 'S%'", ErrorKind::Input),
        ("SELECT * FROM gadus_rows.\"gadus.users\"", ErrorKind::Input),
        ("DELETE FROM \"gadus.users\" WHERE name = 'ada'", ErrorKind::Input),
        ("INSERT INTO \"gadus.users\" VALUES ('x', NULL)", ErrorKind::Input),
        ("UPDATE main.\"gadus.users\" SET verifier = NULL", ErrorKind::Input),
        ("DROP TABLE \"gadus.users\"", ErrorKind::Input),
        ("SELECT * FROM \"gadus.secrets\"", ErrorKind::Input),
        ("CREATE TABLE \"gadus.other\" (a INT)", ErrorKind::Input),
    ] {
        assert_eq!(run(sql).unwrap_err().kind(), kind, "{sql}");
    }
    assert!(database.tables().unwrap().is_empty());
    assert_eq!(text(&connection, "SHOW TABLES"), "");
    run("DROP USER ada, bob").unwrap();
    run("DROP USER IF EXISTS ada").unwrap();
    assert_eq!(connection.salt_secret().unwrap(), secret);
    assert!(!connection.is_user("ada").unwrap());
}

#[test]
fn a_table_gets_its_key_later() {
    let database = database();
    let connection = database.connect();
    let run = |sql: &str| connection.execute(sql, &[]);
    run("CREATE TABLE t (id INT, name TEXT DEFAULT 'x')").unwrap();
    run("INSERT INTO t (id) VALUES (1), (2)").unwrap();
    run("ALTER TABLE t ADD PRIMARY KEY (id)").unwrap();
    let again = run("INSERT INTO t (id) VALUES (1)").unwrap_err();
    assert_eq!(again.kind(), ErrorKind::UniqueViolation);
    run("INSERT INTO t (id) VALUES (3)").unwrap();
    assert_eq!(text(&connection, "SELECT name FROM t WHERE id = 3"), "x");
    assert_eq!(run("ALTER TABLE t ADD PRIMARY KEY (id)").unwrap_err().kind(), ErrorKind::Input);
    run("CREATE TABLE u AS SELECT 1 AS a UNION ALL SELECT 1").unwrap();
    let twice = run("ALTER TABLE u ADD PRIMARY KEY (a)").unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::UniqueViolation);
    assert_eq!(text(&connection, "SELECT CAST(count(*) AS TEXT) FROM u"), "2");
}

/// Columns that are not given take their DEFAULT.
#[test]
fn some_of_the_columns_are_appended() {
    use gadus::arrow::array::{ArrayRef, Int32Array, RecordBatch};
    let database = database();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT DEFAULT 'x')", &[]).unwrap();
    let ids = std::sync::Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut appender = connection.appender_of("t", &["id".to_owned()]).unwrap();
    appender.append(batch).unwrap();
    assert_eq!(appender.finish().unwrap(), 2);
    assert_eq!(text(&connection, "SELECT name FROM t WHERE id = 2"), "x");
}

#[test]
fn the_catalog_tells_what_there_is() {
    let database = database();
    let connection = database.connect();
    let run = |sql: &str| connection.execute(sql, &[]).unwrap();
    run("CREATE TABLE \"Odd one\" (id BIGINT PRIMARY KEY, price DECIMAL(8, 2) DEFAULT 1)");
    run("CREATE USER ada PASSWORD 'x'");
    for (sql, expected) in [
        ("SELECT relname FROM pg_class ORDER BY oid", "Odd one\nOdd one_pkey"),
        ("SELECT '\"Odd one\"'::regclass::oid::regclass::text", "\"Odd one\""),
        ("SELECT CAST(to_regclass('nobody') IS NULL AS TEXT)", "true"),
        ("SELECT format_type(23, NULL) || format_type(1700, 524294)", "integernumeric(8,2)"),
        ("SELECT oid::regtype::text FROM pg_type WHERE typname = 'int8'", "bigint"),
        (
            "SELECT pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a \
             WHERE a.attrelid = '\"Odd one\"'::regclass AND a.attnum = 2",
            "numeric(8,2)",
        ),
        (
            "SELECT (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d \
             WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) FROM pg_attribute a \
             WHERE a.attname = 'price'",
            "1",
        ),
        ("SELECT pg_get_constraintdef(oid) FROM pg_constraint", "PRIMARY KEY (id)"),
        ("SELECT usename FROM pg_user", "ada"),
        ("SELECT nspname FROM pg_namespace WHERE nspname = ANY(current_schemas(false))", "main"),
        ("SELECT tablename FROM pg_tables", "Odd one"),
        ("SELECT pg_catalog.array_to_string(ARRAY(SELECT polname FROM pg_policy), ',')", ""),
        ("SELECT CAST(count(*) AS TEXT) FROM pg_policy", "0"),
        ("SELECT COALESCE((SELECT extname FROM pg_extension), 'none')", "none"),
    ] {
        assert_eq!(text(&connection, sql), expected, "{sql}");
    }
    // Over other tables a subquery has one row, or says that it has more.
    run("CREATE TABLE twice (a BIGINT)");
    run("INSERT INTO twice VALUES (1), (1)");
    for sql in [
        "SELECT (SELECT a FROM twice), array_upper(make_array(1), 1)",
        "SELECT (SELECT t.a FROM twice AS t WHERE t.a = u.a) FROM twice AS u, pg_class",
    ] {
        let rows = connection.query(sql, &[]).and_then(gadus::Rows::collect_batches);
        assert!(rows.is_err(), "{sql}");
    }
    // A table of the user's goes before one of the catalog's.
    run("CREATE TABLE pg_policy (polname TEXT)");
    run("INSERT INTO pg_policy VALUES ('mine')");
    assert_eq!(text(&connection, "SELECT polname FROM main.pg_policy"), "mine");
}

/// A cast is called as what it casts, which may be there already.
#[test]
fn columns_and_their_casts_stand_side_by_side() {
    let database = database();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (a INT)", &[]).unwrap();
    connection.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    for (sql, columns) in [
        ("SELECT 1, 1::BIGINT, CAST(1 AS TEXT)", 3),
        ("SELECT a, a::TEXT, t.a::BIGINT, (a) FROM t", 4),
        ("SELECT a::TEXT, a FROM t ORDER BY t.a", 2),
        ("SELECT *, a::TEXT FROM t", 2),
    ] {
        let rows = connection.query(sql, &[]).unwrap();
        assert_eq!(rows.schema().fields().len(), columns, "{sql}");
        assert_eq!(rows.count(), 1, "{sql}");
    }
}
