//! Statements that wait for what others have locked.

use gadus_base::CommitNumber;
use gadus_engine::{Engine, Error, ErrorKind, Isolation, Locker, Transaction};
use std::time::Duration;

/// Longer than anybody keeps a lock here.
const LONG: Duration = Duration::from_secs(120);

/// Runs `work` in a transaction of its own and commits; none when another one was first.
pub(crate) fn transact<T>(
    engine: &Engine,
    work: impl FnMut(&mut Transaction) -> Result<T, Error>,
) -> Option<(T, Option<CommitNumber>)> {
    transact_at(engine, Isolation::default(), work)
}

/// The same, isolated so.
pub(crate) fn transact_at<T>(
    engine: &Engine,
    isolation: Isolation,
    mut work: impl FnMut(&mut Transaction) -> Result<T, Error>,
) -> Option<(T, Option<CommitNumber>)> {
    let mut transaction = engine.begin().unwrap();
    transaction.set_isolation(isolation).unwrap();
    loop {
        let savepoint = transaction.savepoint();
        match work(&mut transaction) {
            Ok(value) => return done(transaction.commit()).map(|commit| (value, commit)),
            Err(error) => {
                let Some(blocked) = error.blocked() else {
                    return done(Err(error));
                };
                transaction.restore(savepoint);
                done(transaction.locker().unwrap().wait_at_most(blocked, LONG))?;
            }
        }
    }
}

/// Runs a statement outside transactions, again with the locks that it had to wait for.
pub(crate) fn alone<T>(
    engine: &Engine,
    mut statement: impl FnMut(Option<&Locker>) -> Result<T, Error>,
) -> Result<T, Error> {
    let locker = engine.locker().unwrap();
    let mut done = statement(None);
    while let Some(blocked) = done.as_ref().err().and_then(Error::blocked) {
        locker.wait_at_most(blocked, LONG).unwrap();
        done = statement(Some(&locker));
    }
    done
}

fn done<T>(result: Result<T, Error>) -> Option<T> {
    let conflicts =
        |error: &Error| matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Deadlock);
    result.inspect_err(|error| assert!(conflicts(error), "{error}")).ok()
}
