//! What stays of settings when transactions end.

use super::{Chosen, Lasts, Settings};
use gadus_engine::{Isolation, Result};
use std::time::Duration;

fn timeout(seconds: u64) -> impl Fn(&mut Chosen, &Chosen) -> Result<()> {
    move |chosen, _| {
        chosen.statement_timeout = Some(Duration::from_secs(seconds));
        Ok(())
    }
}

fn seconds(settings: &Settings) -> Option<u64> {
    settings.statement_timeout.map(|time| time.as_secs())
}

#[test]
fn what_a_transaction_sets_ends_as_it_does() {
    let mut settings = Settings::new(Isolation::Snapshot);
    settings.change(Lasts::OnItsOwn, timeout(1)).unwrap();
    settings.change(Lasts::WithTransaction, timeout(2)).unwrap();
    settings.end_transaction(false);
    assert_eq!(seconds(&settings), Some(1));
    settings.change(Lasts::WithTransaction, timeout(2)).unwrap();
    settings.change(Lasts::Locally, timeout(3)).unwrap();
    assert_eq!(seconds(&settings), Some(3));
    settings.end_transaction(true);
    assert_eq!(seconds(&settings), Some(2));
    settings.change(Lasts::Locally, timeout(3)).unwrap();
    settings.change(Lasts::WithTransaction, timeout(4)).unwrap();
    settings.end_transaction(true);
    assert_eq!(seconds(&settings), Some(4));
}

#[test]
fn savepoints_take_back_what_came_after_them() {
    let mut settings = Settings::new(Isolation::Snapshot);
    let first = settings.mark();
    settings.change(Lasts::WithTransaction, timeout(2)).unwrap();
    let second = settings.mark();
    settings.change(Lasts::Locally, timeout(3)).unwrap();
    settings.go_back(&second);
    assert_eq!(seconds(&settings), Some(2));
    settings.go_back(&first);
    assert_eq!(seconds(&settings), None);
    settings.end_transaction(true);
    assert_eq!(seconds(&settings), None);
}

#[test]
fn what_fails_changes_nothing() {
    let mut settings = Settings::new(Isolation::Snapshot);
    let failing = |chosen: &mut Chosen, _: &Chosen| {
        chosen.statement_timeout = None;
        chosen.variables.set("no such variable", None)
    };
    settings.change(Lasts::OnItsOwn, timeout(1)).unwrap();
    let changes = settings.changes();
    settings.change(Lasts::WithTransaction, failing).unwrap_err();
    assert_eq!((seconds(&settings), settings.changes()), (Some(1), changes));
}
