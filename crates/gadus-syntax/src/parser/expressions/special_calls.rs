//! Functions with a grammar of their own: EXTRACT, SUBSTRING, TRIM, COALESCE, CURRENT_DATE and the like.

use crate::ast::{Expr, ExprKind, Literal, ValueFunction};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads such a call, if the cursor is at one.
    pub(in crate::parser) fn special_call(&mut self, keyword: Keyword) -> Result<Option<Expr>> {
        if let Some(function) = value_function(keyword) {
            return self.value_function(function).map(Some);
        }
        if self.token(1).kind != TokenKind::Open {
            return Ok(None);
        }
        let start = self.span();
        let (name, arguments) = match keyword {
            Keyword::Coalesce => ("coalesce", self.special_arguments(Self::exprs)?),
            Keyword::Greatest => ("greatest", self.special_arguments(Self::exprs)?),
            Keyword::Least => ("least", self.special_arguments(Self::exprs)?),
            Keyword::Grouping => ("grouping", self.special_arguments(Self::exprs)?),
            Keyword::Nullif => ("nullif", self.special_arguments(Self::two)?),
            Keyword::Extract => ("extract", self.special_arguments(Self::extract)?),
            Keyword::Position => ("position", self.special_arguments(Self::position)?),
            Keyword::Overlay => ("overlay", self.special_arguments(Self::overlay)?),
            Keyword::Substring => ("substring", self.special_arguments(Self::substring)?),
            Keyword::Normalize => ("normalize", self.special_arguments(Self::normalize)?),
            Keyword::Trim => self.trim()?,
            _ => return self.xml(keyword),
        };
        let mut call = self.grammar_call(name, start, arguments);
        self.after_arguments(&mut call)?;
        Ok(Some(self.spanned(start, ExprKind::Call(Box::new(call)))))
    }

    fn special_arguments(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Vec<Expr>>,
    ) -> Result<Vec<Expr>> {
        self.at += 1;
        self.in_parentheses(read)
    }

    fn two(&mut self) -> Result<Vec<Expr>> {
        let first = self.expr()?;
        self.expect(TokenKind::Comma)?;
        Ok(vec![first, self.expr()?])
    }

    /// Reads `year FROM a`: a word or a text.
    fn extract(&mut self) -> Result<Vec<Expr>> {
        let start = self.span();
        let field = match (self.optional_text()?, self.keyword()) {
            (Some(text), _) => text,
            (None, Some(keyword)) if !is_interval_field(keyword) => return Err(self.unexpected()),
            (None, _) => self.label()?.text,
        };
        let field = self.literal(start, Literal::Text(field));
        self.needs(Keyword::From)?;
        Ok(vec![field, self.expr()?])
    }

    /// Reads `a IN b`, and gives `b, a`, as the function has it.
    fn position(&mut self) -> Result<Vec<Expr>> {
        let wanted = self.restricted_expr()?;
        if self.takes(TokenKind::Comma) {
            return Ok(vec![wanted, self.expr()?]);
        }
        self.needs(Keyword::In)?;
        Ok(vec![self.restricted_expr()?, wanted])
    }

    fn overlay(&mut self) -> Result<Vec<Expr>> {
        let mut arguments = vec![self.expr()?];
        if !self.has(Keyword::Placing) {
            while self.takes(TokenKind::Comma) {
                arguments.push(self.expr()?);
            }
            return Ok(arguments);
        }
        arguments.push(self.expr()?);
        self.needs(Keyword::From)?;
        arguments.push(self.expr()?);
        if self.has(Keyword::For) {
            arguments.push(self.expr()?);
        }
        Ok(arguments)
    }

    /// Reads `a FROM b FOR c` in either order, `a SIMILAR b ESCAPE c`, or plain arguments.
    fn substring(&mut self) -> Result<Vec<Expr>> {
        let mut arguments = vec![self.expr()?];
        match self.keyword() {
            Some(Keyword::From) => {
                self.at += 1;
                arguments.push(self.expr()?);
                if self.has(Keyword::For) {
                    arguments.push(self.expr()?);
                }
            }
            Some(Keyword::For) => {
                let start = self.span();
                self.at += 1;
                let length = self.expr()?;
                if self.has(Keyword::From) {
                    arguments.push(self.expr()?);
                } else {
                    arguments.push(self.literal(start, Literal::Integer("1".to_owned())));
                }
                arguments.push(length);
            }
            Some(Keyword::Similar) => {
                self.at += 1;
                arguments.push(self.expr()?);
                self.needs(Keyword::Escape)?;
                arguments.push(self.expr()?);
            }
            _ => {
                while self.takes(TokenKind::Comma) {
                    arguments.push(self.expr()?);
                }
            }
        }
        Ok(arguments)
    }

    fn normalize(&mut self) -> Result<Vec<Expr>> {
        let mut arguments = vec![self.expr()?];
        if self.takes(TokenKind::Comma) {
            let start = self.span();
            let form = self.label()?.text;
            arguments.push(self.literal(start, Literal::Text(form.to_ascii_uppercase())));
        }
        Ok(arguments)
    }

    /// Reads `TRIM(BOTH a FROM b)` and the like: calls of btrim, ltrim and rtrim.
    fn trim(&mut self) -> Result<(&'static str, Vec<Expr>)> {
        self.at += 1;
        self.in_parentheses(|parser| {
            let name = match parser.keyword() {
                Some(Keyword::Leading) => "ltrim",
                Some(Keyword::Trailing) => "rtrim",
                _ => "btrim",
            };
            let is_side = matches!(
                parser.keyword(),
                Some(Keyword::Leading | Keyword::Trailing | Keyword::Both)
            );
            parser.at += usize::from(is_side);
            if parser.has(Keyword::From) {
                return Ok((name, parser.exprs()?));
            }
            let first = parser.expr()?;
            if parser.has(Keyword::From) {
                let mut arguments = parser.exprs()?;
                arguments.push(first);
                return Ok((name, arguments));
            }
            let mut arguments = vec![first];
            while parser.takes(TokenKind::Comma) {
                arguments.push(parser.expr()?);
            }
            Ok((name, arguments))
        })
    }

    fn value_function(&mut self, function: ValueFunction) -> Result<Expr> {
        let start = self.span();
        self.at += 1;
        let has_precision = matches!(
            function,
            ValueFunction::CurrentTime
                | ValueFunction::CurrentTimestamp
                | ValueFunction::LocalTime
                | ValueFunction::LocalTimestamp
        );
        let precision = if has_precision { self.optional_precision()? } else { None };
        Ok(self.spanned(start, ExprKind::ValueFunction { function, precision }))
    }

    /// Refuses XML's functions, whose arguments have a grammar of their own, and reads COLLATION FOR.
    fn xml(&mut self, keyword: Keyword) -> Result<Option<Expr>> {
        let is_xml = matches!(
            keyword,
            Keyword::Xmlconcat
                | Keyword::Xmlelement
                | Keyword::Xmlexists
                | Keyword::Xmlforest
                | Keyword::Xmlparse
                | Keyword::Xmlpi
                | Keyword::Xmlroot
                | Keyword::Xmlserialize
                | Keyword::Xmltable
        );
        if is_xml {
            return Err(self.unsupported("XML is not supported", self.span()));
        }
        Ok(None)
    }

    /// Reads `COLLATION FOR (a)`.
    pub(in crate::parser) fn collation_for(&mut self) -> Result<Option<Expr>> {
        let start = self.span();
        if !self.has_all(&[Keyword::Collation, Keyword::For]) {
            return Ok(None);
        }
        let operand = self.in_parentheses(Self::expr)?;
        let call = self.grammar_call("pg_collation_for", start, vec![operand]);
        Ok(Some(self.spanned(start, ExprKind::Call(Box::new(call)))))
    }
}

