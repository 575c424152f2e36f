//! Expressions: operators by their precedence.

mod calls;
mod constants;
pub(in crate::parser) mod operators;
mod primaries;
pub(in crate::parser) mod special_calls;
pub(in crate::parser) mod types;
mod windows;

use crate::ast::{
    Argument, BooleanTest, CallForm, Expr, ExprKind, FunctionCall, LikeKind, Literal, Name,
    ObjectName, OperatorName, Quantified, Quantifier,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;
use crate::parser::expressions::operators::{Infix, Precedence};
use crate::span::Span;

/// Expressions of the grammar: all, or those in which AND, OR, NOT, IS NULL, IN, LIKE, BETWEEN and AT TIME ZONE have to
/// be in parentheses (b_expr).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Allowed {
    All,
    Restricted,
}

impl Parser<'_> {
    /// Reads an expression (a_expr).
    pub(in crate::parser) fn expr(&mut self) -> Result<Expr> {
        self.above(Precedence::Lowest, Allowed::All)
    }

    /// Reads an expression whose boolean operators are in parentheses (b_expr).
    pub(in crate::parser) fn restricted_expr(&mut self) -> Result<Expr> {
        self.above(Precedence::Lowest, Allowed::Restricted)
    }

    pub(in crate::parser) fn exprs(&mut self) -> Result<Vec<Expr>> {
        self.list(Self::expr)
    }

    pub(in crate::parser) fn exprs_in_parentheses(&mut self) -> Result<Vec<Expr>> {
        self.in_parentheses(Self::exprs)
    }

    /// Reads operands and the operators between them that bind as closely as `least` or more.
    fn above(&mut self, least: Precedence, allowed: Allowed) -> Result<Expr> {
        let depth = self.depth;
        let expr = self.nested(|parser| parser.chain(least, allowed));
        self.depth = depth;
        expr
    }

    fn chain(&mut self, least: Precedence, allowed: Allowed) -> Result<Expr> {
        let mut left = self.prefix(allowed)?;
        // Precedence of an operator that must not follow another of the same without parentheses.
        let mut refused = None;
        while let Some((infix, precedence)) = self.infix() {
            if precedence < least || (allowed == Allowed::Restricted && !self.is_restricted(infix))
            {
                break;
            }
            if refused == Some(precedence) && !matches!(infix, Infix::IsNull | Infix::NotNull) {
                return Err(self.unexpected());
            }
            self.enter(1)?;
            let is_flat = matches!(infix, Infix::And | Infix::Or);
            self.depth -= u32::from(is_flat);
            let has_open_end;
            (left, has_open_end) = self.infix_expr(left, infix, allowed)?;
            let is_alone = matches!(
                precedence,
                Precedence::Is | Precedence::Comparison | Precedence::Membership
            );
            refused = (is_alone && has_open_end).then_some(precedence);
        }
        Ok(left)
    }

    /// True if an operator may stand in a restricted expression.
    fn is_restricted(&self, infix: Infix) -> bool {
        match infix {
            Infix::Operator => true,
            Infix::Is => {
                let ahead = 1 + usize::from(self.is_ahead(1, Keyword::Not));
                self.is_ahead(ahead, Keyword::Distinct) || self.is_ahead(ahead, Keyword::Document)
            }
            _ => false,
        }
    }

    /// Reads what stands before an operand, and the operand.
    fn prefix(&mut self, allowed: Allowed) -> Result<Expr> {
        let start = self.span();
        match self.kind() {
            TokenKind::Keyword(Keyword::Not) if allowed == Allowed::All => {
                self.at += 1;
                let operand = self.above(Precedence::Not, allowed)?;
                Ok(self.spanned(start, ExprKind::Not(Box::new(operand))))
            }
            TokenKind::Operator(Operator::Plus | Operator::Minus) => {
                let operator = self.operator()?;
                let operand = Box::new(self.above(Precedence::Sign, allowed)?);
                Ok(self.spanned(start, ExprKind::Unary { operator, operand }))
            }
            TokenKind::Operator(Operator::Question) => {
                self.at += 1;
                let number = self.question_number(start);
                let parameter = ExprKind::Parameter(crate::ast::Parameter::Next(number));
                let parameter = self.spanned(start, parameter);
                self.postfix(parameter)
            }
            TokenKind::Operator(Operator::Other) | TokenKind::Keyword(Keyword::Operator)
                if self.is_any_operator() =>
            {
                let operator = self.operator()?;
                let operand = Box::new(self.above(Precedence::Other.next(), allowed)?);
                Ok(self.spanned(start, ExprKind::Unary { operator, operand }))
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
        }
    }

    /// Reads an operator and what follows it; tells whether that ends with an operand.
    fn infix_expr(&mut self, left: Expr, infix: Infix, allowed: Allowed) -> Result<(Expr, bool)> {
        let start = left.span;
        let left_box = |left| Box::new(left);
        let (kind, has_open_end) = match infix {
            Infix::Or => (self.flat(left, Keyword::Or, Precedence::And)?, false),
            Infix::And => (self.flat(left, Keyword::And, Precedence::Not)?, false),
            Infix::IsNull | Infix::NotNull => {
                self.at += 1;
                let negated = infix == Infix::NotNull;
                (
                    ExprKind::IsTest { operand: left_box(left), test: BooleanTest::Null, negated },
                    false,
                )
            }
            Infix::Is => self.is_test(left, allowed)?,
            Infix::Operator => self.binary(left, allowed)?,
            Infix::Between => (self.between(left)?, true),
            Infix::In => (self.in_list(left)?, false),
            Infix::Like(kind) => self.like(left, kind)?,
            Infix::AtTimeZone => (self.at_time_zone(left)?, true),
            Infix::Collate => {
                self.at += 1;
                let collation = self.object_name()?;
                (ExprKind::Collate { operand: left_box(left), collation }, false)
            }
            Infix::Overlaps => (self.overlaps(left)?, false),
        };
        Ok((self.spanned(start, kind), has_open_end))
    }

    /// Reads operands with AND or OR between them: one node, however many there are.
    fn flat(&mut self, left: Expr, keyword: Keyword, least: Precedence) -> Result<ExprKind> {
        let mut operands = vec![left];
        while self.has(keyword) {
            operands.push(self.above(least, Allowed::All)?);
        }
        Ok(if keyword == Keyword::Or { ExprKind::Or(operands) } else { ExprKind::And(operands) })
    }

    fn is_test(&mut self, left: Expr, allowed: Allowed) -> Result<(ExprKind, bool)> {
        self.needs(Keyword::Is)?;
        let negated = self.has(Keyword::Not);
        if self.has_all(&[Keyword::Distinct, Keyword::From]) {
            let right = Box::new(self.above(Precedence::Is.next(), allowed)?);
            return Ok((ExprKind::IsDistinctFrom { left: Box::new(left), right, negated }, true));
        }
        let test = match self.keyword() {
            Some(Keyword::Null) => BooleanTest::Null,
            Some(Keyword::True) => BooleanTest::True,
            Some(Keyword::False) => BooleanTest::False,
            Some(Keyword::Unknown) => BooleanTest::Unknown,
            Some(Keyword::Document) => BooleanTest::Document,
            Some(Keyword::Normalized) => BooleanTest::Normalized,
            Some(Keyword::Nfc | Keyword::Nfd | Keyword::Nfkc | Keyword::Nfkd) => {
                self.at += 1;
                if !self.is(Keyword::Normalized) {
                    return Err(self.unexpected());
                }
                BooleanTest::Normalized
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok((ExprKind::IsTest { operand: Box::new(left), test, negated }, false))
    }

    fn binary(&mut self, left: Expr, allowed: Allowed) -> Result<(ExprKind, bool)> {
        let Some((_, precedence)) = self.infix() else { return Err(self.unexpected()) };
        let operator = self.operator()?;
        if let Some(quantifier) = self.quantifier() {
            return Ok((self.quantified(left, operator, None, quantifier)?, false));
        }
        let right = Box::new(self.above(precedence.next(), allowed)?);
        Ok((ExprKind::Binary { operator, left: Box::new(left), right }, true))
    }

    fn quantifier(&self) -> Option<Quantifier> {
        match (self.keyword()?, self.token(1).kind) {
            (Keyword::Any | Keyword::Some, TokenKind::Open) => Some(Quantifier::Any),
            (Keyword::All, TokenKind::Open) => Some(Quantifier::All),
            _ => None,
        }
    }

    /// Reads `ANY (…)` or `ALL (…)` after an operator.
    fn quantified(
        &mut self,
        left: Expr,
        operator: OperatorName,
        like: Option<(LikeKind, bool)>,
        quantifier: Quantifier,
    ) -> Result<ExprKind> {
        self.at += 1;
        let start = self.span();
        let right = if self.is_query_in_parentheses() {
            let query = self.query_in_parentheses()?;
            self.spanned(start, ExprKind::Query(Box::new(query)))
        } else {
            self.in_parentheses(Self::expr)?
        };
        Ok(ExprKind::Quantified(Box::new(Quantified { left, operator, like, quantifier, right })))
    }

    fn between(&mut self, left: Expr) -> Result<ExprKind> {
        let negated = self.has(Keyword::Not);
        self.needs(Keyword::Between)?;
        let symmetric = self.has(Keyword::Symmetric);
        if !symmetric {
            self.has(Keyword::Asymmetric);
        }
        let low = Box::new(self.restricted_expr()?);
        self.needs(Keyword::And)?;
        let high = Box::new(self.above(Precedence::Membership.next(), Allowed::All)?);
        Ok(ExprKind::Between { operand: Box::new(left), low, high, symmetric, negated })
    }

    fn in_list(&mut self, left: Expr) -> Result<ExprKind> {
        let negated = self.has(Keyword::Not);
        self.needs(Keyword::In)?;
        let operand = Box::new(left);
        if self.is_query_in_parentheses() {
            let query = Box::new(self.query_in_parentheses()?);
            return Ok(ExprKind::InQuery { operand, query, negated });
        }
        let list = self.exprs_in_parentheses()?;
        Ok(ExprKind::InList { operand, list, negated })
    }

    fn like(&mut self, left: Expr, kind: LikeKind) -> Result<(ExprKind, bool)> {
        let start = self.span();
        let negated = self.has(Keyword::Not);
        self.at += 1;
        if kind == LikeKind::SimilarTo {
            self.needs(Keyword::To)?;
        }
        if let Some(quantifier) = self.quantifier().filter(|_| kind != LikeKind::SimilarTo) {
            let operator = OperatorName {
                schema: Vec::new(),
                operator: crate::ast::BinaryOperator::Other("~~".to_owned()),
                span: start,
            };
            let quantified = self.quantified(left, operator, Some((kind, negated)), quantifier)?;
            return Ok((quantified, false));
        }
        let pattern = Box::new(self.above(Precedence::Membership.next(), Allowed::All)?);
        let escape = if self.has(Keyword::Escape) {
            Some(Box::new(self.above(Precedence::Membership.next(), Allowed::All)?))
        } else {
            None
        };
        Ok((ExprKind::Like { operand: Box::new(left), pattern, escape, kind, negated }, true))
    }

    fn at_time_zone(&mut self, left: Expr) -> Result<ExprKind> {
        self.needs(Keyword::At)?;
        let operand = Box::new(left);
        if self.has(Keyword::Local) {
            return Ok(ExprKind::AtTimeZone { operand, zone: None });
        }
        self.needs_all(&[Keyword::Time, Keyword::Zone])?;
        let zone = Some(Box::new(self.above(Precedence::AtTimeZone.next(), Allowed::All)?));
        Ok(ExprKind::AtTimeZone { operand, zone })
    }

    /// Reads `OVERLAPS (c, d)` after `(a, b)`.
    fn overlaps(&mut self, left: Expr) -> Result<ExprKind> {
        let token = self.token(0);
        self.at += 1;
        let right = self.primary()?;
        let mut arguments = Vec::with_capacity(4);
        for (row, side) in [(left, "left"), (right, "right")] {
            match row.kind {
                ExprKind::Row { fields, .. } if fields.len() == 2 => arguments.extend(fields),
                ExprKind::Row { .. } => {
                    let message =
                        format!("wrong number of parameters on {side} side of OVERLAPS expression");
                    return Err(self.error(message, row.span));
                }
                _ => {
                    let message = "syntax error at or near \"OVERLAPS\"";
                    return Err(self.error(message, token.span));
                }
            }
        }
        Ok(ExprKind::Call(Box::new(self.grammar_call("overlaps", token.span, arguments))))
    }

    /// Returns a call of one of PostgreSQL's functions, as the grammar's own forms make them.
    pub(in crate::parser) fn grammar_call(
        &self,
        name: &str,
        span: Span,
        arguments: Vec<Expr>,
    ) -> FunctionCall {
        let argument = |value| Argument { name: None, value, variadic: false };
        let name = ObjectName { parts: vec![Name { text: name.to_owned(), span }] };
        FunctionCall::new(name, CallForm::Grammar, arguments.into_iter().map(argument).collect())
    }

    pub(in crate::parser) fn spanned(&self, start: Span, kind: ExprKind) -> Expr {
        Expr { kind, span: start.to(self.last_span()) }
    }

    pub(in crate::parser) fn literal(&self, start: Span, literal: Literal) -> Expr {
        self.spanned(start, ExprKind::Literal(literal))
    }
}
