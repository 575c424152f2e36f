//! Options in parentheses, storage parameters, and SET, SHOW and RESET.

use crate::ast::{
    OptionValue, SetScope, SetStatement, SetValue, Statement, StorageParameter, UtilityOption,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads `(name, name value, …)`.
    pub(in crate::parser) fn utility_options(&mut self) -> Result<Vec<UtilityOption>> {
        self.in_parentheses(|parser| {
            parser.list(|parser| {
                let name = parser.label()?.text;
                let is_end = matches!(parser.kind(), TokenKind::Comma | TokenKind::Close);
                let value = (!is_end).then(|| parser.option_value()).transpose()?;
                Ok(UtilityOption { name, value })
            })
        })
    }

    /// Reads the value of an option: a word, a text, a number, `*`, or a list of those.
    pub(in crate::parser) fn option_value(&mut self) -> Result<OptionValue> {
        if let Some(text) = self.optional_text()? {
            return Ok(OptionValue::Text(text));
        }
        match self.kind() {
            TokenKind::Operator(Operator::Star) => {
                self.at += 1;
                Ok(OptionValue::Star)
            }
            TokenKind::Operator(Operator::Plus | Operator::Minus)
            | TokenKind::Integer
            | TokenKind::Decimal => self.signed_number().map(OptionValue::Number),
            TokenKind::Open => {
                let list = |parser: &mut Self| parser.list(Self::option_value);
                self.nested(|parser| parser.in_parentheses(list)).map(OptionValue::List)
            }
            TokenKind::OpenBracket => self.primary().map(Box::new).map(OptionValue::Expr),
            TokenKind::Parameter => self.primary().map(Box::new).map(OptionValue::Expr),
            TokenKind::Keyword(Keyword::True | Keyword::False | Keyword::On) => {
                self.label().map(|word| OptionValue::Word(word.text))
            }
            _ => self.word().map(|word| OptionValue::Word(word.text)),
        }
    }

    /// Reads the value of a storage parameter, which may be any word, or a type.
    fn storage_value(&mut self) -> Result<OptionValue> {
        match self.kind() {
            TokenKind::Keyword(_) => self.label().map(|word| OptionValue::Word(word.text)),
            _ => self.option_value(),
        }
    }

    /// Reads `(name = value, …)`, names with a point possibly.
    pub(in crate::parser) fn storage_parameters(&mut self) -> Result<Vec<StorageParameter>> {
        self.in_parentheses(|parser| {
            parser.list(|parser| {
                let mut name = parser.label()?.text;
                if parser.takes(TokenKind::Dot) {
                    name = format!("{name}.{}", parser.label()?.text);
                }
                let has_value = parser.has_operator(Operator::Equals);
                let value = has_value.then(|| parser.storage_value()).transpose()?;
                Ok(StorageParameter { name, value })
            })
        })
    }

    pub(in crate::parser) fn set(&mut self) -> Result<Statement> {
        self.needs(Keyword::Set)?;
        if self.has(Keyword::Constraints) {
            return self.set_constraints();
        }
        if self.has_all(&[Keyword::Session, Keyword::Characteristics, Keyword::As]) {
            self.needs(Keyword::Transaction)?;
            let value = SetValue::Transaction(self.transaction_modes()?);
            let name = "session characteristics".to_owned();
            return Ok(Statement::Set(SetStatement { scope: SetScope::Session, name, value }));
        }
        // A setting may have the name of a scope.
        let is_name = matches!(
            self.token(1).kind,
            TokenKind::Operator(_) | TokenKind::Dot | TokenKind::Keyword(Keyword::To)
        );
        let is_local = self.is(Keyword::Local) && !is_name;
        let is_session =
            self.is(Keyword::Session) && !is_name && !self.is_ahead(1, Keyword::Authorization);
        self.at += usize::from(is_local || is_session);
        let scope = if is_local { SetScope::Local } else { SetScope::Session };
        let (name, value) = self.setting()?;
        Ok(Statement::Set(SetStatement { scope, name, value }))
    }

    /// Reads a setting's name and value.
    pub(in crate::parser) fn setting(&mut self) -> Result<(String, SetValue)> {
        if self.has(Keyword::Transaction) {
            return Ok((
                "transaction".to_owned(),
                SetValue::Transaction(self.transaction_modes()?),
            ));
        }
        if self.has_all(&[Keyword::Time, Keyword::Zone]) {
            return Ok(("timezone".to_owned(), self.time_zone()?));
        }
        if self.has_all(&[Keyword::Session, Keyword::Authorization]) {
            return Ok(("session_authorization".to_owned(), self.single_value()?));
        }
        for (keyword, name) in [
            (Keyword::Names, "client_encoding"),
            (Keyword::Role, "role"),
            (Keyword::Schema, "search_path"),
            (Keyword::Catalog, "catalog"),
        ] {
            let is_plain = matches!(self.token(1).kind, TokenKind::Operator(_) | TokenKind::Dot)
                || self.is_ahead(1, Keyword::To)
                || self.is_ahead(1, Keyword::From);
            if self.is(keyword) && !is_plain {
                self.at += 1;
                let is_end = matches!(self.kind(), TokenKind::End | TokenKind::Semicolon);
                let is_default = keyword == Keyword::Names && is_end;
                let value = if is_default { SetValue::Default } else { self.single_value()? };
                return Ok((name.to_owned(), value));
            }
        }
        let name = self.setting_name()?;
        if self.has_all(&[Keyword::From, Keyword::Current]) {
            return Ok((name, SetValue::Current));
        }
        if !self.has(Keyword::To) {
            self.expect(TokenKind::Operator(Operator::Equals))?;
        }
        if self.has(Keyword::Default) {
            return Ok((name, SetValue::Default));
        }
        Ok((name, SetValue::Values(self.list(Self::option_value)?)))
    }

    fn single_value(&mut self) -> Result<SetValue> {
        if self.has(Keyword::Default) {
            return Ok(SetValue::Default);
        }
        Ok(SetValue::Values(vec![self.option_value()?]))
    }

    fn time_zone(&mut self) -> Result<SetValue> {
        if self.has(Keyword::Local) || self.has(Keyword::Default) {
            return Ok(SetValue::Default);
        }
        if self.is(Keyword::Interval) {
            let interval = self.primary()?;
            return Ok(SetValue::Values(vec![OptionValue::Expr(Box::new(interval))]));
        }
        Ok(SetValue::Values(vec![self.option_value()?]))
    }

    fn setting_name(&mut self) -> Result<String> {
        let mut name = self.name()?.text;
        while self.takes(TokenKind::Dot) {
            name = format!("{name}.{}", self.name()?.text);
        }
        Ok(name)
    }

    /// Reads the name of a setting for SHOW and RESET; none for ALL.
    fn shown_setting(&mut self) -> Result<Option<String>> {
        if self.has(Keyword::All) {
            return Ok(None);
        }
        if self.has_all(&[Keyword::Time, Keyword::Zone]) {
            return Ok(Some("timezone".to_owned()));
        }
        if self.has_all(&[Keyword::Transaction, Keyword::Isolation, Keyword::Level]) {
            return Ok(Some("transaction_isolation".to_owned()));
        }
        if self.has_all(&[Keyword::Session, Keyword::Authorization]) {
            return Ok(Some("session_authorization".to_owned()));
        }
        self.setting_name().map(Some)
    }

    pub(in crate::parser) fn show(&mut self) -> Result<Statement> {
        self.needs(Keyword::Show)?;
        Ok(Statement::Show { name: self.shown_setting()? })
    }

    pub(in crate::parser) fn reset(&mut self) -> Result<Statement> {
        self.needs(Keyword::Reset)?;
        Ok(Statement::Reset { name: self.shown_setting()? })
    }

    fn set_constraints(&mut self) -> Result<Statement> {
        let names = if self.has(Keyword::All) { None } else { Some(self.list(Self::object_name)?) };
        let deferred = self.has(Keyword::Deferred);
        if !deferred {
            self.needs(Keyword::Immediate)?;
        }
        Ok(Statement::SetConstraints { names, deferred })
    }
}
