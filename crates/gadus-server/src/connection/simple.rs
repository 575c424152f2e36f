//! The simple protocol: a text of statements, answered one after another.

use super::Client;
use super::portal::Portal;
use crate::error::Failure;
use gadus::split_statements;
use gadus_base::{Instant, clock};

impl Client {
    /// Answers a Query that came at a moment: the time of its first statement counts from then on.
    pub(super) async fn simple(&mut self, text: &str, came: Instant) -> Result<(), Failure> {
        // The portal without a name does not outlive the next Query.
        self.portals.remove("");
        match self.answer_all(text, came).await {
            Ok(()) => {
                self.drop_portals();
                self.ready().await
            }
            Err(failure) => self.fail_simple(failure).await,
        }
    }

    /// Tells the client that its Query has failed; the rest of it is not carried out.
    pub(super) async fn fail_simple(&mut self, failure: Failure) -> Result<(), Failure> {
        if failure.is_fatal {
            return Err(failure);
        }
        self.channel.output.error(&self.lease.explained(failure));
        self.fail_block().await?;
        self.ready().await
    }

    async fn answer_all(&mut self, text: &str, came: Instant) -> Result<(), Failure> {
        let script = split_statements(text);
        let last = Some(script.rest).filter(|rest| !rest.is_empty());
        let statements = script.statements.into_iter().chain(last);
        let statements = statements.zip(script.starts).collect::<Vec<_>>();
        if statements.is_empty() {
            self.channel.output.empty_query();
        }
        let are_many = statements.len() > 1;
        let script_cancel = self.connection.script_cancel();
        let mut came = Some(came);
        for (statement, start) in &statements {
            script_cancel.check().map_err(|error| Failure::of(&error, None))?;
            let started = clock().now();
            let since = came.take().unwrap_or(started);
            let answered = self.answer_one(statement, since, are_many).await;
            let answered = answered.map_err(|failure| failure.behind(&text[..*start]));
            self.finished(statement, started.elapsed(), answered.as_ref().copied());
            answered?;
        }
        self.commit_implicit().await
    }

    /// Returns the rows that were sent, or changed.
    async fn answer_one(
        &mut self,
        text: &str,
        since: Instant,
        is_one_of_many: bool,
    ) -> Result<u64, Failure> {
        let prepared = self.connection.prepare_next(text, since).await;
        let statement = prepared.map_err(|error| Failure::of(&error, Some(text)))?;
        self.check_block(statement.kind())?;
        if is_one_of_many && !super::extended::ends_block(statement.kind()) {
            self.begin_implicit().await?;
        }
        if let Some(request) = statement.copy_request()? {
            return self.copy(request).await;
        }
        let outcome = self.run_in_block(&statement, Vec::new()).await?;
        let mut portal = Portal::of_outcome(&statement, outcome);
        if let Some(fields) = portal.fields()? {
            self.channel.output.row_description(&fields);
        }
        self.send_rows(&mut portal, 0).await?;
        Ok(portal.rows)
    }
}
