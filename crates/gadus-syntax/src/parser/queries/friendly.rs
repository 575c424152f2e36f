//! DuckDB's forms in FROM: joins by the nearest key, in rows' order and for existence, PIVOT and UNPIVOT.
//!
//! Their words are no key words of PostgreSQL's: they are names unless what follows makes them clauses.

use crate::ast::{FromItem, FromKind, JoinKind, Pivot, Unpivot};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads `ASOF [LEFT] JOIN`, `POSITIONAL JOIN`, `SEMI JOIN` or `ANTI JOIN`, if the cursor is at one.
    pub(in crate::parser) fn friendly_join(&mut self) -> Option<JoinKind> {
        let (kind, length) = self.friendly_join_kind()?;
        self.at += length;
        Some(kind)
    }

    fn friendly_join_kind(&self) -> Option<(JoinKind, usize)> {
        let is_join = self.is_ahead(1, Keyword::Join);
        if self.is_word("asof") {
            let left = self.is_ahead(1, Keyword::Left);
            let is_inner = left || self.is_ahead(1, Keyword::Inner);
            let length = 1 + usize::from(is_inner);
            let has_join = self.is_ahead(length, Keyword::Join);
            return has_join.then_some((JoinKind::AsOf { left }, length + 1));
        }
        let kinds = [
            ("positional", JoinKind::Positional),
            ("semi", JoinKind::Semi),
            ("anti", JoinKind::Anti),
        ];
        let kind = kinds.into_iter().find(|(word, _)| is_join && self.is_word(word))?.1;
        Some((kind, 2))
    }

    /// True at a word that begins a clause here, and is no alias.
    pub(in crate::parser) fn is_friendly_clause(&self) -> bool {
        let is_pivot = (self.is_word("pivot") || self.is_word("unpivot"))
            && self.token(1).kind == TokenKind::Open;
        let is_unpivot_with_nulls = self.is_word("unpivot") && self.is_ahead(1, Keyword::Include);
        is_pivot
            || is_unpivot_with_nulls
            || self.is_qualify()
            || self.friendly_join_kind().is_some()
    }

    /// Reads PIVOT and UNPIVOT after an element of FROM.
    pub(in crate::parser) fn pivots(&mut self, mut item: FromItem) -> Result<FromItem> {
        loop {
            let start = item.span;
            let kind = if self.is_word("pivot") && self.token(1).kind == TokenKind::Open {
                self.at += 1;
                self.in_parentheses(|parser| parser.pivot(item))
                    .map(Box::new)
                    .map(FromKind::Pivot)?
            } else if self.is_word("unpivot") && self.is_friendly_clause() {
                self.at += 1;
                let include_nulls = self.has_all(&[Keyword::Include, Keyword::Nulls]);
                self.in_parentheses(|parser| parser.unpivot(item, include_nulls))
                    .map(Box::new)
                    .map(FromKind::Unpivot)?
            } else {
                return Ok(item);
            };
            let alias = self.alias()?;
            item = FromItem { kind, alias, span: start.to(self.last_span()) };
        }
    }

    /// Reads `sum(a) FOR b IN (1, 2) GROUP BY c`.
    fn pivot(&mut self, source: FromItem) -> Result<Pivot> {
        let aggregates = self.targets()?;
        self.needs(Keyword::For)?;
        let mut columns = Vec::new();
        loop {
            let column = self.primary()?;
            self.needs(Keyword::In)?;
            columns.push((column, Some(self.in_parentheses(Self::targets)?)));
            if self.is(Keyword::Group) || self.kind() == TokenKind::Close {
                break;
            }
        }
        let has_groups = self.has_all(&[Keyword::Group, Keyword::By]);
        let group_by = has_groups.then(|| self.exprs()).transpose()?;
        Ok(Pivot { source, aggregates, columns, group_by })
    }

    /// Reads `value FOR name IN (a, b)`.
    fn unpivot(&mut self, source: FromItem, include_nulls: bool) -> Result<Unpivot> {
        let values = match self.kind() {
            TokenKind::Open => self.names_in_parentheses()?,
            _ => vec![self.name()?],
        };
        self.needs(Keyword::For)?;
        let name = self.name()?;
        self.needs(Keyword::In)?;
        let columns = self.in_parentheses(Self::targets)?;
        Ok(Unpivot { source, values, name, columns, include_nulls })
    }
}
