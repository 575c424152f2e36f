//! Transactions that follow each other, and modes of transactions, as in PostgreSQL.

use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason};

fn with_table() -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    run(&connection, "CREATE TABLE t (id INT)");
    connection
}

#[test]
fn and_chain_begins_a_transaction_with_the_same_modes() {
    let connection = with_table();
    run(&connection, "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE, DEFERRABLE");
    assert_eq!(rows(&connection, "SHOW transaction_deferrable"), ["on"]);
    run(&connection, "INSERT INTO t VALUES (1)");
    run(&connection, "COMMIT AND CHAIN");
    assert_eq!(rows(&connection, "SHOW transaction_isolation"), ["repeatable read"]);
    assert_eq!(rows(&connection, "SHOW transaction_deferrable"), ["on"]);
    run(&connection, "INSERT INTO t VALUES (2)");
    run(&connection, "ROLLBACK AND CHAIN");
    assert_eq!(rows(&connection, "SHOW transaction_isolation"), ["repeatable read"]);
    run(&connection, "COMMIT");
    assert_eq!(rows(&connection, "SELECT id FROM t"), ["1"]);
    assert_eq!(refused(&connection, "COMMIT AND CHAIN").reason(), Some(Reason::NoTransaction));
}

#[test]
fn sessions_may_only_read() {
    let connection = with_table();
    run(&connection, "SET default_transaction_read_only = on");
    assert_eq!(rows(&connection, "SHOW transaction_read_only"), ["on"]);
    assert_eq!(refused(&connection, "INSERT INTO t VALUES (1)").kind(), ErrorKind::ReadOnly);
    run(&connection, "BEGIN");
    assert_eq!(refused(&connection, "INSERT INTO t VALUES (1)").kind(), ErrorKind::ReadOnly);
    run(&connection, "ROLLBACK");
    run(&connection, "BEGIN READ WRITE");
    run(&connection, "INSERT INTO t VALUES (1)");
    run(&connection, "COMMIT");
    run(&connection, "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE");
    run(&connection, "INSERT INTO t VALUES (2)");
}

#[test]
fn a_savepoint_keeps_what_the_transaction_may_do() {
    let connection = with_table();
    run(&connection, "BEGIN");
    run(&connection, "SAVEPOINT a");
    run(&connection, "SET TRANSACTION READ ONLY");
    assert_eq!(refused(&connection, "INSERT INTO t VALUES (1)").kind(), ErrorKind::ReadOnly);
    let error = refused(&connection, "SET TRANSACTION READ WRITE");
    assert_eq!(error.reason(), Some(Reason::OpenTransaction));
    run(&connection, "ROLLBACK TO a");
    assert_eq!(rows(&connection, "SHOW transaction_read_only"), ["off"]);
    run(&connection, "INSERT INTO t VALUES (1)");
    run(&connection, "COMMIT");
    for sql in ["SAVEPOINT a", "ROLLBACK TO a", "RELEASE a"] {
        assert_eq!(refused(&connection, sql).reason(), Some(Reason::NoTransaction), "{sql}");
    }
}
