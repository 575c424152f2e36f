//! Identifiers: stored as 16 bytes, written as texts, and the same beside either.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::datatypes::DataType;
use gadus::{Connection, Database, Options, Reason, Value};

const ONE: &str = "00000000-0000-0000-0000-000000000001";
const HIGH: &str = "f47ac10b-58cc-4372-a567-0e02b2c3d479";

fn connect() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    fill(&connection);
    connection
}

fn fill(connection: &Connection) {
    run(connection, "CREATE TABLE t (id UUID PRIMARY KEY, n INTEGER, other UUID)");
    run(connection, &format!("INSERT INTO t VALUES ('{HIGH}', 1, NULL), ('{ONE}', 2, '{HIGH}')"));
}

#[test]
fn they_are_found_by_any_of_their_texts() {
    let connection = connect();
    let bare = HIGH.replace('-', "");
    for condition in [
        format!("id = '{HIGH}'"),
        format!("id = '{}'", HIGH.to_uppercase()),
        format!("id = '{{{HIGH}}}'"),
        format!("'{bare}' = id"),
        format!("id = UUID '{HIGH}'"),
        format!("id = CAST('{bare}' AS UUID)"),
        format!("id = '{bare}'::uuid AND n + 0 = 1"),
        format!("id IN ('{bare}', '{HIGH}') AND n < 5"),
        format!("id > '{ONE}'"),
        format!("id BETWEEN 'F0000000-0000-0000-0000-000000000000' AND '{bare}'"),
        format!("id <> '{ONE}'"),
        format!("id IS DISTINCT FROM '{ONE}'"),
        format!("id = ANY ('{{{bare},{HIGH}}}')"),
        format!("id = ANY (ARRAY['{bare}']::uuid[])"),
        format!("id = lower('{}')", HIGH.to_uppercase()),
        format!("id::text = '{HIGH}'"),
        "id::text LIKE 'f47%'".to_owned(),
        format!("CASE WHEN n > 0 THEN id ELSE '{ONE}' END = '{bare}'"),
        format!("coalesce(other, '{bare}'::uuid) = id"),
        "id IN (SELECT other FROM t)".to_owned(),
        "EXISTS (SELECT 1 FROM t AS u WHERE u.other = t.id)".to_owned(),
        "id = (SELECT max(id) FROM t)".to_owned(),
    ] {
        let found = rows(&connection, &format!("SELECT n FROM t WHERE {condition}"));
        assert_eq!(found, ["1"], "{condition}");
    }
    let counted = |condition: &str, value: &str| {
        let sql = format!("SELECT count(*) FROM t WHERE {condition}");
        let mut rows = connection.query(&sql, &[Value::from(value)]).unwrap();
        rows.next().unwrap().unwrap().get::<i64>(0).unwrap()
    };
    for condition in ["id = $1", "n >= 0 AND (id = $1 OR other = $1)"] {
        assert!(counted(condition, &bare.to_uppercase()) > 0, "{condition}");
    }
}

#[test]
fn they_are_in_the_order_of_their_bytes_and_written_in_lower_case() {
    let connection = connect();
    run(&connection, "INSERT INTO t VALUES ('80000000-0000-0000-0000-000000000000', 3, NULL)");
    run(&connection, "INSERT INTO t VALUES ('7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', 4, NULL)");
    assert_eq!(rows(&connection, "SELECT n FROM t ORDER BY id"), ["2", "4", "3", "1"]);
    assert_eq!(
        rows(&connection, "SELECT id FROM t WHERE n = 4"),
        ["7fffffff-ffff-ffff-ffff-ffffffffffff"]
    );
    assert_eq!(rows(&connection, "SELECT min(id), max(id) FROM t"), [format!("{ONE} {HIGH}")]);
    assert_eq!(
        rows(&connection, "SELECT other, count(*) FROM t GROUP BY other ORDER BY other"),
        [format!("{HIGH} 1"), "NULL 3".to_owned()]
    );
    assert_eq!(rows(&connection, "SELECT 'x' || id FROM t WHERE n = 2"), [format!("x{ONE}")]);
    assert_eq!(rows(&connection, "SELECT id || '' || n FROM t WHERE n = 2"), [format!("{ONE}2")]);
    let ranked = "SELECT n, row_number() OVER (PARTITION BY other ORDER BY id) FROM t ORDER BY 1";
    assert_eq!(rows(&connection, ranked), ["1 3", "2 1", "3 2", "4 1"]);
    let all = "SELECT id FROM t UNION SELECT other FROM t EXCEPT SELECT max(id) FROM t";
    assert_eq!(rows(&connection, &format!("SELECT count(*) FROM ({all}) AS u")), ["4"]);
    let joined = "SELECT t.n FROM t JOIN (SELECT other::text AS x FROM t) AS u ON t.id = u.x";
    assert_eq!(rows(&connection, joined), ["1"]);
    run(&connection, "CREATE TABLE copy AS SELECT id, other, n FROM t");
    assert_eq!(rows(&connection, &format!("SELECT n FROM copy WHERE id = '{{{HIGH}}}'")), ["1"]);
    let result = connection.query("SELECT id, id::text FROM copy", &[]).unwrap();
    assert_eq!(*result.schema().field(0).data_type(), DataType::FixedSizeBinary(16));
    assert_eq!(result.schema().field(0).extension_type_name(), Some("arrow.uuid"));
}

