//! Transactions that meet one another, as connections of one instance, in both cache scopes, and of
//! several: no test can tell which.

use crate::files::Folder;
use gadus::{CacheScope, Connection, Database, ErrorKind, Options};
use gadus_base::clock;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Connections of one instance, with a cache that they share or one each, or each of an instance of
/// its own.
pub(crate) fn in_all(test: impl Fn(&Database, &dyn Fn() -> Connection)) {
    let ways =
        [(true, CacheScope::Process), (true, CacheScope::Connection), (false, CacheScope::Process)];
    for (shares, scope) in ways {
        let folder = Folder::new();
        let path = folder.path("x.gadus");
        let database = Database::open(&path, Options::new().cache_scope(scope)).unwrap();
        let connection = database.connect();
        connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", &[]).unwrap();
        connection
            .execute("INSERT INTO t SELECT value, 0 FROM generate_series(1, 100)", &[])
            .unwrap();
        test(&database, &|| if shares { database.connect() } else { open(&path) });
        drop((connection, database));
        assert!(check_closed(&path).problems.is_empty());
    }
}

/// Checks a file that nobody uses any more. What ran a statement that was cancelled may still end.
fn check_closed(path: &Path) -> gadus::CheckReport {
    let began = clock().now();
    loop {
        match gadus::check(path, |_, _| ()) {
            Err(error) if error.kind() == ErrorKind::InUse => {
                assert!(began.elapsed() < Duration::from_mins(1), "{error}");
                std::thread::yield_now();
            }
            checked => return checked.unwrap(),
        }
    }
}

fn open(path: &Path) -> Connection {
    Database::open(path, Options::new()).unwrap().connect()
}

pub(crate) fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query(sql, &[]).unwrap().next().unwrap().unwrap().get(0).unwrap()
}

pub(crate) fn run(connection: &Connection, script: &str) {
    connection.execute_script(script).unwrap();
}

/// Runs a statement on another thread, lets it wait for a lock, and ends what it waits for.
pub(crate) fn while_it_waits(
    database: &Database,
    waiting: &Connection,
    sql: &str,
    end: impl FnOnce(),
) -> Result<u64, gadus::Error> {
    let done = AtomicBool::new(false);
    let waits = || database.statistics().locks.waits;
    let before = waits();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let result = waiting.execute(sql, &[]);
            done.store(true, Ordering::Release);
            result
        });
        while waits() == before {
            assert!(!done.load(Ordering::Acquire), "{sql} does not wait");
            std::thread::yield_now();
        }
        end();
        running.join().unwrap()
    })
}

pub(crate) const COUNT: &str = "UPDATE t SET n = n + 1 WHERE id = 1";
pub(crate) const VALUE: &str = "SELECT n FROM t WHERE id = 1";

#[test]
fn a_snapshot_transaction_that_waited_for_a_changed_row_gets_a_conflict() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, &format!("BEGIN; {COUNT};"));
        run(&two, "BEGIN");
        let late = while_it_waits(database, &two, COUNT, || run(&one, "COMMIT")).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Conflict, "{late}");
        run(&two, "ROLLBACK");
        // Where the first gives up, nothing has changed.
        run(&one, &format!("BEGIN; {COUNT};"));
        run(&two, "BEGIN");
        assert_eq!(while_it_waits(database, &two, COUNT, || run(&one, "ROLLBACK")).unwrap(), 1);
        run(&two, "COMMIT");
        assert_eq!(number(&one, VALUE), 2);
    });
}

#[test]
fn statements_that_see_what_is_committed_wait_and_then_count_on() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        // Compiled, planned, and in a transaction.
        let planned = "UPDATE t SET n = n + 1 WHERE id < 2";
        for (before, statement, after) in [
            ("", COUNT, ""),
            ("", planned, ""),
            ("BEGIN ISOLATION LEVEL READ COMMITTED", COUNT, "COMMIT"),
            ("BEGIN ISOLATION LEVEL READ COMMITTED", planned, "COMMIT"),
        ] {
            let value = number(&one, VALUE);
            run(&one, &format!("BEGIN; {COUNT};"));
            run(&two, before);
            let counted = while_it_waits(database, &two, statement, || run(&one, "COMMIT"));
            assert_eq!(counted.unwrap(), 1, "{before} {statement}");
            run(&two, after);
            assert_eq!(number(&one, VALUE), value + 2, "{before} {statement}");
        }
    });
}

