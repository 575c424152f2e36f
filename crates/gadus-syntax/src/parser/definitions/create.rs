//! CREATE, by what is created.

use crate::ast::{CompositeField, CreateDomain, CreateEnum, CreateSchema, Persistence, Statement};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    pub(in crate::parser) fn create(&mut self) -> Result<Statement> {
        self.needs(Keyword::Create)?;
        let or_replace = self.has_all(&[Keyword::Or, Keyword::Replace]);
        let persistence = self.persistence();
        let temporary = persistence == Persistence::Temporary;
        if self.is_word("macro") {
            self.at += 1;
            return self.create_macro(or_replace, temporary);
        }
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        let ahead = self.at;
        self.at += 1;
        match keyword {
            Keyword::Table => self.create_table(or_replace, persistence),
            Keyword::View => self.create_view(or_replace, temporary, false),
            Keyword::Recursive if self.has(Keyword::View) => {
                self.create_view(or_replace, temporary, true)
            }
            Keyword::Materialized if self.has(Keyword::View) => self.create_materialized_view(),
            Keyword::Unique if self.has(Keyword::Index) => self.create_index(true),
            Keyword::Index => self.create_index(false),
            Keyword::Sequence => self.create_sequence(persistence),
            Keyword::Type => self.create_type(),
            Keyword::Domain => self.create_domain(),
            Keyword::Schema => self.create_schema(),
            Keyword::Function => self.create_function(or_replace, false),
            Keyword::Procedure => self.create_function(or_replace, true),
            _ => {
                self.at = ahead;
                self.unsupported_create()
            }
        }
    }

    fn persistence(&mut self) -> Persistence {
        if matches!(self.keyword(), Some(Keyword::Local | Keyword::Global)) {
            self.at += 1;
        }
        if self.has(Keyword::Temporary) || self.has(Keyword::Temp) {
            return Persistence::Temporary;
        }
        if self.has(Keyword::Unlogged) { Persistence::Unlogged } else { Persistence::Permanent }
    }

    fn create_type(&mut self) -> Result<Statement> {
        let name = self.object_name()?;
        let is_definition = self.kind() == TokenKind::Open
            && matches!(
                self.token(2).kind,
                TokenKind::Operator(Operator::Equals) | TokenKind::Comma | TokenKind::Close
            );
        if is_definition || matches!(self.kind(), TokenKind::End | TokenKind::Semicolon) {
            return self.skip_statement("CREATE TYPE");
        }
        self.needs(Keyword::As)?;
        if self.has(Keyword::Enum) {
            let labels = self.in_parentheses(|parser| {
                let is_empty = parser.kind() == TokenKind::Close;
                if is_empty { Ok(Vec::new()) } else { parser.list(Self::text) }
            })?;
            return Ok(Statement::CreateEnum(CreateEnum { name, labels }));
        }
        if self.is(Keyword::Range) {
            return self.skip_statement("CREATE TYPE AS RANGE");
        }
        let fields = self.in_parentheses(|parser| {
            if parser.kind() == TokenKind::Close {
                return Ok(Vec::new());
            }
            parser.list(|parser| {
                let column = parser.plain_column()?;
                Ok(CompositeField { name: column.name, data_type: column.data_type })
            })
        })?;
        Ok(Statement::CreateComposite { name, fields })
    }

    fn create_domain(&mut self) -> Result<Statement> {
        let name = self.object_name()?;
        self.has(Keyword::As);
        let data_type = self.type_name()?;
        let collation = self.optional_collation()?;
        let constraints = self.column_constraints()?;
        let domain = CreateDomain { name, data_type, collation, constraints };
        Ok(Statement::CreateDomain(Box::new(domain)))
    }

    fn create_schema(&mut self) -> Result<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = if self.is(Keyword::Authorization) { None } else { Some(self.name()?) };
        let owner = self.has(Keyword::Authorization).then(|| self.word()).transpose()?;
        let mut elements = Vec::new();
        while self.is(Keyword::Create) || self.is(Keyword::Grant) {
            elements.push(self.script_statement()?);
        }
        Ok(Statement::CreateSchema(CreateSchema { name, if_not_exists, owner, elements }))
    }
}