fn is_interval_field(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Year
            | Keyword::Month
            | Keyword::Day
            | Keyword::Hour
            | Keyword::Minute
            | Keyword::Second
    )
}

/// True for words that a call with a grammar of its own begins with.
pub(in crate::parser) fn is_special_call(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Cast
            | Keyword::Coalesce
            | Keyword::Extract
            | Keyword::Greatest
            | Keyword::Grouping
            | Keyword::Least
            | Keyword::Normalize
            | Keyword::Nullif
            | Keyword::Overlay
            | Keyword::Position
            | Keyword::Substring
            | Keyword::Treat
            | Keyword::Trim
    )
}

fn value_function(keyword: Keyword) -> Option<ValueFunction> {
    Some(match keyword {
        Keyword::CurrentDate => ValueFunction::CurrentDate,
        Keyword::CurrentTime => ValueFunction::CurrentTime,
        Keyword::CurrentTimestamp => ValueFunction::CurrentTimestamp,
        Keyword::Localtime => ValueFunction::LocalTime,
        Keyword::Localtimestamp => ValueFunction::LocalTimestamp,
        Keyword::CurrentRole => ValueFunction::CurrentRole,
        Keyword::CurrentUser => ValueFunction::CurrentUser,
        Keyword::SessionUser => ValueFunction::SessionUser,
        Keyword::User => ValueFunction::User,
        Keyword::CurrentCatalog => ValueFunction::CurrentCatalog,
        _ => return None,
    })
}