#[test]
fn read_committed_sees_others_between_its_statements_and_snapshots_do_not() {
    in_all(|_, connect| {
        let (old, new, writer) = (connect(), connect(), connect());
        run(&old, "BEGIN");
        run(&new, "SET default_transaction_isolation = 'read committed'; BEGIN;");
        run(&new, "INSERT INTO t VALUES (1000, 7)");
        for round in 1..4 {
            run(&writer, COUNT);
            assert_eq!((number(&old, VALUE), number(&new, VALUE)), (0, round));
            assert_eq!(number(&new, "SELECT sum(n) FROM t"), 7 + round);
        }
        run(&old, "COMMIT");
        run(&new, "COMMIT");
        assert_eq!(number(&old, "SELECT sum(n) FROM t"), 10);
    });
}

#[test]
fn a_wait_that_takes_too_long_ends_and_names_who_is_in_the_way() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        run(&one, &format!("BEGIN; {COUNT};"));
        run(&two, "SET lock_timeout = '20ms'");
        for statement in [COUNT, "DELETE FROM t WHERE id + 0 = 1", "DROP TABLE t"] {
            let late = two.execute(statement, &[]).unwrap_err();
            assert_eq!(late.kind(), ErrorKind::Locked, "{late}");
            let process = format!("process {}", std::process::id());
            assert!(late.to_string().contains(&process), "{late}");
        }
        // Others of the table's rows are free.
        assert_eq!(two.execute("UPDATE t SET n = 5 WHERE id = 2", &[]).unwrap(), 1);
        run(&one, "INSERT INTO t VALUES (500, 0)");
        let late = two.execute("INSERT INTO t VALUES (500, 1)", &[]).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Locked, "{late}");
        run(&one, "ROLLBACK");
        assert_eq!(two.execute("INSERT INTO t VALUES (500, 1)", &[]).unwrap(), 1);
        run(&two, "DROP TABLE t");
    });
}

#[test]
fn one_of_two_that_wait_for_one_another_is_refused() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        run(&one, "BEGIN; UPDATE t SET n = 1 WHERE id = 1;");
        run(&two, "BEGIN; UPDATE t SET n = 1 WHERE id = 2;");
        let other = "UPDATE t SET n = 1 WHERE id = 2";
        let (mut late, mut first) = (None, Ok(0));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let result = one.execute(other, &[]);
                // Whoever was refused gives up what the other waits for.
                if result.is_err() {
                    run(&one, "ROLLBACK");
                }
                result
            });
            let result = two.execute("UPDATE t SET n = 1 WHERE id = 1", &[]);
            if result.is_err() {
                run(&two, "ROLLBACK");
            }
            late = Some(result);
            first = waiting.join().unwrap();
        });
        let results = [first, late.unwrap()];
        let refused = results.iter().filter_map(|result| result.as_ref().err()).collect::<Vec<_>>();
        let [refused] = refused[..] else { panic!("{results:?}") };
        assert_eq!(refused.kind(), ErrorKind::Deadlock, "{refused}");
        for connection in [&one, &two] {
            let _ = connection.execute("COMMIT", &[]);
        }
    });
}

#[test]
fn a_statement_that_waits_can_be_cancelled() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, &format!("BEGIN; {COUNT};"));
        let ended = while_it_waits(database, &two, COUNT, || two.cancel_handle().cancel());
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
        // The next one is not.
        assert_eq!(while_it_waits(database, &two, COUNT, || run(&one, "ROLLBACK")).unwrap(), 1);
    });
}

#[test]
fn a_cancelled_statement_leaves_the_rest_of_its_transaction() {
    in_all(|_, connect| {
        let one = connect();
        run(&one, "BEGIN; UPDATE t SET n = 1 WHERE id = 1; SAVEPOINT s;");
        let endless = "UPDATE t SET n = (SELECT count(*) FROM range(10000000) AS a, \
                       range(10000000) AS b WHERE a.value * b.value = 7) WHERE id + 0 > 0";
        std::thread::scope(|scope| {
            let running = scope.spawn(|| one.execute(endless, &[]));
            while !running.is_finished() {
                one.cancel_handle().cancel();
                std::thread::yield_now();
            }
            let ended = running.join().unwrap().unwrap_err();
            assert_eq!(ended.kind(), ErrorKind::Cancelled, "{ended}");
        });
        assert!(one.in_transaction());
        run(&one, "ROLLBACK TO s; UPDATE t SET n = 2 WHERE id = 2; COMMIT;");
        assert_eq!(number(&one, "SELECT sum(n) FROM t"), 3);
    });
}

