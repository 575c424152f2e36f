//! Commits are told apart, counted, and missed when they are not there.

use clap::Parser;
use gadus::{Connection, Database, Options, params};

use super::process::acknowledged;
use super::*;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    writing: Writing,
}

fn numbers(of: &[(u32, i64)]) -> Numbers {
    let mut numbers = Numbers::default();
    of.iter().for_each(|&(writer, n)| numbers.note(WriterId(writer), n));
    numbers
}

/// A ledger whose writers 3 and 4 came to 5 and 0.
fn ledger(rows_kept: Option<u32>) -> Connection {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    create(&connection, 3..5).unwrap();
    for n in 1..=5 {
        let sum = (1..=n).map(|n| fingerprint(WriterId(3), n)).sum::<i64>();
        let row = params![3_u32, n, fingerprint(WriterId(3), n)];
        if n >= first_kept(5, rows_kept) {
            connection.execute("INSERT INTO ledger VALUES (?, ?, ?)", row).unwrap();
        }
        let total = "UPDATE ledger_totals SET n = ?, total = ? WHERE writer = 3";
        connection.execute(total, params![n, sum]).unwrap();
    }
    connection
}

fn verify(connection: &Connection, rows_kept: Option<u32>) -> Result<Numbers, Failure> {
    Totals::read(connection)?.verify(connection, rows_kept)
}

#[test]
fn a_process_is_told_all_that_its_parent_wants() {
    let plain = Writing::new("--odd name.gadus");
    let full = Writing {
        writers: 4,
        first_writer: 8,
        rows_kept: Some(500),
        checkpoint_log: Some(1 << 17),
        spare: true,
        ..plain.clone()
    };
    for writing in [plain, full] {
        let words = std::iter::once("gadus".into()).chain(writing.arguments());
        assert_eq!(Words::parse_from(words).writing, writing);
    }
}

#[test]
fn a_line_that_was_not_finished_acknowledges_nothing() {
    assert_eq!(acknowledged("3 17\n"), Some((WriterId(3), 17)));
    for line in ["3 17", "3 ", "3", "\n", "3 x\n", "-1 7\n"] {
        assert_eq!(acknowledged(line), None, "{line:?}");
    }
}

#[test]
fn commits_are_counted_for_each_writer_alone() {
    let (before, after) = (numbers(&[(0, 5), (1, 9)]), numbers(&[(0, 7), (2, 3)]));
    assert_eq!(after.beyond(&before), 2 + 3);
    assert_eq!(before.beyond(&after), 9);
    let mut both = before.clone();
    both.note_all(&after);
    assert_eq!(both, numbers(&[(0, 7), (1, 9), (2, 3)]));
}

#[test]
fn a_whole_ledger_tells_how_far_its_writers_came() {
    for rows_kept in [None, Some(2), Some(5), Some(9)] {
        let found = verify(&ledger(rows_kept), rows_kept).unwrap();
        assert_eq!(found, numbers(&[(3, 5), (4, 0)]));
    }
}

#[test]
fn half_a_commit_is_told() {
    let halves = [
        "DELETE FROM ledger WHERE n = 5",
        "DELETE FROM ledger WHERE n = 2",
        "UPDATE ledger SET fingerprint = fingerprint + 1 WHERE n = 3",
        "UPDATE ledger_totals SET n = 4 WHERE writer = 3",
        "UPDATE ledger_totals SET total = total + 1 WHERE writer = 3",
        "DELETE FROM ledger_totals WHERE writer = 3",
        "INSERT INTO ledger VALUES (4, 1, 0)",
        "INSERT INTO ledger VALUES (5, 1, 0)",
    ];
    for half in halves {
        let connection = ledger(None);
        assert_eq!(connection.execute(half, &[]).unwrap(), 1, "{half}");
        assert!(verify(&connection, None).is_err(), "{half}");
    }
}
