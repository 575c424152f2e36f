//! CREATE INDEX.

use crate::ast::{CreateIndex, ExprKind, IndexElement, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads what follows CREATE INDEX or CREATE UNIQUE INDEX.
    pub(in crate::parser) fn create_index(&mut self, unique: bool) -> Result<Statement> {
        let concurrently = self.has(Keyword::Concurrently);
        let if_not_exists = self.if_not_exists();
        let name = if self.is(Keyword::On) && !if_not_exists { None } else { Some(self.name()?) };
        self.needs(Keyword::On)?;
        let (table, _) = self.table_name()?;
        let method = self.has(Keyword::Using).then(|| self.name()).transpose()?;
        let elements = self.in_parentheses(|parser| parser.list(Self::index_element))?;
        let include =
            if self.has(Keyword::Include) { self.names_in_parentheses()? } else { Vec::new() };
        let nulls_distinct = self.nulls_distinct()?;
        let has_options = self.has(Keyword::With);
        let options = if has_options { self.storage_parameters()? } else { Vec::new() };
        if self.has(Keyword::Tablespace) {
            self.name()?;
        }
        let filter = self.has(Keyword::Where).then(|| self.expr()).transpose()?;
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            name,
            if_not_exists,
            unique,
            concurrently,
            table,
            method,
            elements,
            include,
            nulls_distinct,
            options,
            filter,
        })))
    }

    /// Reads a column, a call or an expression in parentheses, with its collation, operator class and order.
    pub(in crate::parser) fn index_element(&mut self) -> Result<IndexElement> {
        let start = self.span();
        let is_column = self.is_name(0) && self.token(1).kind != TokenKind::Open;
        let expr = if self.kind() == TokenKind::Open {
            self.in_parentheses(Self::expr)?
        } else if is_column && self.token(1).kind != TokenKind::Dot {
            let name = self.name()?;
            self.spanned(start, ExprKind::Column(vec![name]))
        } else {
            self.primary()?
        };
        let collation = self.optional_collation()?;
        let operator_class = if self.is_name(0) && !self.is(Keyword::Nulls) {
            let class = self.object_name()?;
            if self.kind() == TokenKind::Open {
                self.skip_parentheses()?;
            }
            Some(class)
        } else {
            None
        };
        let direction = self.direction();
        let nulls = self.nulls_order()?;
        Ok(IndexElement { expr, collation, operator_class, direction, nulls })
    }
}
