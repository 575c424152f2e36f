//! SERIALIZABLE: what snapshots let happen, and this level does not; and what is in nobody's way.
//!
//! - Over connections of one instance and of several, as all that is said of isolation.
//! - A case is a transaction that reads, another that commits meanwhile, and a write of the first: under SNAPSHOT it
//!   commits, under SERIALIZABLE it must not where the other has changed what it read, and must where it has not.

use crate::locks::{in_all, run};
use gadus::{Connection, ErrorKind};
use std::cell::Cell;

/// Of `t` there are 100 rows with n = 0; of `b` 1,500, five of each branch.
const TABLES: &str = "
    DROP VIEW IF EXISTS seen;
    DROP TABLE IF EXISTS child;
    DROP TABLE IF EXISTS t;
    DROP TABLE IF EXISTS b;
    DROP TABLE IF EXISTS log;
    CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT);
    INSERT INTO t SELECT value, 0 FROM generate_series(1, 100);
    CREATE TABLE b (id BIGINT PRIMARY KEY, branch BIGINT, amount BIGINT, note TEXT);
    CREATE INDEX by_branch ON b (branch);
    INSERT INTO b SELECT value, value / 5, value % 7, 'a' FROM generate_series(0, 1499);
    CREATE TABLE child (id BIGINT PRIMARY KEY, parent BIGINT REFERENCES t (id));
    INSERT INTO child VALUES (1, 1);
    CREATE TABLE log (n BIGINT);
    CREATE VIEW seen AS SELECT id, n FROM t WHERE id < 50;";

fn begin(connection: &Connection, level: &str) {
    run(connection, &format!("BEGIN ISOLATION LEVEL {level}"));
}

/// Runs statements, reads what they give, and minds no error.
fn try_all(connection: &Connection, statements: &[&str]) {
    for statement in statements {
        if let Ok(outcome) = connection.run(statement, &[]) {
            outcome.into_rows().for_each(|row| _ = row.unwrap());
        }
    }
}

fn refuse(outcome: Result<u64, gadus::Error>, what: &str) {
    let error = outcome.expect_err(what);
    assert_eq!(error.kind(), ErrorKind::Conflict, "{what}: {error}");
    let text = error.to_string();
    let words = "could not serialize access due to read/write dependencies among transactions";
    assert!(text.contains(words), "{what}: {text}");
}

/// Has one transaction read, another commit, and the first write; gives whether it committed.
fn commits(
    connect: &dyn Fn() -> Connection,
    level: &str,
    (reads, other): (&[&str], &str),
) -> Result<u64, gadus::Error> {
    let (one, two) = (connect(), connect());
    // The disk has no part in this.
    run(&one, "SET gadus.durability = off");
    run(&one, TABLES);
    [&one, &two].iter().for_each(|connection| run(connection, "SET lock_timeout = '1s'"));
    begin(&one, level);
    try_all(&one, reads);
    begin(&two, level);
    run(&two, other);
    run(&two, "COMMIT");
    run(&one, "INSERT INTO log VALUES (1000)");
    let committed = one.execute("COMMIT", &[]);
    assert!(!one.in_transaction(), "{other}");
    committed
}

fn each(cases: &[(&[&str], &str)], changes_what_was_read: bool) {
    let is_first = Cell::new(true);
    in_all(|_, connect| {
        // That snapshots let it happen is seen once.
        let is_first = is_first.replace(false);
        for (place, &(reads, other)) in cases.iter().enumerate() {
            let what = format!("{reads:?} and {other}");
            let sharing = ["never", "always"][place % 2];
            let sharing_it = || {
                let connection = connect();
                run(&connection, &format!("SET gadus.sharing = {sharing}"));
                connection
            };
            let committed = commits(&sharing_it, "SERIALIZABLE", (reads, other));
            match changes_what_was_read {
                true => refuse(committed, &what),
                false => assert!(committed.is_ok(), "{what}: {committed:?}"),
            }
            if is_first {
                let committed = commits(connect, "SNAPSHOT", (reads, other));
                assert!(committed.is_ok(), "{what}: {committed:?}");
            }
        }
    });
}

const INSERTS: &str = "INSERT INTO t VALUES (500, 3)";

#[test]
fn a_change_of_what_was_read_by_key_is_refused() {
    each(
        &[
            (&["SELECT n FROM t WHERE id = 7"], "UPDATE t SET n = 5 WHERE id = 7"),
            (&["SELECT n FROM t WHERE id = 7"], "DELETE FROM t WHERE id = 7"),
            (&["SELECT n FROM t WHERE id = 500"], INSERTS),
            (&["SELECT 1 FROM t WHERE id = 500"], INSERTS),
            (&["SELECT n FROM t WHERE id IN (3, 500)"], INSERTS),
            (&["SELECT n FROM t WHERE id = 7 + 0"], "UPDATE t SET n = 5 WHERE id = 7"),
            (&["SELECT note FROM b WHERE branch = 9"], "UPDATE b SET note = 'x' WHERE id = 46"),
            (&["SELECT note FROM b WHERE branch = 9"], "UPDATE b SET branch = 9 WHERE id = 3"),
            (
                &["SELECT note FROM b WHERE branch = 900"],
                "INSERT INTO b VALUES (9000, 900, 1, 'n')",
            ),
            (&["SELECT sum(amount) FROM b WHERE branch = 9"], "DELETE FROM b WHERE id = 46"),
        ],
        true,
    );
}

