//! Precedence of operators, and the operators at the cursor.

use crate::ast::{BinaryOperator, LikeKind, OperatorName};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

/// How closely an operator binds, by PostgreSQL's table: later ones bind more closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::parser) enum Precedence {
    Lowest,
    Or,
    And,
    Not,
    Is,
    Comparison,
    /// BETWEEN, IN, LIKE, ILIKE, SIMILAR
    Membership,
    /// Operators without a precedence of their own.
    Other,
    Additive,
    Multiplicative,
    Power,
    AtTimeZone,
    Collate,
    Sign,
}

impl Precedence {
    /// Returns the precedence of a right operand of an operator of this one.
    pub(in crate::parser) fn next(self) -> Self {
        match self {
            Self::Lowest => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Is,
            Self::Is => Self::Comparison,
            Self::Comparison => Self::Membership,
            Self::Membership => Self::Other,
            Self::Other => Self::Additive,
            Self::Additive => Self::Multiplicative,
            Self::Multiplicative => Self::Power,
            Self::Power => Self::AtTimeZone,
            Self::AtTimeZone => Self::Collate,
            Self::Collate | Self::Sign => Self::Sign,
        }
    }
}

/// Operator or clause after an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parser) enum Infix {
    Or,
    And,
    Is,
    IsNull,
    NotNull,
    Operator,
    Between,
    In,
    Like(LikeKind),
    AtTimeZone,
    Collate,
    Overlaps,
}

impl Parser<'_> {
    /// Returns what follows the operand before the cursor, and its precedence.
    pub(in crate::parser) fn infix(&self) -> Option<(Infix, Precedence)> {
        match self.kind() {
            TokenKind::Operator(operator) => Some((Infix::Operator, precedence(operator))),
            TokenKind::Keyword(keyword) => {
                if keyword == Keyword::Not {
                    return self.membership(1);
                }
                Some(match keyword {
                    Keyword::Or => (Infix::Or, Precedence::Or),
                    Keyword::And => (Infix::And, Precedence::And),
                    Keyword::Is if self.is_test_ahead() => (Infix::Is, Precedence::Is),
                    Keyword::Isnull => (Infix::IsNull, Precedence::Is),
                    Keyword::Notnull => (Infix::NotNull, Precedence::Is),
                    Keyword::Operator if self.token(1).kind == TokenKind::Open => {
                        (Infix::Operator, Precedence::Other)
                    }
                    Keyword::At
                        if self.is_ahead(1, Keyword::Time) || self.is_ahead(1, Keyword::Local) =>
                    {
                        (Infix::AtTimeZone, Precedence::AtTimeZone)
                    }
                    Keyword::Collate => (Infix::Collate, Precedence::Collate),
                    Keyword::Overlaps => (Infix::Overlaps, Precedence::Membership),
                    _ => return self.membership(0),
                })
            }
            TokenKind::Name => self.membership(0),
            _ => None,
        }
    }

    /// True if a test follows IS: otherwise it is a label.
    fn is_test_ahead(&self) -> bool {
        matches!(
            self.token(1).kind,
            TokenKind::Keyword(
                Keyword::Not
                    | Keyword::Null
                    | Keyword::True
                    | Keyword::False
                    | Keyword::Unknown
                    | Keyword::Distinct
                    | Keyword::Document
                    | Keyword::Normalized
                    | Keyword::Nfc
                    | Keyword::Nfd
                    | Keyword::Nfkc
                    | Keyword::Nfkd
            )
        )
    }

    fn membership(&self, ahead: usize) -> Option<(Infix, Precedence)> {
        let infix = match self.token(ahead).kind {
            TokenKind::Keyword(Keyword::Between) => Infix::Between,
            TokenKind::Keyword(Keyword::In) => Infix::In,
            TokenKind::Keyword(Keyword::Like) => Infix::Like(LikeKind::Like),
            TokenKind::Keyword(Keyword::Ilike) => Infix::Like(LikeKind::ILike),
            TokenKind::Keyword(Keyword::Similar) if self.is_ahead(ahead + 1, Keyword::To) => {
                Infix::Like(LikeKind::SimilarTo)
            }
            TokenKind::Name if self.is_glob(ahead) => Infix::Like(LikeKind::Glob),
            _ => return None,
        };
        Some((infix, Precedence::Membership))
    }

    /// True at DuckDB's GLOB with a pattern after it: otherwise it is a name.
    fn is_glob(&self, ahead: usize) -> bool {
        self.is_word_ahead(ahead, "glob")
            && matches!(self.token(ahead + 1).kind, TokenKind::Text(_))
    }

    /// Reads an operator, by its text or by OPERATOR(schema.text).
    pub(in crate::parser) fn operator(&mut self) -> Result<OperatorName> {
        let start = self.span();
        let mut schema = Vec::new();
        let is_named = self.is(Keyword::Operator);
        if is_named {
            self.at += 1;
            self.expect(TokenKind::Open)?;
            while self.is_name(0) {
                schema.push(self.name()?);
                self.expect(TokenKind::Dot)?;
            }
        }
        let TokenKind::Operator(kind) = self.kind() else { return Err(self.unexpected()) };
        let token = self.advance();
        if is_named {
            self.expect(TokenKind::Close)?;
        }
        let text = token.span.of(self.text);
        Ok(OperatorName {
            schema,
            operator: of_token(kind, text),
            span: start.to(self.last_span()),
        })
    }

    pub(in crate::parser) fn is_any_operator(&self) -> bool {
        matches!(self.kind(), TokenKind::Operator(_))
            || (self.is(Keyword::Operator) && self.token(1).kind == TokenKind::Open)
    }
}

fn precedence(operator: Operator) -> Precedence {
    match operator {
        Operator::Plus | Operator::Minus => Precedence::Additive,
        Operator::Star | Operator::Slash | Operator::Percent => Precedence::Multiplicative,
        Operator::Caret => Precedence::Power,
        Operator::Less
        | Operator::Greater
        | Operator::Equals
        | Operator::EqualsTwice
        | Operator::LessEquals
        | Operator::GreaterEquals
        | Operator::NotEquals => Precedence::Comparison,
        Operator::Question | Operator::Other => Precedence::Other,
    }
}

fn of_token(operator: Operator, text: &str) -> BinaryOperator {
    match operator {
        Operator::Plus => BinaryOperator::Add,
        Operator::Minus => BinaryOperator::Subtract,
        Operator::Star => BinaryOperator::Multiply,
        Operator::Slash => BinaryOperator::Divide,
        Operator::Percent => BinaryOperator::Modulo,
        Operator::Caret => BinaryOperator::Power,
        Operator::Less => BinaryOperator::Less,
        Operator::Greater => BinaryOperator::Greater,
        Operator::Equals | Operator::EqualsTwice => BinaryOperator::Equals,
        Operator::LessEquals => BinaryOperator::LessEquals,
        Operator::GreaterEquals => BinaryOperator::GreaterEquals,
        Operator::NotEquals => BinaryOperator::NotEquals,
        Operator::Question | Operator::Other => BinaryOperator::Other(text.to_owned()),
    }
}
