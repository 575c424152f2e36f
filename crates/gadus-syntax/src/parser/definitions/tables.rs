//! CREATE TABLE, CREATE TABLE AS and CREATE VIEW.

use crate::ast::{
    CreateTable, CreateTableAs, CreateView, LikeTable, Persistence, Query, QueryBody, Statement,
    StorageParameter, TableElement, ViewCheck,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;
use crate::span::Span;

impl Parser<'_> {
    pub(in crate::parser) fn if_not_exists(&mut self) -> bool {
        self.has_all(&[Keyword::If, Keyword::Not, Keyword::Exists])
    }

    /// Reads what follows CREATE … TABLE.
    pub(in crate::parser) fn create_table(
        &mut self,
        or_replace: bool,
        persistence: Persistence,
    ) -> Result<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        if self.is_table_as() {
            let columns = self.optional_names()?;
            let (source, with_data) = self.table_source()?;
            return Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
                name,
                persistence,
                if_not_exists,
                or_replace,
                materialized_view: false,
                columns,
                source,
                with_data,
            })));
        }
        let mut table = CreateTable {
            name,
            persistence,
            if_not_exists,
            or_replace,
            elements: Vec::new(),
            inherits: Vec::new(),
            storage: Vec::new(),
            unsupported: None,
        };
        if self.is(Keyword::Of) || self.is(Keyword::Partition) {
            self.table_of(&mut table)?;
        } else {
            self.expect(TokenKind::Open)?;
            if self.kind() != TokenKind::Close {
                table.elements = self.list(Self::table_element)?;
            }
            self.expect(TokenKind::Close)?;
        }
        self.table_clauses(&mut table)?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// True if the table is made of a query: AS follows, possibly after columns' names and clauses.
    fn is_table_as(&self) -> bool {
        let mut ahead = 0;
        if self.kind() == TokenKind::Open {
            ahead = 1;
            // Names alone: a column of a definition has a type.
            while self.is_name(ahead) && self.token(ahead + 1).kind == TokenKind::Comma {
                ahead += 2;
            }
            if !self.is_name(ahead) || self.token(ahead + 1).kind != TokenKind::Close {
                return false;
            }
            ahead += 2;
        }
        matches!(
            self.token(ahead).kind,
            TokenKind::Keyword(
                Keyword::As | Keyword::With | Keyword::Using | Keyword::On | Keyword::Tablespace
            )
        )
    }

    /// Reads clauses, AS and the query, and whether its rows are wanted.
    fn table_source(&mut self) -> Result<(Statement, bool)> {
        self.access_method()?;
        self.with_storage()?;
        self.on_commit()?;
        self.tablespace()?;
        self.needs(Keyword::As)?;
        let source = match self.keyword() {
            Some(Keyword::Execute) => self.execute()?,
            _ => self.preparable()?,
        };
        Ok((source, self.with_data()?))
    }

    fn with_data(&mut self) -> Result<bool> {
        if self.has_all(&[Keyword::With, Keyword::No, Keyword::Data]) {
            return Ok(false);
        }
        self.has_all(&[Keyword::With, Keyword::Data]);
        Ok(true)
    }

    fn table_element(&mut self) -> Result<TableElement> {
        if self.has(Keyword::Like) {
            return self.like_table().map(TableElement::Like);
        }
        if self.is_table_constraint() {
            return self.table_constraint().map(Box::new).map(TableElement::Constraint);
        }
        self.column().map(Box::new).map(TableElement::Column)
    }

    fn like_table(&mut self) -> Result<LikeTable> {
        let table = self.object_name()?;
        let mut options = Vec::new();
        loop {
            let including = self.has(Keyword::Including);
            if !including && !self.has(Keyword::Excluding) {
                return Ok(LikeTable { table, options });
            }
            options.push((including, self.label()?.text));
        }
    }

    /// Reads `OF type (…)` and `PARTITION OF table (…) FOR VALUES …`.
    fn table_of(&mut self, table: &mut CreateTable) -> Result<()> {
        let start = self.span();
        let is_partition = self.has(Keyword::Partition);
        self.needs(Keyword::Of)?;
        self.object_name()?;
        if self.kind() == TokenKind::Open {
            self.skip_parentheses()?;
        }
        if is_partition && !self.has(Keyword::Default) {
            self.needs_all(&[Keyword::For, Keyword::Values])?;
            while !self.is_clause_end() {
                self.advance();
            }
        }
        let clause = if is_partition { "PARTITION OF" } else { "OF" };
        table.unsupported = Some((clause, start));
        Ok(())
    }

    fn is_clause_end(&self) -> bool {
        matches!(self.kind(), TokenKind::End | TokenKind::Semicolon)
            || (self.is(Keyword::Partition) && self.is_ahead(1, Keyword::By))
            || (self.is(Keyword::Create))
            || self.is(Keyword::Tablespace)
            || self.is(Keyword::Using)
    }

    fn table_clauses(&mut self, table: &mut CreateTable) -> Result<()> {
        let unsupported = |table: &mut CreateTable, clause: &'static str, span: Span| {
            table.unsupported.get_or_insert((clause, span));
        };
        if self.has(Keyword::Inherits) {
            table.inherits = self.in_parentheses(|parser| parser.list(Self::object_name))?;
        }
        let start = self.span();
        if self.has_all(&[Keyword::Partition, Keyword::By]) {
            self.label()?;
            self.skip_parentheses()?;
            unsupported(table, "PARTITION BY", start);
        }
        self.access_method()?;
        table.storage = self.with_storage()?;
        let start = self.span();
        if self.on_commit()? {
            unsupported(table, "ON COMMIT", start);
        }
        self.tablespace()
    }

    fn access_method(&mut self) -> Result<()> {
        if self.has(Keyword::Using) {
            self.name()?;
        }
        Ok(())
    }

    fn with_storage(&mut self) -> Result<Vec<StorageParameter>> {
        if self.is(Keyword::With) && self.token(1).kind == TokenKind::Open {
            self.at += 1;
            return self.storage_parameters();
        }
        self.has_all(&[Keyword::Without, Keyword::Oids]);
        Ok(Vec::new())
    }

    /// Reads ON COMMIT, and tells whether rows end with the transaction.
    fn on_commit(&mut self) -> Result<bool> {
        if !self.has_all(&[Keyword::On, Keyword::Commit]) {
            return Ok(false);
        }
        if self.has_all(&[Keyword::Preserve, Keyword::Rows]) {
            return Ok(false);
        }
        if !self.has_all(&[Keyword::Delete, Keyword::Rows]) {
            self.needs(Keyword::Drop)?;
        }
        Ok(true)
    }

    fn tablespace(&mut self) -> Result<()> {
        if self.has(Keyword::Tablespace) {
            self.name()?;
        }
        Ok(())
    }

    /// Reads what follows CREATE … VIEW.
    pub(in crate::parser) fn create_view(
        &mut self,
        or_replace: bool,
        temporary: bool,
        recursive: bool,
    ) -> Result<Statement> {
        self.if_not_exists();
        let name = self.object_name()?;
        let columns = self.optional_names()?;
        let options = self.with_storage()?;
        self.needs(Keyword::As)?;
        let query = match self.preparable()? {
            Statement::Query(query) => *query,
            statement => self.modification(statement),
        };
        let check = self.view_check()?;
        let view =
            CreateView { name, or_replace, temporary, recursive, columns, options, query, check };
        Ok(Statement::CreateView(Box::new(view)))
    }

    fn modification(&self, statement: Statement) -> Query {
        self.bare_query(self.last_span(), QueryBody::Modification(Box::new(statement)))
    }

    fn view_check(&mut self) -> Result<Option<ViewCheck>> {
        if !self.has(Keyword::With) {
            return Ok(None);
        }
        let check = if self.has(Keyword::Local) { ViewCheck::Local } else { ViewCheck::Cascaded };
        if check == ViewCheck::Cascaded {
            self.has(Keyword::Cascaded);
        }
        self.needs_all(&[Keyword::Check, Keyword::Option])?;
        Ok(Some(check))
    }

    /// Reads what follows CREATE MATERIALIZED VIEW.
    pub(in crate::parser) fn create_materialized_view(&mut self) -> Result<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let columns = self.optional_names()?;
        let (source, with_data) = self.table_source()?;
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            name,
            persistence: Persistence::Permanent,
            if_not_exists,
            or_replace: false,
            materialized_view: true,
            columns,
            source,
            with_data,
        })))
    }

    /// Skips from `(` to the `)` that belongs to it.
    pub(in crate::parser) fn skip_parentheses(&mut self) -> Result<()> {
        self.expect(TokenKind::Open)?;
        let mut open = 1_usize;
        while open > 0 {
            match self.advance().kind {
                TokenKind::Open => open += 1,
                TokenKind::Close => open -= 1,
                TokenKind::End => return Err(self.unexpected()),
                _ => {}
            }
        }
        Ok(())
    }
}