#[test]
fn a_change_of_what_was_found_by_a_predicate_is_refused() {
    let total = "SELECT sum(n) FROM t WHERE id BETWEEN 10 AND 20";
    each(
        &[
            (&[total], "UPDATE t SET n = 1 WHERE id = 15"),
            (&["SELECT sum(n) FROM t WHERE n > 2"], INSERTS),
            (&["SELECT count(*) FROM t"], INSERTS),
            (&["SELECT count(*) FROM t"], "DELETE FROM t WHERE id = 100"),
            (&["SELECT count(*) FROM t WHERE n < 1"], "UPDATE t SET n = 4 WHERE id = 4"),
            (&["SELECT n, count(*) FROM t GROUP BY n"], "UPDATE t SET n = 4 WHERE id = 4"),
            (&["SELECT max(n) FROM t"], "UPDATE t SET n = 4 WHERE id = 4"),
            (&["SELECT id FROM t ORDER BY n DESC LIMIT 1"], "UPDATE t SET n = 4 WHERE id = 4"),
            (&["SELECT * FROM t LIMIT 1"], INSERTS),
            (&["SELECT id FROM b WHERE note LIKE 'x%'"], "UPDATE b SET note = 'xy' WHERE id = 7"),
            (&["SELECT id FROM b WHERE amount + 1 = 99"], "UPDATE b SET amount = 98 WHERE id = 7"),
            // A plan that is kept.
            (&["SELECT n + 1 FROM t WHERE n * 2 = 6"; 4], INSERTS),
            (
                &["SELECT count(*) FROM t"],
                "INSERT INTO t SELECT value, 1 FROM generate_series(1000, 20000)",
            ),
        ],
        true,
    );
}

#[test]
fn a_change_of_what_was_read_in_parts_of_a_query_is_refused() {
    let joined = "SELECT count(*) FROM t JOIN b ON t.id = b.id WHERE b.note = 'x'";
    let mean = "SELECT count(*) FROM t WHERE n < (SELECT avg(amount) FROM b)";
    let exists =
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM b WHERE b.id = t.id AND amount > 90)";
    let note = "UPDATE b SET note = 'x' WHERE id = 30";
    each(
        &[
            (&[joined], note),
            (
                &["SELECT t.n, b.note FROM t JOIN b USING (id) ORDER BY b.id LIMIT 2"],
                "DELETE FROM b WHERE id = 1",
            ),
            (&[mean], "UPDATE b SET amount = 1000 WHERE id = 30"),
            (&[exists], "UPDATE b SET amount = 91 WHERE id = 30"),
            (
                &["SELECT id FROM t WHERE id NOT IN (SELECT amount FROM b)"],
                "UPDATE b SET amount = 91 WHERE id = 30",
            ),
            (&["WITH w AS (SELECT note FROM b) SELECT count(*) FROM w WHERE note = 'x'"], note),
            (
                &["SELECT n FROM t UNION SELECT amount FROM b"],
                "UPDATE b SET amount = 91 WHERE id = 30",
            ),
            (&["SELECT id, rank() OVER (ORDER BY n) FROM t"], "UPDATE t SET n = 9 WHERE id = 30"),
            (&["SELECT sum(n) FROM seen"], "UPDATE t SET n = 9 WHERE id = 30"),
            (
                &["DECLARE c CURSOR FOR SELECT n FROM t", "FETCH 1 FROM c"],
                "UPDATE t SET n = 9 WHERE id = 30",
            ),
        ],
        true,
    );
}

#[test]
fn what_statements_that_write_have_read_counts() {
    let note = "UPDATE b SET note = 'x' WHERE id = 30";
    each(
        &[
            (&["INSERT INTO log SELECT count(*) FROM t"], INSERTS),
            (&["INSERT INTO log VALUES ((SELECT sum(n) FROM t))"], INSERTS),
            (&["UPDATE t SET n = n + 1 WHERE n = 3"], INSERTS),
            (&["UPDATE t SET n = 1 WHERE id = 500"], INSERTS),
            (&["UPDATE t SET n = (SELECT count(*) FROM b WHERE note = 'x') WHERE id = 1"], note),
            (&["DELETE FROM t WHERE n = 3"], INSERTS),
            (&["DELETE FROM t WHERE id IN (SELECT id FROM b WHERE note = 'x')"], note),
            (&["DELETE FROM t WHERE id = 500"], INSERTS),
            (&["CREATE TABLE made AS SELECT count(*) AS n FROM t"], INSERTS),
            (
                &[
                    "MERGE INTO log USING t ON log.n = t.n WHEN NOT MATCHED AND t.n = 3 THEN INSERT VALUES (t.n)",
                ],
                INSERTS,
            ),
            (&["INSERT INTO t VALUES (7, 1) ON CONFLICT DO NOTHING"], "DELETE FROM t WHERE id = 7"),
            (&["SELECT n FROM t WHERE n = 3 FOR UPDATE"], INSERTS),
        ],
        true,
    );
}

