//! Statements by their first words.

use super::Parser;
use crate::ast::{Explain, LockTable, Name, ObjectName, Prepare, Statement, UtilityOption};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// Reads a statement.
    pub(super) fn statement(&mut self) -> Result<Statement> {
        if self.kind() == TokenKind::Open {
            return self.preparable();
        }
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        match keyword {
            Keyword::Select
            | Keyword::Values
            | Keyword::Table
            | Keyword::With
            | Keyword::From
            | Keyword::Insert
            | Keyword::Update
            | Keyword::Delete
            | Keyword::Merge => self.preparable(),
            Keyword::Truncate => self.truncate(),
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop_objects(),
            Keyword::Comment => self.comment(),
            Keyword::Copy => self.copy(),
            Keyword::Explain => self.explain(),
            Keyword::Begin
            | Keyword::Start
            | Keyword::Commit
            | Keyword::End
            | Keyword::Abort
            | Keyword::Rollback
            | Keyword::Savepoint
            | Keyword::Release => self.transaction(),
            Keyword::Set => self.set(),
            Keyword::Show => self.show(),
            Keyword::Reset => self.reset(),
            Keyword::Prepare => self.prepare(),
            Keyword::Execute => self.execute(),
            Keyword::Deallocate => self.deallocate(),
            Keyword::Declare => self.declare(),
            Keyword::Fetch | Keyword::Move => self.fetch(),
            Keyword::Close => self.close(),
            Keyword::Lock => self.lock_tables(),
            Keyword::Vacuum => self.vacuum(),
            Keyword::Analyze | Keyword::Analyse => self.analyze(),
            Keyword::Checkpoint => {
                self.at += 1;
                Ok(Statement::Checkpoint)
            }
            Keyword::Discard => {
                self.at += 1;
                Ok(Statement::Discard { what: self.label()?.text })
            }
            Keyword::Call => {
                self.at += 1;
                let call = self.primary()?;
                match call.kind {
                    crate::ast::ExprKind::Call(_) => Ok(Statement::Call(call)),
                    _ => Err(self.unexpected()),
                }
            }
            Keyword::Do => self.anonymous_block(),
            _ => self.unsupported_statement(keyword),
        }
    }

    /// Reads a query or a change, with WITH before it (PreparableStmt).
    pub(super) fn preparable(&mut self) -> Result<Statement> {
        let start = self.span();
        let with = self.with()?;
        match self.keyword() {
            Some(Keyword::Insert) => self.insert(with),
            Some(Keyword::Update) => self.update(with),
            Some(Keyword::Delete) => self.delete(with),
            Some(Keyword::Merge) => self.merge(with),
            _ => {
                let query = self.query_after_with(start, with)?;
                Ok(Statement::Query(Box::new(query)))
            }
        }
    }

    fn explain(&mut self) -> Result<Statement> {
        self.needs(Keyword::Explain)?;
        let mut options = Vec::new();
        let word = |name: &str| UtilityOption { name: name.to_owned(), value: None };
        if self.kind() == TokenKind::Open && !self.is_query_in_parentheses() {
            options = self.utility_options()?;
        } else {
            if self.has(Keyword::Analyze) || self.has(Keyword::Analyse) {
                options.push(word("analyze"));
            }
            if self.has(Keyword::Verbose) {
                options.push(word("verbose"));
            }
        }
        let statement = match self.keyword() {
            Some(Keyword::Create | Keyword::Execute | Keyword::Declare | Keyword::Refresh) => {
                self.statement()?
            }
            _ => self.preparable()?,
        };
        Ok(Statement::Explain(Box::new(Explain { options, statement })))
    }

    fn prepare(&mut self) -> Result<Statement> {
        self.needs(Keyword::Prepare)?;
        if self.has(Keyword::Transaction) {
            let name = self.text()?;
            let prepare = crate::ast::Transaction::PrepareTransaction(name);
            return Ok(Statement::Transaction(prepare));
        }
        let name = self.name()?;
        let types = if self.kind() == TokenKind::Open {
            self.in_parentheses(|parser| parser.list(Self::type_name))?
        } else {
            Vec::new()
        };
        self.needs(Keyword::As)?;
        let statement = self.statement()?;
        Ok(Statement::Prepare(Box::new(Prepare { name, types, statement })))
    }

    pub(super) fn execute(&mut self) -> Result<Statement> {
        self.needs(Keyword::Execute)?;
        let name = self.name()?;
        let arguments =
            if self.kind() == TokenKind::Open { self.exprs_in_parentheses()? } else { Vec::new() };
        Ok(Statement::Execute { name, arguments })
    }

    fn deallocate(&mut self) -> Result<Statement> {
        self.needs(Keyword::Deallocate)?;
        self.has(Keyword::Prepare);
        let name = if self.has(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::Deallocate { name })
    }

    fn lock_tables(&mut self) -> Result<Statement> {
        self.needs(Keyword::Lock)?;
        self.has(Keyword::Table);
        let tables = self.list(|parser| parser.table_name().map(|(name, _)| name))?;
        let mode = if self.has(Keyword::In) {
            let mut words = Vec::new();
            while !self.is(Keyword::Mode) {
                words.push(self.label()?.text.to_uppercase());
            }
            self.needs(Keyword::Mode)?;
            Some(words.join(" "))
        } else {
            None
        };
        let nowait = self.has(Keyword::Nowait);
        Ok(Statement::Lock(LockTable { tables, mode, nowait }))
    }

    fn vacuum(&mut self) -> Result<Statement> {
        self.needs(Keyword::Vacuum)?;
        let mut options = Vec::new();
        if self.kind() == TokenKind::Open {
            options = self.utility_options()?;
        } else {
            for (keyword, name) in [
                (Keyword::Full, "full"),
                (Keyword::Freeze, "freeze"),
                (Keyword::Verbose, "verbose"),
                (Keyword::Analyze, "analyze"),
            ] {
                if self.has(keyword) {
                    options.push(UtilityOption { name: name.to_owned(), value: None });
                }
            }
        }
        Ok(Statement::Vacuum { options, tables: self.tables_with_columns()? })
    }

    fn analyze(&mut self) -> Result<Statement> {
        self.at += 1;
        let mut options = Vec::new();
        if self.kind() == TokenKind::Open {
            options = self.utility_options()?;
        } else if self.has(Keyword::Verbose) {
            options.push(UtilityOption { name: "verbose".to_owned(), value: None });
        }
        Ok(Statement::Analyze { options, tables: self.tables_with_columns()? })
    }

    fn tables_with_columns(&mut self) -> Result<Vec<(ObjectName, Vec<Name>)>> {
        if !self.is_name(0) {
            return Ok(Vec::new());
        }
        self.list(|parser| Ok((parser.object_name()?, parser.optional_names()?)))
    }

    fn anonymous_block(&mut self) -> Result<Statement> {
        self.needs(Keyword::Do)?;
        let (mut language, mut body) = (None, None);
        loop {
            if self.has(Keyword::Language) {
                language = Some(self.word()?);
            } else if let Some(text) = self.optional_text()? {
                body = Some(text);
            } else {
                break;
            }
        }
        let body = body.ok_or_else(|| self.unexpected())?;
        Ok(Statement::Do { language, body })
    }
}
