//! Operands: literals, columns, calls, subqueries, CASE, rows, and casts and subscripts after them.

use crate::ast::{CaseBranch, CastForm, Expr, ExprKind, Literal, Name, TypeName};
use crate::error::Result;
use crate::keywords::{Keyword, KeywordClass};
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads an operand without casts and subscripts after it (c_expr).
    pub(in crate::parser) fn primary(&mut self) -> Result<Expr> {
        let start = self.span();
        match self.kind() {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Text(_) => {
                let literal = self.optional_literal()?.unwrap_or(Literal::Null);
                Ok(self.literal(start, literal))
            }
            TokenKind::Parameter => {
                let parameter = self.parameter()?;
                Ok(self.spanned(start, ExprKind::Parameter(parameter)))
            }
            TokenKind::Open => self.parenthesised(),
            TokenKind::OpenBracket => self.array_elements(),
            TokenKind::Name | TokenKind::QuotedName(_) => self.column_or_call(),
            TokenKind::Keyword(keyword) => self.keyword_primary(keyword),
            _ => Err(self.unexpected()),
        }
    }

    fn keyword_primary(&mut self, keyword: Keyword) -> Result<Expr> {
        let start = self.span();
        let literal = match keyword {
            Keyword::Null => Some(Literal::Null),
            Keyword::True => Some(Literal::Boolean(true)),
            Keyword::False => Some(Literal::Boolean(false)),
            _ => None,
        };
        if let Some(literal) = literal {
            self.at += 1;
            return Ok(self.literal(start, literal));
        }
        match keyword {
            Keyword::Case => return self.case(),
            Keyword::Array => return self.array(),
            Keyword::Exists if self.token(1).kind == TokenKind::Open => {
                self.at += 1;
                let query = Box::new(self.query_in_parentheses()?);
                return Ok(self.spanned(start, ExprKind::Exists(query)));
            }
            Keyword::Row if self.token(1).kind == TokenKind::Open => return self.explicit_row(),
            Keyword::Cast | Keyword::Treat if self.token(1).kind == TokenKind::Open => {
                return self.cast(CastForm::Explicit);
            }
            Keyword::Default => {
                self.at += 1;
                return Ok(self.spanned(start, ExprKind::Default));
            }
            _ => {}
        }
        if let Some(call) = self.collation_for()? {
            return Ok(call);
        }
        if let Some(call) = self.special_call(keyword)? {
            return Ok(call);
        }
        if let Some(typed) = self.typed_text_of_grammar()? {
            return Ok(typed);
        }
        match keyword.class() {
            KeywordClass::Reserved => Err(self.unexpected()),
            KeywordClass::ColumnName if self.token(1).kind == TokenKind::Open => {
                Err(self.unexpected())
            }
            _ => self.column_or_call(),
        }
    }

    /// Reads `(expr)`, `(a, b)` or `(SELECT …)`.
    fn parenthesised(&mut self) -> Result<Expr> {
        let start = self.span();
        if self.is_query_in_parentheses() {
            let query = Box::new(self.query_in_parentheses()?);
            return Ok(self.spanned(start, ExprKind::Query(query)));
        }
        self.expect(TokenKind::Open)?;
        let mut fields = self.exprs()?;
        self.expect(TokenKind::Close)?;
        match fields.pop() {
            // Operators before and after the parentheses must not take its operands apart: it is a node already.
            Some(only) if fields.is_empty() => {
                Ok(Expr { span: start.to(self.last_span()), ..only })
            }
            last => {
                fields.extend(last);
                Ok(self.spanned(start, ExprKind::Row { fields, explicit: false }))
            }
        }
    }

    fn explicit_row(&mut self) -> Result<Expr> {
        let start = self.span();
        self.needs(Keyword::Row)?;
        self.expect(TokenKind::Open)?;
        let fields = if self.kind() == TokenKind::Close { Vec::new() } else { self.exprs()? };
        self.expect(TokenKind::Close)?;
        Ok(self.spanned(start, ExprKind::Row { fields, explicit: true }))
    }

    fn array(&mut self) -> Result<Expr> {
        let start = self.span();
        self.needs(Keyword::Array)?;
        if self.kind() == TokenKind::Open {
            let query = Box::new(self.query_in_parentheses()?);
            return Ok(self.spanned(start, ExprKind::ArrayQuery(query)));
        }
        let elements = self.array_elements()?;
        Ok(Expr { span: start.to(elements.span), ..elements })
    }

    /// Reads `[a, b]`, whose elements may be arrays, too.
    fn array_elements(&mut self) -> Result<Expr> {
        let start = self.span();
        self.expect(TokenKind::OpenBracket)?;
        let elements =
            if self.kind() == TokenKind::CloseBracket { Vec::new() } else { self.exprs()? };
        self.expect(TokenKind::CloseBracket)?;
        Ok(self.spanned(start, ExprKind::Array(elements)))
    }

    fn case(&mut self) -> Result<Expr> {
        let start = self.span();
        self.needs(Keyword::Case)?;
        let operand = (!self.is(Keyword::When)).then(|| self.expr()).transpose()?.map(Box::new);
        let mut branches = Vec::new();
        while self.has(Keyword::When) {
            let when = self.expr()?;
            self.needs(Keyword::Then)?;
            branches.push(CaseBranch { when, then: self.expr()? });
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = self.has(Keyword::Else).then(|| self.expr()).transpose()?.map(Box::new);
        self.needs(Keyword::End)?;
        Ok(self.spanned(start, ExprKind::Case { operand, branches, otherwise }))
    }

    /// Reads `CAST(expr AS type)`, or TRY_CAST.
    pub(in crate::parser) fn cast(&mut self, form: CastForm) -> Result<Expr> {
        let start = self.span();
        self.at += 1;
        let (operand, data_type) = self.in_parentheses(|parser| {
            let operand = Box::new(parser.expr()?);
            parser.needs(Keyword::As)?;
            Ok((operand, Box::new(parser.type_name()?)))
        })?;
        Ok(self.spanned(start, ExprKind::Cast { operand, data_type, form }))
    }

    /// Reads `DATE '…'` and the like for types with names of the grammar's own.
    fn typed_text_of_grammar(&mut self) -> Result<Option<Expr>> {
        let start = self.span();
        if self.is(Keyword::Interval) {
            return self.interval_text();
        }
        let typed = self.attempt(|parser| {
            let data_type = parser.grammar_type()?.ok_or_else(|| parser.unexpected())?;
            Ok((data_type, parser.spanned_text()?))
        });
        Ok(typed.map(|(data_type, text)| self.typed_text(start, data_type, text)))
    }

    /// Reads INTERVAL and a text, with its precision before the text or its fields after it.
    fn interval_text(&mut self) -> Result<Option<Expr>> {
        let start = self.span();
        let typed = self.attempt(|parser| {
            parser.needs(Keyword::Interval)?;
            let modifiers = parser.length_modifier()?;
            let data_type = crate::parser::expressions::types::of_catalog("interval", start);
            Ok((TypeName { modifiers, ..data_type }, parser.spanned_text()?))
        });
        let Some((mut data_type, text)) = typed else { return Ok(None) };
        if data_type.modifiers.is_empty() {
            data_type.interval_fields = self.interval_fields()?;
            if data_type.interval_fields.is_some_and(crate::ast::IntervalFields::has_second) {
                data_type.modifiers = self.length_modifier()?;
            }
        }
        Ok(Some(self.typed_text(start, data_type, text)))
    }

    pub(in crate::parser) fn typed_text(
        &self,
        start: crate::span::Span,
        data_type: TypeName,
        (text, text_span): (String, crate::span::Span),
    ) -> Expr {
        let data_type = Box::new(data_type);
        self.spanned(start, ExprKind::TypedText { data_type, text, text_span })
    }

    /// Reads a text, and returns its position, too.
    pub(in crate::parser) fn spanned_text(&mut self) -> Result<(String, crate::span::Span)> {
        let start = self.span();
        let text = self.text()?;
        Ok((text, start.to(self.last_span())))
    }

    /// Reads casts, subscripts and fields after an operand.
    pub(in crate::parser) fn postfix(&mut self, operand: Expr) -> Result<Expr> {
        let start = operand.span;
        if matches!(operand.kind, ExprKind::AllColumns(_)) && self.kind() == TokenKind::Dot {
            return Err(self.error("improper use of \"*\"", start));
        }
        // Fields are those of a value in parentheses, of a parameter or of an element.
        let mut has_fields = matches!(operand.kind, ExprKind::Parameter(_) | ExprKind::Column(_))
            || self.text.as_bytes().get(start.start as usize) == Some(&b'(');
        let mut expr = operand;
        let depth = self.depth;
        loop {
            let kind = match self.kind() {
                TokenKind::Cast => {
                    self.at += 1;
                    let data_type = Box::new(self.type_name()?);
                    ExprKind::Cast { operand: Box::new(expr), data_type, form: CastForm::Explicit }
                }
                TokenKind::OpenBracket => {
                    has_fields = true;
                    self.subscript(expr)?
                }
                TokenKind::Dot if has_fields => {
                    self.at += 1;
                    if self.has_operator(Operator::Star) {
                        ExprKind::AllFields(Box::new(expr))
                    } else {
                        ExprKind::Field { operand: Box::new(expr), field: self.label()? }
                    }
                }
                _ => break,
            };
            self.enter(1)?;
            expr = self.spanned(start, kind);
        }
        self.depth = depth;
        Ok(expr)
    }

    fn subscript(&mut self, operand: Expr) -> Result<ExprKind> {
        self.expect(TokenKind::OpenBracket)?;
        let operand = Box::new(operand);
        let is_colon = self.kind() == TokenKind::Colon;
        let low = (!is_colon).then(|| self.expr()).transpose()?.map(Box::new);
        if !self.takes(TokenKind::Colon) {
            self.expect(TokenKind::CloseBracket)?;
            let index = low.ok_or_else(|| self.unexpected())?;
            return Ok(ExprKind::Subscript { operand, index });
        }
        let is_open = self.kind() == TokenKind::CloseBracket;
        let high = (!is_open).then(|| self.expr()).transpose()?.map(Box::new);
        self.expect(TokenKind::CloseBracket)?;
        Ok(ExprKind::Slice { operand, low, high })
    }

    /// Reads a column, `t.*`, a call, or a text after the name of a type.
    pub(in crate::parser) fn column_or_call(&mut self) -> Result<Expr> {
        let start = self.span();
        if self.is_word("try_cast") && self.token(1).kind == TokenKind::Open {
            return self.cast(CastForm::Try);
        }
        let parts = self.dotted()?;
        if self.takes(TokenKind::Dot) {
            self.has_operator(Operator::Star);
            return Ok(self.spanned(start, ExprKind::AllColumns(parts)));
        }
        match self.kind() {
            TokenKind::Open => self.call(start, parts),
            TokenKind::Text(_) => {
                if parts.len() == 1 && self.is_column_keyword(start) {
                    return Err(self.unexpected());
                }
                let text = self.spanned_text()?;
                let name = crate::ast::ObjectName { parts };
                Ok(self.typed_text(
                    start,
                    crate::parser::expressions::types::plain(name, start),
                    text,
                ))
            }
            _ if parts.len() == 1 && self.is_function_keyword(start) => Err(self.unexpected()),
            _ => Ok(self.spanned(start, ExprKind::Column(parts))),
        }
    }

    /// Returns the key word before the cursor, if it is the whole of an operand that began there.
    fn keyword_before(&self, start: crate::span::Span) -> Option<Keyword> {
        let token = self.tokens.get(self.at.wrapping_sub(1))?;
        match token.kind {
            TokenKind::Keyword(keyword) if token.span == start => Some(keyword),
            _ => None,
        }
    }

    /// True after a word that names functions and types alone, as LEFT does.
    fn is_function_keyword(&self, start: crate::span::Span) -> bool {
        self.keyword_before(start).is_some_and(|keyword| !keyword.is_column_name())
    }

    /// True after a word that names columns and tables alone, as TRIM does.
    fn is_column_keyword(&self, start: crate::span::Span) -> bool {
        self.keyword_before(start).is_some_and(|keyword| !keyword.is_function_name())
    }

    /// Reads a name and those after points; a point with `*` after it is left.
    fn dotted(&mut self) -> Result<Vec<Name>> {
        let has_more = self.token(1).kind == TokenKind::Dot;
        let first = match self.keyword() {
            Some(keyword) if keyword.is_function_name() && !has_more => self.function_name()?,
            _ => self.name()?,
        };
        let mut parts = vec![first];
        while self.kind() == TokenKind::Dot
            && self.token(1).kind != TokenKind::Operator(Operator::Star)
        {
            self.at += 1;
            parts.push(self.label()?);
        }
        Ok(parts)
    }
}