#[test]
fn what_is_none_is_refused_and_the_row_with_it() {
    let connection = connect();
    for sql in [
        "INSERT INTO t VALUES ('f47ac10b', 9, NULL)",
        "INSERT INTO t SELECT 'no', 9, NULL",
        "UPDATE t SET other = 'no'",
        "SELECT n FROM t WHERE id = 'no'",
        "SELECT n FROM t WHERE n > 0 AND other IN ('no')",
        "SELECT 'no'::uuid",
    ] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::InvalidText), "{sql}");
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["2"]);
    assert_eq!(rows(&connection, "SELECT TRY_CAST('no' AS UUID) IS NULL"), ["true"]);
    assert!(connection.query("SELECT sum(id) FROM t", &[]).is_err());
    assert!(connection.query("SELECT id = 5 FROM t", &[]).is_err());
}

#[test]
fn keys_indexes_defaults_and_changes_of_type_have_them() {
    let folder = Folder::new();
    let database = Database::open(folder.path("u.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    fill(&connection);
    let twice =
        refused(&connection, &format!("INSERT INTO t VALUES ('{}', 7, NULL)", HIGH.to_uppercase()));
    assert_eq!(twice.kind(), gadus::ErrorKind::UniqueViolation);
    run(
        &connection,
        "CREATE TABLE made (id UUID DEFAULT gen_random_uuid() PRIMARY KEY, n INTEGER)",
    );
    run(&connection, "INSERT INTO made (n) SELECT i FROM generate_series(1, 5000) AS g (i)");
    assert_eq!(rows(&connection, "SELECT count(DISTINCT id) FROM made"), ["5000"]);
    let shape = "SELECT count(*) FROM made WHERE substr(id::text, 15, 1) = '4' AND substr(id::text, 20, 1) IN ('8', '9', 'a', 'b')";
    assert_eq!(rows(&connection, shape), ["5000"]);
    run(
        &connection,
        "CREATE TABLE refers (made UUID REFERENCES made (id), v7 UUID DEFAULT uuidv7())",
    );
    run(&connection, "INSERT INTO refers (made) SELECT id FROM made WHERE n <= 3");
    assert!(connection.execute(&format!("INSERT INTO refers VALUES ('{ONE}')"), &[]).is_err());
    run(&connection, "CREATE INDEX others ON t (other)");
    assert_eq!(rows(&connection, &format!("SELECT n FROM t WHERE other = '{HIGH}'")), ["2"]);
    run(&connection, "CREATE TABLE texts (id TEXT)");
    run(&connection, "INSERT INTO texts SELECT upper(id::text) FROM made");
    run(&connection, "ALTER TABLE texts ALTER COLUMN id TYPE UUID USING id::uuid");
    assert_eq!(rows(&connection, "SELECT count(*) FROM texts JOIN made USING (id)"), ["5000"]);
    run(&connection, "ALTER TABLE texts ALTER COLUMN id TYPE TEXT");
    assert_eq!(rows(&connection, "SELECT count(*) FROM texts WHERE id = lower(id)"), ["5000"]);
    let csv = folder.path("u.csv");
    run(&connection, &format!("COPY t TO '{}'", csv.display()));
    assert!(std::fs::read_to_string(&csv).unwrap().contains(HIGH));
    drop((connection, database));
    let database = Database::open(folder.path("u.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    assert_eq!(rows(&connection, &format!("SELECT n FROM t WHERE id = '{HIGH}'")), ["1"]);
    assert_eq!(rows(&connection, "SELECT count(*) FROM made"), ["5000"]);
    run(&connection, "DELETE FROM t");
    run(&connection, &format!("COPY t FROM '{}'", csv.display()));
    assert_eq!(
        rows(&connection, "SELECT id, n FROM t ORDER BY n"),
        [format!("{HIGH} 1"), format!("{ONE} 2")]
    );
    assert_eq!(rows(&connection, "SELECT data_type FROM information_schema.columns WHERE table_name = 't' AND column_name = 'n'").len(), 1);
    let schema = database.schema_statements().unwrap().join("\n");
    assert!(schema.contains("id UUID"), "{schema}");
}
