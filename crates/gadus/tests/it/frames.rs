//! Arrow data of the program as tables, and parameters with names.

use gadus::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use gadus::{Connection, Database, ErrorKind, Options, params};
use std::sync::Arc;

fn batch(ids: &[i64]) -> RecordBatch {
    let names = ids.iter().map(|id| Some(format!("n{id}"))).collect::<StringArray>();
    let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    RecordBatch::try_from_iter([("id", ids), ("name", Arc::new(names) as ArrayRef)]).unwrap()
}

fn register(connection: &Connection, name: &str, batches: Vec<RecordBatch>) {
    connection.register(name, batches[0].schema(), batches).unwrap();
}

fn number(connection: &Connection, query: &str) -> i64 {
    connection.query(query, &[]).unwrap().next().unwrap().unwrap().get(0).unwrap()
}

#[test]
fn registered_data_is_read_as_a_table_of_its_connection() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (connection, other) = (database.connect(), database.connect());
    register(&connection, "Frame", vec![batch(&[1, 2]), batch(&[3])]);
    // Often enough that a plan would be kept.
    for _ in 0..3 {
        assert_eq!(number(&connection, "SELECT sum(id) FROM frame"), 6);
    }
    assert_eq!(other.query("SELECT * FROM frame", &[]).unwrap_err().kind(), ErrorKind::Input);
    register(&connection, "frame", vec![batch(&[10])]);
    assert_eq!(number(&connection, "SELECT sum(id) FROM FRAME"), 10);
    connection.execute("CREATE TABLE t AS SELECT * FROM frame", &[]).unwrap();
    connection.execute("INSERT INTO t SELECT id + 1, name FROM frame", &[]).unwrap();
    assert_eq!(number(&other, "SELECT sum(id) FROM t"), 21);
    let wrong = connection.register(
        "wrong",
        batch(&[1]).schema(),
        vec![RecordBatch::new_empty(Arc::new(gadus::arrow::datatypes::Schema::empty()))],
    );
    assert!(wrong.is_err());
    assert!(connection.unregister("frame") && !connection.unregister("frame"));
    assert!(connection.query("SELECT * FROM frame", &[]).is_err());
}

#[test]
fn tables_come_before_registered_data() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    register(&connection, "t", vec![batch(&[1, 2])]);
    assert_eq!(number(&connection, "SELECT count(*) FROM t"), 2);
    connection.execute("CREATE TABLE t (id BIGINT)", &[]).unwrap();
    assert_eq!(number(&connection, "SELECT count(*) FROM t"), 0);
    connection.execute("UPDATE t SET id = 1", &[]).unwrap();
    connection.execute("DROP TABLE t", &[]).unwrap();
    assert_eq!(number(&connection, "SELECT count(*) FROM t"), 2);
    assert!(connection.execute("DELETE FROM t", &[]).is_err());
}

#[test]
fn unknown_tables_are_named_as_they_are_written() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT)", &[]).unwrap();
    register(&connection, "frame", vec![batch(&[1])]);
    let query = "WITH q AS (SELECT * FROM Nobody) SELECT * FROM q, t, frame, main.t, \
                 \"Quoted\", (SELECT 1 FROM other WHERE EXISTS (SELECT 1 FROM deeper)) x, Nobody";
    let mut unknown = connection.unknown_tables(query).unwrap();
    unknown.sort();
    assert_eq!(unknown, ["Nobody", "Quoted", "deeper", "other"]);
    assert!(connection.unknown_tables("SELECT FROM").is_err());
}

#[test]
fn parameters_have_names_or_numbers() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)", &[]).unwrap();
    let insert = connection.prepare("INSERT INTO t VALUES (:id, :name)").unwrap();
    assert_eq!(insert.parameter_names(), ["id", "name"]);
    for id in 0..10 {
        insert.execute(params![id, format!("n{id}")]).unwrap();
    }
    let find = connection.prepare("SELECT name FROM t WHERE id = $id OR id = $id + 1").unwrap();
    assert_eq!((find.parameter_names(), find.parameters()), (&["id".to_owned()][..], 1));
    assert_eq!(find.query(params![3]).unwrap().count(), 2);
    // A compiled statement.
    let point = "SELECT name FROM t WHERE id = :id";
    let row = connection.query(point, params![7]).unwrap().next().unwrap().unwrap();
    assert_eq!(row.get::<String>(0).unwrap(), "n7");
    assert!(connection.prepare("SELECT ?, $3, :2").unwrap().parameter_names().is_empty());
    for mixed in ["SELECT ?, :a", "SELECT :a, $1", "SELECT $0", "SELECT $65536"] {
        assert_eq!(connection.prepare(mixed).unwrap_err().kind(), ErrorKind::Input, "{mixed}");
    }
}

#[test]
fn somebody_is_told_what_a_statement_gave() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    let (sender, receiver) = std::sync::mpsc::channel();
    for text in ["SELECT 1", "SELECT FROM"] {
        let sender = sender.clone();
        let tell = move |outcome: gadus::Result<gadus::Outcome>| {
            sender.send((text, outcome.map(gadus::Outcome::into_rows))).unwrap();
        };
        connection.submit(text, &[]).tell(tell).unwrap();
    }
    drop(sender);
    let told = receiver.iter().collect::<Vec<_>>();
    assert_eq!(told.len(), 2);
    for (text, rows) in told {
        assert_eq!(rows.map(Iterator::count).ok(), (text == "SELECT 1").then_some(1));
    }
}
