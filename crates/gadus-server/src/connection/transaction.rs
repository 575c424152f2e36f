//! Transactions as PostgreSQL's clients expect them.
//!
//! - The statements of one Query, or between two Syncs, are one transaction unless they begin and end
//!   their own.
//! - A statement that fails ends its transaction: others are refused until the client ends it, too, or
//!   goes back to a savepoint. What it has locked is free at once.

use super::Client;
use crate::error::{Failure, SqlState};
use crate::protocol::Notice;
use gadus::{Connection, Outcome, Statement, StatementKind, Value};

/// The transaction of a client, beyond what its connection knows.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// It ends with the Query, or at Sync.
    is_implicit: bool,
    has_failed: bool,
    has_savepoints: bool,
}

impl Block {
    /// Whether the client has begun a transaction that it must end.
    pub(super) fn is_open(&self, connection: &Connection) -> bool {
        self.has_failed || (connection.in_transaction() && !self.is_implicit)
    }

    /// As ReadyForQuery tells it.
    pub(super) fn status(&self, connection: &Connection) -> u8 {
        match (self.has_failed, self.is_open(connection)) {
            (true, _) => b'E',
            (false, true) => b'T',
            (false, false) => b'I',
        }
    }
}

impl Client {
    /// Runs a statement as part of the client's transaction.
    pub(super) async fn run_in_block(
        &mut self,
        statement: &Statement,
        values: Vec<Value>,
    ) -> Result<Outcome, Failure> {
        let kind = statement.kind();
        self.check_block(kind)?;
        let is_within = self.connection.in_transaction();
        match kind {
            StatementKind::Begin if is_within => {
                if !std::mem::take(&mut self.block.is_implicit) {
                    self.warn("25001", "there is already a transaction in progress");
                }
                return Ok(Outcome::Done("BEGIN"));
            }
            StatementKind::Commit | StatementKind::Rollback => {
                return self.end_block(kind, statement).await;
            }
            StatementKind::Deallocate => {
                self.deallocate(statement);
                return Ok(Outcome::Done("DEALLOCATE"));
            }
            StatementKind::RollbackToSavepoint if !is_within && self.block.has_failed => {
                let text = "the transaction has no savepoint to go back to";
                return Err(Failure::new(SqlState::INVALID_SAVEPOINT, text));
            }
            _ => {}
        }
        let outcome = self.run_statement(statement, values).await?;
        match kind {
            StatementKind::RollbackToSavepoint => self.block.has_failed = false,
            StatementKind::Savepoint => self.block.has_savepoints = true,
            _ => {}
        }
        Ok(outcome)
    }

    /// Refuses what a transaction that has failed does not take.
    pub(super) fn check_block(&self, kind: StatementKind) -> Result<(), Failure> {
        let ends = matches!(
            kind,
            StatementKind::Commit | StatementKind::Rollback | StatementKind::RollbackToSavepoint
        );
        if !self.block.has_failed || ends {
            return Ok(());
        }
        let text =
            "current transaction is aborted, commands ignored until end of transaction block";
        Err(Failure::new(SqlState::FAILED_TRANSACTION, text))
    }

    /// COMMIT and ROLLBACK.
    async fn end_block(
        &mut self,
        kind: StatementKind,
        statement: &Statement,
    ) -> Result<Outcome, Failure> {
        let Block { has_failed, .. } = std::mem::take(&mut self.block);
        let is_within = self.connection.in_transaction();
        if has_failed {
            if is_within {
                self.roll_back().await?;
            }
            return Ok(Outcome::Done("ROLLBACK"));
        }
        if !is_within {
            self.warn("25P01", "there is no transaction in progress");
            let commits = kind == StatementKind::Commit;
            return Ok(Outcome::Done(if commits { "COMMIT" } else { "ROLLBACK" }));
        }
        self.run_statement(statement, Vec::new()).await
    }

    /// Begins a transaction that ends with the Query or at Sync, unless one is open.
    pub(super) async fn begin_implicit(&mut self) -> Result<(), Failure> {
        if !self.block.has_failed && !self.connection.in_transaction() {
            self.command("BEGIN").await?;
            self.block.is_implicit = true;
        }
        Ok(())
    }

    /// Commits such a transaction.
    pub(super) async fn end_implicit(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.block.is_implicit) {
            self.command("COMMIT").await?;
        }
        Ok(())
    }

    /// A statement has failed, and with it the transaction.
    pub(super) async fn fail_block(&mut self) -> Result<(), Failure> {
        if !self.connection.in_transaction() {
            return Ok(());
        }
        if std::mem::take(&mut self.block.is_implicit) {
            return self.roll_back().await;
        }
        self.block.has_failed = true;
        match self.block.has_savepoints {
            true => Ok(()),
            false => self.roll_back().await,
        }
    }

    async fn roll_back(&mut self) -> Result<(), Failure> {
        self.portals.clear();
        self.command("ROLLBACK").await
    }

    /// Runs a statement of the server's own.
    async fn command(&mut self, text: &str) -> Result<(), Failure> {
        let statement = self.connection.prepare(text)?;
        self.run_statement(&statement, Vec::new()).await.map(|_| ())
    }

    /// Forgets a prepared statement, or all.
    fn deallocate(&mut self, statement: &Statement) {
        match statement.deallocated() {
            Some(name) => drop(self.statements.remove(&name)),
            None => self.statements.clear(),
        }
    }

    fn warn(&mut self, code: &'static str, message: &str) {
        self.channel.output.notice(&Notice { code, message: message.to_owned() });
    }
}
