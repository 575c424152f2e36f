//! `gadus.statements`: what statements have cost, by shape.

use crate::files::Folder;
use gadus::{Connection, Database, Options, Value};

#[derive(Debug, Default, PartialEq)]
struct Cost {
    calls: u64,
    errors: u64,
    rows: u64,
    milliseconds: f64,
    memory: u64,
    read: u64,
    written: u64,
}

fn cost(connection: &Connection, statement: &str) -> Cost {
    let text = "SELECT calls, errors, rows, ms_total, memory_bytes_max, read_bytes, written_bytes \
                FROM gadus.statements WHERE statement = $1";
    let rows = connection.query(text, &[Value::from(statement)]).unwrap();
    let rows = rows.map(|row| {
        let row = row.unwrap();
        let number = |column| u64::try_from(row.get::<i64>(column).unwrap()).unwrap();
        Cost {
            calls: number(0),
            errors: number(1),
            rows: number(2),
            milliseconds: row.get(3).unwrap(),
            memory: number(4),
            read: number(5),
            written: number(6),
        }
    });
    let rows = rows.collect::<Vec<_>>();
    assert!(rows.len() <= 1, "{rows:?}");
    rows.into_iter().next().unwrap_or_default()
}

fn filled(rows: u64) -> (Folder, Database) {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    let create = "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, name TEXT)";
    connection.execute(create, &[]).unwrap();
    let fill = format!(
        "INSERT INTO t SELECT value, value % 1000, 'name ' || value FROM generate_series(1, {rows})"
    );
    connection.execute(&fill, &[]).unwrap();
    (folder, database)
}

#[test]
fn statements_are_counted_by_shape() {
    let (_folder, database) = filled(10);
    let connection = database.connect();
    for id in 1..=3 {
        connection.execute(&format!("SELECT name FROM t WHERE id = {id}"), &[]).unwrap();
        connection.execute("SELECT name FROM t WHERE id = $1", &[Value::from(id)]).unwrap();
    }
    let looked_up = cost(&connection, "SELECT name FROM t WHERE id = $1");
    assert_eq!((looked_up.calls, looked_up.errors, looked_up.rows), (6, 0, 6));
    assert!(looked_up.milliseconds > 0.0);

    let inserted = "INSERT INTO t VALUES ($1, $2, $3)";
    connection.execute("INSERT INTO t VALUES (11, 1, 'new')", &[]).unwrap();
    connection.execute("INSERT INTO t VALUES (11, 1, 'again')", &[]).unwrap_err();
    let inserted = cost(&connection, inserted);
    assert_eq!((inserted.calls, inserted.errors, inserted.rows), (2, 1, 1));
    assert!(inserted.written > 0);

    connection.execute("SELECT nothing FROM nowhere", &[]).unwrap_err();
    assert_eq!(cost(&connection, "SELECT nothing FROM nowhere"), Cost::default());

    // Rows that nobody reads to the end.
    drop(connection.query("SELECT id FROM t ORDER BY name", &[]).unwrap());
    assert_eq!(cost(&connection, "SELECT id FROM t ORDER BY name").calls, 1);

    connection.execute("RESET gadus.statements", &[]).unwrap();
    assert_eq!(cost(&connection, "SELECT name FROM t WHERE id = $1"), Cost::default());
}

#[test]
fn reading_and_holding_are_on_the_account_of_who_causes_them() {
    let (folder, database) = filled(200_000);
    let connection = database.connect();
    connection.execute("CHECKPOINT", &[]).unwrap();
    let fill = "INSERT INTO t SELECT value, value % $1, $2 || value FROM generate_series($3, $4)";
    let filled = cost(&connection, fill);
    assert_eq!((filled.calls, filled.rows), (1, 200_000));
    assert!(filled.written > 200_000, "{filled:?}");
    drop((connection, database));

    let file = folder.path("x.gadus");
    let database = Database::open(&file, Options::new()).unwrap();
    let connection = database.connect();
    let run = |statement: &str| connection.execute(statement, &[]).unwrap();
    let sum = "SELECT n, sum(id) FROM t GROUP BY n";
    run(sum);
    let cold = cost(&connection, sum);
    assert!(cold.read > 200_000, "{cold:?}");
    assert!(cold.memory > 0, "{cold:?}");
    run(sum);
    // From the cache.
    assert_eq!(cost(&connection, sum).read, cold.read);

    let sort = "SELECT name, id + 1 FROM t ORDER BY name, id + 1";
    for _ in 0..3 {
        // Planned twice, the second time to be kept; then by the plan that was kept.
        run(sort);
    }
    let sort = "SELECT name, id + $1 FROM t ORDER BY name, id + $2";
    let sorted = cost(&connection, sort);
    assert_eq!((sorted.calls, sorted.rows), (3, 600_000));
    assert!(sorted.memory > 1_000_000, "{sorted:?}");
    // The names, once.
    assert!(sorted.read > 200_000, "{sorted:?}");
    assert_eq!(cost(&connection, sum).memory, cold.memory);
}

#[test]
fn those_who_share_a_scan_share_what_it_reads() {
    let (folder, database) = filled(200_000);
    database.connect().execute("CHECKPOINT", &[]).unwrap();
    drop(database);
    let file = folder.path("x.gadus");
    let database = Database::open(&file, Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("SET gadus.sharing = always", &[]).unwrap();
    let statements = (0..100).map(|n| format!("SELECT count(*) FROM t WHERE n = {n}"));
    let statements = statements.collect::<Vec<_>>();
    let asked = statements.iter().map(|text| (text.as_str(), [].as_slice()));
    for outcome in connection.execute_many(asked) {
        outcome.unwrap();
    }
    let change = "UPDATE t SET name = 'changed' WHERE n = 7";
    connection.submit(change, &[]).wait().unwrap();

    let shared = cost(&connection, "SELECT count(*) FROM t WHERE n = $1");
    assert_eq!(shared.calls, 100);
    let clock = connection.query("SELECT read_bytes FROM gadus.clock", &[]).unwrap();
    let read = clock.map(|row| row.unwrap().get::<i64>(0).unwrap()).next().unwrap();
    let read = u64::try_from(read).unwrap();
    // Each has a whole number of bytes; the change has some, too.
    assert!(shared.read > 100_000 && shared.read <= read, "{shared:?} of {read}");

    let changed = cost(&connection, "UPDATE t SET name = $1 WHERE n = $2");
    assert_eq!((changed.calls, changed.rows), (1, 200));
    assert!(changed.written > 1_000, "{changed:?}");
}
