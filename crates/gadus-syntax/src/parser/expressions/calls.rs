//! Calls of functions, aggregates and window functions.

use crate::ast::{Argument, CallForm, Expr, ExprKind, FunctionCall, Name, ObjectName, TypeName};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;
use crate::span::Span;

impl Parser<'_> {
    /// Reads the arguments of a call and what follows them; or, if a text follows, that of a type with modifiers.
    pub(in crate::parser) fn call(&mut self, start: Span, parts: Vec<Name>) -> Result<Expr> {
        let name = ObjectName { parts };
        let mut call = FunctionCall::new(name, CallForm::Ordinary, Vec::new());
        self.expect(TokenKind::Open)?;
        self.call_arguments(&mut call)?;
        self.expect(TokenKind::Close)?;
        if matches!(self.kind(), TokenKind::Text(_)) && is_type_with_modifiers(&call) {
            let text = self.spanned_text()?;
            let modifiers = call.arguments.into_iter().map(|argument| argument.value).collect();
            let data_type = crate::parser::expressions::types::plain(call.name, start);
            return Ok(self.typed_text(start, TypeName { modifiers, ..data_type }, text));
        }
        self.after_arguments(&mut call)?;
        Ok(self.spanned(start, ExprKind::Call(Box::new(call))))
    }

    fn call_arguments(&mut self, call: &mut FunctionCall) -> Result<()> {
        if self.kind() == TokenKind::Close {
            return Ok(());
        }
        if self.is_operator(Operator::Star) && self.token(1).kind == TokenKind::Close {
            self.at += 1;
            call.star = true;
            return Ok(());
        }
        if !self.has(Keyword::All) {
            call.distinct = self.has(Keyword::Distinct);
        }
        call.arguments = self.list(Self::argument)?;
        call.order_by = self.order_by()?;
        call.ignore_nulls = self.null_treatment()?;
        Ok(())
    }

    pub(in crate::parser) fn argument(&mut self) -> Result<Argument> {
        let variadic = self.has(Keyword::Variadic);
        let is_named = matches!(self.token(1).kind, TokenKind::Arrow | TokenKind::Assign);
        let name = if is_named {
            let name = self.function_name()?;
            self.at += 1;
            Some(name)
        } else {
            None
        };
        Ok(Argument { name, value: self.expr()?, variadic })
    }

    fn null_treatment(&mut self) -> Result<Option<bool>> {
        let ignores = self.is_word("ignore");
        if !(ignores || self.is_word("respect")) || !self.is_ahead(1, Keyword::Nulls) {
            return Ok(None);
        }
        self.at += 2;
        Ok(Some(ignores))
    }

    /// Reads WITHIN GROUP, FILTER, IGNORE NULLS and OVER.
    pub(in crate::parser) fn after_arguments(&mut self, call: &mut FunctionCall) -> Result<()> {
        if self.has_all(&[Keyword::Within, Keyword::Group]) {
            let span = self.last_span();
            call.within_group = self.in_parentheses(Self::order_by)?;
            if !call.order_by.is_empty() {
                return Err(
                    self.error("cannot use multiple ORDER BY clauses with WITHIN GROUP", span)
                );
            }
            if call.distinct {
                return Err(self.error("cannot use DISTINCT with WITHIN GROUP", span));
            }
            if call.arguments.iter().any(|argument| argument.variadic) {
                return Err(self.error("cannot use VARIADIC with WITHIN GROUP", span));
            }
        }
        if self.is(Keyword::Filter) && self.token(1).kind == TokenKind::Open {
            self.at += 1;
            let filter = self.in_parentheses(|parser| {
                parser.has(Keyword::Where);
                parser.expr()
            })?;
            call.filter = Some(filter);
        }
        if call.ignore_nulls.is_none() {
            call.ignore_nulls = self.null_treatment()?;
        }
        if self.has(Keyword::Over) {
            call.over = Some(self.over()?);
        }
        Ok(())
    }
}

fn is_type_with_modifiers(call: &FunctionCall) -> bool {
    let is_plain = |argument: &Argument| argument.name.is_none() && !argument.variadic;
    !call.arguments.is_empty()
        && call.arguments.iter().all(is_plain)
        && !call.distinct
        && call.order_by.is_empty()
}
