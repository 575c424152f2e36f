//! CREATE FUNCTION, CREATE PROCEDURE and DuckDB's CREATE MACRO.

use crate::ast::{
    CreateFunction, FunctionOption, FunctionParameter, ParameterMode, ScriptStatement, Statement,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads what follows CREATE FUNCTION or CREATE PROCEDURE.
    pub(in crate::parser) fn create_function(
        &mut self,
        or_replace: bool,
        is_procedure: bool,
    ) -> Result<Statement> {
        let name = self.function_object_name()?;
        let parameters = self.parameters(Self::function_parameter)?;
        let (mut returns, mut returns_table) = (None, None);
        if self.has(Keyword::Returns) {
            if self.has(Keyword::Table) {
                let columns = |parser: &mut Self| parser.list(Self::plain_column);
                returns_table = Some(self.in_parentheses(columns)?);
            } else {
                returns = Some(self.type_name()?);
            }
        }
        let mut options = Vec::new();
        while let Some(option) = self.function_option()? {
            options.push(option);
        }
        Ok(Statement::CreateFunction(Box::new(CreateFunction {
            name,
            or_replace,
            is_procedure,
            temporary: false,
            parameters,
            returns,
            returns_table,
            options,
        })))
    }

    /// Reads what follows CREATE … MACRO.
    pub(in crate::parser) fn create_macro(
        &mut self,
        or_replace: bool,
        temporary: bool,
    ) -> Result<Statement> {
        let name = self.function_object_name()?;
        let parameters = self.parameters(|parser| {
            let name = Some(parser.name()?);
            let has_default = parser.takes(TokenKind::Assign);
            let default = has_default.then(|| parser.expr()).transpose()?;
            Ok(FunctionParameter { mode: ParameterMode::In, name, data_type: None, default })
        })?;
        self.needs(Keyword::As)?;
        let option = if self.has(Keyword::Table) {
            FunctionOption::Table(Box::new(self.query()?))
        } else {
            FunctionOption::Return(Box::new(self.expr()?))
        };
        Ok(Statement::CreateFunction(Box::new(CreateFunction {
            name,
            or_replace,
            is_procedure: false,
            temporary,
            parameters,
            returns: None,
            returns_table: None,
            options: vec![option],
        })))
    }

    fn parameters(
        &mut self,
        read: impl FnMut(&mut Self) -> Result<FunctionParameter>,
    ) -> Result<Vec<FunctionParameter>> {
        self.in_parentheses(|parser| {
            if parser.kind() == TokenKind::Close { Ok(Vec::new()) } else { parser.list(read) }
        })
    }

    /// Reads a parameter, whose mode may stand after its name.
    pub(in crate::parser) fn function_parameter(&mut self) -> Result<FunctionParameter> {
        let before = self.parameter_mode();
        // A name, unless it is the type itself.
        let next = self.token(1).kind;
        let is_named = self.is_parameter_name()
            && !matches!(
                next,
                TokenKind::Comma
                    | TokenKind::Close
                    | TokenKind::Open
                    | TokenKind::OpenBracket
                    | TokenKind::Dot
                    | TokenKind::Operator(_)
                    | TokenKind::Keyword(Keyword::Default | Keyword::Array)
            );
        let is_type_of_words = self.grammar_type_ahead();
        let name = if is_named && !is_type_of_words { Some(self.function_name()?) } else { None };
        let after = if before.is_none() { self.parameter_mode() } else { None };
        let data_type = Some(self.type_name()?);
        let has_default = self.has(Keyword::Default) || self.has_operator(Operator::Equals);
        let default = has_default.then(|| self.expr()).transpose()?;
        let mode = before.or(after).unwrap_or(ParameterMode::In);
        Ok(FunctionParameter { mode, name, data_type, default })
    }

    fn is_parameter_name(&self) -> bool {
        match self.kind() {
            TokenKind::Name | TokenKind::QuotedName(_) => true,
            TokenKind::Keyword(keyword) => keyword.is_function_name() && keyword != Keyword::Setof,
            _ => false,
        }
    }

    /// True at a type whose name has several words: DOUBLE PRECISION and the like.
    fn grammar_type_ahead(&self) -> bool {
        self.is(Keyword::Double) && self.is_ahead(1, Keyword::Precision)
    }

    fn parameter_mode(&mut self) -> Option<ParameterMode> {
        let mode = match self.keyword()? {
            Keyword::In if self.is_ahead(1, Keyword::Out) => {
                self.at += 1;
                ParameterMode::InOut
            }
            Keyword::In => ParameterMode::In,
            Keyword::Out => ParameterMode::Out,
            Keyword::Inout => ParameterMode::InOut,
            Keyword::Variadic => ParameterMode::Variadic,
            _ => return None,
        };
        self.at += 1;
        Some(mode)
    }

    fn function_option(&mut self) -> Result<Option<FunctionOption>> {
        let Some(keyword) = self.keyword() else { return Ok(None) };
        self.at += 1;
        let option = match keyword {
            Keyword::Language => {
                let text = self.optional_text()?;
                FunctionOption::Language(match text {
                    Some(text) => text,
                    None => self.word()?.text,
                })
            }
            Keyword::As => FunctionOption::Text(self.list(Self::text)?),
            Keyword::Return => FunctionOption::Return(Box::new(self.expr()?)),
            Keyword::Begin => {
                self.needs(Keyword::Atomic)?;
                FunctionOption::Statements(self.atomic_statements()?)
            }
            _ => match self.function_property(keyword)? {
                Some(property) => FunctionOption::Property(property),
                None => {
                    self.at -= 1;
                    return Ok(None);
                }
            },
        };
        Ok(Some(option))
    }

    /// Reads the rest of a property that begins with such a word, and returns it in words.
    fn function_property(&mut self, keyword: Keyword) -> Result<Option<String>> {
        let property = match keyword {
            Keyword::Immutable
            | Keyword::Stable
            | Keyword::Volatile
            | Keyword::Strict
            | Keyword::Leakproof
            | Keyword::Window => keyword.text().to_owned(),
            Keyword::Not => {
                self.needs(Keyword::Leakproof)?;
                "not leakproof".to_owned()
            }
            Keyword::Called => {
                self.needs_all(&[Keyword::On, Keyword::Null, Keyword::Input])?;
                "called on null input".to_owned()
            }
            Keyword::Returns => {
                self.needs_all(&[Keyword::Null, Keyword::On, Keyword::Null, Keyword::Input])?;
                "strict".to_owned()
            }
            Keyword::External => {
                self.needs(Keyword::Security)?;
                format!("security {}", self.label()?.text)
            }
            Keyword::Security | Keyword::Parallel => {
                format!("{} {}", keyword.text(), self.label()?.text)
            }
            Keyword::Cost | Keyword::Rows => {
                format!("{} {}", keyword.text(), self.signed_number()?)
            }
            Keyword::Support => {
                self.object_name()?;
                "support".to_owned()
            }
            Keyword::Set => {
                self.setting()?;
                "set".to_owned()
            }
            Keyword::Reset => {
                self.label()?;
                "reset".to_owned()
            }
            Keyword::Transform => {
                self.transforms()?;
                "transform".to_owned()
            }
            _ => return Ok(None),
        };
        Ok(Some(property))
    }

    fn transforms(&mut self) -> Result<()> {
        while self.has(Keyword::For) {
            self.needs(Keyword::Type)?;
            self.type_name()?;
            self.takes(TokenKind::Comma);
        }
        Ok(())
    }

    /// Reads the statements up to END.
    fn atomic_statements(&mut self) -> Result<Vec<ScriptStatement>> {
        let mut statements = Vec::new();
        while !self.has(Keyword::End) {
            if self.is(Keyword::Return) {
                let start = self.span();
                self.at += 1;
                let value = self.expr()?;
                let statement = Statement::Return(value);
                statements.push(ScriptStatement { statement, span: start.to(self.last_span()) });
            } else {
                statements.push(self.script_statement()?);
            }
            self.expect(TokenKind::Semicolon)?;
        }
        Ok(statements)
    }
}
