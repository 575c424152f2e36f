//! WITH: common table expressions.

use crate::ast::{CommonTable, CycleClause, QueryBody, SearchClause, Statement, With};
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
        let search = self.search()?.map(Box::new);
        let cycle = self.cycle()?.map(Box::new);
        Ok(CommonTable { name, columns, materialized, query, search, cycle })
    }

    fn search(&mut self) -> Result<Option<SearchClause>> {
        let start = self.span();
        if !self.has(Keyword::Search) {
            return Ok(None);
        }
        let is_breadth_first = !self.has(Keyword::Depth);
        if is_breadth_first {
            self.needs(Keyword::Breadth)?;
        }
        self.needs_all(&[Keyword::First, Keyword::By])?;
        let columns = self.list(Self::name)?;
        self.needs(Keyword::Set)?;
        let sequence = self.name()?;
        let span = start.to(self.last_span());
        Ok(Some(SearchClause { is_breadth_first, columns, sequence, span }))
    }

    fn cycle(&mut self) -> Result<Option<CycleClause>> {
        let start = self.span();
        if !self.has(Keyword::Cycle) {
            return Ok(None);
        }
        let columns = self.list(Self::name)?;
        self.needs(Keyword::Set)?;
        let mark = self.name()?;
        let mut values = None;
        if self.has(Keyword::To) {
            let value = self.primary()?;
            self.needs(Keyword::Default)?;
            values = Some((value, self.primary()?));
        }
        self.needs(Keyword::Using)?;
        let path = self.name()?;
        Ok(Some(CycleClause { columns, mark, values, path, span: start.to(self.last_span()) }))
    }
}
