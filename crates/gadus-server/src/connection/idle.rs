//! How long a client may be silent, in a transaction and outside.

use crate::error::{Failure, SqlState};
use gadus::Reported;
use std::time::Duration;

/// What the client's session says of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Idle {
    in_transaction: Option<Duration>,
    outside: Option<Duration>,
}

/// A limit that the next silence has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    pub(super) time: Duration,
    in_transaction: bool,
}

impl Idle {
    pub(super) fn of(reported: &Reported) -> Self {
        Self { in_transaction: reported.idle_in_transaction_time, outside: reported.idle_time }
    }

    /// The limit, beside that of all clients outside transactions.
    pub(super) fn silence(self, in_transaction: bool, of_all: Option<Duration>) -> Option<Silence> {
        let time = match in_transaction {
            true => self.in_transaction,
            false => [self.outside, of_all].into_iter().flatten().min(),
        };
        time.map(|time| Silence { time, in_transaction })
    }
}

impl Silence {
    /// What the client is told when it was longer.
    pub(super) fn over(self) -> Failure {
        let seconds = self.time.as_secs_f64();
        match self.in_transaction {
            true => {
                let text = format!("the connection was idle in a transaction for {seconds} s");
                Failure::fatal(SqlState::IDLE_IN_TRANSACTION, text)
            }
            false => {
                let text = format!("the connection was idle for {seconds} s");
                Failure::fatal(SqlState::IDLE_SESSION, text)
            }
        }
    }
}
