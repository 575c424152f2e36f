//! WITH: common table expressions.

use crate::ast::{CommonTable, QueryBody, Statement, With};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::TokenKind;
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads `WITH …`, if the cursor is at it.
    pub(in crate::parser) fn with(&mut self) -> Result<Option<With>> {
        if !self.has(Keyword::With) {
            return Ok(None);
        }
        let recursive = self.is(Keyword::Recursive) && self.is_name(1);
        self.at += usize::from(recursive);
        let tables = self.list(|parser| parser.nested(Self::common_table))?;
        Ok(Some(With { recursive, tables }))
    }

    fn common_table(&mut self) -> Result<CommonTable> {
        let name = self.name()?;
        let columns = self.optional_names()?;
        self.needs(Keyword::As)?;
        let materialized = if self.has(Keyword::Materialized) {
            Some(true)
        } else {
            self.has_all(&[Keyword::Not, Keyword::Materialized]).then_some(false)
        };
        let start = self.span();
        self.expect(TokenKind::Open)?;
        let query = match self.preparable()? {
            Statement::Query(query) => *query,
            statement => self.bare_query(start, QueryBody::Modification(Box::new(statement))),
        };
        self.expect(TokenKind::Close)?;
        let search_or_cycle = self.search_or_cycle()?;
        Ok(CommonTable { name, columns, materialized, query, search_or_cycle })
    }

    fn search_or_cycle(&mut self) -> Result<Option<crate::span::Span>> {
        let start = self.span();
        if self.has(Keyword::Search) {
            if !self.has(Keyword::Depth) {
                self.needs(Keyword::Breadth)?;
            }
            self.needs_all(&[Keyword::First, Keyword::By])?;
            self.list(Self::name)?;
            self.needs(Keyword::Set)?;
            self.name()?;
        }
        if self.has(Keyword::Cycle) {
            self.list(Self::name)?;
            self.needs(Keyword::Set)?;
            self.name()?;
            if self.has(Keyword::To) {
                self.primary()?;
                self.needs(Keyword::Default)?;
                self.primary()?;
            }
            self.needs(Keyword::Using)?;
            self.name()?;
        }
        let span = start.to(self.last_span());
        Ok((span.end > start.start && self.span() != start).then_some(span))
    }
}
