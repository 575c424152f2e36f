//! Many statements outstanding at once.

use crate::files::Folder;
use gadus::{Connection, Database, ErrorKind, Options, Outcome, Result, Value};
use gadus_base::clock;
use std::time::Duration;

fn filled(folder: &Folder) -> Database {
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT, b TEXT)", &[]).unwrap();
    let rows = "INSERT INTO t SELECT value, value % 100, 'b' || (value % 7)::TEXT \
                FROM generate_series(1, 10000)";
    connection.execute(rows, &[]).unwrap();
    database
}

fn count(outcome: Result<Outcome>) -> Result<i64> {
    match outcome? {
        Outcome::Changed { rows, .. } => Ok(i64::try_from(rows).unwrap()),
        other => Ok(other.into_rows().next().unwrap()?.get(0)?),
    }
}

fn many(connection: &Connection, statements: &[(&str, &[Value])]) -> Vec<Result<i64>> {
    connection.execute_many(statements.iter().copied()).into_iter().map(count).collect()
}

#[test]
fn results_come_in_order_and_errors_alone() {
    let folder = Folder::new();
    let database = filled(&folder);
    let connection = database.connect();
    let seven = [Value::Integer(7)];
    let outcomes = many(
        &connection,
        &[
            ("SELECT count(*) FROM t WHERE a = 5", &[]),
            ("SELECT count(*) FROM t WHERE a = ?", &seven),
            ("SELECT count(*) FROM nothing", &[]),
            ("UPDATE t SET b = 'x' WHERE a = 11", &[]),
            ("SELECT id FROM t WHERE id = 17", &[]),
            ("SELECT count(*) FROM (SELECT DISTINCT a FROM t)", &[]),
            ("DELETE FROM t WHERE a = ? AND b = 'b0'", &seven),
            ("SELECT FROM", &[]),
        ],
    );
    let kinds = outcomes.iter().map(|outcome| outcome.as_ref().map_err(gadus::Error::kind));
    let kinds = kinds.map(|outcome| outcome.copied()).collect::<Vec<_>>();
    let deleted = (1..=10_000).filter(|id| id % 100 == 7 && id % 7 == 0).count();
    // The deletion may come before the count of what it deletes.
    let sevens = kinds[1].unwrap();
    assert!(sevens == 100 || sevens == 100 - deleted as i64, "{sevens}");
    assert_eq!(kinds[0], Ok(100));
    assert!(kinds[2].is_err());
    assert_eq!(kinds[3..6], [Ok(100), Ok(17), Ok(100)]);
    assert_eq!(kinds[6], Ok(deleted as i64));
    assert_eq!(kinds[7], Err(ErrorKind::Input));
}

#[test]
fn in_a_transaction_they_are_carried_out_in_order() {
    let folder = Folder::new();
    let database = filled(&folder);
    let connection = database.connect();
    connection.execute("BEGIN", &[]).unwrap();
    let outcomes = many(
        &connection,
        &[
            ("UPDATE t SET a = 1000 WHERE a = 5", &[]),
            ("SELECT count(*) FROM t WHERE a = 1000", &[]),
            ("DELETE FROM t WHERE a = 1000 AND b = 'b1'", &[]),
            ("SELECT count(*) FROM t WHERE a = 1000 AND b = 'b1'", &[]),
        ],
    );
    let outcomes = outcomes.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(outcomes[..2], [100, 100]);
    assert!(outcomes[2] > 0);
    assert_eq!(outcomes[3], 0);
    connection.execute("ROLLBACK", &[]).unwrap();
    let outcomes = many(&connection, &[("SELECT count(*) FROM t WHERE a = 5", &[])]);
    assert_eq!(outcomes[0].as_ref().unwrap(), &100);
}

#[test]
fn what_was_submitted_and_dropped_is_carried_out() {
    let folder = Folder::new();
    let database = filled(&folder);
    let connection = database.connect();
    drop(connection.submit("UPDATE t SET b = 'dropped' WHERE a = 3", &[]));
    let ask = "SELECT count(*) FROM t WHERE b = 'dropped'";
    let began = clock().now();
    while count(connection.run(ask, &[])).unwrap() == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not carried out");
        std::thread::yield_now();
    }
    assert_eq!(count(connection.run(ask, &[])).unwrap(), 100);
    drop(connection);
    drop(database);
    let database = Database::open(folder.path("x.gadus"), Options::new()).unwrap();
    assert_eq!(count(database.connect().run(ask, &[])).unwrap(), 100, "it was durable");
}

#[test]
fn what_is_submitted_while_the_connection_is_busy_is_shared() {
    let folder = Folder::new();
    let database = filled(&folder);
    let connection = database.connect();
    let slow = "SELECT count(*) FROM t AS one, t AS two WHERE one.a < two.a";
    let slow = connection.submit(slow, &[]);
    let before = database.statistics().clock.questions;
    let ask = "SELECT count(*) FROM t WHERE a = ?";
    let asked = (0..50).map(|a| connection.submit(ask, &[Value::Integer(a)])).collect::<Vec<_>>();
    for answer in asked {
        assert_eq!(count(answer.wait()).unwrap(), 100);
    }
    assert_eq!(database.statistics().clock.questions - before, 50);
    assert_eq!(count(slow.wait()).unwrap(), 49_500_000);
}

#[test]
fn a_database_stays_open_until_what_was_submitted_is_carried_out() {
    let folder = Folder::new();
    for n in 0..20 {
        let database = if n == 0 { filled(&folder) } else { reopened(&folder) };
        let connection = database.connect();
        drop(connection.submit(&format!("UPDATE t SET b = 'n{n}' WHERE a = 3"), &[]));
        drop((connection, database));
    }
    let ask = "SELECT count(*) FROM t WHERE b = 'n19'";
    assert_eq!(count(reopened(&folder).connect().run(ask, &[])).unwrap(), 100);
}

/// The database for this opener alone, once nobody else has it open.
fn reopened(folder: &Folder) -> Database {
    let began = clock().now();
    loop {
        match Database::open(folder.path("x.gadus"), Options::new().exclusive(true)) {
            Ok(database) => return database,
            Err(error) => assert_eq!(error.kind(), ErrorKind::InUse, "{error}"),
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it is not closed");
        std::thread::yield_now();
    }
}
