//! SELECT and its clauses up to WINDOW and QUALIFY.

use super::{ends_query, is_set_operator};
use crate::ast::{
    Distinct, Expr, GroupBy, GroupingElement, ObjectName, Replacement, Select, Target, TargetKind,
};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{Operator, TokenKind};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads a SELECT, which may begin with FROM as in DuckDB.
    pub(in crate::parser) fn select(&mut self) -> Result<Select> {
        let early_from = if self.is(Keyword::From) { Some(self.from()?) } else { None };
        let (mut distinct, mut targets) = (Distinct::All, None);
        if early_from.is_none() || self.is(Keyword::Select) {
            self.needs(Keyword::Select)?;
            distinct = self.distinct()?;
            targets = Some(if self.has_no_target() { Vec::new() } else { self.targets()? });
        }
        let into = self.into()?;
        let from = match early_from {
            Some(from) => from,
            None => self.from()?,
        };
        let filter = self.has(Keyword::Where).then(|| self.expr()).transpose()?;
        let group_by = self.group_by()?;
        let having = self.has(Keyword::Having).then(|| self.expr()).transpose()?;
        let mut qualify = self.qualify()?;
        let windows = self.named_windows()?;
        if qualify.is_none() {
            qualify = self.qualify()?;
        }
        let targets = targets.unwrap_or_else(|| vec![self.all_columns()]);
        Ok(Select { distinct, targets, into, from, filter, group_by, having, windows, qualify })
    }

    /// Returns `*`, as FROM without SELECT means it.
    fn all_columns(&self) -> Target {
        let kind = TargetKind::Wildcard {
            qualifier: Vec::new(),
            exclude: Vec::new(),
            replace: Vec::new(),
            rename: Vec::new(),
        };
        Target { kind, span: self.last_span() }
    }

    fn distinct(&mut self) -> Result<Distinct> {
        if self.has(Keyword::Distinct) {
            if self.has(Keyword::On) {
                return self.exprs_in_parentheses().map(Distinct::On);
            }
            return Ok(Distinct::Distinct);
        }
        self.has(Keyword::All);
        Ok(Distinct::All)
    }

    /// True where a select list ends before it begins.
    fn has_no_target(&self) -> bool {
        match self.kind() {
            TokenKind::End | TokenKind::Close | TokenKind::Semicolon => true,
            TokenKind::Keyword(keyword) => {
                let is_clause = matches!(
                    keyword,
                    Keyword::From
                        | Keyword::Into
                        | Keyword::Where
                        | Keyword::Group
                        | Keyword::Having
                        | Keyword::Window
                );
                is_clause || is_set_operator(keyword) || ends_query(keyword)
            }
            _ => false,
        }
    }

    pub(in crate::parser) fn targets(&mut self) -> Result<Vec<Target>> {
        self.list(Self::target)
    }

    pub(in crate::parser) fn target(&mut self) -> Result<Target> {
        let start = self.span();
        if self.has_operator(Operator::Star) {
            let kind = self.wildcard(Vec::new())?;
            return Ok(Target { kind, span: start.to(self.last_span()) });
        }
        // DuckDB's `label: expr`.
        if self.token(1).kind == TokenKind::Colon && self.is_name(0) {
            let label = Some(self.label()?);
            self.at += 1;
            let kind = TargetKind::Expr { expr: self.expr()?, label };
            return Ok(Target { kind, span: start.to(self.last_span()) });
        }
        let expr = self.expr()?;
        let kind = match expr.kind {
            crate::ast::ExprKind::AllColumns(qualifier) => {
                let wildcard = self.wildcard(qualifier)?;
                // PostgreSQL reads a label here, and forgets it.
                self.target_label()?;
                wildcard
            }
            _ => TargetKind::Expr { expr, label: self.target_label()? },
        };
        Ok(Target { kind, span: start.to(self.last_span()) })
    }

    fn target_label(&mut self) -> Result<Option<crate::ast::Name>> {
        if self.has(Keyword::As) {
            return self.label().map(Some);
        }
        if self.is_qualify() {
            return Ok(None);
        }
        self.optional_bare_label()
    }

    /// Reads EXCLUDE, REPLACE and RENAME after `*`.
    fn wildcard(&mut self, qualifier: Vec<crate::ast::Name>) -> Result<TargetKind> {
        let (mut exclude, mut replace, mut rename) = (Vec::new(), Vec::new(), Vec::new());
        if self.has(Keyword::Exclude) {
            exclude = match self.kind() {
                TokenKind::Open => self.names_in_parentheses()?,
                _ => vec![self.name()?],
            };
        }
        if self.has(Keyword::Replace) {
            replace = self.one_or_many(|parser| {
                let expr = parser.expr()?;
                parser.needs(Keyword::As)?;
                Ok(Replacement { expr, column: parser.name()? })
            })?;
        }
        if self.has(Keyword::Rename) {
            rename = self.one_or_many(|parser| {
                let from = parser.name()?;
                parser.needs(Keyword::As)?;
                Ok((from, parser.name()?))
            })?;
        }
        Ok(TargetKind::Wildcard { qualifier, exclude, replace, rename })
    }

    /// Reads a list in parentheses, or one element without them.
    fn one_or_many<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        if self.kind() == TokenKind::Open {
            return self.in_parentheses(|parser| parser.list(read));
        }
        Ok(vec![read(self)?])
    }

    /// Reads `INTO name` of a SELECT that makes a table.
    fn into(&mut self) -> Result<Option<ObjectName>> {
        if !self.has(Keyword::Into) {
            return Ok(None);
        }
        if !self.has(Keyword::Local) {
            self.has(Keyword::Global);
        }
        for keyword in [Keyword::Temporary, Keyword::Temp, Keyword::Unlogged, Keyword::Table] {
            self.has(keyword);
        }
        self.object_name().map(Some)
    }

    fn group_by(&mut self) -> Result<Option<GroupBy>> {
        if !self.has_all(&[Keyword::Group, Keyword::By]) {
            return Ok(None);
        }
        if self.is(Keyword::All) && !self.begins_expr(1) {
            self.at += 1;
            return Ok(Some(GroupBy::All));
        }
        let distinct = self.has(Keyword::Distinct);
        if !distinct {
            self.has(Keyword::All);
        }
        let elements = self.list(Self::grouping_element)?;
        Ok(Some(GroupBy::Elements { distinct, elements }))
    }

    /// True if an expression may begin so far ahead: not at the end, a comma or a clause.
    fn begins_expr(&self, ahead: usize) -> bool {
        match self.token(ahead).kind {
            TokenKind::End | TokenKind::Close | TokenKind::Semicolon | TokenKind::Comma => false,
            TokenKind::Keyword(keyword) => {
                let is_clause = matches!(
                    keyword,
                    Keyword::Having
                        | Keyword::Window
                        | Keyword::With
                        | Keyword::On
                        | Keyword::Returning
                );
                !is_clause && !is_set_operator(keyword) && !ends_query(keyword)
            }
            _ => !self.is_word_ahead(ahead, "qualify"),
        }
    }

    fn grouping_element(&mut self) -> Result<GroupingElement> {
        let is_open = self.token(1).kind == TokenKind::Open;
        match self.keyword() {
            Some(Keyword::Rollup) if is_open => {
                self.at += 1;
                return self.exprs_in_parentheses().map(GroupingElement::Rollup);
            }
            Some(Keyword::Cube) if is_open => {
                self.at += 1;
                return self.exprs_in_parentheses().map(GroupingElement::Cube);
            }
            Some(Keyword::Grouping) if self.is_ahead(1, Keyword::Sets) => {
                self.at += 2;
                let sets = self.nested(|parser| {
                    parser.in_parentheses(|parser| parser.list(Self::grouping_element))
                })?;
                return Ok(GroupingElement::Sets(sets));
            }
            _ => {}
        }
        if self.kind() == TokenKind::Open && self.token(1).kind == TokenKind::Close {
            self.at += 2;
            return Ok(GroupingElement::Empty);
        }
        self.expr().map(GroupingElement::Expr)
    }

    /// True at QUALIFY with a condition after it: otherwise it is a name.
    pub(in crate::parser) fn is_qualify(&self) -> bool {
        self.is_word("qualify")
            && match self.token(1).kind {
                TokenKind::Name
                | TokenKind::QuotedName(_)
                | TokenKind::Open
                | TokenKind::Integer
                | TokenKind::Text(_)
                | TokenKind::Parameter => true,
                TokenKind::Keyword(keyword) => {
                    keyword.is_function_name()
                        || matches!(
                            keyword,
                            Keyword::Not
                                | Keyword::Case
                                | Keyword::True
                                | Keyword::False
                                | Keyword::Exists
                        )
                }
                _ => false,
            }
    }

    fn qualify(&mut self) -> Result<Option<Expr>> {
        if !self.is_qualify() {
            return Ok(None);
        }
        self.at += 1;
        self.expr().map(Some)
    }
}
