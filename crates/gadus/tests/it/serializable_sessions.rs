//! SERIALIZABLE as sessions have it: the anomalies that have names, how it is said, and what comes after a conflict.

use crate::locks::{in_all, number, run};
use gadus::{Connection, ErrorKind};

fn begin(connections: &[&Connection], level: &str) {
    for connection in connections {
        run(connection, &format!("BEGIN ISOLATION LEVEL {level}"));
    }
}

fn ends(level: &str, committed: Result<u64, gadus::Error>) {
    match level {
        "SNAPSHOT" => _ = committed.unwrap(),
        _ => assert_eq!(committed.unwrap_err().kind(), ErrorKind::Conflict),
    }
}

const LEVELS: [&str; 2] = ["SNAPSHOT", "SERIALIZABLE"];

#[test]
fn of_two_doctors_on_call_one_stays() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (ada, bob) = (connect(), connect());
            run(&ada, "CREATE TABLE doctors (name TEXT PRIMARY KEY, on_call BOOLEAN)");
            run(&ada, "INSERT INTO doctors VALUES ('ada', TRUE), ('bob', TRUE)");
            let on_call = "SELECT count(*) FROM doctors WHERE on_call";
            let leave =
                |name: &str| format!("UPDATE doctors SET on_call = FALSE WHERE name = '{name}'");
            begin(&[&ada, &bob], level);
            assert_eq!((number(&ada, on_call), number(&bob, on_call)), (2, 2));
            run(&ada, &leave("ada"));
            run(&bob, &leave("bob"));
            run(&ada, "COMMIT");
            ends(level, bob.execute("COMMIT", &[]));
            let stay = if level == "SNAPSHOT" { 0 } else { 1 };
            assert_eq!(number(&ada, on_call), stay);
            // The session goes on: run again, it sees that nobody else is there.
            begin(&[&bob], level);
            assert_eq!(number(&bob, on_call), stay);
            run(&bob, "COMMIT");
        });
    }
}

#[test]
fn two_sums_that_are_inserted_where_the_other_was_read_are_not_both_there() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            run(&one, "CREATE TABLE mine (class BIGINT, value BIGINT)");
            run(&one, "INSERT INTO mine VALUES (1, 10), (1, 20), (2, 100), (2, 200)");
            begin(&[&one, &two], level);
            run(&one, "INSERT INTO mine SELECT 2, sum(value) FROM mine WHERE class = 1");
            run(&two, "INSERT INTO mine SELECT 1, sum(value) FROM mine WHERE class = 2");
            run(&one, "COMMIT");
            ends(level, two.execute("COMMIT", &[]));
            begin(&[&two], level);
            run(&two, "INSERT INTO mine SELECT 1, sum(value) FROM mine WHERE class = 2");
            run(&two, "COMMIT");
            // 30 came from the first, and is in the sum of the second only where that ran after it.
            let sums = "SELECT count(*) FROM mine WHERE class = 1 AND value = 300";
            assert_eq!(number(&one, sums), if level == "SNAPSHOT" { 1 } else { 0 });
        });
    }
}

/// A report of a batch that is closed, and a receipt that comes into it all the same.
#[test]
fn a_batch_that_was_reported_gets_no_more_receipts() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (receipt, closing, report) = (connect(), connect(), connect());
            run(&receipt, "CREATE TABLE control (batch BIGINT); INSERT INTO control VALUES (1);");
            run(&receipt, "CREATE TABLE receipts (batch BIGINT, amount BIGINT)");
            begin(&[&receipt], level);
            assert_eq!(number(&receipt, "SELECT batch FROM control"), 1);
            begin(&[&closing], level);
            run(&closing, "UPDATE control SET batch = 2; COMMIT;");
            begin(&[&report], level);
            assert_eq!(number(&report, "SELECT batch FROM control"), 2);
            let total = "SELECT coalesce(sum(amount), 0) FROM receipts WHERE batch = 1";
            assert_eq!(number(&report, total), 0);
            run(&report, "COMMIT");
            run(&receipt, "INSERT INTO receipts VALUES (1, 50)");
            ends(level, receipt.execute("COMMIT", &[]));
            let late = if level == "SNAPSHOT" { 50 } else { 0 };
            assert_eq!(number(&report, total), late);
        });
    }
}

#[test]
fn who_only_reads_always_commits_and_sees_one_state() {
    in_all(|_, connect| {
        let (reader, writer) = (connect(), connect());
        begin(&[&reader], "SERIALIZABLE");
        assert_eq!(number(&reader, "SELECT sum(n) FROM t"), 0);
        begin(&[&writer], "SERIALIZABLE");
        run(&writer, "UPDATE t SET n = 1; COMMIT;");
        assert_eq!(number(&reader, "SELECT sum(n) FROM t WHERE id < 50"), 0);
        run(&reader, "COMMIT");
        begin(&[&reader], "SERIALIZABLE READ ONLY");
        assert_eq!(number(&reader, "SELECT sum(n) FROM t"), 100);
        run(&reader, "ROLLBACK");
    });
}

