//! Connections used by several threads, and statements ended from outside.

use gadus::{Database, ErrorKind, Options, params};
use std::sync::Arc;
use std::thread;

#[test]
fn threads_share_a_connection() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = Arc::new(database.connect());
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
    thread::scope(|scope| {
        for part in 0..4 {
            let connection = connection.clone();
            scope.spawn(move || {
                for id in (part..400).step_by(4) {
                    connection.execute("INSERT INTO t VALUES (?, 0)", params![id]).unwrap();
                }
            });
        }
    });
    assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), 400);
}

#[test]
fn no_increment_of_many_threads_is_lost() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
    connection.execute("INSERT INTO t VALUES (1, 0)", &[]).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            let connection = database.connect();
            scope.spawn(move || {
                for _ in 0..50 {
                    connection.execute("UPDATE t SET n = n + 1 WHERE id = 1", &[]).unwrap();
                }
            });
        }
    });
    let mut rows = connection.query("SELECT n FROM t", &[]).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), 200);
}

/// Statements that take days, with joins that find nothing for as long.
const ENDLESS: [&str; 5] = [
    "SELECT count(*) FROM range(100000) AS a, range(1000000000) AS b WHERE a.value * b.value = 7",
    "SELECT max(a.value) FROM range(100000) AS a, range(1000000000) AS b WHERE a.value + b.value < 0",
    "SELECT count(*) FROM range(100000) AS a JOIN range(1000000000) AS b ON a.value % 2 = b.value % 2 \
     WHERE a.value + b.value < 0",
    "SELECT max(a.value * b.value) FROM range(100000) AS a, range(1000000000) AS b",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT 1 FROM t) SELECT max(n) FROM t",
];

#[test]
fn running_queries_are_cancelled_and_the_connection_goes_on() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    let handle = connection.cancel_handle();
    for endless in ENDLESS {
        let ended = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    handle.cancel();
                    thread::yield_now();
                }
            });
            let error = connection.execute(endless, &[]).unwrap_err();
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{endless}: {error}");
        });
    }
    assert_eq!(connection.execute("SELECT 1", &[]).unwrap(), 1);
}

#[test]
fn endless_queries_leave_room_for_others() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let count = "SELECT count(*) FROM range(1000) AS a JOIN range(1000) AS b ON a.value = b.value";
    let endless = ENDLESS.map(|_| database.connect());
    thread::scope(|scope| {
        for (connection, sql) in endless.iter().zip(ENDLESS) {
            scope.spawn(move || {
                let error = connection.execute(sql, &[]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Cancelled, "{sql}: {error}");
            });
        }
        let other = database.connect();
        // Seen since its first statement.
        let begun = "SELECT count(*) FROM gadus.sessions WHERE connection > 0";
        let number = |sql| other.query(sql, &[]).unwrap().next().unwrap().unwrap().get::<i64>(0);
        while number(begun).unwrap() <= endless.len() as i64 {
            thread::yield_now();
        }
        assert_eq!(number(count).unwrap(), 1000);
        for connection in &endless {
            connection.cancel_handle().cancel();
        }
    });
}

/// A request that comes between two statements of a script would otherwise be lost.
#[test]
fn a_script_is_cancelled_between_its_statements_too() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let handle = connection.cancel_handle();
    handle.cancel();
    let script = connection.script_cancel();
    connection.execute("SELECT 1", &[]).unwrap();
    script.check().unwrap();
    handle.cancel();
    assert_eq!(script.check().unwrap_err().kind(), ErrorKind::Cancelled);
    // It ends that script, and none that begins later.
    assert_eq!(connection.execute_script("SELECT 1; SELECT 2").unwrap(), 2);
}

#[test]
fn a_cancel_handle_outlives_its_connection_in_peace() {
    let handle = Database::open_in_memory(Options::new()).unwrap().connect().cancel_handle();
    handle.cancel();
}
