//! Histories written by hand, most of them wrong: the checker finds what was planted.

use super::checker::{Kind, Summary, check};

fn checked(history: &str) -> Result<Summary, Kind> {
    let lines = history.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    check(&lines).map_err(|anomaly| anomaly.kind)
}

/// A history of one transaction after another, all at one level.
fn at(level: &str, history: &str) -> Result<Summary, Kind> {
    checked(&history.replace("begins", &format!("begins {level}")))
}

const BOTH: [&str; 2] = ["snapshot", "committed"];
const ALL: [&str; 3] = ["snapshot", "committed", "serializable"];

#[test]
fn transactions_one_after_another_are_right() {
    let history = "1 begins\n1 read 7:0:0\n1 wrote 7:1:0 8:1:0\n1 wrote 7:2:1\n1 read 7:2:1\n\
                   1 commits\n1 committed\n2 begins\n2 read 7:2:1 8:1:1\n2 wrote 8:2:1\n2 aborted\n\
                   3 begins\n3 read 7:2:1 8:1:1\n3 commits\n3 committed";
    for level in ALL {
        let summary = Summary { committed: 2, aborted: 1, writers: 1, ..Summary::default() };
        assert_eq!(at(level, history), Ok(summary));
    }
}

#[test]
fn write_skew_is_right_unless_transactions_are_serializable() {
    let history = "1 begins\n2 begins\n1 read 7:0:0 8:0:0\n2 read 7:0:0 8:0:0\n1 wrote 7:1:0\n\
                   2 wrote 8:1:0\n1 commits\n2 commits\n1 committed\n2 committed";
    for level in BOTH {
        assert!(at(level, history).is_ok());
    }
    assert_eq!(at("serializable", history), Err(Kind::WriteSkew));
    // Who writes nothing has its place at its snapshot.
    let history = "1 begins\n2 begins\n1 read 7:0:0 8:0:0\n2 wrote 7:1:0\n2 commits\n2 committed\n\
                   1 read 7:0:0\n1 commits\n1 committed";
    assert!(at("serializable", history).is_ok());
}

#[test]
fn two_that_write_over_one_another_are_found() {
    let history = "1 begins\n2 begins\n1 wrote 7:1:0\n2 wrote 7:2:1\n2 wrote 8:1:0\n1 wrote 8:2:2\n\
                   1 commits\n2 commits\n1 committed\n2 committed";
    for level in BOTH {
        let kind = at(level, history).unwrap_err();
        assert!(matches!(kind, Kind::DirtyWrite | Kind::LostUpdate), "{kind:?}");
    }
    assert_eq!(at("committed", history), Err(Kind::DirtyWrite));
}

#[test]
fn what_was_undone_is_found_where_it_is_read() {
    let history =
        "1 begins\n2 begins\n1 wrote 7:1:0\n2 read 7:1:1\n1 aborted\n2 commits\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::AbortedRead));
    }
    // Killed before it would commit.
    let history = "1 begins\n2 begins\n1 wrote 7:1:0\n2 wrote 7:2:1\n2 commits\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::AbortedRead));
    }
}

#[test]
fn what_its_writer_replaced_is_found_where_it_is_read() {
    let history = "1 begins\n2 begins\n1 wrote 7:1:0\n2 read 7:1:1\n1 wrote 7:2:1\n1 commits\n\
                   1 committed\n2 commits\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::IntermediateRead));
    }
}

#[test]
fn two_that_have_seen_one_another_are_found() {
    let history = "1 begins\n2 begins\n1 wrote 7:1:0\n2 wrote 8:1:0\n1 read 8:1:2\n2 read 7:1:1\n\
                   1 commits\n2 commits\n1 committed\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::CircularRead));
    }
}

