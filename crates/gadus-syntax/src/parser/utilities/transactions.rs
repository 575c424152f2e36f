//! BEGIN, COMMIT, ROLLBACK and savepoints.

use crate::ast::{Statement, Transaction, TransactionMode};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn transaction(&mut self) -> Result<Statement> {
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        self.at += 1;
        let transaction = match keyword {
            Keyword::Begin => {
                self.transaction_word();
                Transaction::Begin(self.optional_transaction_modes()?)
            }
            Keyword::Start => {
                self.needs(Keyword::Transaction)?;
                Transaction::Begin(self.optional_transaction_modes()?)
            }
            Keyword::Commit if self.has(Keyword::Prepared) => {
                Transaction::CommitPrepared(self.text()?)
            }
            Keyword::Commit | Keyword::End => {
                self.transaction_word();
                Transaction::Commit { chain: self.chains()? }
            }
            Keyword::Rollback if self.has(Keyword::Prepared) => {
                Transaction::RollbackPrepared(self.text()?)
            }
            Keyword::Rollback | Keyword::Abort => {
                self.transaction_word();
                if keyword == Keyword::Rollback && self.has(Keyword::To) {
                    self.has(Keyword::Savepoint);
                    Transaction::RollbackTo(self.name()?)
                } else {
                    Transaction::Rollback { chain: self.chains()? }
                }
            }
            Keyword::Savepoint => Transaction::Savepoint(self.name()?),
            Keyword::Release => {
                self.has(Keyword::Savepoint);
                Transaction::Release(self.name()?)
            }
            _ => return Err(self.unexpected()),
        };
        Ok(Statement::Transaction(transaction))
    }

    fn transaction_word(&mut self) {
        if !self.has(Keyword::Work) {
            self.has(Keyword::Transaction);
        }
    }

    fn chains(&mut self) -> Result<bool> {
        if !self.has(Keyword::And) {
            return Ok(false);
        }
        let chain = !self.has(Keyword::No);
        self.needs(Keyword::Chain)?;
        Ok(chain)
    }

    fn optional_transaction_modes(&mut self) -> Result<Vec<TransactionMode>> {
        let is_end = matches!(self.kind(), TokenKind::End | TokenKind::Semicolon);
        if is_end { Ok(Vec::new()) } else { self.transaction_modes() }
    }

    /// Reads modes, with commas between them or without.
    pub(in crate::parser) fn transaction_modes(&mut self) -> Result<Vec<TransactionMode>> {
        let mut modes = vec![self.transaction_mode()?];
        loop {
            let is_mode = matches!(
                self.keyword(),
                Some(Keyword::Isolation | Keyword::Read | Keyword::Not | Keyword::Deferrable)
            );
            if !self.takes(TokenKind::Comma) && !is_mode {
                return Ok(modes);
            }
            modes.push(self.transaction_mode()?);
        }
    }

    fn transaction_mode(&mut self) -> Result<TransactionMode> {
        if self.has_all(&[Keyword::Isolation, Keyword::Level]) {
            return self.isolation().map(TransactionMode::Isolation);
        }
        if self.has(Keyword::Read) {
            if self.has(Keyword::Only) {
                return Ok(TransactionMode::ReadOnly(true));
            }
            self.needs(Keyword::Write)?;
            return Ok(TransactionMode::ReadOnly(false));
        }
        let deferrable = !self.has(Keyword::Not);
        self.needs(Keyword::Deferrable)?;
        Ok(TransactionMode::Deferrable(deferrable))
    }

    fn isolation(&mut self) -> Result<String> {
        let levels: [(&[Keyword], &str); 4] = [
            (&[Keyword::Read, Keyword::Uncommitted], "read uncommitted"),
            (&[Keyword::Read, Keyword::Committed], "read committed"),
            (&[Keyword::Repeatable, Keyword::Read], "repeatable read"),
            (&[Keyword::Serializable], "serializable"),
        ];
        for (keywords, name) in levels {
            if self.has_all(keywords) {
                return Ok(name.to_owned());
            }
        }
        Err(self.unexpected())
    }
}
