//! What a client's statements cost, for who watches the server.

use super::Client;
use crate::error::Failure;
use gadus_base::clock;
use std::time::Duration;

impl Client {
    /// A statement has come to its end, or what was tried of it.
    pub(super) fn finished(&self, time: Duration, failure: Option<&Failure>) {
        let code = failure.map(|failure| failure.code.text());
        self.shared.metrics.count_statement(time, code);
    }

    /// Commits a transaction that the client has not begun; where that fails it counts as a statement.
    pub(super) async fn commit_implicit(&mut self) -> Result<(), Failure> {
        let started = clock().now();
        let ended = self.end_implicit().await;
        if let Err(failure) = &ended {
            self.finished(started.elapsed(), Some(failure));
        }
        ended
    }
}
