//! Transactions as PostgreSQL's clients expect them.
//!
//! - The statements of one Query, or between two Syncs, are one transaction unless they begin and end
//!   their own.
//! - A statement that fails ends its transaction: others are refused until the client ends it, too, or
//!   goes back to a savepoint. What it has locked is free at once.

use super::Client;
use super::portal::State;
use crate::error::{Failure, SqlState};
use crate::protocol::{Notice, Severity};
use gadus::{Outcome, Statement, StatementKind, Value};

/// The transaction of a client.
#[derive(Debug, Default)]
pub(super) struct Block {
    stage: Stage,
    /// Of a transaction that the client has begun.
    has_savepoints: bool,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    None,
    /// It ends with the Query, or at Sync.
    Implicit,
    /// The client has begun it.
    Begun,
    /// The client has begun it, a statement has failed, and the client has not yet ended it.
    Failed,
}

impl Block {
    /// Whether the client has begun a transaction that it must end.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Begun | Stage::Failed)
    }

    /// As ReadyForQuery tells it.
    pub(super) fn status(&self) -> u8 {
        match self.stage {
            Stage::None | Stage::Implicit => b'I',
            Stage::Begun => b'T',
            Stage::Failed => b'E',
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
        match kind {
            StatementKind::Begin if self.block.stage != Stage::None => {
                if self.block.stage == Stage::Begun {
                    self.warn("25001", "there is already a transaction in progress");
                }
                if let Some(modes) = statement.modes_to_set() {
                    self.command(&modes).await?;
                }
                self.block.stage = Stage::Begun;
                return Ok(Outcome::Done("BEGIN"));
            }
            StatementKind::Commit | StatementKind::Rollback => {
                return self.end_block(kind, statement).await;
            }
            // The others are the session's.
            StatementKind::Deallocate if self.deallocate(statement) => {
                return Ok(Outcome::Done("DEALLOCATE"));
            }
            StatementKind::RollbackToSavepoint
                if self.block.stage == Stage::Failed && !self.block.has_savepoints =>
            {
                let text = "the transaction has no savepoint to go back to";
                return Err(Failure::new(SqlState::INVALID_SAVEPOINT, text));
            }
            _ => {}
        }
        let is_transaction = self.block.stage == Stage::None && is_transaction(kind);
        let outcome = self.run_statement(statement, values).await;
        if is_transaction {
            self.count_transaction(outcome.is_ok());
        }
        let outcome = outcome?;
        for message in self.connection.take_notices() {
            let notice = Notice { severity: Severity::Notice, code: "00000", message };
            self.channel.output.notice(&notice);
        }
        match kind {
            StatementKind::Begin | StatementKind::RollbackToSavepoint => {
                self.block.stage = Stage::Begun;
            }
            StatementKind::Savepoint => self.block.has_savepoints = true,
            _ => {}
        }
        if matches!(outcome, Outcome::Done("DISCARD ALL")) {
            self.statements.clear();
            self.portals.clear();
        }
        Ok(outcome)
    }

    /// Refuses what a transaction that has failed does not take.
    pub(super) fn check_block(&self, kind: StatementKind) -> Result<(), Failure> {
        let ends = matches!(
            kind,
            StatementKind::Commit | StatementKind::Rollback | StatementKind::RollbackToSavepoint
        );
        if self.block.stage != Stage::Failed || ends {
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
        let chains = statement.chains();
        if chains && !self.block.is_open() {
            let verb = if kind == StatementKind::Commit { "COMMIT" } else { "ROLLBACK" };
            let text = format!("{verb} AND CHAIN can only be used in transaction blocks");
            return Err(Failure::new(SqlState::NO_TRANSACTION, text));
        }
        let Block { stage, has_savepoints } = std::mem::take(&mut self.block);
        self.portals.clear();
        match stage {
            Stage::Failed => {
                if has_savepoints {
                    self.roll_back().await?;
                }
                if chains {
                    self.command("ROLLBACK AND CHAIN").await?;
                    self.block.stage = Stage::Begun;
                }
                return Ok(Outcome::Done("ROLLBACK"));
            }
            Stage::None => {
                self.warn("25P01", "there is no transaction in progress");
                let commits = kind == StatementKind::Commit;
                return Ok(Outcome::Done(if commits { "COMMIT" } else { "ROLLBACK" }));
            }
            Stage::Implicit | Stage::Begun => {}
        }
        let ended = self.run_statement(statement, Vec::new()).await;
        self.count_transaction(ended.is_ok() && kind == StatementKind::Commit);
        if chains && ended.is_ok() {
            self.block.stage = Stage::Begun;
        }
        ended
    }

    /// Begins a transaction that ends with the Query or at Sync, unless one is open.
    pub(super) async fn begin_implicit(&mut self) -> Result<(), Failure> {
        if self.block.stage == Stage::None {
            self.command("BEGIN").await?;
            self.block.stage = Stage::Implicit;
        }
        Ok(())
    }

    /// Commits such a transaction.
    pub(super) async fn end_implicit(&mut self) -> Result<(), Failure> {
        if self.block.stage == Stage::Implicit {
            self.block = Block::default();
            let ended = self.command("COMMIT").await;
            self.count_transaction(ended.is_ok());
            ended?;
        }
        Ok(())
    }

    /// A statement has failed, and with it the transaction.
    pub(super) async fn fail_block(&mut self) -> Result<(), Failure> {
        match (self.block.stage, self.block.has_savepoints) {
            (Stage::None | Stage::Failed, _) => return Ok(()),
            (Stage::Implicit, _) => self.block = Block::default(),
            (Stage::Begun, true) => {
                self.block.stage = Stage::Failed;
                return Ok(());
            }
            (Stage::Begun, false) => self.block.stage = Stage::Failed,
        }
        self.roll_back().await
    }

    async fn roll_back(&mut self) -> Result<(), Failure> {
        // As long as the client has not ended it, they are there, and not to be run.
        match self.block.is_open() {
            true => self.portals.values_mut().for_each(|portal| portal.state = State::Failed),
            false => self.portals.clear(),
        }
        self.count_transaction(false);
        self.command("ROLLBACK").await
    }

    /// The client goes, and with it the transaction that it has not ended.
    pub(super) fn leave_block(&mut self) {
        let Block { stage, has_savepoints } = std::mem::take(&mut self.block);
        if matches!(stage, Stage::Implicit | Stage::Begun)
            || (stage == Stage::Failed && has_savepoints)
        {
            self.count_transaction(false);
        }
    }

    fn count_transaction(&self, is_committed: bool) {
        let metrics = &self.shared.metrics;
        if is_committed { metrics.commits.add_one() } else { metrics.rollbacks.add_one() }
    }

    /// Runs a statement of the server's own.
    async fn command(&mut self, text: &str) -> Result<(), Failure> {
        let statement = self.connection.prepare(text)?;
        self.run_statement(&statement, Vec::new()).await.map(|_| ())
    }

    /// Forgets a statement that was prepared by a message, or all of them; says whether it is the one that was meant.
    fn deallocate(&mut self, statement: &Statement) -> bool {
        match statement.deallocated() {
            Some(name) => self.statements.remove(&name).is_some(),
            None => {
                self.statements.clear();
                false
            }
        }
    }

    fn warn(&mut self, code: &'static str, message: &str) {
        let (severity, message) = (Severity::Warning, message.to_owned());
        self.channel.output.notice(&Notice { severity, code, message });
    }
}

/// Whether a statement is a transaction by itself, where it is in no other.
fn is_transaction(kind: StatementKind) -> bool {
    matches!(kind, StatementKind::Query | StatementKind::Explain | StatementKind::Other)
}
