//! Transactions: what they see, what others see, and who wins.

use super::shell;
use crate::support::Shell;
use gadus_engine::ErrorKind;

fn accounts() -> (Shell, Shell) {
    let shell = shell();
    shell.run("CREATE TABLE a (id BIGINT PRIMARY KEY, v BIGINT)");
    shell.run("INSERT INTO a VALUES (1, 10), (2, 20), (3, 30)");
    let other = shell.another();
    (shell, other)
}

#[test]
fn a_transaction_sees_its_snapshot_and_its_own_writes() {
    let (one, two) = accounts();
    one.run("BEGIN");
    assert_eq!(one.run("SELECT sum(v) FROM a"), "60");
    two.run("UPDATE a SET v = 99 WHERE id = 3");
    two.run("INSERT INTO a VALUES (4, 40)");
    assert_eq!(one.run("SELECT sum(v) FROM a"), "60");
    one.run("UPDATE a SET v = v + 1 WHERE id = 1");
    one.run("INSERT INTO a VALUES (5, 50)");
    one.run("DELETE FROM a WHERE id = 2");
    assert_eq!(one.run("SELECT id, v FROM a ORDER BY id"), "1|11\n3|30\n5|50");
    assert_eq!(two.run("SELECT count(*) FROM a"), "4");
    one.run("COMMIT");
    assert_eq!(two.run("SELECT id, v FROM a ORDER BY id"), "1|11\n3|99\n4|40\n5|50");
}

#[test]
fn the_first_committer_of_a_row_wins() {
    let (one, two) = accounts();
    one.run("BEGIN");
    two.run("BEGIN");
    one.run("UPDATE a SET v = v + 1 WHERE id = 1");
    two.run("SET lock_timeout = 1");
    let change = "UPDATE a SET v = v + 2 WHERE id = 1";
    assert_eq!(two.fails(change).0, ErrorKind::Locked);
    one.run("COMMIT");
    assert_eq!(two.fails(change).0, ErrorKind::Conflict);
    two.run("ROLLBACK");
    assert_eq!(two.run("SELECT v FROM a WHERE id = 1"), "11");
}

#[test]
fn two_transactions_cannot_insert_one_key() {
    let (one, two) = accounts();
    one.run("BEGIN");
    two.run("BEGIN");
    one.run("INSERT INTO a VALUES (7, 1)");
    two.run("SET lock_timeout = '1ms'");
    assert_eq!(two.run("SHOW lock_timeout"), "1ms");
    assert_eq!(two.fails("INSERT INTO a VALUES (7, 2)").0, ErrorKind::Locked);
    one.run("COMMIT");
    assert_eq!(two.fails("INSERT INTO a VALUES (7, 2)").0, ErrorKind::UniqueViolation);
    two.run("COMMIT");
    assert_eq!(two.run("SELECT v FROM a WHERE id = 7"), "1");
}

#[test]
fn rollback_and_savepoints_undo() {
    let (one, _) = accounts();
    one.run("BEGIN");
    one.run("INSERT INTO a VALUES (8, 1)");
    one.run("SAVEPOINT s");
    one.run("DELETE FROM a");
    one.run("INSERT INTO a VALUES (9, 1)");
    assert_eq!(one.run("SELECT count(*) FROM a"), "1");
    one.run("ROLLBACK TO SAVEPOINT s");
    assert_eq!(one.run("SELECT count(*) FROM a"), "4");
    one.run("INSERT INTO a VALUES (9, 2)");
    let (kind, _) = one.fails("INSERT INTO a VALUES (10, 1), (9, 3)");
    assert_eq!(kind, ErrorKind::UniqueViolation);
    assert_eq!(one.run("SELECT count(*) FROM a WHERE id >= 9"), "1");
    one.run("COMMIT");
    assert_eq!(one.run("SELECT v FROM a WHERE id = 9"), "2");
    one.run("BEGIN");
    one.run("DELETE FROM a");
    one.run("ROLLBACK");
    assert_eq!(one.run("SELECT count(*) FROM a"), "5");
}

