//! Parsing and describing statements before they run: both can be cancelled, and end after `statement_timeout`.

use super::bound_queries::bound_only;
use super::cancel::Flag;
use super::stand_ins::stand_in;
use super::{Prepared, Session};
use crate::analysis::diagnosed_syntax;
use crate::error::from_datafusion;
use crate::executor::apart;
use crate::value_limits::check_statement;
use futures::FutureExt;
use gadus_base::{Instant, clock};
use gadus_engine::{ErrorKind, Reason, Result};
use std::sync::Arc;

/// Bytes of a statement from which parsing it takes so long that it is to be cancelled: some milliseconds.
pub const LARGE_TEXT: usize = 64 << 10;

/// Work for a statement that does not run yet.
pub(super) struct Preparing {
    pub(super) flag: Arc<Flag>,
    /// Flag of the session before.
    before: Arc<Flag>,
}

impl Session {
    /// Parses a statement for running it several times; for an EXECUTE, the one that it runs.
    pub fn prepare(&self, text: &str) -> Result<Prepared> {
        self.executed(text)?.map_or_else(|| self.parse(text), Ok)
    }

    /// Parses a long text like [`Session::prepare`], and ends when the session is cancelled or after
    /// `statement_timeout`, although the parser has not ended then.
    ///
    /// # Errors
    /// `Cancelled`, and those of [`Session::prepare`].
    pub async fn prepare_large(&self, text: &str) -> Result<Prepared> {
        let before = self.begin_preparing().await;
        let prepared = self.parse_large(text, &before).await;
        self.end_preparing(before, prepared)
    }

    /// Parses a long text like [`Session::prepare_large`] for the statement that the session runs next, whose time
    /// counts from `since` on.
    ///
    /// # Errors
    /// `Cancelled`, and those of [`Session::prepare`].
    pub async fn prepare_large_next(&self, text: &str, since: Instant) -> Result<Prepared> {
        let before = self.begin_preparing_since(since).await;
        let prepared = self.parse_large(text, &before).await;
        if prepared.is_ok() {
            self.cancel.keep_limit(&before.flag);
        }
        self.end_preparing(before, prepared)
    }

    /// Gives the next statement all of its time: what was prepared for it has not been run.
    pub fn forget_preparing(&self) {
        self.cancel.forget_limit();
    }

    async fn parse_large(&self, text: &str, preparing: &Preparing) -> Result<Prepared> {
        self.shared.deadlines.watch(&preparing.flag)?;
        match self.executed(text)? {
            Some(executed) => Ok(executed),
            None => self.parse_within(text, &preparing.flag).await,
        }
    }

    /// Begins to work for a statement that does not run yet, and can be cancelled all the same.
    pub(super) async fn begin_preparing(&self) -> Preparing {
        self.begin_preparing_since(clock().now()).await
    }

    async fn begin_preparing_since(&self, since: Instant) -> Preparing {
        // The statement that runs is the one to be cancelled until it is over.
        let mut state = self.state.lock().await;
        let before = self.cancel.current();
        let flag = self.cancel.begin_preparing(self.outside.lock().statement_timeout, since);
        flag.set_times(state.begin_times());
        Preparing { flag, before }
    }

    /// Ends it; gives its result, or the reason for which it was cancelled.
    pub(super) fn end_preparing<T>(&self, preparing: Preparing, result: Result<T>) -> Result<T> {
        let Preparing { flag, before } = preparing;
        self.cancel.end(&flag, before);
        // What looks at the flag by itself does not know why it is set.
        result.map_err(|error| match error.kind() {
            ErrorKind::Cancelled if flag.is_set() => flag.reason(),
            _ => error,
        })
    }

    /// Parses a statement; a long one in a task of its own, which is not waited for once the flag is set: nothing
    /// interrupts the parser.
    pub(super) async fn parse_within(&self, text: &str, flag: &Flag) -> Result<Prepared> {
        if text.len() < LARGE_TEXT {
            return self.parse(text);
        }
        check_statement(text, &self.shared.memory)?;
        let text = text.to_owned();
        let parse = move || super::parse(&text).map_err(|error| diagnosed_syntax(error, &text));
        let parsed = apart(true, async move { Ok(parse()) }.boxed());
        flag.run(async { parsed.await.map_err(from_datafusion) }).await?
    }

    /// Parses a statement if there is memory for what it becomes.
    pub(super) fn parse(&self, text: &str) -> Result<Prepared> {
        check_statement(text, &self.shared.memory)?;
        super::parse(text).or_else(|error| {
            let is_unread =
                error.reason() == Some(Reason::Syntax) || error.kind() == ErrorKind::Unsupported;
            let is_unread = is_unread && text.len() < LARGE_TEXT;
            let unread = || {
                let bound = bound_only(text, error.clone());
                bound.or_else(|| stand_in(text, error.clone()))
            };
            match is_unread.then(unread).flatten() {
                Some(prepared) => Ok(prepared),
                None => Err(diagnosed_syntax(error, text)),
            }
        })
    }
}
