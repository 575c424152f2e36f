//! Names: of columns, tables, functions and labels, by the classes of key words.

use super::Parser;
use crate::ast::{Name, ObjectName};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{ESCAPE, Token, TokenKind, decode_name};

impl Parser<'_> {
    fn name_of(&mut self, token: Token) -> Result<Name> {
        self.at += 1;
        let is_unicode = token.kind == TokenKind::QuotedName(true);
        let escape = if is_unicode { self.unicode_escape()? } else { ESCAPE };
        let text = decode_name(self.text, token, escape)?;
        Ok(Name { text, span: token.span })
    }

    fn name_if(&mut self, is_name: impl Fn(Keyword) -> bool) -> Result<Option<Name>> {
        let token = self.token(0);
        match token.kind {
            TokenKind::Name | TokenKind::QuotedName(_) => self.name_of(token).map(Some),
            TokenKind::Keyword(keyword) if is_name(keyword) => self.name_of(token).map(Some),
            _ => Ok(None),
        }
    }

    /// True if a name of a column or table may stand so far ahead.
    pub(super) fn is_name(&self, ahead: usize) -> bool {
        match self.token(ahead).kind {
            TokenKind::Name | TokenKind::QuotedName(_) => true,
            TokenKind::Keyword(keyword) => keyword.is_column_name(),
            _ => false,
        }
    }

    /// Reads the name of a column, table, schema or the like (ColId).
    pub(super) fn name(&mut self) -> Result<Name> {
        self.name_if(Keyword::is_column_name)?.ok_or_else(|| self.unexpected())
    }

    pub(super) fn optional_name(&mut self) -> Result<Option<Name>> {
        self.name_if(Keyword::is_column_name)
    }

    /// Reads a label after AS or after a point: any word (ColLabel).
    pub(super) fn label(&mut self) -> Result<Name> {
        self.name_if(|_| true)?.ok_or_else(|| self.unexpected())
    }

    /// Reads a label without AS (BareColLabel).
    pub(super) fn optional_bare_label(&mut self) -> Result<Option<Name>> {
        self.name_if(|keyword| !keyword.is_label_after_as_only())
    }

    /// Reads the name of a type or function without a schema (type_function_name).
    pub(super) fn function_name(&mut self) -> Result<Name> {
        self.name_if(Keyword::is_function_name)?.ok_or_else(|| self.unexpected())
    }

    /// Reads a word that is no reserved one, as names of languages and roles are (NonReservedWord).
    pub(super) fn word(&mut self) -> Result<Name> {
        let is_word = |keyword: Keyword| keyword.is_column_name() || keyword.is_function_name();
        self.name_if(is_word)?.ok_or_else(|| self.unexpected())
    }

    /// Reads `name`, `schema.name` or `database.schema.name`.
    pub(super) fn object_name(&mut self) -> Result<ObjectName> {
        let mut parts = vec![self.name()?];
        while self.takes(TokenKind::Dot) {
            parts.push(self.label()?);
        }
        Ok(ObjectName { parts })
    }

    /// Reads the name of a function or type, with its schema or without.
    pub(super) fn function_object_name(&mut self) -> Result<ObjectName> {
        if self.token(1).kind != TokenKind::Dot {
            return Ok(ObjectName { parts: vec![self.function_name()?] });
        }
        self.object_name()
    }

    pub(super) fn names_in_parentheses(&mut self) -> Result<Vec<Name>> {
        self.in_parentheses(|parser| parser.list(Self::name))
    }

    pub(super) fn optional_names(&mut self) -> Result<Vec<Name>> {
        if self.kind() == TokenKind::Open { self.names_in_parentheses() } else { Ok(Vec::new()) }
    }
}