#[test]
fn a_transaction_that_cannot_go_on_can_still_end() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        run(&one, "BEGIN ISOLATION LEVEL READ COMMITTED; CREATE TABLE u (n BIGINT);");
        run(&two, "CREATE TABLE v (n BIGINT)");
        assert_eq!(one.execute("SELECT * FROM t", &[]).unwrap_err().kind(), ErrorKind::Conflict);
        run(&one, "ROLLBACK");
        assert_eq!(number(&one, "SELECT count(*) FROM v"), 0);
    });
}

#[test]
fn loads_from_files_wait_for_locks_too() {
    let folder = Folder::new();
    std::fs::write(folder.path("rows.csv"), "id,n\n1000,1\n").unwrap();
    let copy = format!("COPY t FROM '{}'", folder.path("rows.csv").display());
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, "BEGIN; INSERT INTO t VALUES (1000, 7);");
        let loaded = while_it_waits(database, &two, &copy, || run(&one, "ROLLBACK"));
        assert_eq!(loaded.unwrap(), 1);
        assert_eq!(number(&two, "SELECT n FROM t WHERE id = 1000"), 1);
    });
}

/// The id of a session, by what it says of itself.
fn id_of(database: &Database, is_it: impl Fn(&gadus::Session) -> bool) -> u32 {
    let sessions = database.sessions().unwrap();
    let id = sessions.iter().find(|session| is_it(session)).and_then(|session| session.id);
    id.expect("it is there")
}

#[test]
fn a_session_that_is_killed_gives_up_its_transaction_and_runs_nothing_more() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, &format!("BEGIN; {COUNT};"));
        assert_eq!(number(&two, VALUE), 0);
        let id = id_of(database, |session| session.locks > 0);
        run(&two, &format!("KILL {id}"));
        // Waits for nothing but the end of the transaction: nobody calls `one`.
        run(&two, COUNT);
        assert_eq!(number(&two, VALUE), 1);
        for statement in [VALUE, "COMMIT", "BEGIN"] {
            let ended = one.execute(statement, &[]).unwrap_err();
            assert_eq!(ended.kind(), ErrorKind::Terminated, "{statement}: {ended}");
        }
        drop(one);
        let gone = two.execute(&format!("KILL {id}"), &[]).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound, "{gone}");
    });
}

#[test]
fn who_has_killed_a_session_finds_that_it_begins_nothing_more() {
    in_all(|_, connect| {
        let two = connect();
        for _ in 0..50 {
            let one = connect();
            assert_eq!(number(&one, VALUE), 0);
            run(&two, &format!("KILL {}", one.session_id().unwrap()));
            // However early: its process may not have heard of it yet.
            let ended = one.execute(COUNT, &[]).unwrap_err();
            assert_eq!(ended.kind(), ErrorKind::Terminated, "{ended}");
        }
        assert_eq!(number(&two, VALUE), 0);
    });
}

#[test]
fn a_session_that_waits_can_be_killed_or_its_statement_alone() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, &format!("BEGIN; {COUNT};"));
        for (kill, kind) in
            [("KILL QUERY", ErrorKind::Cancelled), ("KILL CONNECTION", ErrorKind::Terminated)]
        {
            let ended = while_it_waits(database, &two, COUNT, || {
                let id = id_of(database, |session| session.waits);
                run(&one, &format!("{kill} {id}"));
            });
            assert_eq!(ended.unwrap_err().kind(), kind, "{kill}");
        }
        run(&one, "COMMIT");
        assert_eq!(number(&one, VALUE), 1);
    });
}

#[test]
fn who_waits_is_known_with_those_who_keep_him_waiting() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        let (holds, waits) = (one.session_id().unwrap(), two.session_id().unwrap());
        assert_eq!(number(&one, "SELECT pg_backend_pid()"), i64::from(holds));
        run(&one, &format!("BEGIN; {COUNT};"));
        let blocked = |by: u32| {
            let asked = "SELECT CASE WHEN pg_isolation_test_session_is_blocked";
            number(&one, &format!("{asked}({waits}, '{{{by},99}}') THEN 1 ELSE 0 END"))
        };
        assert_eq!(blocked(holds), 0);
        while_it_waits(database, &two, COUNT, || {
            let blocking = format!("SELECT array_to_string(pg_blocking_pids({waits}), ',')");
            let text = || -> String {
                one.query(&blocking, &[]).unwrap().next().unwrap().unwrap().get(0).unwrap()
            };
            assert_eq!(text(), holds.to_string());
            assert_eq!((blocked(holds), blocked(waits)), (1, 0));
            run(&one, "COMMIT");
        })
        .unwrap();
    });
}
