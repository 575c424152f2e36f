//! The anomalies that isolation levels are defined by (Adya 1999, and the names of Bailis 2014), as
//! scripts over connections of one instance and of several: which each level excludes and which it
//! allows.

use crate::locks::{in_all, number, run, while_it_waits};
use gadus::{Connection, ErrorKind};

const LEVELS: [&str; 2] = ["READ COMMITTED", "SNAPSHOT"];

fn begin(connections: &[&Connection], level: &str) {
    for connection in connections {
        run(connection, &format!("BEGIN ISOLATION LEVEL {level}"));
    }
}

/// The values of the rows 1 and 2.
fn values(connection: &Connection) -> (i64, i64) {
    let one = number(connection, "SELECT n FROM t WHERE id = 1");
    (one, number(connection, "SELECT n FROM t WHERE id = 2"))
}

fn set(id: i64, n: i64) -> String {
    format!("UPDATE t SET n = {n} WHERE id = {id}")
}

#[test]
fn g0_dirty_writes_are_excluded() {
    for level in LEVELS {
        in_all(|database, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one, &two], level);
            run(&one, &set(1, 11));
            let second = while_it_waits(database, &two, &set(1, 12), || {
                run(&one, &format!("{}; COMMIT;", set(2, 21)));
            });
            if level == "SNAPSHOT" {
                assert_eq!(second.unwrap_err().kind(), ErrorKind::Conflict);
                run(&two, "ROLLBACK");
                assert_eq!(values(&one), (11, 21));
            } else {
                run(&two, &format!("{}; COMMIT;", set(2, 22)));
                assert_eq!(values(&one), (12, 22));
            }
        });
    }
}

#[test]
fn g1a_and_g1b_nobody_sees_what_is_undone_or_replaced_before_its_commit() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one, &two], level);
            run(&one, &set(1, 101));
            assert_eq!(values(&two), (0, 0));
            run(&one, &set(1, 11));
            assert_eq!(values(&two), (0, 0));
            run(&one, "ROLLBACK");
            assert_eq!(values(&two), (0, 0));
            begin(&[&one], level);
            run(&one, &format!("{}; {}; COMMIT;", set(1, 101), set(1, 11)));
            let seen = if level == "SNAPSHOT" { 0 } else { 11 };
            assert_eq!(values(&two), (seen, 0));
            run(&two, "COMMIT");
        });
    }
}

#[test]
fn g1c_two_transactions_never_see_each_others_writes() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one, &two], level);
            run(&one, &set(1, 11));
            run(&two, &set(2, 22));
            assert_eq!((values(&one), values(&two)), ((11, 0), (0, 22)));
            run(&one, "COMMIT");
            run(&two, "COMMIT");
            assert_eq!(values(&one), (11, 22));
        });
    }
}

#[test]
fn otv_a_transaction_that_was_seen_does_not_vanish() {
    for level in LEVELS {
        in_all(|database, connect| {
            let (one, two, reader) = (connect(), connect(), connect());
            begin(&[&one, &two, &reader], level);
            run(&one, &format!("{}; {};", set(1, 11), set(2, 19)));
            let second = while_it_waits(database, &two, &set(1, 12), || run(&one, "COMMIT"));
            let first = values(&reader);
            if second.is_ok() {
                run(&two, &format!("{}; COMMIT;", set(2, 18)));
            } else {
                run(&two, "ROLLBACK");
            }
            let after = values(&reader);
            let expected = match level {
                "SNAPSHOT" => ((0, 0), (0, 0)),
                _ => ((11, 19), (12, 18)),
            };
            assert_eq!((first, after), expected);
            run(&reader, "COMMIT");
        });
    }
}

#[test]
fn pmp_a_predicate_finds_the_same_rows_again_in_a_snapshot_only() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            let found = "SELECT count(*) FROM t WHERE n = 30";
            begin(&[&one], level);
            assert_eq!(number(&one, found), 0);
            run(&two, "INSERT INTO t VALUES (1000, 30)");
            let again = if level == "SNAPSHOT" { 0 } else { 1 };
            assert_eq!(number(&one, found), again);
            run(&one, "COMMIT");
        });
    }
}

#[test]
fn p4_an_update_is_lost_where_statements_see_newer_commits_and_refused_in_a_snapshot() {
    for level in LEVELS {
        in_all(|database, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one, &two], level);
            assert_eq!((values(&one), values(&two)), ((0, 0), (0, 0)));
            run(&one, &set(1, 11));
            let second = while_it_waits(database, &two, &set(1, 12), || run(&one, "COMMIT"));
            match level {
                "SNAPSHOT" => assert_eq!(second.unwrap_err().kind(), ErrorKind::Conflict),
                _ => assert_eq!(second.unwrap(), 1),
            }
            let _ = two.execute("COMMIT", &[]);
            // With the read kept, nothing is lost at either level.
            begin(&[&one, &two], level);
            let read = "SELECT n FROM t WHERE id = 2 FOR UPDATE";
            assert_eq!(number(&one, read), 0);
            let refused = two.execute(&format!("{read} NOWAIT"), &[]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Locked);
            run(&one, "COMMIT");
            run(&two, "COMMIT");
        });
    }
}

#[test]
fn g_single_reads_are_of_one_state_in_a_snapshot_only() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one], level);
            assert_eq!(number(&one, "SELECT n FROM t WHERE id = 1"), 0);
            run(&two, &format!("BEGIN; {}; {}; COMMIT;", set(1, 12), set(2, 18)));
            let second = if level == "SNAPSHOT" { 0 } else { 18 };
            assert_eq!(number(&one, "SELECT n FROM t WHERE id = 2"), second);
            // A write that rests on a state that is gone.
            let removed = one.execute("DELETE FROM t WHERE n = 18", &[]);
            match level {
                "SNAPSHOT" => assert_eq!(removed.unwrap(), 0),
                _ => assert_eq!(removed.unwrap(), 1),
            }
            run(&one, "ROLLBACK");
        });
    }
}

#[test]
fn g2_item_write_skew_is_allowed_and_for_update_excludes_it() {
    for level in LEVELS {
        in_all(|_, connect| {
            let (one, two) = (connect(), connect());
            begin(&[&one, &two], level);
            assert_eq!((values(&one), values(&two)), ((0, 0), (0, 0)));
            run(&one, &set(1, 11));
            run(&two, &set(2, 21));
            run(&one, "COMMIT");
            run(&two, "COMMIT");
            assert_eq!(values(&one), (11, 21));
            begin(&[&one, &two], level);
            let both = "SELECT n FROM t WHERE id <= 2 FOR UPDATE";
            run(&one, both);
            let refused = two.execute(&format!("{both} NOWAIT"), &[]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Locked);
            run(&one, "COMMIT");
            run(&two, "COMMIT");
        });
    }
}