#[test]
fn half_a_commit_is_found_in_a_statement_and_between_two_in_a_snapshot() {
    let writes = "1 begins\n1 wrote 7:1:0 8:1:0\n1 commits\n1 committed\n";
    let torn = format!("2 begins\n{writes}2 read 7:1:1 8:0:0\n2 commits\n2 committed");
    for level in BOTH {
        assert_eq!(at(level, &torn), Err(Kind::ReadSkew));
    }
    let between = format!("2 begins\n2 read 8:0:0\n{writes}2 read 7:1:1\n2 commits\n2 committed");
    assert_eq!(at("snapshot", &between), Err(Kind::ReadSkew));
    assert!(at("committed", &between).is_ok());
    // Also where the reader ends in another way.
    let undone = between.replace("2 commits\n2 committed", "2 aborted");
    assert_eq!(at("snapshot", &undone), Err(Kind::ReadSkew));
}

#[test]
fn a_row_that_changes_in_a_snapshot_is_found() {
    let history = "2 begins\n2 read 7:0:0\n1 begins\n1 wrote 7:1:0\n1 commits\n1 committed\n\
                   2 read 7:1:1\n2 commits\n2 committed";
    assert_eq!(at("snapshot", history), Err(Kind::ReadSkew));
    assert!(at("committed", history).is_ok());
}

#[test]
fn commits_that_are_seen_in_two_orders_are_found() {
    let history = "3 begins\n4 begins\n1 begins\n2 begins\n1 wrote 7:1:0\n2 wrote 8:1:0\n1 commits\n\
                   2 commits\n3 read 7:1:1 8:0:0\n4 read 7:0:0 8:1:2\n1 committed\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::LongFork));
    }
}

#[test]
fn a_lost_update_is_found() {
    let twice = "1 begins\n2 begins\n1 wrote 7:1:0\n2 wrote 7:1:0\n1 commits\n2 commits\n\
                 1 committed\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, twice), Err(Kind::LostUpdate));
    }
    // The second has not read what it replaces; where statements see newer commits it may.
    let later = "1 begins\n2 begins\n2 read 7:0:0\n1 wrote 7:1:0\n1 commits\n1 committed\n\
                 2 wrote 7:2:1\n2 commits\n2 committed";
    assert_eq!(at("snapshot", later), Err(Kind::LostUpdate));
    assert!(at("committed", later).is_ok());
}

#[test]
fn a_lost_commit_is_found() {
    let history = "1 begins\n1 wrote 7:1:0\n1 commits\n1 committed\n2 begins\n2 read 7:0:0\n\
                   2 commits\n2 committed";
    for level in BOTH {
        assert_eq!(at(level, history), Err(Kind::Stale));
    }
    let nobody = "2 begins\n2 read 7:1:0";
    assert_eq!(at("snapshot", nobody), Err(Kind::LostCommit));
    let hole = "2 begins\n2 wrote 7:2:0\n2 commits\n2 committed";
    assert_eq!(at("snapshot", hole), Err(Kind::LostCommit));
}

#[test]
fn who_is_killed_in_its_commit_has_committed_whole_or_not_at_all() {
    let killed = "1 begins\n1 wrote 7:1:0 8:1:0\n1 read 7:1:1\n1 commits\n2 begins\n";
    for level in BOTH {
        let did = at(level, &format!("{killed}2 read 7:1:1 8:1:1")).unwrap();
        assert_eq!(did.unknown, [1, 0]);
        let did_not = at(level, &format!("{killed}2 read 7:0:0 8:0:0")).unwrap();
        assert_eq!(did_not.unknown, [0, 1]);
        let torn = at(level, &format!("{killed}2 read 7:1:1 8:0:0"));
        assert_eq!(torn, Err(Kind::ReadSkew));
        // Others make the same version when it has not.
        let history = format!("{killed}2 wrote 7:1:0\n2 commits\n2 committed");
        assert_eq!(at(level, &history).unwrap().unknown, [0, 1]);
    }
}

#[test]
fn a_transaction_that_does_not_see_what_it_wrote_is_found() {
    for late in ["1 read 7:0:0", "1 wrote 7:1:0", "1 wrote 7:3:1"] {
        for level in BOTH {
            let history = format!("1 begins\n1 wrote 7:1:0\n{late}\n1 commits\n1 committed");
            assert_eq!(at(level, &history), Err(Kind::OwnWrite));
        }
    }
}
