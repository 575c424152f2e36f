//! What a client's statements cost, for who watches the server.

use super::Client;
use super::shown::{shown, tells_password};
use crate::error::Failure;
use gadus_base::clock;
use std::sync::Arc;
use std::time::Duration;
use tracing::Level;

impl Client {
    /// A statement has come to its end, or what was tried of it: rows that it has sent or changed, or why it
    /// has failed. Its text may be one that is shown already.
    pub(super) fn finished(&self, text: &str, time: Duration, outcome: Result<u64, &Failure>) {
        let code = outcome.err().map(|failure| failure.code.text());
        self.shared.metrics.count_statement(time, code);
        if let Err(failure) = outcome
            && tracing::enabled!(Level::DEBUG)
        {
            self.tell_failure(text, time, failure);
        }
        if let Some(audit) = &self.shared.audit {
            audit.statement(&self.who, text, code);
        }
        if self.shared.options.slow_statement.is_some_and(|slow| time >= slow) {
            let (user, peer, rows) = (&self.who.user, &self.who.peer, outcome.ok());
            let (seconds, statement) = (time.as_secs_f64(), shown(text));
            tracing::warn!(user, %peer, seconds, rows, code, statement, "slow statement");
        }
    }

    fn tell_failure(&self, text: &str, time: Duration, failure: &Failure) {
        let (user, peer, code) = (&self.who.user, &self.who.peer, failure.code.text());
        let (seconds, statement) = (time.as_secs_f64(), shown(text));
        // A syntax error quotes what it does not understand.
        let error = if tells_password(text) { "" } else { &failure.message };
        tracing::debug!(user, %peer, code, error, seconds, statement, "statement failed");
    }

    /// A statement's text as the log shows it, for one that is prepared; none where nobody would see it.
    pub(super) fn kept_text(&self, text: &str) -> Option<Arc<str>> {
        let is_kept =
            self.shared.options.slow_statement.is_some() || tracing::enabled!(Level::DEBUG);
        let is_kept = is_kept || self.shared.audit.is_some();
        is_kept.then(|| shown(text).into())
    }

    /// The text of the statement that the message is about which is being answered.
    pub(super) fn current_text(&self) -> &str {
        self.current.as_deref().unwrap_or_default()
    }

    /// Commits a transaction that the client has not begun; where that fails it counts as a statement.
    pub(super) async fn commit_implicit(&mut self) -> Result<(), Failure> {
        let started = clock().now();
        let ended = self.end_implicit().await;
        if let Err(failure) = &ended {
            self.finished("COMMIT", started.elapsed(), Err(failure));
        }
        ended
    }
}