#[test]
fn what_was_committed_before_the_first_query_is_in_nobodys_way() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        begin(&[&one], "SERIALIZABLE");
        run(&two, "UPDATE t SET n = 1 WHERE id = 1");
        run(&one, "SET lock_timeout = '5s'");
        assert_eq!(number(&one, "SELECT n FROM t WHERE id = 1"), 1);
        run(&two, "UPDATE t SET n = 2 WHERE id = 2");
        assert_eq!(number(&one, "SELECT n FROM t WHERE id = 2"), 0);
        run(&one, "ROLLBACK");
        // A savepoint is of the state that it finds.
        begin(&[&one], "SERIALIZABLE");
        run(&one, "SAVEPOINT s");
        run(&two, "UPDATE t SET n = 3 WHERE id = 2");
        assert_eq!(number(&one, "SELECT n FROM t WHERE id = 2"), 2);
        run(&one, "ROLLBACK TO s");
        assert_eq!(number(&one, "SELECT n FROM t WHERE id = 2"), 2);
        run(&one, "INSERT INTO t VALUES (500, 1)");
        assert_eq!(one.execute("COMMIT", &[]).unwrap_err().kind(), ErrorKind::Conflict);
    });
}

#[test]
fn a_key_that_came_since_the_snapshot_is_a_conflict_and_no_duplicate() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        begin(&[&one], "SERIALIZABLE");
        assert_eq!(number(&one, "SELECT count(*) FROM t WHERE id = 500"), 0);
        run(&two, "INSERT INTO t VALUES (500, 1)");
        let refused = one.execute("INSERT INTO t VALUES (500, 2)", &[]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        let known = one.execute("INSERT INTO t VALUES (1, 2)", &[]).unwrap_err();
        assert_eq!(known.kind(), ErrorKind::UniqueViolation, "{known}");
        run(&one, "ROLLBACK");
    });
}

#[test]
fn the_level_is_said_wherever_levels_are() {
    in_all(|_, connect| {
        let connection = connect();
        let show = |name: &str| -> String {
            let mut rows = connection.query(&format!("SHOW {name}"), &[]).unwrap();
            rows.next().unwrap().unwrap().get(0).unwrap()
        };
        run(&connection, "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE");
        assert_eq!(show("transaction_isolation"), "serializable");
        assert_eq!(show("TRANSACTION ISOLATION LEVEL"), "serializable");
        run(&connection, "COMMIT; BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;");
        assert_eq!(show("transaction_isolation"), "serializable");
        run(&connection, "COMMIT; BEGIN; SET transaction_isolation = 'serializable';");
        assert_eq!(show("transaction_isolation"), "serializable");
        assert_eq!(show("default_transaction_isolation"), "snapshot");
        run(&connection, "COMMIT; SET default_transaction_isolation = 'serializable'");
        assert_eq!(show("default_transaction_isolation"), "serializable");
        run(&connection, "RESET default_transaction_isolation");
        run(&connection, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        run(&connection, "BEGIN");
        assert_eq!(show("transaction_isolation"), "serializable");
        run(&connection, "COMMIT");
    });
}

#[test]
fn the_level_is_said_before_anything_is_read() {
    in_all(|_, connect| {
        let connection = connect();
        for (level, other) in [("SERIALIZABLE", "SNAPSHOT"), ("READ COMMITTED", "SERIALIZABLE")] {
            for first in [
                "SELECT count(*) FROM t WHERE id = 1",
                "SELECT n + 1 FROM t",
                "INSERT INTO t VALUES (500, 1)",
                "CREATE TABLE new (n BIGINT)",
                "SAVEPOINT s",
            ] {
                begin(&[&connection], level);
                run(&connection, first);
                let late = format!("SET TRANSACTION ISOLATION LEVEL {other}");
                let late = connection.execute(&late, &[]).unwrap_err();
                assert_eq!(late.kind(), ErrorKind::Input, "{first}: {late}");
                // It is that already.
                run(&connection, &format!("SET TRANSACTION ISOLATION LEVEL {level}; ROLLBACK;"));
            }
        }
    });
}

#[test]
fn single_statements_write_what_they_have_read_in_some_order() {
    const EACH: i64 = 20;
    in_all(|_, connect| {
        run(&connect(), "CREATE TABLE numbers (n BIGINT)");
        let connections = (0..4).map(|_| connect()).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            for (place, connection) in connections.iter().enumerate() {
                scope.spawn(move || {
                    run(connection, "SET default_transaction_isolation = 'serializable'");
                    run(connection, ["SET gadus.sharing = always", "SELECT 1"][place % 2]);
                    for _ in 0..EACH {
                        run(connection, "INSERT INTO numbers SELECT count(*) FROM numbers");
                    }
                });
            }
        });
        let different = "SELECT count(DISTINCT n) FROM numbers";
        assert_eq!(number(&connections[0], different), 4 * EACH);
    });
}

#[test]
fn rows_of_a_transaction_that_has_committed_are_those_that_it_asked_for() {
    in_all(|_, connect| {
        let (one, two) = (connect(), connect());
        begin(&[&one], "SERIALIZABLE");
        let compiled = one.query("SELECT n FROM t WHERE n < 9", &[]).unwrap();
        let planned = one.query("SELECT n + 1 FROM t WHERE n * 2 = 0", &[]).unwrap();
        run(&two, "UPDATE t SET n = 7 WHERE id = 100");
        run(&one, "INSERT INTO t VALUES (500, 0)");
        // Also where nobody has taken them yet.
        let refused = one.execute("COMMIT", &[]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert_eq!((compiled.count(), planned.count()), (100, 100));
        begin(&[&one], "SERIALIZABLE");
        let rows = one.query("SELECT n FROM t WHERE n < 9", &[]).unwrap();
        run(&one, "INSERT INTO t VALUES (500, 0); COMMIT;");
        assert_eq!(rows.map(Result::unwrap).count(), 100);
    });
}