#[test]
fn savepoints_are_named_as_tables_are() {
    let (one, _) = accounts();
    one.run("BEGIN");
    one.run("SAVEPOINT Outer_One");
    one.run("SAVEPOINT \"Inner\"");
    assert_eq!(one.fails("ROLLBACK TO inner").0, ErrorKind::NotFound);
    one.run("ROLLBACK TO \"Inner\"");
    one.run("RELEASE SAVEPOINT OUTER_ONE");
    assert_eq!(one.fails("ROLLBACK TO outer_one").0, ErrorKind::NotFound);
    one.run("ROLLBACK");
}

#[test]
fn tables_are_part_of_the_transaction() {
    let (one, two) = accounts();
    one.run("BEGIN");
    one.run("CREATE TABLE b (x INT)");
    one.run("INSERT INTO b SELECT v FROM a");
    one.run("DROP TABLE a");
    assert_eq!(one.run("SELECT sum(x) FROM b"), "60");
    assert_eq!(two.run("SHOW TABLES"), "a");
    one.run("COMMIT");
    assert_eq!(two.run("SHOW TABLES"), "b");
    assert_eq!(two.fails("SELECT * FROM a").0, ErrorKind::Input);
    two.run("CREATE TABLE a (id TEXT PRIMARY KEY)");
    two.run("INSERT INTO a VALUES ('x')");
    assert_eq!(two.run("SELECT id FROM a WHERE id = 'x'"), "x");
}

#[test]
fn concurrent_increments_are_all_counted() {
    let (shell, _) = accounts();
    let sessions = (0..4).map(|_| shell.another()).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(move || {
                for _ in 0..100 {
                    session.run("UPDATE a SET v = v + 1 WHERE id = 1");
                    session.run("UPDATE a SET v = v + 1 WHERE v >= 10 AND id < 2");
                }
            });
        }
    });
    assert_eq!(shell.run("SELECT v FROM a WHERE id = 1"), "810");
}

#[test]
fn an_open_stream_keeps_its_snapshot() {
    let (one, two) = accounts();
    let rows = one.runtime.block_on(async {
        match one.session().execute("SELECT v FROM a ORDER BY id", &[]).await.unwrap() {
            gadus_sql::Outcome::Rows(rows) => rows,
            other => panic!("{other:?}"),
        }
    });
    two.run("DELETE FROM a");
    let batches = one.runtime.block_on(rows.collect()).unwrap();
    assert_eq!(batches.iter().map(arrow::array::RecordBatch::num_rows).sum::<usize>(), 3);
}

#[test]
fn a_rolled_back_table_leaves_no_compiled_statement_behind() {
    let (one, _) = accounts();
    one.run("BEGIN");
    one.run("CREATE TABLE x (id BIGINT PRIMARY KEY, v BIGINT)");
    one.run("INSERT INTO x VALUES (1, 7)");
    assert_eq!(one.run("SELECT v FROM x WHERE id = 1"), "7");
    one.run("ROLLBACK");
    one.run("CREATE TABLE x (v TEXT, id BIGINT PRIMARY KEY)");
    one.run("INSERT INTO x (id, v) VALUES (1, 'seven')");
    assert_eq!(one.run("SELECT v FROM x WHERE id = 1"), "seven");
}

#[test]
fn what_would_be_ignored_is_refused() {
    let (one, _) = accounts();
    assert_eq!(one.fails("SET lock_timeout = 'soon'").0, ErrorKind::Input);
    assert_eq!(one.fails("SET gadus.snapshot_space_max = 'much'").0, ErrorKind::Input);
    assert_eq!(one.fails("LOCK TABLE a").0, ErrorKind::Input);
    one.run("BEGIN READ ONLY");
    assert_eq!(one.fails("SELECT v FROM a WHERE id = 1 FOR UPDATE").0, ErrorKind::ReadOnly);
    assert_eq!(one.fails("DELETE FROM a WHERE id = 1").0, ErrorKind::ReadOnly);
    assert_eq!(one.run("SELECT count(*) FROM a"), "3");
    one.run("COMMIT");
    assert_eq!(one.run("DELETE FROM a WHERE id = 1"), "1");
}

#[test]
fn columns_may_be_called_key_and_index() {
    let (one, _) = accounts();
    one.run("CREATE TABLE k (Key INT PRIMARY KEY, index TEXT NOT NULL, x INT, UNUSED INT)");
    one.run("INSERT INTO k (key, index) VALUES (1, 'a')");
    assert_eq!(one.run("SELECT key FROM k WHERE index = 'a'"), "1");
}