#[test]
fn what_was_refused_or_undone_has_been_seen() {
    let in_part = |statement: &'static str| ["SAVEPOINT s", statement, "ROLLBACK TO s"];
    each(
        &[
            (&in_part("SELECT count(*) FROM t"), INSERTS),
            // More keys than are locked.
            (&in_part("INSERT INTO t SELECT value, 1 FROM generate_series(400, 1500)"), INSERTS),
            (&in_part("INSERT INTO t SELECT value, 1 FROM generate_series(400, 20000)"), INSERTS),
            (&in_part("DELETE FROM t WHERE id = 2"), "INSERT INTO child VALUES (2, 2)"),
            (&in_part("INSERT INTO child VALUES (2, 9)"), "DELETE FROM t WHERE id = 9"),
            (&["INSERT INTO t VALUES (7, 1)"], "DELETE FROM t WHERE id = 7"),
            (
                &["INSERT INTO t SELECT value, 1 FROM generate_series(7, 20000)"],
                "DELETE FROM t WHERE id = 7",
            ),
            (&["INSERT INTO child VALUES (2, 500)"], INSERTS),
            (&["DELETE FROM t WHERE id = 1"], "DELETE FROM child"),
        ],
        true,
    );
}

#[test]
fn a_table_that_was_read_and_is_another_since_is_refused() {
    each(
        &[
            (&["SELECT count(*) FROM b WHERE id = 1"], "DROP TABLE b"),
            (&["SELECT n FROM seen WHERE id = 1"], "DROP VIEW seen"),
            (
                &["SELECT n FROM seen WHERE id = 1"],
                "CREATE OR REPLACE VIEW seen AS SELECT id, CAST(1 AS BIGINT) AS n FROM t",
            ),
            (&["SELECT count(*) FROM b WHERE id = 1"], "ALTER TABLE b ADD COLUMN more BIGINT"),
            (&["SELECT count(*) FROM b WHERE id = 1"], "TRUNCATE b"),
            (
                &["SELECT rows FROM gadus.tables WHERE table_name = 'b'"],
                "DELETE FROM b WHERE id = 1",
            ),
        ],
        true,
    );
}

#[test]
fn what_was_not_read_is_in_nobodys_way() {
    let of_one = "SELECT sum(amount) FROM b WHERE branch = 1";
    each(
        &[
            (&["SELECT n FROM t WHERE id = 7"], "UPDATE t SET n = 5 WHERE id = 8"),
            (&["SELECT n FROM t WHERE id = 7"], INSERTS),
            (&[of_one], "UPDATE b SET amount = 50 WHERE branch = 2"),
            (&[of_one], "INSERT INTO b VALUES (9000, 2, 1, 'n')"),
            (&[of_one], "UPDATE b SET note = 'n' WHERE branch = 1"),
            (
                &["SELECT amount + 1 FROM b WHERE branch = 1 AND amount + 0 < 9"],
                "UPDATE b SET note = 'n'",
            ),
            (&["SELECT amount FROM b WHERE id = 6"], "UPDATE b SET note = 'n' WHERE id = 6"),
            (&["SELECT amount FROM b WHERE amount > 5"], "UPDATE b SET note = 'n'"),
            (&["SELECT count(*) FROM b"], "UPDATE b SET amount = 9, note = 'n'"),
            (&["SELECT count(*) FROM b WHERE amount < 90"], "UPDATE b SET amount = amount + 1"),
            (&["SELECT note FROM b WHERE branch = 1"], "UPDATE b SET note = 'a' WHERE branch = 1"),
            (
                &["UPDATE b SET amount = amount + 1 WHERE branch = 1"],
                "UPDATE b SET note = 'n' WHERE branch = 2",
            ),
            (
                &["UPDATE b SET amount = amount + 1 WHERE id = 6"],
                "UPDATE b SET amount = 9 WHERE id = 7",
            ),
            (&["DELETE FROM b WHERE branch = 1"], "DELETE FROM b WHERE branch = 2"),
            (&["INSERT INTO t VALUES (501, 1)"], INSERTS),
            (&["SELECT count(*) FROM b"], "INSERT INTO t VALUES (500, 3)"),
            (&["SELECT id FROM b ORDER BY id LIMIT 3"], "UPDATE b SET note = 'n'"),
            (
                &["SELECT count(*) FROM t JOIN b USING (id) WHERE branch = 1"],
                "UPDATE b SET id = 9000 WHERE id = 1499",
            ),
        ],
        false,
    );
}
