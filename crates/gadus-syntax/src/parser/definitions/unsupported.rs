//! Statements of PostgreSQL that have no meaning here: read to their end, so that they are refused by name.

use crate::ast::Statement;
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads a statement that begins with such a word.
    pub(in crate::parser) fn unsupported_statement(
        &mut self,
        keyword: Keyword,
    ) -> Result<Statement> {
        let command = match keyword {
            Keyword::Grant => "GRANT",
            Keyword::Revoke => "REVOKE",
            Keyword::Listen => "LISTEN",
            Keyword::Unlisten => "UNLISTEN",
            Keyword::Notify => "NOTIFY",
            Keyword::Reindex => "REINDEX",
            Keyword::Cluster => "CLUSTER",
            Keyword::Refresh => "REFRESH MATERIALIZED VIEW",
            Keyword::Reassign => "REASSIGN OWNED",
            Keyword::Security => "SECURITY LABEL",
            Keyword::Load => "LOAD",
            Keyword::Import => "IMPORT FOREIGN SCHEMA",
            _ => return Err(self.unexpected()),
        };
        self.skip_statement(command)
    }

    /// Reads what follows CREATE where it is none of the supported kinds.
    pub(in crate::parser) fn unsupported_create(&mut self) -> Result<Statement> {
        let command = match self.keyword() {
            Some(Keyword::Access) => "CREATE ACCESS METHOD",
            Some(Keyword::Aggregate) => "CREATE AGGREGATE",
            Some(Keyword::Cast) => "CREATE CAST",
            Some(Keyword::Collation) => "CREATE COLLATION",
            Some(Keyword::Constraint | Keyword::Trigger) => "CREATE TRIGGER",
            Some(Keyword::Conversion | Keyword::Default) => "CREATE CONVERSION",
            Some(Keyword::Database) => "CREATE DATABASE",
            Some(Keyword::Event) => "CREATE EVENT TRIGGER",
            Some(Keyword::Extension) => "CREATE EXTENSION",
            Some(Keyword::Foreign) => "CREATE FOREIGN TABLE",
            Some(Keyword::Language | Keyword::Trusted | Keyword::Procedural) => "CREATE LANGUAGE",
            Some(Keyword::Operator) => "CREATE OPERATOR",
            Some(Keyword::Policy) => "CREATE POLICY",
            Some(Keyword::Publication) => "CREATE PUBLICATION",
            Some(Keyword::Role) => "CREATE ROLE",
            Some(Keyword::Rule) => "CREATE RULE",
            Some(Keyword::Server) => "CREATE SERVER",
            Some(Keyword::Statistics) => "CREATE STATISTICS",
            Some(Keyword::Subscription) => "CREATE SUBSCRIPTION",
            Some(Keyword::Tablespace) => "CREATE TABLESPACE",
            Some(Keyword::Text) if self.is_ahead(1, Keyword::Search) => "CREATE TEXT SEARCH",
            Some(Keyword::Transform) => "CREATE TRANSFORM",
            Some(Keyword::User | Keyword::Group) => "CREATE USER",
            _ => return Err(self.unexpected()),
        };
        self.skip_statement(command)
    }

    /// True at a kind of objects of PostgreSQL's that there are none of here.
    pub(in crate::parser) fn is_unsupported_kind(&self) -> bool {
        matches!(
            self.keyword(),
            Some(
                Keyword::Access
                    | Keyword::Cast
                    | Keyword::Conversion
                    | Keyword::Default
                    | Keyword::Event
                    | Keyword::Foreign
                    | Keyword::Large
                    | Keyword::Operator
                    | Keyword::Owned
                    | Keyword::Policy
                    | Keyword::Procedural
                    | Keyword::Publication
                    | Keyword::Rule
                    | Keyword::Server
                    | Keyword::Subscription
                    | Keyword::Text
                    | Keyword::Transform
                    | Keyword::Trigger
            )
        )
    }

    /// Skips to the end of a statement, whose parentheses have to be balanced.
    pub(in crate::parser) fn skip_statement(&mut self, command: &'static str) -> Result<Statement> {
        let mut open = 0_usize;
        loop {
            match self.kind() {
                TokenKind::End if open > 0 => return Err(self.unexpected()),
                TokenKind::End => break,
                TokenKind::Semicolon if open == 0 => break,
                TokenKind::Open => open += 1,
                TokenKind::Close if open == 0 => return Err(self.unexpected()),
                TokenKind::Close => open -= 1,
                _ => {}
            }
            self.advance();
        }
        Ok(Statement::Unsupported { command })
    }
}
