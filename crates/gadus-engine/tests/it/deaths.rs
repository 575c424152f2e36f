//! Processes that die while they open a database, change, fold, checkpoint and leave it, one after
//! another, between any operations on its files, alone and beside others.

use crate::child::{Child, say, task};
use crate::reference::verify;
use crate::threads::{row, schema, total};
use crate::waiting::transact;
use gadus_base::{ByteCount, RowId};
use gadus_block::{FileFolder, Folder, HookedFolder};
use gadus_engine::{Datum, Engine, Options, Sharing};
use std::path::Path;
use std::sync::Arc;

const NAME: &str = "x.gadus";
const ACCOUNTS: i64 = 4;
const BALANCE: i64 = 1_000;

fn open(folder: Arc<dyn Folder>, memory: &Path) -> Engine {
    let options = Options {
        log_zone: ByteCount(4096),
        // Checkpoints are written when the test says so.
        checkpoint_log: ByteCount::mib(64),
        cache: Some(ByteCount::mib(1)),
        threads: 1,
        sharing: Sharing::Shared { memory: memory.to_owned() },
        ..Options::default()
    };
    Engine::open(folder, NAME, options).unwrap()
}

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((operations, path)) = task() else { return };
    let folder = Arc::new(FileFolder::new(&path));
    let engine =
        open(Arc::new(HookedFolder::killed_after(folder, operations.parse().unwrap())), &path);
    transfer_and_tell(&engine);
    engine.fold().unwrap();
    transfer_and_tell(&engine);
    engine.checkpoint().unwrap();
    transfer_and_tell(&engine);
    drop(engine);
    say("done");
}

fn transfer_and_tell(engine: &Engine) {
    transfer(engine);
    say("committed");
}

/// Moves something from one account to another, and notes that in a row of its own.
///
/// Nobody else writes; but what one had appended that has died since is shown only once somebody has
/// made it durable, and whoever writes the same rows on a snapshot from before is refused.
fn transfer(engine: &Engine) {
    let attempts = (0..2).filter_map(|_| try_transfer(engine));
    assert_eq!(attempts.take(1).count(), 1, "refused twice");
}

fn try_transfer(engine: &Engine) -> Option<()> {
    let done = transact(engine, |transaction| {
        let accounts = transaction.snapshot().table("accounts").unwrap();
        let notes = transaction.snapshot().table("notes").unwrap();
        let number = total(&transaction.snapshot(), "notes")[0] as i64;
        for (id, change) in [(number % ACCOUNTS, -1), ((number + 1) % ACCOUNTS, 1)] {
            let place: RowId = accounts.find_key(&[Datum::Integer(id)]).unwrap().unwrap();
            let old = accounts.row(place).unwrap().unwrap();
            let Datum::Integer(amount) = old[1] else { panic!("an amount is a number") };
            let new = vec![Datum::Integer(amount + change)];
            transaction.update(accounts.schema(), &[1], &[place], &[new])?;
        }
        transaction.insert(notes.schema(), vec![row(number, number)])
    });
    done.map(drop)
}

/// A child that dies after so many operations; gives how many commits it told of, and whether it came
/// to its end.
fn live(path: &Path, operations: u64) -> (i128, bool) {
    let mut child = Child::spawn("deaths", &operations.to_string(), path);
    let (mut commits, mut is_done) = (0, false);
    while let Some(said) = child.try_hear() {
        is_done = said == "done";
        commits += i128::from(!is_done);
    }
    let status = child.end();
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    assert!(is_done || was_killed, "after {operations} operations: {status}");
    (commits, is_done)
}

/// Accounts with what they had in sum, and a note of each transfer; gives how many notes there are.
fn notes(engine: &Engine, place: &str) -> i128 {
    let snapshot = engine.snapshot().unwrap();
    let sum = i128::from(ACCOUNTS * BALANCE);
    assert_eq!(total(&snapshot, "accounts"), [i128::from(ACCOUNTS), sum], "{place}");
    let [count, sum] = total(&snapshot, "notes");
    assert_eq!(sum, count * (count - 1) / 2, "{place}");
    count
}

/// A new database, with those who have it open meanwhile.
fn survive(is_open: bool) {
    let root = tempfile::tempdir().unwrap();
    let folder = Arc::new(FileFolder::new(root.path()));
    let there = || open(folder.clone(), root.path());
    let engine = there();
    let mut transaction = engine.begin().unwrap();
    let accounts = transaction.create_table(&schema("accounts")).unwrap();
    transaction.create_table(&schema("notes")).unwrap();
    transaction.insert(&accounts, (0..ACCOUNTS).map(|id| row(id, BALANCE)).collect()).unwrap();
    transaction.commit().unwrap();
    let mut engine = Some(engine).filter(|_| is_open);
    let mut expected = 0;
    // In steps that meet each kind of operation sooner or later: none has a period of three.
    for operations in (0..).step_by(3) {
        let (commits, is_done) = live(root.path(), operations);
        let place = format!("after {operations} operations");
        let survivor = engine.take().unwrap_or_else(there);
        let found = notes(&survivor, &place);
        // What it was in the middle of may be there.
        assert!((expected + commits..=expected + 5).contains(&found), "{place}: {found}");
        transfer(&survivor);
        expected = notes(&survivor, &place);
        assert!((found + 1..=found + 2).contains(&expected), "{place}: {found}, then {expected}");
        survivor.fold().unwrap();
        if operations % 9 == 0 {
            survivor.checkpoint().unwrap();
        }
        if operations % 15 == 0 {
            verify(&survivor, &place);
        }
        engine = Some(survivor).filter(|_| is_open);
        if is_done {
            assert!(operations > 60, "only {operations} operations");
            break;
        }
    }
    drop(engine);
    let engine = there();
    assert_eq!(notes(&engine, "at the end"), expected);
    verify(&engine, "at the end");
}

#[test]
fn the_next_recovers_whoever_died_alone() {
    survive(false);
}

#[test]
fn who_is_there_goes_on_whoever_dies() {
    survive(true);
}
